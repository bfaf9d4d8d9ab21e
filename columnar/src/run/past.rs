//! The past of a column: its stored values that are not in memory. The flows that share them read each from the store
//! once, and only if it is needed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{BoxFuture, FutureExt, Shared, WeakShared};
use futures::stream::{self, StreamExt};

use super::guard::{StoreRequest, caught};
use super::table::{Receipts, Table, receipt};
use super::{Error, Result};
use crate::context::documents::UpdateError;
use crate::declare::Name;
use crate::history::tokens::{Counter, is_same};
use crate::history::{History, StepRanges, Value};
use crate::model::usage::Receipt;
use crate::schedule::{Cell, InvalidHistory, Scheduler};
use crate::store::{CHUNK, Entry, Store, StoreError, load};

/// Stored entries of a column, by step.
pub(super) type Entries = Vec<(usize, Entry)>;

/// The number of chunks that are read while one is counted.
const AHEAD: usize = 2;

/// The steps of a flow's column that are stored and not in memory.
#[derive(Clone)]
pub(super) struct Unloaded {
    past: Arc<Past>,
    steps: StepRanges,
    /// The version of the past up to which this flow has adopted its values.
    adopted: usize,
}

/// The stored values of a column, for a flow and its forks.
struct Past {
    /// The store, and the key of the column in it; `None` if all values are loaded.
    stored: Option<(Arc<dyn Store>, Name)>,
    is_source: bool,
    /// The counter of the tokens in `loaded`.
    counter: Arc<dyn Counter>,
    /// The reading that is under way, so no value is read by two flows.
    reading: Mutex<Option<WeakShared<Reading>>>,
    loaded: Mutex<Loaded>,
    /// The number of changes of `loaded`.
    version: AtomicUsize,
}

/// The reading of values from the store. All that wait for it poll it: the one that began it, such as a run, may not be
/// polled for long.
type Reading = BoxFuture<'static, Failure>;

/// The error of a reading, for the first that takes it.
type Failure = Arc<Mutex<Option<Error>>>;

/// The values that have been loaded.
#[derive(Clone, Default)]
pub(super) struct Loaded {
    /// Their steps.
    pub(super) steps: StepRanges,
    pub(super) history: History,
    /// Those of column 0.
    pub(super) receipts: Receipts,
    pub(super) skipped: BTreeSet<usize>,
}

impl Unloaded {
    /// These steps of a column, which are stored under a key.
    pub(super) fn new(
        stored: (Arc<dyn Store>, Name),
        is_source: bool,
        counter: Arc<dyn Counter>,
        steps: StepRanges,
    ) -> Self {
        Self::of(Past::new(Some(stored), is_source, counter, Loaded::default()), steps)
    }

    /// A column that leaves its flow with these values in memory. `unloaded` are its other stored steps.
    pub(super) fn removed(
        loaded: Loaded,
        unloaded: Option<&Self>,
        is_source: bool,
        counter: Arc<dyn Counter>,
    ) -> Self {
        let mut steps = loaded.steps.clone();
        unloaded.into_iter().for_each(|unloaded| steps.extend(&unloaded.steps));
        let stored = unloaded.and_then(|unloaded| unloaded.past.stored.clone());
        Self::of(Past::new(stored, is_source, counter, loaded), steps)
    }

    fn of(past: Past, steps: StepRanges) -> Self {
        Self { past: Arc::new(past), steps, adopted: 0 }
    }

    pub(super) fn steps(&self) -> &StepRanges {
        &self.steps
    }

    /// The same past for a flow with the steps before this one.
    pub(super) fn before(&self, step: usize) -> Self {
        Self { steps: self.steps.within(&(0..step)), ..self.clone() }
    }

    /// The same steps in another store, which has a copy of them.
    pub(super) fn copied(&self, stored: (Arc<dyn Store>, Name)) -> Self {
        Self::new(stored, self.past.is_source, Arc::clone(&self.past.counter), self.steps.clone())
    }

    /// The same steps with the tokens of another counter, which is called. Flows with different counters share no loaded
    /// values.
    pub(super) fn counted(self, counter: &Arc<dyn Counter>) -> Self {
        if is_same(&self.past.counter, counter) {
            return self;
        }
        let Past { stored, is_source, .. } = &*self.past;
        let loaded = self.past.lock().clone();
        let steps = self.steps.minus(&self.steps.minus(&loaded.steps));
        let mut history = History::default();
        steps.iter().for_each(|steps| history.adopt(&loaded.history, steps));
        let counted = Loaded {
            steps,
            history: history.counted(&**counter),
            receipts: loaded.receipts,
            skipped: loaded.skipped,
        };
        Self::of(Past::new(stored.clone(), *is_source, Arc::clone(counter), counted), self.steps.clone())
    }

    /// The past of these steps, for another list of steps that this flow has not adopted.
    pub(super) fn with_steps(&self, steps: &StepRanges) -> Self {
        Self { past: Arc::clone(&self.past), steps: steps.clone(), adopted: 0 }
    }

    /// Loads some of the steps. Every flow with this past adopts them when it is used next.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, does not return a stored step, or has an invalid entry. `column` is the name in the
    /// error.
    pub(super) async fn load(&self, column: &Name, steps: &StepRanges) -> Result<()> {
        self.past.load(column, steps).await
    }

    /// Reads the entries of the steps within a range, and keeps none in memory.
    pub(super) async fn read(&self, column: &Name, steps: &Range<usize>) -> Result<Entries> {
        self.past.read(column, &self.steps.within(steps)).await
    }

    /// Moves the values that have been loaded into the memory of the flow, whose column this is.
    pub(super) fn adopt(
        &mut self,
        column: usize,
        table: &mut Table,
        receipts: &mut Receipts,
        scheduler: &mut Scheduler,
    ) {
        let version = self.past.version.load(Ordering::Acquire);
        if version == self.adopted {
            return;
        }
        self.adopted = version;
        let loaded = self.past.lock();
        let left = self.steps.minus(&loaded.steps);
        for steps in self.steps.minus(&left).iter() {
            table.adopt(column, &loaded.history, steps.clone());
            receipts.adopt(column, &loaded.receipts, steps.clone());
            scheduler.restore_skipped(column, loaded.skipped.range(steps).copied());
        }
        self.steps = left;
    }
}

impl Past {
    fn new(
        stored: Option<(Arc<dyn Store>, Name)>,
        is_source: bool,
        counter: Arc<dyn Counter>,
        loaded: Loaded,
    ) -> Self {
        // A new flow has adopted version 0, so values that are loaded already are version 1.
        let version = AtomicUsize::new(usize::from(!loaded.steps.is_empty()));
        let (reading, loaded) = (Mutex::default(), Mutex::new(loaded));
        Self { stored, is_source, counter, reading, loaded, version }
    }

    fn lock(&self) -> MutexGuard<'_, Loaded> {
        // No code of users runs under the lock, so a panic leaves nothing half changed.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn load(self: &Arc<Self>, column: &Name, steps: &StepRanges) -> Result<()> {
        loop {
            let missing = steps.minus(&self.lock().steps);
            if missing.is_empty() {
                return Ok(());
            }
            let failure = self.reading(column, missing).await;
            let error = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(error) = error {
                return Err(error);
            }
        }
    }

    /// The reading that is under way, or a new one, of these steps.
    fn reading(self: &Arc<Self>, column: &Name, steps: StepRanges) -> Shared<Reading> {
        // It is replaced as a whole, so a panic leaves nothing half changed.
        // It may be the last to have the error of a store, so it is dropped after the lock.
        let before;
        let mut slot = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        before = slot.as_ref().and_then(WeakShared::upgrade);
        if let Some(reading) = before.as_ref().filter(|reading| reading.peek().is_none()) {
            return reading.clone();
        }
        let (past, column) = (Arc::clone(self), column.clone());
        let reading = async move { Arc::new(Mutex::new(past.read_into_memory(&column, &steps).await.err())) };
        let reading = reading.boxed().shared();
        // Weak, because the reading has the past.
        *slot = reading.downgrade();
        reading
    }

    async fn read_into_memory(&self, column: &Name, missing: &StepRanges) -> Result<()> {
        // In chunks, because entries take more memory than values in a history.
        let chunks = missing.chunks(CHUNK).map(|chunk| missing.within(&chunk));
        let read = async |steps: StepRanges| (self.read(column, &steps).await, steps);
        let mut chunks = pin!(stream::iter(chunks).map(read).buffered(AHEAD));
        while let Some((entries, steps)) = chunks.next().await {
            let cells = self.cells(column, entries?)?;
            self.lock().insert(cells, &steps);
            self.version.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }

    /// Reads the entries of some steps of one chunk.
    async fn read(&self, column: &Name, steps: &StepRanges) -> Result<Entries> {
        let (Some((store, key)), Some(span)) = (&self.stored, steps.span()) else { return Ok(Vec::new()) };
        let (store, key) = (Arc::clone(store), key.clone());
        let entries = StoreRequest::new(|| async move { load(&*store, &key, span).await }.boxed()).await;
        let mut entries = entries.map_err(|source| load_error(column, source))?;
        // The store may have stored further steps since. A fork computes those itself.
        entries.retain(|(step, _)| steps.contains(*step));
        let mut found = entries.iter().map(|(step, _)| *step);
        match steps.steps().find(|step| found.next() != Some(*step)) {
            Some(step) => Err(invalid_history(column, InvalidHistory::NotReturned { step })),
            None => Ok(entries),
        }
    }

    /// Checks entries, and counts their tokens.
    fn cells(&self, column: &Name, entries: Entries) -> Result<Vec<LoadedCell>> {
        let cell = |(step, entry): (usize, Entry)| {
            let invalid = |error| invalid_history(column, error);
            let receipt = receipt(&entry).map_err(|_| invalid(InvalidHistory::Receipt { step }))?;
            if self.is_source && entry.is_skipped() {
                return Err(invalid(InvalidHistory::SkippedSource { step }));
            }
            let value = match entry.value {
                Some(value) => Some((self.tokens(column, step, &value)?, value)),
                None => None,
            };
            Ok(LoadedCell { step, value, receipt })
        };
        entries.into_iter().map(cell).collect()
    }

    fn tokens(&self, column: &Name, step: usize, value: &str) -> Result<usize> {
        caught(|| self.counter.count(value)).ok_or_else(|| {
            let reason =
                format!("counting the tokens of step {step} panicked, which is a bug in the counter");
            load_error(column, StoreError::other(reason))
        })
    }
}

/// A checked entry.
struct LoadedCell {
    step: usize,
    /// With the number of its tokens; `None` for a skipped cell.
    value: Option<(usize, Value)>,
    receipt: Option<Receipt>,
}

impl Loaded {
    fn insert(&mut self, cells: Vec<LoadedCell>, steps: &StepRanges) {
        for LoadedCell { step, value, receipt } in cells {
            match value {
                Some((tokens, value)) => self.history.insert(step, value, tokens),
                None => drop(self.skipped.insert(step)),
            }
            if let Some(receipt) = receipt {
                self.receipts.insert(Cell { column: 0, step }, receipt);
            }
        }
        self.steps.extend(steps);
    }
}

pub(super) fn load_error(column: &Name, source: StoreError) -> Error {
    Error::Load { column: column.clone(), source }
}

pub(super) fn invalid_history(column: &Name, error: InvalidHistory) -> Error {
    load_error(column, StoreError::other(error))
}

/// A stored value that is no update. A flow refuses such a value, so something else wrote it.
pub(super) fn damaged_update(source: &Name, step: usize, error: &UpdateError) -> Error {
    let reason = format!("step {step} is no update of the documents before it: {error}");
    load_error(source, StoreError::other(reason))
}
