//! The store in a file of SQLite: its contract, what may happen to its file, and who else may have it open.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use columnar::Name;
use columnar::prelude::*;
use columnar::store::{Entry, Extent, Put, SqliteStore, Store, StoreError};
use columnar::testing::conformance;
use columnar_tests::log::Log;
use futures::future::{BoxFuture, FutureExt, join_all};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::Builder;

/// A file, in a folder of its own.
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
        store.open().await.expect("nobody else has it");
        store
    }

    /// What another program does to the file while it is closed.
    fn sql(&self, change: &str) {
        let db = Connection::open(self.file()).expect("it is a database");
        db.execute_batch(change).expect(change);
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
    Entry::Value(text.into())
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
    store.extent(name(column)).await?;
    load(&store, column).await
}

/// A file with a conversation of six steps, closed.
async fn conversation() -> Chats {
    let chats = Chats::new();
    let store = chats.open().await;
    for step in 0..6 {
        put(&store, "user", step, &format!("question {step}")).await;
        put(&store, "answer", step, &format!("answer {step}")).await;
    }
    store.define("{}".into()).await.expect("it can be defined");
    chats
}

#[tokio::test]
async fn it_keeps_the_contract() {
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
                    store.open().await.expect("whoever makes the file, all find it made");
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

#[tokio::test]
async fn the_shell_reads_the_view() {
    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "answer", 0, "The backup.").await;
    store.put(name("answer"), 1, Entry::Skipped).await.expect("it can be stored");
    // While it is open.
    let db = Connection::open(chats.file()).expect("it is a database");
    let mut cells = db
        .prepare("select step, value from cells where flow = 'monday' and column = 'answer'")
        .expect("as the documentation says");
    let rows = cells.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).expect("it can be read");
    let rows: Vec<(i64, Option<String>)> = rows.map(|row| row.expect("a row")).collect();
    assert_eq!(rows, [(0, Some("The backup.".into())), (1, None)]);
}

/// Bytes of the file over those of the values, once it is closed.
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
async fn it_takes_little_more_than_the_values() {
    let same = |steps: usize| vec!["x".repeat(800); steps];
    let long: Vec<String> = (0..3000).map(|step| "x".repeat((step * 7919) % 3001)).collect();
    for (values, at_most) in [(same(500), 1.2), (same(10_000), 1.07), (long, 1.2)] {
        let over = over_payload(&values).await;
        assert!(over < at_most, "{} values take {over} times their size", values.len());
    }
}

/// Tells a test of this file that it is the child, and which file to write.
const CHILD: &str = "COLUMNAR_SQLITE_CHILD";

/// Another process, which runs a test of this file as its child.
struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Process {
    fn start(test: &str, file: &Path, how: &str) -> Self {
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args([test, "--exact", "--nocapture"]).env(CHILD, file).env("HOW", how);
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::piped()).spawn().expect("it runs twice");
        let lines = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, lines }
    }

    /// Waits until it has said this.
    fn said(&mut self, what: &str) {
        let mut line = String::new();
        while !line.trim_end().ends_with(what) {
            line.clear();
            let read = self.lines.read_line(&mut line).expect("it is text");
            assert!(read > 0, "it ended before it said {what:?}");
        }
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }
}

/// Writes until it is killed, and says what is stored.
async fn write(file: &Path, is_honest: bool) {
    let store = SqliteStore::new(file, "monday");
    store.open().await.expect("nobody else has it");
    println!("\nopen");
    for step in 0..10_000 {
        if is_honest {
            let cells =
                ["user", "answer", "topics"].map(|column| store.put(name(column), step, value(&text(step))));
            assert!(join_all(cells).await.into_iter().all(|put| matches!(put, Ok(Put::Stored))));
        }
        println!("ack {step}.");
    }
}

/// Long enough for several pages.
fn text(step: usize) -> String {
    format!("said at {step} ").repeat(1000)
}

/// Kills a process that writes when it has said so much, and tells what is lost or wrong.
async fn killed_after(acks: usize, how: &str) -> Result<(), String> {
    let chats = Chats::new();
    let test = "c4_what_was_confirmed_survives_a_kill_and_nothing_is_torn";
    let mut process = Process::start(test, &chats.file(), how);
    process.said("open");
    if let Some(last) = acks.checked_sub(1) {
        process.said(&format!("ack {last}."));
    }
    process.kill();

    let store = chats.store("monday");
    store.open().await.map_err(|error| error.to_string())?;
    for column in ["user", "answer", "topics"] {
        let extent = store.extent(name(column)).await.map_err(|error| error.to_string())?;
        let entries = load(&store, column).await.map_err(|error| error.to_string())?;
        if entries.len() < acks || extent != (Extent { prefix: entries.len(), beyond: vec![] }) {
            return Err(format!("{acks} steps of {column} are confirmed, and there are {}", entries.len()));
        }
        if !entries.into_iter().all(|(step, entry)| entry == value(&text(step))) {
            return Err(format!("{column} is torn"));
        }
        // The next run completes it.
        put(&store, column, extent.prefix, "more").await;
    }
    Ok(())
}

#[tokio::test]
async fn c4_what_was_confirmed_survives_a_kill_and_nothing_is_torn() {
    if let Some(file) = env::var_os(CHILD) {
        return write(Path::new(&file), env::var("HOW").as_deref() == Ok("honest")).await;
    }
    // The last one when the log has been written back once.
    for acks in [0, 1, 2, 7, 50, 200] {
        assert_eq!(killed_after(acks, "honest").await, Ok(()), "after {acks}");
    }
    assert!(killed_after(3, "a liar").await.is_err(), "who confirms what is not stored is found out");
}

#[tokio::test]
async fn s6_a_flow_has_one_process_and_is_free_when_that_dies() {
    if let Some(file) = env::var_os(CHILD) {
        return write(Path::new(&file), true).await;
    }
    let chats = Chats::new();
    let test = "s6_a_flow_has_one_process_and_is_free_when_that_dies";
    let mut process = Process::start(test, &chats.file(), "honest");
    process.said("ack 3.");
    let error = chats.refused("user").await;
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert!(error.to_string().contains("the flow `monday` in "), "{error}");
    let other = chats.store("tuesday");
    other.open().await.expect("another flow of the file is free");
    put(&other, "user", 0, "at the same time").await;
    process.said("ack 9.");
    process.kill();
    assert!(read(&chats.file(), "user").await.expect("it is free").len() >= 9);
}

#[tokio::test]
async fn s6_a_link_to_the_file_is_the_same_file() {
    let chats = Chats::new();
    let store = chats.open().await;
    let link = chats.folder.path().join("link.db");
    #[cfg(unix)]
    std::os::unix::fs::symlink(chats.file(), &link).expect("a link");
    let error = read(&link, "user").await.expect_err("it is open");
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    drop(store);
    read(&link, "user").await.expect("it is free");
}

/// Stores what it is told to, and then says that it has failed.
struct Unsure(SqliteStore);

impl Store for Unsure {
    fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        self.0.open()
    }

    fn define(&self, definition: String) -> BoxFuture<'static, Result<(), StoreError>> {
        self.0.define(definition)
    }

    fn extent(&self, column: Name) -> BoxFuture<'static, Result<Extent, StoreError>> {
        self.0.extent(column)
    }

    fn load(
        &self,
        column: Name,
        steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
        self.0.load(column, steps)
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, StoreError>> {
        let is_last = column == "answer" && step == 1;
        let put = self.0.put(column, step, entry);
        async move {
            let put = put.await?;
            if is_last { Err(StoreError::other("the commit was not answered")) } else { Ok(put) }
        }
        .boxed()
    }
}

#[tokio::test]
async fn c5_what_was_stored_behind_an_error_is_adopted() -> Result<()> {
    let (chats, log) = (Chats::new(), Log::default());
    let answer = column("answer", source("user").latest(), log.upper("answer"));
    let flow = Flow::open(Unsure(chats.store("monday")), [&answer]).await?;
    for text in ["a", "b"] {
        flow.push("user", text).await?;
    }
    flow.run().await.expect_err("nobody knows what is stored");
    drop(flow);
    let flow = Flow::open(chats.store("monday"), [&answer]).await?;
    flow.run().await?;
    assert_eq!(flow.get("answer", 1).as_deref(), Some("<USER>\nB\n</USER>"));
    assert_eq!(log.calls(), 2, "nothing is computed twice");
    drop(flow);

    let store = chats.open().await;
    let put = store.put(name("answer"), 1, value("another")).await.expect("it can be asked");
    assert_eq!(put, Put::Exists(value("<USER>\nB\n</USER>")));
    Ok(())
}

#[tokio::test]
async fn s1_a_file_that_was_cut_or_emptied_is_an_error() {
    let chats = conversation().await;
    let whole = fs::read(chats.file()).expect("it is there");
    let stored = read(&chats.file(), "user").await.expect("it is sound");
    assert_eq!(stored.len(), 6);
    for length in (1..whole.len()).step_by(997) {
        fs::write(chats.file(), &whole[..length]).expect("it can be written");
        chats.refused("user").await;
        assert_eq!(
            fs::read(chats.file()).expect("it is there"),
            whole[..length],
            "nothing is mended at {length}"
        );
    }
    for page in 0..whole.len() / 8192 {
        let mut zeroed = whole.clone();
        zeroed[page * 8192..][..8192].fill(0);
        fs::write(chats.file(), &zeroed).expect("it can be written");
        match read(&chats.file(), "user").await {
            Err(_) => {}
            Ok(read) => assert_eq!(read, stored, "page {page}"),
        }
    }
}

#[tokio::test]
async fn s3_what_was_changed_moved_or_taken_away_is_an_error_of_its_cell() {
    // `user` is the first column, so its cells are those from 2^32 on.
    let cell = |step: i64| (1_i64 << 32) + step;
    let edits = [
        (
            format!("update cell set bytes = cast('else' as blob) where id = {}", cell(2)),
            2,
            "its checksum is another one",
        ),
        (format!("update cell set bytes = null where id = {}", cell(3)), 3, "its checksum is another one"),
        (format!("update cell set bytes = 'text' where id = {}", cell(1)), 1, "it is no blob"),
        (format!("delete from cell where id = {}", cell(5)), 5, "it was stored and is gone"),
        (format!("delete from cell where id = {}", cell(2)), 2, "it was stored and is gone"),
        (
            format!(
                "update cell set id = -1 where id = {a}; update cell set id = {a} where id = {b};
                 update cell set id = {b} where id = -1;",
                a = cell(1),
                b = cell(4)
            ),
            1,
            "its checksum is another one",
        ),
        (
            format!(
                "delete from cell where id = {a}; update cell set id = {a} where id = {a} + (1 << 32)",
                a = cell(3)
            ),
            3,
            "its checksum is another one",
        ),
        (
            format!("insert into cell values ({}, 0, cast('more' as blob))", cell(6)),
            6,
            "its checksum is another one",
        ),
    ];
    for (edit, step, what) in edits {
        let chats = conversation().await;
        chats.sql(&edit);
        let error = chats.refused("user").await;
        assert_eq!(error.to_string(), format!("`user` at step {step} is damaged: {what}"), "{edit}");
        // Everything else can be read, and nothing was changed by reading.
        let store = chats.open().await;
        let before = store.load(name("user"), 0..step.min(5)).await.expect("what is before it can be read");
        assert_eq!(before.len(), step.min(5));
        if !edit.contains("1 << 32") {
            assert_eq!(load(&store, "answer").await.expect("it is another column").len(), 6);
        }
        drop(store);
        assert_eq!(chats.refused("user").await.to_string(), error.to_string(), "{edit}, opened again");
    }
}

#[tokio::test]
async fn s3_what_says_what_the_values_are_is_held_to_its_checksum() {
    for (edit, what) in [
        ("update flow set definition = cast('{ }' as blob)", "what is kept of the flow has another checksum"),
        ("update flow set columns = 1", "what is kept of the flow has another checksum"),
        ("update column set complete = 2", "the checksum of a column is another one"),
        ("update column set name = 'usher' where name = 'user'", "the checksum of a column is another one"),
        ("delete from column where name = 'user'", "a column is gone"),
        ("drop table cell", "no such table"),
    ] {
        let chats = conversation().await;
        chats.sql(edit);
        let error = chats.refused("user").await;
        assert!(matches!(error, StoreError::Damaged { .. }), "{edit}: {error:?}");
        assert!(error.to_string().contains(what), "{edit}: {error}");
    }
}

#[tokio::test]
async fn s13_a_file_of_another_format_or_program_is_refused_and_stays_as_it_is() {
    let chats = Chats::new();
    for (make, what) in [
        ("pragma application_id = 0x636c6d6e; pragma user_version = 2; create table t (x)", "has format 2"),
        ("pragma application_id = 0x636c6d6e; create table t (x)", "is damaged: it has no format"),
        ("create table t (x)", "is a database of another program"),
        ("pragma application_id = 7; vacuum", "is a database of another program"),
    ] {
        chats.sql(make);
        let before = fs::read(chats.file()).expect("it is there");
        let error = chats.refused("user").await;
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(
            matches!(error, StoreError::Unsupported { found: 2, known: 1, .. }),
            what == "has format 2"
        );
        assert_eq!(fs::read(chats.file()).expect("it is there"), before, "{make}");
        fs::remove_file(chats.file()).expect("it is there");
    }
    fs::write(chats.file(), "Dear diary, ".repeat(1000)).expect("it can be written");
    let error = chats.refused("user").await;
    assert!(matches!(error, StoreError::Damaged { .. }) && !error.to_string().contains("diary"), "{error}");
    let error =
        read(&chats.folder.path().join("none/chats.db"), "user").await.expect_err("there is no folder");
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
}

/// A file as the first format has it, in the words of SQLite.
const FORMAT_1: &str = include_str!("fixtures/sqlite/format-1.sql");
/// What was done to it.
const BROKEN: &str = include_str!("fixtures/sqlite/format-1-broken.sql");

#[tokio::test]
async fn s13_files_of_format_1_are_read() {
    let chats = Chats::new();
    chats.sql(FORMAT_1);
    let store = chats.open().await;
    assert_eq!(store.open().await.expect("it is its own").as_deref(), Some("{\"columns\":[]}"));
    let user: Vec<_> = [(0, value("It is slow.")), (1, value("a\0b\r\n\u{1f469}")), (2, value(""))].into();
    assert_eq!(load(&store, "user").await.expect("it can be read"), user);
    let answer: Vec<_> = [(0, value("Since when?")), (1, Entry::Skipped), (3, value("ahead"))].into();
    assert_eq!(load(&store, "debate.answer").await.expect("it can be read"), answer);
    assert_eq!(
        store.extent(name("debate.answer")).await.expect("it can be read"),
        Extent { prefix: 2, beyond: vec![3] }
    );
    // And written as it was.
    put(&store, "debate.answer", 2, "The backup.").await;
    drop(store);
    chats.sql(BROKEN);
    assert_eq!(
        chats.refused("user").await.to_string(),
        "`user` at step 1 is damaged: its checksum is another one"
    );
    assert_eq!(read(&chats.file(), "debate.answer").await.expect("it is another column").len(), 4);
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
    for entry in fs::read_dir(folder).expect("it is there") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("text");
        for (at, _) in text.match_indices("format!(") {
            let made = text[at..].split(';').next().expect("a statement of Rust").to_lowercase();
            assert!(!words.iter().any(|word| made.contains(word)), "{made}");
        }
        statements += words.iter().map(|word| text.matches(&format!("\"{word}")).count()).sum::<usize>();
    }
    assert!(statements > 5, "{statements} were found");
}

#[tokio::test]
async fn i6_a_step_that_cannot_be_is_an_error() {
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
async fn x3_files_are_their_owners_alone() {
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

#[tokio::test]
async fn x2_errors_and_debug_texts_hold_nothing_of_the_values() {
    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "user", 0, "canary").await;
    assert!(!format!("{store:?}").contains("canary"));
    drop(store);
    chats.sql("update cell set sum = 1; pragma user_version = 1");
    let error = chats.refused("user").await;
    assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
}
