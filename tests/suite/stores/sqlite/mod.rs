//! The store in a SQLite file: its contract, its file, and other programs that use the file.

#[cfg(unix)]
mod attachments;
mod backup;
mod child;
mod damage;
mod many;
mod names;
mod owners;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use columnar::Name;
use columnar::store::{Entry, Put, SqliteStore, Store, StoreError};
use columnar::testing::conformance;
use futures::future::join_all;
use rusqlite::Connection;
use rusqlite::types::FromSql;
use tempfile::TempDir;
use tokio::runtime::Builder;

#[cfg(unix)]
use self::child::{CHILD, Process};

/// A file in a temporary folder.
struct Chats {
    folder: TempDir,
}

impl Chats {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("chats.db")
    }

    fn store(&self, flow: &str) -> SqliteStore {
        SqliteStore::new(self.file(), flow)
    }

    async fn open(&self) -> SqliteStore {
        let store = self.store("monday");
        store.open().await.expect("the store is free");
        store
    }

    /// Runs SQL of another program while the file is closed.
    fn sql(&self, change: &str) {
        let db = Connection::open(self.file()).expect("it is a database");
        db.execute_batch(change).expect(change);
    }

    /// The result of a query of another program.
    fn all<T: FromSql>(&self, read: &str) -> Vec<T> {
        let db = Connection::open(self.file()).expect("it is a database");
        let mut found = db.prepare(read).expect(read);
        let rows = found.query_map((), |row| row.get(0)).expect(read);
        rows.collect::<Result<_, _>>().expect(read)
    }

    /// The error of opening it and reading all of a column.
    async fn refused(&self, column: &str) -> StoreError {
        read(&self.file(), column).await.expect_err("it is refused")
    }
}

fn name(column: &str) -> Name {
    Name::new(column).expect("a name")
}

fn value(text: &str) -> Entry {
    Entry::from(text)
}

async fn put(store: &SqliteStore, column: &str, step: usize, text: &str) {
    let put = store.put(name(column), step, value(text)).await;
    assert_eq!(put.expect("it can be stored"), Put::Stored, "`{column}` at step {step}");
}

async fn load(store: &SqliteStore, column: &str) -> Result<Vec<(usize, Entry)>, StoreError> {
    store.load(name(column), 0..usize::MAX).await
}

/// Opens a file and reads all of a column.
async fn read(file: &Path, column: &str) -> Result<Vec<(usize, Entry)>, StoreError> {
    let store = SqliteStore::new(file, "monday");
    store.open().await?;
    store.stored_steps(name(column)).await?;
    load(&store, column).await
}

/// A closed file with a conversation of six steps, whose answers have receipts.
async fn conversation() -> Chats {
    let chats = Chats::new();
    let store = chats.open().await;
    for step in 0..6 {
        put(&store, "user", step, &format!("question {step}")).await;
        let answer = value(&format!("answer {step}")).with_receipt(format!("{{\"ms\":{step}}}"));
        assert_eq!(store.put(name("answer"), step, answer).await.expect("it can be stored"), Put::Stored);
    }
    store.define("{}".into()).await.expect("it can be defined");
    chats
}

#[tokio::test]
async fn the_sqlite_store_conforms_to_the_contract() {
    conformance(|| {
        let chats = Chats::new();
        move || chats.store("monday")
    })
    .await;
}

#[tokio::test]
async fn many_flows_of_one_file_are_open_at_once() {
    let chats = Chats::new();
    thread::scope(|threads| {
        for flow in 0..8 {
            let store = chats.store(&format!("flow {flow}"));
            threads.spawn(move || {
                Builder::new_current_thread().build().expect("it needs nothing").block_on(async {
                    store.open().await.expect("concurrent first opens succeed");
                    let puts =
                        (0..50).map(|step| store.put(name("user"), step, value(&format!("{flow} {step}"))));
                    assert!(join_all(puts).await.into_iter().all(|put| matches!(put, Ok(Put::Stored))));
                    put(&store, "user", 50, "alone").await;
                });
            });
        }
    });
    for flow in 0..8 {
        let store = chats.store(&format!("flow {flow}"));
        store.open().await.expect("it is free again");
        let entries = load(&store, "user").await.expect("it can be read");
        assert_eq!(entries.len(), 51);
        assert!(entries.into_iter().take(50).all(|(step, entry)| entry == value(&format!("{flow} {step}"))));
    }
    let left: Vec<_> = fs::read_dir(chats.folder.path()).expect("it is there").map(Result::unwrap).collect();
    assert_eq!(left.len(), 1, "nothing is left beside the file: {left:?}");
}

/// While the flow is open. Until it was closed, a copy of the file alone had none of its values.
#[tokio::test(flavor = "multi_thread")]
async fn s17_the_log_of_an_idle_file_is_written_back() {
    let chats = Chats::new();
    let store = chats.open().await;
    let mut log = chats.file().into_os_string();
    log.push("-wal");
    let length = || fs::metadata(&log).expect("it is open").len();
    for step in 0..2 {
        put(&store, "user", step, "hello").await;
        // It is polled for a minute at most.
        let polls = (0..6000).take_while(|_| {
            thread::sleep(Duration::from_millis(10));
            length() > 0
        });
        assert!(polls.count() < 6000, "it has {} bytes", length());
        let copy = chats.folder.path().join(format!("copy {step}.db"));
        fs::copy(chats.file(), &copy).expect("it can be read");
        assert_eq!(read(&copy, "user").await.expect("it is whole").len(), step + 1);
    }
}

/// An empty log is that of an idle file, or one that was emptied by hand: the index beside it tells. A process that is killed
/// leaves both as they are.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn s17_a_process_that_was_killed_when_it_was_idle_has_lost_nothing() {
    let test = "s17_a_process_that_was_killed_when_it_was_idle_has_lost_nothing";
    if let Some(file) = std::env::var_os(CHILD) {
        let store = SqliteStore::new(&file, "monday");
        store.open().await.expect("the store is free");
        for step in 0..20 {
            put(&store, "user", step, &step.to_string()).await;
        }
        println!("\nwritten");
        std::io::stdin().read_line(&mut String::new()).expect("it waits to be killed");
        return;
    }
    let chats = Chats::new();
    let mut process = Process::start(module_path!(), test, &chats.file(), "");
    process.wait_for("written");
    let log = chats.folder.path().join("chats.db-wal");
    // It is polled for a minute at most.
    let polls = (0..6000).take_while(|_| {
        thread::sleep(Duration::from_millis(10));
        fs::metadata(&log).expect("it is open").len() > 0
    });
    assert!(polls.count() < 6000, "it is not written back");
    process.kill();
    assert!(chats.folder.path().join("chats.db-shm").exists() && log.exists());
    assert_eq!(read(&chats.file(), "user").await.expect("it is whole").len(), 20);
}

#[tokio::test]
async fn the_sqlite_shell_reads_the_view() {
    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "answer", 0, "The backup.").await;
    store.put(name("answer"), 1, Entry::SKIPPED).await.expect("it can be stored");
    // While it is open.
    let db = Connection::open(chats.file()).expect("it is a database");
    let mut cells = db
        .prepare("select step, value from cells where flow = 'monday' and column = 'answer'")
        .expect("as the documentation says");
    let rows = cells.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).expect("it can be read");
    let rows: Vec<(i64, Option<String>)> = rows.map(|row| row.expect("a row")).collect();
    assert_eq!(rows, [(0, Some("The backup.".into())), (1, None)]);
}

/// The bytes of the closed file in relation to those of its values.
async fn over_payload(values: &[String]) -> f64 {
    let chats = Chats::new();
    let store = chats.open().await;
    for (at, texts) in values.chunks(500).enumerate() {
        let steps = texts.iter().zip(at * 500..);
        let puts = steps.map(|(text, step)| store.put(name("user"), step, value(text)));
        assert!(join_all(puts).await.into_iter().all(|put| put.is_ok()));
    }
    drop(store);
    let bytes = fs::metadata(chats.file()).expect("it is there").len();
    let payload: usize = values.iter().map(String::len).sum();
    f64::from(u32::try_from(bytes).expect("it is small"))
        / f64::from(u32::try_from(payload).expect("smaller"))
}

#[tokio::test]
async fn the_file_is_little_larger_than_the_values() {
    let same = |steps: usize| vec!["x".repeat(800); steps];
    let long: Vec<String> = (0..3000).map(|step| "x".repeat((step * 7919) % 3001)).collect();
    for (values, at_most) in [(same(500), 1.2), (same(10_000), 1.07), (long, 1.2)] {
        let over = over_payload(&values).await;
        assert!(over < at_most, "{} values take {over} times their size", values.len());
    }
}

#[tokio::test]
async fn i4_i7_keys_and_texts_are_never_read_as_sql_or_as_paths() {
    let chats = Chats::new();
    let keys = [
        "",
        "../x",
        "a\0b",
        "a\0c",
        "A",
        "a",
        "'; drop table cell; --",
        "\" or 1 = 1 --",
        "%",
        "é",
        "e\u{301}",
    ];
    let long = "k".repeat(10_000);
    let keys: Vec<&str> = keys.into_iter().chain([long.as_str()]).collect();
    let stores: Vec<_> = keys.iter().map(|key| chats.store(key)).collect();
    for (store, key) in stores.iter().zip(&keys) {
        store.open().await.expect("each is another flow");
        put(store, "user", 0, key).await;
    }
    for (store, key) in stores.iter().zip(&keys) {
        assert_eq!(load(store, "user").await.expect("it can be read"), [(0, value(key))]);
    }
    for entry in fs::read_dir(chats.folder.path()).expect("it is there") {
        let entry = entry.expect("an entry").file_name().into_string().expect("text");
        assert!(entry.starts_with("chats.db"), "{entry}");
    }
    drop(stores);
    assert_eq!(fs::read_dir(chats.folder.path()).expect("it is there").count(), 1);
}

#[test]
fn i7_statements_are_constants() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../columnar/src/store/sqlite");
    let words = ["select ", "insert ", "update ", "delete ", "pragma "];
    let mut statements = 0;
    let paths = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("an entry").path());
    for path in paths.filter(|path| path.is_file()) {
        let text = fs::read_to_string(path).expect("text");
        for (at, _) in text.match_indices("format!(") {
            let made = text[at..].split(';').next().expect("a statement of Rust").to_lowercase();
            assert!(!words.iter().any(|word| made.contains(word)), "{made}");
        }
        statements += words.iter().map(|word| text.matches(&format!("\"{word}")).count()).sum::<usize>();
    }
    assert!(statements > 5, "{statements} were found");
}

#[tokio::test]
async fn i6_an_impossible_step_is_an_error() {
    let chats = Chats::new();
    for step in [usize::MAX, 1 << 32] {
        let store = chats.open().await;
        store.put(name("user"), step, value("far")).await.expect_err("there is no such step");
        assert_eq!(load(&store, "user").await.expect("it can be read"), []);
    }
    let store = chats.open().await;
    put(&store, "user", (1 << 32) - 1, "the last one").await;
    put(&store, "answer", 0, "of the next column").await;
    assert_eq!(load(&store, "user").await.expect("it can be read").len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn x3_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "user", 0, "secret").await;
    let mut names = Vec::new();
    for entry in fs::read_dir(chats.folder.path()).expect("it is there") {
        let entry = entry.expect("an entry");
        assert_eq!(entry.metadata().expect("it is there").permissions().mode() & 0o777, 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().expect("text"));
    }
    names.sort();
    assert_eq!(names, ["chats.db", "chats.db-lock-1", "chats.db-shm", "chats.db-wal"]);
}
