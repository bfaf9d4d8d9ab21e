//! Opening the handles of a location, for the checks of the suite.

use crate::store::Store;

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
