//! A store in memory, which ends with the process.

use std::collections::{BTreeMap, HashMap, btree_map};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{self, FutureExt};

use super::{Entry, Put, StepEntries, Store, StoreError, StoreFuture, StoredSteps};
use crate::declare::Name;

/// A store in memory. Clones are handles to the same flow, so a clone can open the flow again when the first flow is
/// gone.
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
pub struct MemoryStore {
    memory: Memory,
    flow: Arc<Mutex<MemoryContents>>,
    owns: AtomicBool,
    reads: AtomicBool,
}

/// Flows by key.
type Memory = Arc<Mutex<BTreeMap<String, Arc<Mutex<MemoryContents>>>>>;

/// The contents of a flow.
#[derive(Default)]
struct MemoryContents {
    /// Whether the flow has been opened since the contents were made or deleted.
    exists: bool,
    owned: bool,
    definition: Option<String>,
    columns: HashMap<Name, BTreeMap<usize, Entry>>,
    /// The bytes of attachments, by digest.
    blobs: HashMap<String, Arc<[u8]>>,
}

impl MemoryStore {
    /// An empty store, whose flow has the empty text as the key.
    pub fn new() -> Self {
        Self::of(Memory::default(), String::new())
    }

    /// A store of the flow with this key in the same memory, as a file or a database has many flows.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::{MemoryStore, Store};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let topics = column("topics", source("user").latest(), prompt("List the topics."));
    /// let memory = MemoryStore::new();
    /// let monday = Flow::open(memory.flow("monday"), [&topics]).await?;
    /// drop(Flow::open(memory.flow("tuesday"), [&topics]).await?);
    /// assert_eq!(memory.flows(), ["monday", "tuesday"]);
    ///
    /// memory.flow("tuesday").delete().await?;
    /// assert_eq!(memory.flows(), ["monday"]);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn flow(&self, key: impl Into<String>) -> Self {
        Self::of(Arc::clone(&self.memory), key.into())
    }

    /// The keys of the flows in this memory, in order. A flow is listed once opened.
    pub fn flows(&self) -> Vec<String> {
        let memory = lock(&self.memory);
        memory.iter().filter(|(_, flow)| lock(flow).exists).map(|(key, _)| key.clone()).collect()
    }

    fn of(memory: Memory, key: String) -> Self {
        let flow = Arc::clone(lock(&memory).entry(key).or_default());
        Self { memory, flow, owns: AtomicBool::new(false), reads: AtomicBool::new(false) }
    }

    /// Changes the contents, if this handle is the owner.
    fn write<T: Send + 'static>(&self, write: impl FnOnce(&mut MemoryContents) -> T) -> StoreFuture<T> {
        let answer = if self.owns.load(Ordering::Acquire) {
            Ok(write(&mut lock(&self.flow)))
        } else if self.reads.load(Ordering::Acquire) {
            Err(StoreError::ReadOnly)
        } else {
            Err(StoreError::Closed)
        };
        future::ready(answer).boxed()
    }

    /// The answer about the contents, if this handle is open.
    fn read<T: Send + 'static>(&self, read: impl FnOnce(&MemoryContents) -> T) -> StoreFuture<T> {
        let is_open = self.owns.load(Ordering::Acquire) || self.reads.load(Ordering::Acquire);
        let answer = if is_open { Ok(read(&lock(&self.flow))) } else { Err(StoreError::Closed) };
        future::ready(answer).boxed()
    }

    fn become_reader(&self) -> Result<Option<String>, StoreError> {
        let mut contents = lock(&self.flow);
        if self.owns.swap(false, Ordering::AcqRel) {
            contents.owned = false;
        }
        self.reads.store(contents.exists, Ordering::Release);
        if contents.exists { Ok(contents.definition.clone()) } else { Err(StoreError::absent("this memory")) }
    }

    fn become_owner(&self) -> Result<Option<String>, StoreError> {
        let mut contents = lock(&self.flow);
        // A handle that owns the flow already opens it again.
        if !self.owns.load(Ordering::Acquire) {
            contents.check_free()?;
            self.owns.store(true, Ordering::Release);
        }
        (contents.exists, contents.owned) = (true, true);
        Ok(contents.definition.clone())
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is one insertion or assignment, so a panic leaves nothing half changed.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryContents {
    fn check_free(&self) -> Result<(), StoreError> {
        if self.owned { Err(StoreError::locked("this memory")) } else { Ok(()) }
    }
}

impl Store for MemoryStore {
    fn open(&self) -> StoreFuture<Option<String>> {
        future::ready(self.become_owner()).boxed()
    }

    fn open_to_read(&self) -> StoreFuture<Option<String>> {
        future::ready(self.become_reader()).boxed()
    }

    fn define(&self, definition: String) -> StoreFuture<()> {
        self.write(|contents| contents.definition = Some(definition))
    }

    fn stored_steps(&self, column: Name) -> StoreFuture<StoredSteps> {
        self.read(|contents| {
            contents.columns.get(&column).into_iter().flat_map(BTreeMap::keys).copied().collect()
        })
    }

    fn load(&self, column: Name, steps: Range<usize>) -> StoreFuture<StepEntries> {
        self.read(|contents| {
            // `BTreeMap::range` panics if a range ends before it begins.
            let cells = contents.columns.get(&column).filter(|_| !steps.is_empty());
            let cells = cells.map(|cells| cells.range(steps)).into_iter().flatten();
            cells.map(|(step, entry)| (*step, entry.clone())).collect()
        })
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> StoreFuture<Put> {
        self.write(|contents| match contents.columns.entry(column).or_default().entry(step) {
            btree_map::Entry::Occupied(existing) => Put::Exists(existing.get().clone()),
            btree_map::Entry::Vacant(cell) => {
                cell.insert(entry);
                Put::Stored
            }
        })
    }

    fn put_blob(&self, digest: String, bytes: Arc<[u8]>) -> StoreFuture<()> {
        self.write(|contents| {
            contents.blobs.entry(digest).or_insert(bytes);
        })
    }

    fn load_blob(&self, digest: String) -> StoreFuture<Option<Arc<[u8]>>> {
        self.read(|contents| contents.blobs.get(&digest).cloned())
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn delete(&self) -> StoreFuture<()> {
        let mut contents = lock(&self.flow);
        let deleted = contents.check_free().map(|()| *contents = MemoryContents::default());
        future::ready(deleted).boxed()
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

/// Another handle to the same flow, which is not the owner.
impl Clone for MemoryStore {
    fn clone(&self) -> Self {
        Self {
            memory: Arc::clone(&self.memory),
            flow: Arc::clone(&self.flow),
            owns: AtomicBool::new(false),
            reads: AtomicBool::new(false),
        }
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl Drop for MemoryStore {
    fn drop(&mut self) {
        if *self.owns.get_mut() {
            lock(&self.flow).owned = false;
        }
    }
}
