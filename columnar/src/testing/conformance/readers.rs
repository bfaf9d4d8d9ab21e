//! The checks of clause 14: readers beside an owner.

use futures::future::join;

use super::handles::{is_locked, load, opened, paid, put, store, stored_steps};
use crate::declare::Name;
use crate::store::{Entry, Put, Store, StoreError};

const CLAUSE: &str = "clause 14: a reader reads what was confirmed, and writes nothing";

pub(super) async fn lets_readers_in<S: Store, H: Fn() -> S>(location: &impl Fn() -> H) {
    let handle = location();
    let owner = opened(&handle).await;
    assert!(owner.define("{}".to_owned()).await.is_ok(), "{CLAUSE}: it can be defined");
    store(&owner, "user", 0, paid("first".into()), CLAUSE).await;
    store(&owner, "topics", 0, Entry::SKIPPED, CLAUSE).await;
    let reader = handle();
    match reader.open_to_read().await {
        Ok(definition) => assert_eq!(definition.as_deref(), Some("{}"), "{CLAUSE}"),
        // It has no reading of its own, so the owner has it.
        refused if is_locked(&refused) => return,
        Err(error) => unreachable!("{CLAUSE}, but {error}"),
    }
    assert_eq!(load(&reader, "user").await, [(0, paid("first".into()))], "{CLAUSE}");
    assert_eq!(load(&reader, "topics").await, [(0, Entry::SKIPPED)], "{CLAUSE}");
    assert_eq!(stored_steps(&reader, "user").await.prefix, 1, "{CLAUSE}");
    assert!(load(&reader, "mood").await.is_empty(), "{CLAUSE}");
    refuses_writes(&reader).await;
    // Values and columns that come later are there for the next reader.
    store(&owner, "user", 1, paid("second".into()), CLAUSE).await;
    store(&owner, "mood", 0, Entry::from("good"), CLAUSE).await;
    assert!(reader.open_to_read().await.is_ok(), "{CLAUSE}: it can be opened again");
    assert_eq!(stored_steps(&reader, "user").await.prefix, 2, "{CLAUSE}");
    assert_eq!(load(&reader, "mood").await, [(0, Entry::from("good"))], "{CLAUSE}");
    drop(reader);
    is_read_while_it_is_written(&owner, &handle).await;
    // No reader has taken the ownership, or given it up for the owner.
    let late = handle().open().await;
    assert!(is_locked(&late), "{CLAUSE}: the owner is still the owner, but {late:?}");
    drop(owner);
    let reader = handle();
    assert!(reader.open_to_read().await.is_ok(), "{CLAUSE}: without an owner, too");
    let owner = handle();
    assert!(owner.open().await.is_ok(), "{CLAUSE}: a reader keeps no owner out");
    store(&owner, "user", 99, Entry::from("last"), CLAUSE).await;
    // A handle that owned the flow gives it up.
    assert!(owner.open_to_read().await.is_ok(), "{CLAUSE}");
    refuses_writes(&owner).await;
    let _next = opened(&handle).await;
}

async fn refuses_writes<S: Store>(reader: &S) {
    // A stored cell, and a free one.
    for step in [0, 1_000] {
        let refused = reader.put(Name::known("user"), step, Entry::from("no")).await;
        assert!(matches!(refused, Err(StoreError::ReadOnly)), "{CLAUSE}, but {refused:?}");
    }
    let refused = reader.define("no".to_owned()).await;
    assert!(matches!(refused, Err(StoreError::ReadOnly)), "{CLAUSE}, but {refused:?}");
    assert!(load(reader, "user").await.iter().all(|(step, _)| *step != 1_000), "{CLAUSE}");
}

/// Readers come and go while a column grows: each sees a prefix, and never less than the one before.
async fn is_read_while_it_is_written<S: Store>(owner: &S, handle: &impl Fn() -> S) {
    let write = async {
        for step in 2..50 {
            assert_eq!(
                put(owner, "user", step, paid(format!("value {step}"))).await,
                Put::Stored,
                "{CLAUSE}"
            );
        }
    };
    let read = async {
        let mut seen = 2;
        while seen < 50 {
            let reader = handle();
            let read = reader.open_to_read().await;
            assert!(read.is_ok(), "{CLAUSE}: while it is written, but {read:?}");
            let steps = stored_steps(&reader, "user").await;
            assert!(steps.prefix >= seen && steps.beyond.is_empty(), "{CLAUSE}: {steps:?} after {seen}");
            seen = steps.prefix;
            assert!(load(&reader, "user").await.len() >= seen, "{CLAUSE}");
        }
    };
    join(write, read).await;
}
