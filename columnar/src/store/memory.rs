//! A store in memory, which ends with the process.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{self, BoxFuture, FutureExt};

use super::{Entry, Put, Store, StoreError, StoredSteps};
use crate::declare::Name;

/// A store in memory. Clones are handles to the same values, so a flow can be opened again from one when the
/// first flow is gone.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::MemoryStore;
///
/// flow! {
///     struct Echo {
///         source user;
///         column echo(user.latest) = |cx: Context| async move { cx.messages().last_text().into_owned() };
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let store = MemoryStore::new();
/// Echo::open(store.clone()).await?.user.push("hello").await?;
///
/// let again = Echo::open(store).await?;
/// assert_eq!(again.user.get(0).as_deref(), Some("hello"));
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
    owns: AtomicBool,
}

/// The state that handles share.
#[derive(Debug, Default)]
struct Shared {
    owned: AtomicBool,
    contents: Mutex<Contents>,
}

#[derive(Debug, Default)]
struct Contents {
    definition: Option<String>,
    columns: HashMap<Name, BTreeMap<usize, Entry>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The contents, if this handle is the owner.
    fn contents(&self) -> Result<MutexGuard<'_, Contents>, StoreError> {
        if self.owns.load(Ordering::Acquire) { Ok(self.shared.lock()) } else { Err(StoreError::Closed) }
    }

    fn become_owner(&self) -> Result<(), StoreError> {
        if !self.owns.load(Ordering::Acquire) {
            // One operation, since two handles may be opened at once on two threads.
            if self.shared.owned.swap(true, Ordering::AcqRel) {
                return Err(StoreError::Locked { location: "this memory".into() });
            }
            self.owns.store(true, Ordering::Release);
        }
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Contents> {
        // Each change is one insertion or assignment, so a panic leaves nothing half changed.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    fn stored_steps(&self, column: &Name) -> StoredSteps {
        self.columns.get(column).into_iter().flat_map(BTreeMap::keys).copied().collect()
    }

    fn load(&self, column: &Name, steps: Range<usize>) -> Vec<(usize, Entry)> {
        // `BTreeMap::range` panics if a range ends before it begins.
        let Some(cells) = self.columns.get(column).filter(|_| !steps.is_empty()) else { return Vec::new() };
        cells.range(steps).map(|(step, entry)| (*step, entry.clone())).collect()
    }

    fn put(&mut self, column: Name, step: usize, entry: Entry) -> Put {
        let cells = self.columns.entry(column).or_default();
        if let Some(existing) = cells.get(&step) {
            return Put::Exists(existing.clone());
        }
        cells.insert(step, entry);
        Put::Stored
    }
}

impl Store for MemoryStore {
    fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        let opened = self.become_owner().map(|()| self.shared.lock().definition.clone());
        future::ready(opened).boxed()
    }

    fn define(&self, definition: String) -> BoxFuture<'static, Result<(), StoreError>> {
        let defined = self.contents().map(|mut contents| contents.definition = Some(definition));
        future::ready(defined).boxed()
    }

    fn stored_steps(&self, column: Name) -> BoxFuture<'static, Result<StoredSteps, StoreError>> {
        future::ready(self.contents().map(|contents| contents.stored_steps(&column))).boxed()
    }

    fn load(
        &self,
        column: Name,
        steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
        future::ready(self.contents().map(|contents| contents.load(&column, steps))).boxed()
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, StoreError>> {
        future::ready(self.contents().map(|mut contents| contents.put(column, step, entry))).boxed()
    }
}

/// Another handle to the same values, which is not the owner.
impl Clone for MemoryStore {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), owns: AtomicBool::new(false) }
    }
}

impl Drop for MemoryStore {
    fn drop(&mut self) {
        if *self.owns.get_mut() {
            self.shared.owned.store(false, Ordering::Release);
        }
    }
}
