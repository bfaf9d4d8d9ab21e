//! Fault injection into stores: random delays and errors, with a check of everything that is read.

use std::ops::Range;
use std::sync::Arc;

use futures::future::{FutureExt, TryFutureExt};
use tokio::time::sleep;

use super::world::{Fault, World};
use crate::declare::Name;
use crate::store::{
    Entry, MemoryStore, Put, StepEntries, Store, StoreError, StoreFuture, StoredSteps, attachment_refs,
};
use crate::testing::{LayeredStore, StoreLayer};

/// A store with simulated delays and faults around another store. Made by [`World::store`] and [`World::store_over`].
pub type SimulatedStore = LayeredStore<Simulated>;

/// The layer of a [`SimulatedStore`].
#[derive(Debug)]
pub struct Simulated(World);

impl World {
    /// A store in memory with random delays and faults.
    pub fn store(&self) -> SimulatedStore {
        self.store_over(MemoryStore::new())
    }

    /// A store of yours with random delays and faults; the world checks that the store keeps everything that it
    /// confirms.
    pub fn store_over(&self, store: impl Store) -> SimulatedStore {
        SimulatedStore::new(store, Simulated(self.clone()))
    }
}

impl StoreLayer for Simulated {
    fn put(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        step: usize,
        entry: Entry,
    ) -> StoreFuture<Put> {
        let world = self.0.clone();
        let inner = Arc::clone(inner);
        async move {
            let fault = world.fault(&column, step, &Fault::STORE);
            sleep(world.delay()).await;
            if fault == Some(Fault::NotStored) {
                world.check_that(|invariants| {
                    invariants.put_failed(&column, step);
                    Ok(())
                });
                return Err(StoreError::other("the disk is full"));
            }
            for name in attachment_refs(&entry) {
                let blob = inner.load_blob(name.digest.clone()).await?;
                let missing = format!("`{column}` at step {step} is put before its attachment {name}");
                world.check_that(|_| blob.map(drop).ok_or(missing));
            }
            let put = inner.put(column.clone(), step, entry.clone()).await?;
            let stored = match &put {
                Put::Stored => &entry,
                Put::Exists(earlier) => earlier,
            };
            let confirmed = fault.is_none();
            world.check_that(|invariants| invariants.stored(&column, step, stored, confirmed));
            // The value is stored and not yet confirmed, so a run that is dropped now leaves it behind.
            sleep(world.delay()).await;
            if confirmed { Ok(put) } else { Err(StoreError::other("the connection was lost")) }
        }
        .boxed()
    }

    fn put_blob(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        digest: String,
        bytes: Arc<[u8]>,
    ) -> StoreFuture<()> {
        let world = self.0.clone();
        let inner = Arc::clone(inner);
        async move {
            let fault = world.fault(&Name::known("attachments"), 0, &Fault::STORE);
            sleep(world.delay()).await;
            if fault == Some(Fault::NotStored) {
                return Err(StoreError::other("the disk is full"));
            }
            inner.put_blob(digest, bytes).await?;
            if fault.is_none() { Ok(()) } else { Err(StoreError::other("the connection was lost")) }
        }
        .boxed()
    }

    fn stored_steps(self: &Arc<Self>, inner: &Arc<dyn Store>, column: Name) -> StoreFuture<StoredSteps> {
        let world = self.0.clone();
        let read = inner.stored_steps(column.clone()).inspect_ok(move |stored_steps| {
            world.check_that(|invariants| invariants.steps_read(&column, stored_steps));
        });
        read.boxed()
    }

    fn load(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        steps: Range<usize>,
    ) -> StoreFuture<StepEntries> {
        let world = self.0.clone();
        let loaded = inner.load(column.clone(), steps.clone()).inspect_ok(move |entries| {
            world.check_that(|invariants| invariants.loaded(&column, &steps, entries));
        });
        loaded.boxed()
    }
}
