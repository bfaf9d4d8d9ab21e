//! The owner of a flow, and processes that are killed during a write.

use std::env;
use std::path::Path;

use columnar::prelude::*;
use columnar::store::{Put, SqliteStore, Store, StoreError, StoredSteps};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use columnar_tests::store::on_put;
use futures::future::join_all;

use super::child::{CHILD, Process};
use super::{Chats, load, name, put, read, value};

/// Writes until it is killed, and prints the stored steps.
async fn write(file: &Path, is_honest: bool) {
    let store = SqliteStore::new(file, "monday");
    store.open().await.expect("the store is free");
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

/// A text of several pages.
fn text(step: usize) -> String {
    format!("said at {step} ").repeat(1000)
}

/// Kills a writing process after this number of confirmed steps, and checks the file.
async fn killed_after(acks: usize, how: &str) -> Result<(), String> {
    let chats = Chats::new();
    let test = "c4_confirmed_values_survive_a_kill_and_none_is_partial";
    let mut process = Process::start(module_path!(), test, &chats.file(), how);
    process.wait_for("open");
    if let Some(last) = acks.checked_sub(1) {
        process.wait_for(&format!("ack {last}."));
    }
    process.kill();

    let store = chats.store("monday");
    store.open().await.map_err(|error| error.to_string())?;
    for column in ["user", "answer", "topics"] {
        let stored_steps = store.stored_steps(name(column)).await.map_err(|error| error.to_string())?;
        let entries = load(&store, column).await.map_err(|error| error.to_string())?;
        if entries.len() < acks || stored_steps != (StoredSteps { prefix: entries.len(), beyond: vec![] }) {
            return Err(format!("{acks} steps of {column} are confirmed, and there are {}", entries.len()));
        }
        if !entries.into_iter().all(|(step, entry)| entry == value(&text(step))) {
            return Err(format!("{column} is torn"));
        }
        // A new owner can write the next step.
        put(&store, column, stored_steps.prefix, "more").await;
    }
    Ok(())
}

#[tokio::test]
async fn c4_confirmed_values_survive_a_kill_and_none_is_partial() {
    if let Some(file) = env::var_os(CHILD) {
        return write(Path::new(&file), env::var("HOW").as_deref() == Ok("honest")).await;
    }
    // In the last case, the log of SQLite has been written back once.
    for acks in [0, 1, 2, 7, 50, 200] {
        assert_eq!(killed_after(acks, "honest").await, Ok(()), "after {acks}");
    }
    assert!(killed_after(3, "false").await.is_err(), "a writer that confirms without storing is caught");
}

#[tokio::test]
async fn s6_a_flow_has_one_process_and_is_free_after_its_death() {
    if let Some(file) = env::var_os(CHILD) {
        return write(Path::new(&file), true).await;
    }
    let chats = Chats::new();
    let test = "s6_a_flow_has_one_process_and_is_free_after_its_death";
    let mut process = Process::start(module_path!(), test, &chats.file(), "honest");
    process.wait_for("ack 3.");
    let error = chats.refused("user").await;
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert!(error.to_string().contains("the flow `monday` in "), "{error}");
    let other = chats.store("tuesday");
    other.open().await.expect("another flow of the file is free");
    put(&other, "user", 0, "at the same time").await;
    process.wait_for("ack 9.");
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

#[tokio::test]
async fn c5_a_value_stored_despite_an_error_is_adopted() -> Result<()> {
    let (chats, log) = (Chats::new(), Log::default());
    let answer = column("answer", source("user").latest(), log.upper("answer"));
    let unsure = on_put(chats.store("monday"), async |inner, column, step, entry| {
        let is_last = column == "answer" && step == 1;
        let put = inner.put(column, step, entry).await?;
        if is_last { Err(StoreError::other("the commit was not answered")) } else { Ok(put) }
    });
    let flow = Flow::open(unsure, [&answer]).await?;
    push_all(&flow, "user", ["a", "b"]).await?;
    flow.run().await.expect_err("the outcome is unknown");
    drop(flow);
    let flow = Flow::open(chats.store("monday"), [&answer]).await?;
    flow.run().await?;
    assert_eq!(flow.get("answer", 1).as_deref(), Some("<USER>\nB\n</USER>"));
    assert_eq!(log.calls(), 2, "nothing is computed twice");
    drop(flow);

    let store = chats.open().await;
    let put = store.put(name("answer"), 1, value("another")).await.expect("it can be asked");
    let Put::Exists(stored) = put else { panic!("{put:?}") };
    assert_eq!(stored.value.as_deref(), Some("<USER>\nB\n</USER>"));
    Ok(())
}
