//! Opening the handles of a location, storing and loading, for the checks of the suite.

use crate::declare::Name;
use crate::store::{Entry, Put, Store, StoreError, StoredSteps};

pub(super) async fn opened<S: Store>(handle: &impl Fn() -> S) -> S {
    let store = handle();
    if let Err(error) = store.open().await {
        unreachable!("a location without an owner can be opened: {error}");
    }
    store
}

pub(super) async fn reopened<S: Store>(store: S, handle: &impl Fn() -> S) -> S {
    drop(store);
    opened(handle).await
}

pub(super) async fn define<S: Store>(store: &S, definition: &str) {
    let defined = store.define(definition.to_owned()).await;
    assert!(defined.is_ok(), "clause 9: it can be defined, but {defined:?}");
}

/// A receipt, which to a store is any text.
pub(super) fn receipt(cell: impl std::fmt::Display) -> String {
    format!("{{\"model\":\"a/b\",\"calls\":1,\"attempts\":1,\"input\":120,\"ms\":640,\"id\":\"{cell}\"}}")
}

/// A text with a receipt.
pub(super) fn paid(text: String) -> Entry {
    let receipt = receipt(&text);
    Entry::from(text).with_receipt(receipt)
}

pub(super) async fn put<S: Store>(store: &S, column: &str, step: usize, entry: Entry) -> Put {
    let put = store.put(Name::known(column), step, entry).await;
    put.unwrap_or_else(|error| unreachable!("`{column}` at step {step} can be stored: {error}"))
}

/// Puts an entry into a free cell.
pub(super) async fn store<S: Store>(store: &S, column: &str, step: usize, entry: Entry, clause: &str) {
    assert_eq!(put(store, column, step, entry).await, Put::Stored, "{clause}");
}

pub(super) fn is_locked<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Locked { .. }))
}

pub(super) async fn stored_steps<S: Store>(store: &S, column: &str) -> StoredSteps {
    store
        .stored_steps(Name::known(column))
        .await
        .unwrap_or_else(|error| unreachable!("`{column}` can be read: {error}"))
}

pub(super) async fn load<S: Store>(store: &S, column: &str) -> Vec<(usize, Entry)> {
    load_steps(store, column, 0..usize::MAX).await
}

pub(super) async fn load_steps<S: Store>(
    store: &S,
    column: &str,
    steps: std::ops::Range<usize>,
) -> Vec<(usize, Entry)> {
    let loaded = store.load(Name::known(column), steps).await;
    let mut entries = loaded.unwrap_or_else(|error| unreachable!("`{column}` can be read: {error}"));
    entries.sort_by_key(|(step, _)| *step);
    entries
}
