//! A store that fails, waits and counts as a test tells it to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use columnar::store::{Entry, MemoryStore, Put, Store};
use columnar::{BoxError, Name};
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::Semaphore;

/// A [`MemoryStore`] with a will of its own. Clones share everything.
#[derive(Clone, Debug)]
pub struct FaultyStore {
    inner: MemoryStore,
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
            inner: MemoryStore::new(),
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
    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, BoxError>> {
        let this = self.clone();
        async move {
            this.puts.fetch_add(1, Ordering::SeqCst);
            this.gate.acquire().await?.forget();
            let fails = this.fails.lock().unwrap_or_else(PoisonError::into_inner).take();
            match fails {
                None => this.inner.put(column, step, entry).await,
                Some(Fail::Before) => Err("the disk is full".into()),
                Some(Fail::After) => {
                    this.inner.put(column, step, entry).await?;
                    Err("the connection was lost".into())
                }
            }
        }
        .boxed()
    }

    fn load(&self, column: Name) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, BoxError>> {
        self.inner.load(column)
    }
}
