//! Stores with fault injection.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use columnar::Name;
use columnar::store::{Entry, FileStore, Put, Store, StoreError};
use columnar::testing::{LayeredStore, StoreLayer};
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::Semaphore;

/// A store in memory with [`Faults`].
pub type FaultyStore = LayeredStore<Faults>;

/// Faults of `put`, and the number of calls.
#[derive(Debug)]
pub struct Faults {
    puts: AtomicUsize,
    next: Mutex<Option<Fail>>,
    gate: Semaphore,
}

/// A store of each kind that keeps a flow on the disk, in a folder.
pub fn stores_on_disk(folder: &Path) -> Vec<Box<dyn Store>> {
    vec![
        Box::new(FileStore::new(folder.join("folder"))),
        #[cfg(feature = "sqlite")]
        Box::new(columnar::store::SqliteStore::new(folder.join("chats.db"), "today")),
    ]
}

/// A store whose `put` is this function of the inner store and the arguments.
pub fn on_put<F, P>(inner: impl Store, put: F) -> LayeredStore<impl StoreLayer>
where
    F: Fn(Arc<dyn Store>, Name, usize, Entry) -> P + Send + Sync + 'static,
    P: Future<Output = Result<Put, StoreError>> + Send + 'static,
{
    LayeredStore::new(inner, OnPut(put))
}

/// A store whose `load` is this function of the inner store and the arguments.
pub fn on_load<F, L>(inner: impl Store, load: F) -> LayeredStore<impl StoreLayer>
where
    F: Fn(Arc<dyn Store>, Name, Range<usize>) -> L + Send + Sync + 'static,
    L: Future<Output = Result<Vec<(usize, Entry)>, StoreError>> + Send + 'static,
{
    LayeredStore::new(inner, OnLoad(load))
}

struct OnPut<F>(F);

impl<F, P> StoreLayer for OnPut<F>
where
    F: Fn(Arc<dyn Store>, Name, usize, Entry) -> P + Send + Sync + 'static,
    P: Future<Output = Result<Put, StoreError>> + Send + 'static,
{
    fn put(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        step: usize,
        entry: Entry,
    ) -> BoxFuture<'static, Result<Put, StoreError>> {
        (self.0)(Arc::clone(inner), column, step, entry).boxed()
    }
}

struct OnLoad<F>(F);

impl<F, L> StoreLayer for OnLoad<F>
where
    F: Fn(Arc<dyn Store>, Name, Range<usize>) -> L + Send + Sync + 'static,
    L: Future<Output = Result<Vec<(usize, Entry)>, StoreError>> + Send + 'static,
{
    fn load(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
        (self.0)(Arc::clone(inner), column, steps).boxed()
    }
}

/// The way in which a `put` fails.
#[derive(Clone, Copy, Debug)]
pub enum Fail {
    /// Nothing is stored.
    Before,
    /// The value is stored, and an error is returned nevertheless.
    After,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            puts: AtomicUsize::default(),
            next: Mutex::default(),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        }
    }
}

impl Faults {
    /// The number of puts.
    pub fn puts(&self) -> usize {
        self.puts.load(Ordering::SeqCst)
    }

    /// Lets the next `put` fail.
    pub fn fail_next(&self, how: Fail) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
    }

    /// Holds every `put` that starts from now on, until the put is let through.
    pub fn close(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    /// Lets this number of puts through.
    pub fn let_through(&self, puts: usize) {
        self.gate.add_permits(puts);
    }
}

impl StoreLayer for Faults {
    fn put(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        step: usize,
        entry: Entry,
    ) -> BoxFuture<'static, Result<Put, StoreError>> {
        let (this, inner) = (Arc::clone(self), Arc::clone(inner));
        async move {
            this.puts.fetch_add(1, Ordering::SeqCst);
            // Forgotten, because each permit lets one put through.
            this.gate.acquire().await.map_err(StoreError::other)?.forget();
            // Taken, so that one put fails and the next one succeeds.
            let next = this.next.lock().unwrap_or_else(PoisonError::into_inner).take();
            match next {
                None => inner.put(column, step, entry).await,
                Some(Fail::Before) => Err(StoreError::other("the disk is full")),
                Some(Fail::After) => {
                    inner.put(column, step, entry).await?;
                    Err(StoreError::other("the connection was lost"))
                }
            }
        }
        .boxed()
    }
}
