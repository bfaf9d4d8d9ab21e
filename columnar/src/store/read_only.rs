//! A store that is read beside its owner.

use std::ops::Range;
use std::sync::Arc;

use futures::future::{self, BoxFuture, FutureExt};

use super::{Entry, Put, StepEntries, Store, StoreError, StoreFuture, StoredSteps};
use crate::declare::Name;

/// A store that a flow only reads, while the owner of the store may write: [`open`](Store::open) is
/// [`open_to_read`](Store::open_to_read) of the other store.
///
/// The flow has the values that were confirmed before it was opened; open it again for later ones. A push, or a value that a
/// run computes, is refused with [`StoreError::ReadOnly`]. A definition that has changed is not stored.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::{MemoryStore, ReadOnly};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let topics = column("topics", source("user").latest(), prompt("List the topics."));
/// let store = MemoryStore::new();
/// let owner = Flow::open(store.clone(), [&topics]).await?;
/// owner.push("user", "hello").await?;
///
/// let reader = Flow::open(ReadOnly::new(store), [&topics]).await?;      // `owner` has it open
/// assert_eq!(reader.get("user", 0).as_deref(), Some("hello"));
/// assert!(reader.push("user", "hello").await.is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ReadOnly<S>(S);

impl<S: Store> ReadOnly<S> {
    /// The same store, to be read.
    pub const fn new(store: S) -> Self {
        Self(store)
    }
}

// A message about a type that is no store has no use for a store around another one.
#[diagnostic::do_not_recommend]
impl<S: Store> Store for ReadOnly<S> {
    fn open(&self) -> StoreFuture<Option<String>> {
        self.0.open_to_read()
    }

    fn open_to_read(&self) -> StoreFuture<Option<String>> {
        self.0.open_to_read()
    }

    fn define(&self, _: String) -> StoreFuture<()> {
        // A program may read what an earlier version of it has stored, and have another column.
        future::ready(Ok(())).boxed()
    }

    fn stored_steps(&self, column: Name) -> StoreFuture<StoredSteps> {
        self.0.stored_steps(column)
    }

    fn load(&self, column: Name, steps: Range<usize>) -> StoreFuture<StepEntries> {
        self.0.load(column, steps)
    }

    fn put(&self, _: Name, _: usize, _: Entry) -> StoreFuture<Put> {
        refuse()
    }

    fn put_blob(&self, _: String, _: Arc<[u8]>) -> StoreFuture<()> {
        refuse()
    }

    fn load_blob(&self, digest: String) -> StoreFuture<Option<Arc<[u8]>>> {
        self.0.load_blob(digest)
    }

    fn changed(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.changed()
    }

    fn delete(&self) -> StoreFuture<()> {
        refuse()
    }
}

fn refuse<T: Send + 'static>() -> StoreFuture<T> {
    future::ready(Err(StoreError::ReadOnly)).boxed()
}
