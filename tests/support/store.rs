//! A store that fails, waits and counts as a test tells it to.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use columnar::Name;
use columnar::store::{Entry, MemoryStore, Put, Store, StoreError, StoredSteps};
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::Semaphore;

/// A [`MemoryStore`] with a will of its own. Clones share everything.
#[derive(Clone, Debug)]
pub struct FaultyStore {
    inner: Arc<MemoryStore>,
    puts: Arc<AtomicUsize>,
    fails: Arc<Mutex<Option<Fail>>>,
    gate: Arc<Semaphore>,
}

/// How a `put` fails.
#[derive(Clone, Copy, Debug)]
pub enum Fail {
    /// Nothing is stored.
    Before,
    /// The value is stored, and an error is told all the same.
    After,
}

impl Default for FaultyStore {
    fn default() -> Self {
        Self {
            inner: Arc::default(),
            puts: Arc::default(),
            fails: Arc::default(),
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        }
    }
}

impl FaultyStore {
    /// How often something was put.
    pub fn puts(&self) -> usize {
        self.puts.load(Ordering::SeqCst)
    }

    /// Lets the next `put` fail.
    pub fn fail_next(&self, how: Fail) {
        *self.fails.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
    }

    /// Holds every `put` that begins from now on, until it is let through.
    pub fn close(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    /// Lets so many puts through.
    pub fn let_through(&self, puts: usize) {
        self.gate.add_permits(puts);
    }
}

impl Store for FaultyStore {
    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, StoreError>> {
        let this = self.clone();
        async move {
            this.puts.fetch_add(1, Ordering::SeqCst);
            this.gate.acquire().await.map_err(StoreError::other)?.forget();
            let fails = this.fails.lock().unwrap_or_else(PoisonError::into_inner).take();
            match fails {
                None => this.inner.put(column, step, entry).await,
                Some(Fail::Before) => Err(StoreError::other("the disk is full")),
                Some(Fail::After) => {
                    this.inner.put(column, step, entry).await?;
                    Err(StoreError::other("the connection was lost"))
                }
            }
        }
        .boxed()
    }

    fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        self.inner.open()
    }

    fn define(&self, definition: String) -> BoxFuture<'static, Result<(), StoreError>> {
        self.inner.define(definition)
    }

    fn stored_steps(&self, column: Name) -> BoxFuture<'static, Result<StoredSteps, StoreError>> {
        self.inner.stored_steps(column)
    }

    fn load(
        &self,
        column: Name,
        steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
        self.inner.load(column, steps)
    }
}
