//! Copies of a file that is in use.

use std::fs;

use columnar::prelude::*;
use columnar::reopen;
use columnar::store::{SqliteStore, Store, StoreError};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;

use super::child::{CHILD, Process};
use super::{Chats, load, name, put, read, value};

/// Writes until it is killed, and prints the stored steps.
async fn write(file: &std::ffi::OsStr) {
    let store = SqliteStore::new(file, "monday");
    store.open().await.expect("the store is free");
    for step in 0..100_000 {
        put(&store, "user", step, &text(step)).await;
        println!("\nack {step}.");
    }
}

fn text(step: usize) -> String {
    format!("said at {step} ").repeat(50)
}

#[tokio::test(flavor = "multi_thread")]
async fn s20_a_copy_that_is_made_while_another_process_writes_has_all_confirmed_values() {
    let test = "s20_a_copy_that_is_made_while_another_process_writes_has_all_confirmed_values";
    if let Some(file) = std::env::var_os(CHILD) {
        return write(&file).await;
    }
    let chats = Chats::new();
    let here = chats.store("tuesday");
    here.open().await.expect("it is new");
    let mut process = Process::start(module_path!(), test, &chats.file(), "");
    for copy in 0..5 {
        let acks = (copy + 1) * 40;
        process.wait_for(&format!("ack {}.", acks - 1));
        put(&here, "user", copy, &text(copy)).await;
        let to = chats.folder.path().join(format!("copy {copy}.db"));
        SqliteStore::backup(chats.file(), &to).await.expect("it can be copied");
        assert_eq!(SqliteStore::flows(&to).await.expect("it is a file"), ["monday", "tuesday"]);
        let entries = read(&to, "user").await.expect("it is sound");
        assert!(entries.len() >= acks, "{acks} were confirmed, and {} are there", entries.len());
        assert!(entries.into_iter().all(|(step, entry)| entry == value(&text(step))));
        let store = SqliteStore::new(&to, "tuesday");
        store.open().await.expect("it is free");
        assert_eq!(load(&store, "user").await.expect("it is sound").len(), copy + 1);
        assert_eq!(reopen::verify(&store).await.expect("it can be read"), []);
    }
    process.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn s20_a_flow_continues_on_its_copy() -> Result<()> {
    let (chats, log) = (Chats::new(), Log::default());
    let answer = column("answer", source("user").latest(), log.upper("answer"));
    let flow = Flow::open(chats.store("monday"), [&answer]).await?;
    push_all(&flow, "user", ["a", "b"]).await?;
    flow.run().await?;
    let to = chats.folder.path().join("copy.db");
    SqliteStore::backup(chats.file(), &to).await.expect("it can be copied");
    push_all(&flow, "user", ["c"]).await?;
    flow.run().await?;
    let copy = Flow::open(SqliteStore::new(&to, "monday"), [&answer]).await?;
    assert_eq!((flow.steps(), copy.steps(), copy.forecast().cells), (3, 2, 0));
    push_all(&copy, "user", ["d"]).await?;
    copy.run().await?;
    assert_eq!(copy.get("answer", 2).as_deref(), Some("<USER>\nD\n</USER>"));
    assert_eq!(log.calls(), 4, "nothing is computed twice");
    Ok(())
}

#[tokio::test]
async fn s20_a_copy_overwrites_nothing_and_leaves_nothing_if_it_fails() {
    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "user", 0, "hello").await;
    let to = chats.folder.path().join("copy.db");
    let names = || {
        let mut names: Vec<_> = (fs::read_dir(chats.folder.path()).expect("it is there"))
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        names
    };
    let before = names();
    for text in ["", "mine"] {
        fs::write(&to, text).expect("it can be written");
        let error = SqliteStore::backup(chats.file(), &to).await.expect_err("it is there");
        assert!(error.to_string().contains("copy.db"), "{error}");
        assert_eq!(fs::read_to_string(&to).expect("it is there"), text);
        fs::remove_file(&to).expect("it is there");
        assert_eq!(names(), before);
    }
    let none = chats.folder.path().join("none");
    for (from, to) in [(&none, &to), (&chats.file(), &none.join("copy.db"))] {
        let error = SqliteStore::backup(from, to).await.expect_err("it is missing");
        assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
        assert_eq!(names(), before);
    }
    fs::write(&none, "").expect("it can be written");
    let error = SqliteStore::backup(&none, &to).await.expect_err("there is nothing in it");
    assert!(error.to_string().ends_with("none is empty: there is nothing to copy"), "{error}");
    fs::write(&none, "Dear diary, ".repeat(1000)).expect("it can be written");
    let error = SqliteStore::backup(&none, &to).await.expect_err("it is no database");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    fs::remove_file(&none).expect("it is there");
    assert_eq!(names(), before);
    // One that was interrupted.
    let part = chats.folder.path().join("copy.db-part");
    fs::write(&part, "half").expect("it can be written");
    let error = SqliteStore::backup(chats.file(), &to).await.expect_err("it may be another one");
    assert!(error.to_string().contains("copy.db-part, which another copy uses"), "{error}");
    fs::remove_file(&part).expect("it is there");
    SqliteStore::backup(chats.file(), &to).await.expect("it can be copied");
}

/// The copy was made, and its first opening read the log of an earlier file with its name: other values, or "malformed".
#[tokio::test(flavor = "multi_thread")]
async fn s20_a_copy_beside_the_log_of_an_earlier_file_is_refused() {
    let test = "s20_a_copy_beside_the_log_of_an_earlier_file_is_refused";
    if let Some(file) = std::env::var_os(CHILD) {
        return write(&file).await;
    }
    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "user", 0, "hello").await;
    let folder = fs::canonicalize(chats.folder.path()).expect("it is there");
    let to = folder.join("copy.db");
    // An earlier copy was used, and its program was killed.
    let mut process = Process::start(module_path!(), test, &to, "");
    process.wait_for("ack 20.");
    process.kill();
    fs::remove_file(&to).expect("it is there");
    let refused = || async {
        let error = SqliteStore::backup(chats.file(), &to).await.expect_err("it would be another file");
        assert!(!to.exists() && !folder.join("copy.db-part").exists());
        error.to_string()
    };
    let names = ["-wal", "-shm"].map(|end| folder.join(format!("copy.db{end}")).display().to_string());
    let error = refused().await;
    assert!(
        error.starts_with(&names.join(" and ")) && error.ends_with("remove or rename it first"),
        "{error}"
    );
    names.iter().for_each(|name| fs::remove_file(name).expect("it is there"));
    let journal = folder.join("copy.db-journal");
    fs::write(&journal, "an earlier one").expect("it can be written");
    let error = refused().await;
    assert!(error.starts_with(&journal.display().to_string()), "{error}");
    fs::remove_file(journal).expect("it is there");
    SqliteStore::backup(chats.file(), &to).await.expect("nothing is in the way");
    assert_eq!(read(&to, "user").await.expect("it is whole"), [(0, value("hello"))]);
}

/// The error named one of the two files that are left, and the other one stayed for good.
#[tokio::test]
async fn s20_a_copy_that_was_interrupted_leaves_nothing_when_it_is_made_again() {
    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "user", 0, "hello").await;
    let [to, part, journal] =
        ["copy.db", "copy.db-part", "copy.db-part-journal"].map(|name| chats.folder.path().join(name));
    for path in [&part, &journal] {
        fs::write(path, "half").expect("it can be written");
    }
    let error = SqliteStore::backup(chats.file(), &to).await.expect_err("it may be another one").to_string();
    assert!(error.contains("can be removed with ") && error.contains("copy.db-part-journal"), "{error}");
    assert!(part.exists() && journal.exists());
    fs::remove_file(&part).expect("it is there");
    SqliteStore::backup(chats.file(), &to).await.expect("it can be copied");
    assert!(!part.exists() && !journal.exists());
    assert_eq!(read(&to, "user").await.expect("it is whole"), [(0, value("hello"))]);
}

/// A process that died when the copy had got its name left two names, and the copy was refused until one was removed.
#[cfg(unix)]
#[tokio::test]
async fn s20_a_copy_that_was_interrupted_when_it_was_complete_is_opened() {
    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "user", 0, "hello").await;
    let [to, part] = ["copy.db", "copy.db-part"].map(|name| chats.folder.path().join(name));
    SqliteStore::backup(chats.file(), &to).await.expect("it can be copied");
    for is_opened in [true, false] {
        fs::hard_link(&to, &part).expect("it can be linked");
        if !is_opened {
            let error = SqliteStore::backup(chats.file(), &to).await.expect_err("it is there");
            assert!(error.to_string().contains("exists"), "{error}");
            assert!(!part.exists());
        }
        assert_eq!(read(&to, "user").await.expect("it is whole"), [(0, value("hello"))]);
        assert!(!part.exists());
    }
    // The file of another copy is none of its names.
    fs::write(&part, "half").expect("it can be written");
    assert_eq!(read(&to, "user").await.expect("it is whole").len(), 1);
    fs::hard_link(&to, chats.folder.path().join("link.db")).expect("it can be linked");
    let error = read(&to, "user").await.expect_err("it has two names");
    assert!(error.to_string().contains("copy.db has 2 names"), "{error}");
    assert_eq!(fs::read_to_string(part).expect("it is there"), "half");
}

#[cfg(unix)]
#[tokio::test]
async fn s20_a_copy_is_readable_by_its_owner_only_and_has_no_deleted_text() {
    use std::os::unix::fs::PermissionsExt;

    const CANARY: &str = "said by a person who wants it to be forgotten";
    let chats = Chats::new();
    let (store, other) = (chats.open().await, chats.store("tuesday"));
    other.open().await.expect("it is new");
    for step in 0..200 {
        put(&store, "user", step, CANARY).await;
        put(&other, "user", step, "kept").await;
    }
    drop(store);
    chats.store("monday").delete().await.expect("it is closed");
    let to = chats.folder.path().join("copy.db");
    SqliteStore::backup(chats.file(), &to).await.expect("it can be copied");
    assert_eq!(fs::metadata(&to).expect("it is there").permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&to).expect("it is there");
    assert!(!bytes.windows(CANARY.len()).any(|bytes| bytes == CANARY.as_bytes()));
    let copy = SqliteStore::new(&to, "tuesday");
    copy.open().await.expect("it is free");
    assert_eq!(copy.load(name("user"), 0..999).await.expect("it is sound").len(), 200);
}
