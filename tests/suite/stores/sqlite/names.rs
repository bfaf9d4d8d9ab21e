//! Files that are removed, moved or replaced while flows are open. Outside Unix the system refuses that.
#![cfg(unix)]

use std::path::Path;
use std::{env, fs, io};

use columnar::prelude::*;
use columnar::store::{SqliteStore, Store, StoreError};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;

use super::child::{CHILD, Process};
use super::{Chats, load, name, put, read, value};

fn unwritable(path: &Path, reason: &str) -> String {
    format!(
        "{} cannot be written to: {reason}; close the flows of this file in all programs, restore it, and open them again",
        path.display()
    )
}

/// The connection of a file that is open is shared, and it does not notice that its path leads elsewhere.
#[tokio::test]
async fn s10_nothing_is_written_if_the_file_was_moved_or_replaced() {
    let chats = Chats::new();
    let (store, other) = (chats.store("monday"), chats.store("tuesday"));
    store.open().await.expect("it is free");
    put(&store, "user", 0, "before").await;
    let aside = chats.folder.path().join("aside.db");
    fs::rename(chats.file(), &aside).expect("it can be moved");
    let file = fs::canonicalize(chats.folder.path()).expect("it is there").join("chats.db");
    let error = store.put(name("user"), 1, value("lost")).await.expect_err("it is gone").to_string();
    assert_eq!(error, unwritable(&file, "it is missing"));
    fs::write(chats.file(), "").expect("it can be written");
    let error = other.open().await.expect_err("it is another file").to_string();
    assert_eq!(error, unwritable(&file, "it was replaced by another file"));
    let refused = store.put(name("user"), 1, value("lost")).await;
    assert!(matches!(refused, Err(StoreError::Halted)), "{refused:?}");
    assert_eq!(load(&store, "user").await.expect("it can be read").len(), 1);

    drop(store);
    // SQLite would remove it.
    let error = other.open().await.expect_err("the log has values of the file that was moved").to_string();
    assert!(error.contains("chats.db-wal is damaged: it has values of "), "{error}");
    fs::rename(&aside, chats.file()).expect("it can be moved");
    assert_eq!(read(&chats.file(), "user").await.expect("it is whole"), [(0, value("before"))]);
}

/// SQLite writes to a log without a name. 180 values were confirmed that nobody could read after a crash.
#[tokio::test]
async fn s10_nothing_is_confirmed_without_the_file_its_log_or_its_index() {
    for end in ["", "-wal", "-shm"] {
        for is_replaced in [false, true] {
            let chats = Chats::new();
            let store = chats.open().await;
            put(&store, "user", 0, "before").await;
            let folder = fs::canonicalize(chats.folder.path()).expect("it is there");
            let path = folder.join(format!("chats.db{end}"));
            let aside = folder.join("aside");
            fs::copy(&path, &aside).expect("it can be read");
            fs::remove_file(&path).expect("it is there");
            if is_replaced {
                fs::rename(&aside, &path).expect("it can be moved");
            }
            let reason = if is_replaced { "it was replaced by another file" } else { "it is missing" };
            for write in 0..2 {
                let refused = match write {
                    0 => store.define("{}".into()).await,
                    _ => store.put(name("user"), 1, value("lost")).await.map(drop),
                };
                let error = refused.expect_err("it could be lost");
                // The first failure halts the flow.
                match write {
                    0 => assert_eq!(error.to_string(), unwritable(&path, reason)),
                    _ => assert!(matches!(error, StoreError::Halted), "{error:?}"),
                }
            }
        }
    }
}

/// SQLite writes beyond the end of a log that was cut. What it confirmed then was "malformed" when it was opened again.
#[tokio::test(flavor = "multi_thread")]
async fn s10_nothing_is_confirmed_in_a_log_that_was_cut() {
    // The bytes that are left, in hundredths.
    for left in [0, 1, 30, 90, 99] {
        let chats = Chats::new();
        let (store, other) = (chats.open().await, chats.store("tuesday"));
        other.open().await.expect("it is new");
        for step in 0..20 {
            put(&store, "user", step, &"before ".repeat(400)).await;
        }
        let log = fs::canonicalize(chats.folder.path()).expect("it is there").join("chats.db-wal");
        let file = fs::File::options().write(true).open(&log).expect("it is there");
        let length = file.metadata().expect("it is open").len();
        file.set_len(length * left / 100).expect("it can be cut");
        let error = store.put(name("user"), 20, value("lost")).await.expect_err("it could be lost");
        assert_eq!(error.to_string(), unwritable(&log, "it was cut"), "{left}");
        let error = store.put(name("user"), 21, value("lost")).await.expect_err("the first failure halts it");
        assert!(matches!(error, StoreError::Halted), "{error:?}");
        let error = other.put(name("user"), 0, value("lost")).await.expect_err("it is the same log");
        assert_eq!(error.to_string(), unwritable(&log, "it was cut"), "{left}");
        drop((store, other));
        let error = read(&chats.file(), "user").await.expect_err("confirmed values are lost").to_string();
        assert!(error.contains("chats.db-wal is damaged: ") && error.contains("confirmed"), "{error}");
    }
}

/// Another program may write the log back, and may empty it.
#[tokio::test]
async fn s10_a_log_that_another_program_has_emptied_is_not_cut() {
    let chats = Chats::new();
    let store = chats.open().await;
    let other = rusqlite::Connection::open(chats.file()).expect("a database");
    for step in 0..12 {
        put(&store, "user", step, &"long ".repeat(2000)).await;
        let write_back = [
            "pragma wal_checkpoint(truncate)",
            "pragma wal_checkpoint(restart)",
            "pragma wal_checkpoint(passive)",
        ];
        let is_busy = other.query_row(write_back[step % 3], (), |row| row.get::<_, i64>(0));
        assert_eq!(is_busy.expect("nobody writes"), 0);
    }
    drop((store, other));
    assert_eq!(read(&chats.file(), "user").await.expect("it is whole").len(), 12);
}

/// As advised by the error: SQLite still has the log, and writes it back when the flows are closed.
#[tokio::test]
async fn s10_values_in_a_log_that_was_removed_are_kept_when_its_flows_are_closed() {
    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "user", 0, "before").await;
    let mut log = chats.file().into_os_string();
    log.push("-wal");
    fs::remove_file(log).expect("it is there");
    store.put(name("user"), 1, value("lost")).await.expect_err("it could be lost");
    drop(store);
    assert_eq!(read(&chats.file(), "user").await.expect("it is whole"), [(0, value("before"))]);
}

/// Holds the flow until it is killed.
async fn hold(file: &Path) {
    let store = SqliteStore::new(file, "monday");
    store.open().await.expect("its lock is gone");
    println!("\nopen");
    io::stdin().read_line(&mut String::new()).expect("it waits to be killed");
}

/// A second process computed beside the first one.
#[tokio::test(flavor = "multi_thread")]
async fn s10_an_owner_whose_lock_was_removed_writes_nothing_more() -> Result<()> {
    let test = "s10_an_owner_whose_lock_was_removed_writes_nothing_more";
    if let Some(file) = env::var_os(CHILD) {
        hold(file.as_ref()).await;
        return Ok(());
    }
    let (chats, log) = (Chats::new(), Log::default());
    let answer = column("answer", source("user").latest(), log.upper("answer"));
    let flow = Flow::open(chats.store("monday"), [&answer]).await?;
    let other = chats.store("tuesday");
    other.open().await.expect("it is new");
    push_all(&flow, "user", ["a"]).await?;
    flow.run().await?;
    let lock = fs::canonicalize(chats.folder.path()).expect("it is there").join("chats.db-lock-1");
    fs::remove_file(&lock).expect("it is there");
    let mut second = Process::start(module_path!(), test, &chats.file(), "");
    second.wait_for("open");

    let error = push_all(&flow, "user", ["b"]).await.expect_err("another process owns the flow");
    let text = format!("{error:?}");
    assert!(text.contains(&lock.display().to_string()) && text.contains("another process may own"), "{text}");
    put(&other, "user", 0, "its lock is here").await;
    let third = chats.store("wednesday");
    third.open().await.expect("its lock is no name of the lock of another process");
    drop(flow);
    assert!(lock.exists(), "it is the lock of the second process");
    let refused = chats.store("monday").open().await;
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    second.kill();
    let refused = SqliteStore::new(chats.file(), "wednesday").open().await;
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    let flow = Flow::open(chats.store("monday"), [&answer]).await?;
    assert_eq!((flow.steps(), log.calls()), (1, 1));
    drop(third);
    Ok(())
}

/// A program that opened the other name had another log and other locks.
#[tokio::test]
async fn s10_a_file_with_several_names_is_not_opened() {
    let chats = Chats::new();
    let link = chats.folder.path().join("link.db");
    let store = chats.open().await;
    put(&store, "user", 0, "before").await;
    fs::hard_link(chats.file(), &link).expect("it can be linked");
    let error = read(&link, "user").await.expect_err("it is another name of a file that is open");
    assert!(error.to_string().contains("link.db has 2 names"), "{error}");
    put(&store, "user", 1, "nobody else has it open").await;
    drop(store);
    assert!(read(&chats.file(), "user").await.is_err());
    fs::remove_file(link).expect("it is there");
    assert_eq!(load(&chats.open().await, "user").await.expect("it is whole").len(), 2);
}
