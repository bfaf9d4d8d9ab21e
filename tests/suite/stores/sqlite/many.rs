//! Many flows of one file that are open at once, in one process and in several.

use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

use columnar::prelude::*;
use columnar::store::{SqliteStore, Store, StoreError};
use columnar_tests::log::Log;
use columnar_tests::process::{test_alone, with_open_files};
use futures::future::{join_all, try_join_all};

use super::child::{CHILD, Process};
use super::{Chats, load, name, put, read, value};

/// The number of conversations of a service.
const MANY: usize = 1000;

/// Opens this number of conversations at once.
async fn conversations(file: &Path, log: &Log) -> Result<Vec<Flow>> {
    let answer = column("answer", source("user").latest(), log.upper("answer"));
    try_join_all((0..MANY).map(|key| Flow::open(SqliteStore::new(file, key.to_string()), [&answer]))).await
}

/// Each open flow took three file descriptors: the connection, its log and a lock. With 1,024 of them, 127 of 500
/// conversations were completed.
#[tokio::test]
async fn s15_a_thousand_flows_of_one_file_are_open_at_once_with_few_descriptors() -> Result<()> {
    let Some(file) = env::var_os(CHILD) else {
        let chats = Chats::new();
        let test = "s15_a_thousand_flows_of_one_file_are_open_at_once_with_few_descriptors";
        let mut child: Command = test_alone(module_path!(), test);
        let output = with_open_files(256, child.env(CHILD, chats.file())).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("all are here"), "{text}");
        let left = fs::read_dir(chats.folder.path()).expect("it is there").count();
        assert_eq!(left, 1, "nothing is left beside the file");
        return Ok(());
    };
    let log = Log::default();
    for step in 0..2 {
        let chats = conversations(file.as_ref(), &log).await?;
        try_join_all(chats.iter().map(|chat| chat.push("user", "hello"))).await?;
        try_join_all(chats.iter().map(|chat| async { chat.run().await })).await?;
        assert_eq!(log.calls(), MANY * (step + 1), "nothing is computed twice");
    }
    let chats = conversations(file.as_ref(), &log).await?;
    for chat in &chats {
        assert_eq!(chat.steps(), 2);
        assert_eq!(chat.get("answer", 1).as_deref(), Some("<USER>\nHELLO\n</USER>"));
    }
    println!("all are here");
    Ok(())
}

fn text(flow: usize, step: usize) -> String {
    format!("said in {flow} at {step} ").repeat(100)
}

/// Writes to many flows at once until it is killed, and prints the steps that all flows have stored.
async fn write(file: &Path) {
    let stores: Vec<_> = (0..40).map(|flow| SqliteStore::new(file, flow.to_string())).collect();
    for opened in join_all(stores.iter().map(Store::open)).await {
        opened.expect("the flow is free");
    }
    for step in 0..10_000 {
        let puts = stores.iter().enumerate().map(async |(flow, store)| {
            put(store, "user", step, &text(flow, step)).await;
        });
        join_all(puts).await;
        println!("ack {step}.");
    }
}

#[tokio::test]
async fn c2_many_flows_of_a_killed_process_have_all_confirmed_values_and_no_lock() {
    if let Some(file) = env::var_os(CHILD) {
        return write(file.as_ref()).await;
    }
    for acks in [1, 2, 9, 30] {
        let chats = Chats::new();
        let test = "c2_many_flows_of_a_killed_process_have_all_confirmed_values_and_no_lock";
        let mut process = Process::start(module_path!(), test, &chats.file(), "");
        process.wait_for(&format!("ack {}.", acks - 1));
        process.kill();
        let stores: Vec<_> = (0..40).map(|flow| chats.store(&flow.to_string())).collect();
        for (flow, store) in stores.iter().enumerate() {
            store.open().await.expect("it is free");
            let entries = load(store, "user").await.expect("it can be read");
            assert!(entries.len() >= acks, "{acks} are confirmed, and there are {}", entries.len());
            assert!(entries.into_iter().all(|(step, entry)| entry == value(&text(flow, step))));
        }
        drop(stores);
        assert_eq!(fs::read_dir(chats.folder.path()).expect("it is there").count(), 1, "no lock is left");
    }
}

/// Holds the flows of these keys until it is killed.
async fn hold(file: &Path, keys: &str) {
    let stores: Vec<_> = keys.split(' ').map(|key| SqliteStore::new(file, key)).collect();
    for store in &stores {
        store.open().await.expect("the flow is free");
    }
    println!("\nopen");
    io::stdin().read_line(&mut String::new()).expect("it waits to be killed");
}

/// The locks of a process are names of one file, so the lock of one name is that of all.
#[tokio::test]
async fn s6_the_flows_of_a_killed_process_are_free_one_by_one() {
    let test = "s6_the_flows_of_a_killed_process_are_free_one_by_one";
    if let Some(file) = env::var_os(CHILD) {
        return hold(file.as_ref(), &env::var("HOW").expect("it is set")).await;
    }
    let chats = Chats::new();
    let start = |keys| {
        let mut process = Process::start(module_path!(), test, &chats.file(), keys);
        process.wait_for("open");
        process
    };
    let locked = async |key: &str| matches!(chats.store(key).open().await, Err(StoreError::Locked { .. }));
    let first = start("a b c d");
    assert_eq!(SqliteStore::flows(chats.file()).await.expect("no lock is needed"), ["a", "b", "c", "d"]);
    let refused = chats.store("b").delete().await;
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "another process has it open: {refused:?}");
    let here = chats.store("e");
    here.open().await.expect("a flow that nobody has open");
    assert!(locked("a").await && locked("d").await, "the first process has them");
    first.kill();

    let mine = chats.store("a");
    mine.open().await.expect("its owner is gone");
    let second = start("b c");
    assert!(locked("b").await && locked("c").await, "the second process has taken them over");
    let rest = chats.store("d");
    rest.open().await.expect("nobody has it");
    put(&mine, "user", 0, "here").await;
    second.kill();
    assert_eq!(read(&chats.file(), "user").await.expect("another flow"), []);
    assert!(!locked("b").await && locked("a").await && locked("d").await);
    drop((here, mine, rest));
    assert!(!locked("a").await && !locked("d").await && !locked("e").await);
}

/// Deletes flows until it is killed.
async fn delete(file: &Path) {
    for flow in 0..DOOMED {
        SqliteStore::new(file, flow.to_string()).delete().await.expect("it is closed");
        println!("\ndeleted {flow}.");
    }
    println!("\nall are gone");
    io::stdin().read_line(&mut String::new()).expect("it waits to be killed");
}

const DOOMED: usize = 12;

#[tokio::test]
async fn s16_a_deletion_by_a_killed_process_is_whole_or_not_at_all() {
    if let Some(file) = env::var_os(CHILD) {
        return delete(file.as_ref()).await;
    }
    for deleted in [1, 2, 5, 9] {
        let chats = Chats::new();
        // More cells than one transaction deletes.
        for flow in 0..DOOMED {
            let store = chats.store(&flow.to_string());
            store.open().await.expect("it is new");
            let puts = (0..1500).map(|step| store.put(name("user"), step, value("short")));
            assert!(join_all(puts).await.iter().all(Result::is_ok));
        }
        let test = "s16_a_deletion_by_a_killed_process_is_whole_or_not_at_all";
        let mut process = Process::start(module_path!(), test, &chats.file(), "");
        process.wait_for(&format!("deleted {}.", deleted - 1));
        process.kill();
        let listed = SqliteStore::flows(chats.file()).await.expect("it can be read");
        for flow in 0..DOOMED {
            let (key, store) = (flow.to_string(), chats.store(&flow.to_string()));
            store.open().await.expect("it is free");
            let entries = load(&store, "user").await.expect("it is sound").len();
            assert_eq!(entries, if listed.contains(&key) { 1500 } else { 0 }, "{flow} after {deleted}");
            assert!(flow >= deleted || entries == 0, "{flow} is deleted");
            store.put(name("user"), 1500, value("more")).await.expect("it can be continued");
        }
    }
}
