//! Listing and deleting the flows of a location, on all stores.

use std::fmt::Debug;
use std::fs;

use columnar::prelude::*;
#[cfg(feature = "postgres")]
use columnar::store::PostgresStore;
#[cfg(feature = "sqlite")]
use columnar::store::SqliteStore;
use columnar::store::{FileStore, MemoryStore, Store, StoreError};
use columnar_tests::log::Log;
#[cfg(feature = "postgres")]
use columnar_tests::postgres::Database;

/// Lists, deletes and makes flows of one location, whose keys `list` returns in order.
async fn lists_and_deletes<S, K, L>(
    flow: impl Fn(&str) -> S,
    list: impl Fn() -> L,
    key: impl Fn(&str) -> K,
) -> Result<()>
where
    S: Store,
    K: Debug + PartialEq,
    L: Future<Output = Result<Vec<K>, StoreError>>,
{
    let log = Log::default();
    let answer = column("answer", source("user").latest(), log.upper("answer"));
    let listed = async |expected: &[&str]| {
        let expected: Vec<K> = expected.iter().map(|expected| key(expected)).collect();
        assert_eq!(list().await.expect("they can be listed"), expected);
    };
    listed(&[]).await;
    flow("none").delete().await.expect("there is nothing to delete");
    listed(&[]).await;
    for name in ["wednesday", "monday", "tuesday"] {
        let chat = Flow::open(flow(name), [&answer]).await?;
        chat.push("user", name).await?;
        chat.run().await?;
    }
    listed(&["monday", "tuesday", "wednesday"]).await;

    let monday = Flow::open(flow("monday"), [&answer]).await?;
    let refused = flow("monday").delete().await;
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "it is open: {refused:?}");
    flow("tuesday").delete().await.expect("it is closed");
    listed(&["monday", "wednesday"]).await;
    monday.push("user", "again").await?;
    monday.run().await?;

    let tuesday = Flow::open(flow("tuesday"), [&answer]).await?;
    assert_eq!(tuesday.steps(), 0, "the key is that of a new flow");
    tuesday.push("user", "another").await?;
    tuesday.run().await?;
    assert_eq!(tuesday.get("answer", 0).as_deref(), Some("<USER>\nANOTHER\n</USER>"));
    listed(&["monday", "tuesday", "wednesday"]).await;
    drop((monday, tuesday));
    for name in ["monday", "wednesday"] {
        let chat = Flow::open(flow(name), [&answer]).await?;
        assert_eq!(chat.get("user", 0).as_deref(), Some(name), "the others are as they were");
    }
    assert_eq!(log.calls(), 5, "nothing is computed again");
    for name in ["monday", "tuesday", "wednesday"] {
        flow(name).delete().await.expect("it is closed");
    }
    listed(&[]).await;
    Ok(())
}

#[tokio::test]
async fn s16_flows_in_memory_are_listed_and_deleted() -> Result<()> {
    let memory = MemoryStore::new();
    lists_and_deletes(|key| memory.flow(key), async || Ok(memory.flows()), str::to_owned).await?;
    // The flow of the store itself has a key as well.
    memory.open().await.expect("it is free");
    assert_eq!(memory.flows(), [""]);
    Ok(())
}

#[tokio::test]
async fn s16_flows_in_folders_are_listed_and_deleted() -> Result<()> {
    let scratch = tempfile::tempdir().expect("a folder");
    let chats = scratch.path().join("chats");
    assert!(FileStore::flows(&chats).await.expect("there is no folder").is_empty());
    fs::create_dir_all(chats.join("notes/user")).expect("it can be made");
    fs::write(chats.join("notes/user/0.txt"), "no flow").expect("it can be written");
    fs::write(chats.join("README.md"), "no folder").expect("it can be written");
    let flow = |key: &str| FileStore::new(chats.join(key));
    lists_and_deletes(flow, || FileStore::flows(&chats), |key| chats.join(key)).await?;
    let mut left: Vec<_> = fs::read_dir(&chats)
        .expect("it is there")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["README.md", "notes"], "only flows are deleted");
    assert!(chats.join("notes/user/0.txt").exists());
    Ok(())
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn s16_flows_in_a_sqlite_file_are_listed_and_deleted() -> Result<()> {
    let scratch = tempfile::tempdir().expect("a folder");
    let file = scratch.path().join("chats.db");
    let flow = |key: &str| SqliteStore::new(&file, key);
    assert_eq!(SqliteStore::flows(&file).await.expect("there is no file"), [""; 0]);
    flow("none").delete().await.expect("there is no file");
    assert!(!file.exists(), "it is not made");
    lists_and_deletes(flow, || SqliteStore::flows(&file), str::to_owned).await
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn s16_flows_in_a_postgres_database_are_listed_and_deleted() -> Result<()> {
    let Some(database) = Database::new("s16, listed").await else { return Ok(()) };
    let address = database.address();
    assert_eq!(PostgresStore::flows(&address).await.expect("there are no tables"), [""; 0]);
    let tables: bool = database.one("select to_regclass('columnar_flows') is not null").await;
    assert!(!tables, "they are not made");
    let flow = |key: &str| PostgresStore::new(&address, key);
    lists_and_deletes(flow, || PostgresStore::flows(&address), str::to_owned).await?;
    let left: i64 = database.one("select count(*) from columnar_cells").await;
    assert_eq!(left, 0);
    Ok(())
}
