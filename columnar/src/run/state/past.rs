//! The past of a column: its stored values that are not in memory. Flows that share a past read each value from the store
//! once, and only if a flow needs the value.
//!
//! A fork has no store, so the store stays open while one of these flows may need a value.

use std::collections::BTreeSet;
use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{BoxFuture, FutureExt, Shared, WeakShared};
use futures::stream::{self, StreamExt};

use super::values::{Receipts, ValueTable, receipt};
use crate::context::documents::UpdateError;
use crate::declare::Name;
use crate::history::tokens::{Counter, is_same};
use crate::history::{History, StepRanges, Value};
use crate::model::usage::CellReceipt;
use crate::run::user_code::{StoreRequest, caught};
use crate::run::{Error, Result};
use crate::schedule::{Cell, InvalidHistory, Scheduler};
use crate::store::{CHUNK, Entry, LoadedAttachments, Store, StoreError, attachment_refs, load};

/// The number of chunks that are read while one is counted.
const AHEAD: usize = 2;

/// The column of a past.
#[derive(Clone)]
pub(crate) struct PastColumn {
    /// The name, for errors.
    pub(crate) name: Name,
    pub(crate) is_source: bool,
    /// The counter of the tokens in memory.
    pub(crate) counter: Arc<dyn Counter>,
    /// `None` if all values are in memory.
    pub(crate) stored: Option<PastStore>,
}

/// The store of a past.
#[derive(Clone)]
pub(crate) struct PastStore {
    pub(crate) store: Arc<dyn Store>,
    /// The key of the column in the store.
    pub(crate) key: Name,
    pub(crate) attachments: LoadedAttachments,
}

/// The steps of a flow's column that are stored and not in memory.
#[derive(Clone)]
pub(crate) struct Unloaded {
    past: Arc<Past>,
    pub(crate) steps: StepRanges,
    /// The version of the past up to which this flow has adopted values.
    adopted: usize,
}

/// The stored values of a column, for a flow and its forks.
struct Past {
    column: PastColumn,
    /// The reading that is under way, so no value is read by two flows. Weak, because a reading has the past.
    reading: Mutex<Option<WeakShared<PastReading>>>,
    loaded: Mutex<LoadedValues>,
    /// The number of changes of `loaded`.
    version: AtomicUsize,
}

/// The reading of values from the store, with the error for the first that takes the error. All that wait for a reading poll
/// the reading: the beginner, such as a run, may not be polled for long.
type PastReading = BoxFuture<'static, Arc<Mutex<Option<Error>>>>;

/// The values that have been loaded.
#[derive(Clone, Default)]
pub(super) struct LoadedValues {
    pub(super) steps: StepRanges,
    pub(super) history: History,
    /// The receipts are in column 0.
    pub(super) receipts: Receipts,
    pub(super) skipped: BTreeSet<usize>,
}

impl Unloaded {
    /// These steps of a column, which are in the store.
    pub(crate) fn new(column: PastColumn, steps: StepRanges) -> Self {
        Self::of(column, LoadedValues::default(), steps)
    }

    /// A column that leaves the flow with these values in memory. `unloaded` has the other stored steps.
    pub(super) fn removed(column: PastColumn, loaded: LoadedValues, unloaded: Option<&Self>) -> Self {
        let mut steps = loaded.steps.clone();
        unloaded.into_iter().for_each(|unloaded| steps.extend(&unloaded.steps));
        let stored = unloaded.and_then(|unloaded| unloaded.past.column.stored.clone());
        Self::of(PastColumn { stored, ..column }, loaded, steps)
    }

    fn of(column: PastColumn, loaded: LoadedValues, steps: StepRanges) -> Self {
        // A new flow has adopted version 0, so values that are loaded already are version 1.
        let version = AtomicUsize::new(usize::from(!loaded.steps.is_empty()));
        let past = Past { column, reading: Mutex::default(), loaded: Mutex::new(loaded), version };
        Self { past: Arc::new(past), steps, adopted: 0 }
    }

    /// The same past for some of the steps, none of which the flow has adopted.
    pub(crate) fn with_steps(&self, steps: StepRanges) -> Self {
        Self { past: Arc::clone(&self.past), steps, adopted: 0 }
    }

    /// The same past for a flow with the steps before this one.
    pub(super) fn before(&self, step: usize) -> Self {
        Self { steps: self.steps.within(&(0..step)), ..self.clone() }
    }

    /// The same steps in another store, which has a copy under this key.
    pub(crate) fn copied(&self, store: Arc<dyn Store>, key: Name, attachments: LoadedAttachments) -> Self {
        let stored = Some(PastStore { store, key, attachments });
        let column = PastColumn { stored, ..self.past.column.clone() };
        Self::new(column, self.steps.clone())
    }

    /// The same steps with the tokens of another counter, which is called. Flows with different counters share no loaded
    /// values.
    pub(crate) fn counted(self, counter: &Arc<dyn Counter>) -> Self {
        if is_same(&self.past.column.counter, counter) {
            return self;
        }
        let loaded = self.past.lock().clone();
        let steps = self.steps.minus(&self.steps.minus(&loaded.steps));
        let mut history = History::default();
        steps.iter().for_each(|steps| history.adopt(&loaded.history, steps));
        let counted = LoadedValues { steps, history: history.counted(&**counter), ..loaded };
        let column = PastColumn { counter: Arc::clone(counter), ..self.past.column.clone() };
        Self::of(column, counted, self.steps)
    }

    /// Loads the steps. Every flow with this past adopts the values at the next use.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, does not return a stored step, or has an invalid entry.
    pub(super) async fn load(&self) -> Result<()> {
        loop {
            let missing = self.steps.minus(&self.past.lock().steps);
            if missing.is_empty() {
                return Ok(());
            }
            let failure = self.past.reading(missing).await;
            let error = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(error) = error {
                return Err(error);
            }
        }
    }

    /// Loads the attachments of an entry that was read, which is returned with the attachments.
    pub(crate) async fn attach(&self, step: usize, entry: Entry) -> Result<Entry> {
        self.past.attach(step, entry).await
    }

    /// Reads the entries of the steps within a range, without attachments, and keeps none in memory.
    pub(crate) async fn read(&self, steps: &Range<usize>) -> Result<Vec<(usize, Entry)>> {
        self.past.read(&self.steps.within(steps)).await
    }

    /// Moves the values that have been loaded into the memory of the flow, whose column this is.
    pub(super) fn adopt(
        &mut self,
        column: usize,
        table: &mut ValueTable,
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
    fn lock(&self) -> MutexGuard<'_, LoadedValues> {
        // No code of users runs under the lock, so a panic leaves nothing half changed.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reading that is under way, or a new one, of these steps.
    fn reading(self: &Arc<Self>, steps: StepRanges) -> Shared<PastReading> {
        // The slot changes as a whole, so a panic leaves nothing half changed.
        // The earlier reading may be the last to have the error of a store, so it is dropped after the lock.
        let before;
        let mut slot = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        before = slot.as_ref().and_then(WeakShared::upgrade);
        if let Some(reading) = before.as_ref().filter(|reading| reading.peek().is_none()) {
            return reading.clone();
        }
        let past = Arc::clone(self);
        let reading = async move { Arc::new(Mutex::new(past.read_into_memory(&steps).await.err())) };
        let reading = reading.boxed().shared();
        *slot = reading.downgrade();
        reading
    }

    async fn read_into_memory(&self, missing: &StepRanges) -> Result<()> {
        // In chunks, because entries take more memory than values in a history.
        let chunks = missing.chunks(CHUNK).map(|chunk| missing.within(&chunk));
        let entries = stream::iter(chunks).map(async |steps| (self.read_whole(&steps).await, steps));
        let mut chunks = pin!(entries.buffered(AHEAD));
        while let Some((entries, steps)) = chunks.next().await {
            let cells = entries?.into_iter().map(|(step, entry)| self.checked(step, entry));
            let cells = cells.collect::<Result<Vec<_>>>()?;
            self.lock().insert(cells, &steps);
            self.version.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }

    /// Reads the entries of some steps of one chunk, with the attachments.
    async fn read_whole(&self, steps: &StepRanges) -> Result<Vec<(usize, Entry)>> {
        let mut entries = self.read(steps).await?;
        for (step, entry) in &mut entries {
            if !attachment_refs(entry).is_empty() {
                *entry = self.attach(*step, entry.clone()).await?;
            }
        }
        Ok(entries)
    }

    async fn attach(&self, step: usize, entry: Entry) -> Result<Entry> {
        let Some(PastStore { store, key, attachments }) = self.column.stored.clone() else {
            return Ok(entry);
        };
        let attached = async move { attachments.attach(&*store, &key, step, entry).await };
        StoreRequest::new(|| attached.boxed()).await.map_err(|source| load_error(&self.column.name, source))
    }

    /// Reads the entries of some steps of one chunk.
    async fn read(&self, steps: &StepRanges) -> Result<Vec<(usize, Entry)>> {
        let (Some(PastStore { store, key, .. }), Some(span)) = (self.column.stored.clone(), steps.span())
        else {
            return Ok(Vec::new());
        };
        let entries = StoreRequest::new(|| async move { load(&*store, &key, span).await }.boxed()).await;
        let mut entries = entries.map_err(|source| load_error(&self.column.name, source))?;
        // The store may have stored further steps since. A fork computes those itself.
        entries.retain(|(step, _)| steps.contains(*step));
        let mut found = entries.iter().map(|(step, _)| *step);
        match steps.steps().find(|step| found.next() != Some(*step)) {
            Some(step) => Err(self.invalid(InvalidHistory::NotReturned { step })),
            None => Ok(entries),
        }
    }

    /// Checks an entry, and counts the tokens.
    fn checked(&self, step: usize, entry: Entry) -> Result<LoadedCell> {
        let receipt = receipt(&entry).map_err(|_| self.invalid(InvalidHistory::Receipt { step }))?;
        if self.column.is_source && entry.is_skipped() {
            return Err(self.invalid(InvalidHistory::SkippedSource { step }));
        }
        let Some(value) = entry.value else { return Ok(LoadedCell { step, value: None, receipt }) };
        let tokens = caught(|| self.column.counter.count(&value)).ok_or_else(|| {
            let reason =
                format!("counting the tokens of step {step} panicked, which is a bug in the counter");
            load_error(&self.column.name, StoreError::other(reason))
        })?;
        Ok(LoadedCell { step, value: Some((tokens, value)), receipt })
    }

    fn invalid(&self, error: InvalidHistory) -> Error {
        invalid_history(&self.column.name, error)
    }
}

/// A checked entry.
struct LoadedCell {
    step: usize,
    /// With the number of tokens; `None` for a skipped cell.
    value: Option<(usize, Value)>,
    receipt: CellReceipt,
}

impl LoadedValues {
    fn insert(&mut self, cells: Vec<LoadedCell>, steps: &StepRanges) {
        for LoadedCell { step, value, receipt } in cells {
            match value {
                Some((tokens, value)) => self.history.insert(step, value, tokens),
                None => drop(self.skipped.insert(step)),
            }
            self.receipts.insert(Cell { column: 0, step }, receipt);
        }
        self.steps.extend(steps);
    }
}

pub(crate) fn load_error(column: &Name, source: StoreError) -> Error {
    Error::Load { column: column.clone(), source }
}

pub(crate) fn invalid_history(column: &Name, error: InvalidHistory) -> Error {
    load_error(column, StoreError::other(error))
}

/// A stored value that is no update. A flow refuses such a value, so something else wrote it.
pub(crate) fn damaged_update(source: &Name, step: usize, error: &UpdateError) -> Error {
    let reason = format!("step {step} is no update of the documents before it: {error}");
    load_error(source, StoreError::other(reason))
}
