//! A store around another store.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::declare::Name;
use crate::store::{Entry, MemoryStore, Put, StepEntries, Store, StoreFuture, StoredSteps};

/// The operations of a [`Store`] around another store, `inner`.
///
/// Each method passes through unless it is overridden, so a layer has only the methods that it changes. A layer can
/// delay or count an operation, fail before or after it, or change the result.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use columnar::Name;
/// use columnar::prelude::*;
/// use columnar::store::{Entry, Put, Store, StoreError};
/// use columnar::testing::{LayeredStore, StoreLayer};
/// use futures::future::BoxFuture;
///
/// /// Counts what is stored.
/// #[derive(Default)]
/// struct Puts(AtomicUsize);
///
/// impl StoreLayer for Puts {
///     fn put(
///         self: &Arc<Self>,
///         inner: &Arc<dyn Store>,
///         column: Name,
///         step: usize,
///         entry: Entry,
///     ) -> BoxFuture<'static, Result<Put, StoreError>> {
///         self.0.fetch_add(1, Ordering::SeqCst);
///         inner.put(column, step, entry)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let store = LayeredStore::<Puts>::default();
/// let notes = Flow::open(store.clone(), [column("upper", source("note").latest(), prompt("Shout."))]).await?;
/// notes.push("note", "hello").await?;
/// notes.run().await?;
/// assert_eq!(store.0.load(Ordering::SeqCst), 2);
/// # Ok(()) }
/// ```
pub trait StoreLayer: Send + Sync + 'static {
    /// Runs around [`Store::open`].
    fn open(self: &Arc<Self>, inner: &Arc<dyn Store>) -> StoreFuture<Option<String>> {
        inner.open()
    }

    /// Runs around [`Store::define`].
    fn define(self: &Arc<Self>, inner: &Arc<dyn Store>, definition: String) -> StoreFuture<()> {
        inner.define(definition)
    }

    /// Runs around [`Store::stored_steps`].
    fn stored_steps(self: &Arc<Self>, inner: &Arc<dyn Store>, column: Name) -> StoreFuture<StoredSteps> {
        inner.stored_steps(column)
    }

    /// Runs around [`Store::load`].
    fn load(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        steps: Range<usize>,
    ) -> StoreFuture<StepEntries> {
        inner.load(column, steps)
    }

    /// Runs around [`Store::put`].
    fn put(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        step: usize,
        entry: Entry,
    ) -> StoreFuture<Put> {
        inner.put(column, step, entry)
    }

    /// Runs around [`Store::put_blob`].
    fn put_blob(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        digest: String,
        bytes: Arc<[u8]>,
    ) -> StoreFuture<()> {
        inner.put_blob(digest, bytes)
    }

    /// Runs around [`Store::load_blob`].
    fn load_blob(self: &Arc<Self>, inner: &Arc<dyn Store>, digest: String) -> StoreFuture<Option<Arc<[u8]>>> {
        inner.load_blob(digest)
    }

    /// Runs around [`Store::delete`].
    fn delete(self: &Arc<Self>, inner: &Arc<dyn Store>) -> StoreFuture<()> {
        inner.delete()
    }
}

/// A store with a [`StoreLayer`] around it, which dereferences to the layer; clones are the same handle.
pub struct LayeredStore<L> {
    inner: Arc<dyn Store>,
    layer: Arc<L>,
}

impl<L: StoreLayer> LayeredStore<L> {
    /// A layer around a store.
    pub fn new(inner: impl Store, layer: L) -> Self {
        Self::with_shared(inner, Arc::new(layer))
    }

    /// A layer that is shared with other stores, such as other handles to the same location.
    pub fn with_shared(inner: impl Store, layer: Arc<L>) -> Self {
        Self { inner: Arc::new(inner), layer }
    }
}

/// The layer around an empty [`MemoryStore`].
impl<L: StoreLayer + Default> Default for LayeredStore<L> {
    fn default() -> Self {
        Self::new(MemoryStore::new(), L::default())
    }
}

impl<L: StoreLayer> Store for LayeredStore<L> {
    fn open(&self) -> StoreFuture<Option<String>> {
        self.layer.open(&self.inner)
    }

    fn define(&self, definition: String) -> StoreFuture<()> {
        self.layer.define(&self.inner, definition)
    }

    fn stored_steps(&self, column: Name) -> StoreFuture<StoredSteps> {
        self.layer.stored_steps(&self.inner, column)
    }

    fn load(&self, column: Name, steps: Range<usize>) -> StoreFuture<StepEntries> {
        self.layer.load(&self.inner, column, steps)
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> StoreFuture<Put> {
        self.layer.put(&self.inner, column, step, entry)
    }

    fn put_blob(&self, digest: String, bytes: Arc<[u8]>) -> StoreFuture<()> {
        self.layer.put_blob(&self.inner, digest, bytes)
    }

    fn load_blob(&self, digest: String) -> StoreFuture<Option<Arc<[u8]>>> {
        self.layer.load_blob(&self.inner, digest)
    }

    fn delete(&self) -> StoreFuture<()> {
        self.layer.delete(&self.inner)
    }
}

// Not derived, because a derive would need a layer that is `Clone`.
impl<L> Clone for LayeredStore<L> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), layer: Arc::clone(&self.layer) }
    }
}

impl<L> Deref for LayeredStore<L> {
    type Target = L;

    fn deref(&self) -> &L {
        &self.layer
    }
}

impl<L> fmt::Debug for LayeredStore<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LayeredStore").finish_non_exhaustive()
    }
}
