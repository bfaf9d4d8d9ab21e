//! Reading values and receipts, from memory and from the store.

use std::fmt;
use std::ops::{Bound, Range, RangeBounds};
use std::sync::Arc;

use futures::future;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};

use super::cell_state::CellState;
use super::past::Entries;
use super::shared::Shared;
use super::state::State;
use super::{Error, Result};
use crate::declare::Name;
use crate::history::{History, Value};
use crate::model::usage::{Bill, Receipt};
use crate::schedule::Cell;
use crate::store::{BYTES, CHUNK, Entry};

impl Shared {
    /// The value of a cell, if it is in memory.
    pub(crate) fn get(&self, column: usize, step: usize) -> Option<Value> {
        self.lock().table.get(Cell { column, step })
    }

    /// The value of a cell of the column with this name, if it is in memory.
    pub(crate) fn get_by_name(&self, name: &str, step: usize) -> Result<Option<Value>> {
        self.by_name(name, |state, column| state.table.get(Cell { column, step }))
    }

    /// The value of a cell of the column with this name. Fails if it is stored and not in memory.
    pub(crate) fn try_get_by_name(&self, name: &str, step: usize) -> Result<Option<Value>> {
        self.by_name(name, |state, column| {
            state.loaded(Cell { column, step }, |state, cell| state.table.get(cell))
        })?
    }

    /// The state of a cell.
    pub(crate) fn cell(&self, column: usize, step: usize) -> CellState {
        self.lock().cell(Cell { column, step })
    }

    /// The state of a cell of the column with this name.
    pub(crate) fn cell_by_name(&self, name: &str, step: usize) -> Result<CellState> {
        self.by_name(name, |state, column| state.cell(Cell { column, step }))
    }

    /// The receipt of a cell, if it is in memory.
    pub(crate) fn receipt(&self, column: usize, step: usize) -> Option<Arc<Receipt>> {
        self.lock().receipts.get(Cell { column, step }).cloned()
    }

    /// The receipt of a cell of the column with this name, if it is in memory.
    pub(crate) fn receipt_by_name(&self, name: &str, step: usize) -> Result<Option<Arc<Receipt>>> {
        self.by_name(name, |state, column| state.receipts.get(Cell { column, step }).cloned())
    }

    /// The receipt of a cell of the column with this name. Fails if the cell is stored and not in memory.
    pub(crate) fn try_receipt_by_name(&self, name: &str, step: usize) -> Result<Option<Arc<Receipt>>> {
        self.by_name(name, |state, column| {
            state.loaded(Cell { column, step }, |state, cell| state.receipts.get(cell).cloned())
        })?
    }

    /// The receipts in memory, by column.
    pub(crate) fn bill(&self) -> Bill {
        let state = self.lock();
        let columns = state.plan.schema().columns().iter().enumerate().map(|(column, declared)| {
            let receipts = state.receipts.of(column).map(|(step, receipt)| (step, Arc::clone(receipt)));
            (declared.name.clone(), receipts.collect())
        });
        Bill::new(columns.collect(), state.unloaded_cells())
    }

    /// All stored values of a column, by step.
    pub(crate) fn stored_values(&self, column: usize) -> Result<Values> {
        self.lock().stored_values(column)
    }

    /// All stored values of the column with this name, by step.
    pub(crate) fn stored_values_by_name(&self, name: &str) -> Result<Values> {
        self.by_name(name, |state, column| state.stored_values(column))?
    }

    /// The last stored value of a column, with its step.
    pub(crate) fn last(&self, column: usize) -> Result<Option<(usize, Value)>> {
        self.lock().last(column)
    }

    /// The last stored value of the column with this name, with its step.
    pub(crate) fn last_by_name(&self, name: &str) -> Result<Option<(usize, Value)>> {
        self.by_name(name, |state, column| state.last(column))?
    }

    /// The value of a cell, from memory or the store.
    pub(crate) async fn value(&self, name: &str, step: usize) -> Result<Option<Value>> {
        let mut entries = self.entries(name, step..step.saturating_add(1)).await?;
        Ok(entries.pop().and_then(|(_, entry)| entry.value))
    }

    /// The stored values of a column within a range, from memory or the store.
    pub(crate) fn values(
        self: &Arc<Self>,
        name: &str,
        steps: &impl RangeBounds<usize>,
    ) -> BoxStream<'static, Result<(usize, Value)>> {
        let end = match self.by_name(name, |state, column| state.scheduler.end(column)) {
            Ok(end) => end,
            Err(error) => return stream::once(future::err(error)).boxed(),
        };
        let read = async |(shared, name, mut chunks): (Arc<Self>, String, Chunks)| {
            let Some(steps) = chunks.next() else { return Ok::<_, Error>(None) };
            let entries = shared.entries(&name, steps).await?;
            chunks.adapt(entries.iter().map(|(_, entry)| entry.len()).sum());
            let values = entries.into_iter().filter_map(|(step, entry)| Some(Ok((step, entry.value?))));
            Ok(Some((stream::iter(values), (shared, name, chunks))))
        };
        let chunks = Chunks::new(steps, end);
        stream::try_unfold((Arc::clone(self), name.to_owned(), chunks), read).try_flatten().boxed()
    }

    /// The stored entries of a column within some steps, of one chunk at most, ascending. Those that are not in memory are
    /// read, and not kept.
    pub(crate) async fn entries(&self, name: &str, steps: Range<usize>) -> Result<Entries> {
        let (mut entries, unloaded) = self.by_name(name, |state, column| {
            let entry = |step| Some((step, state.entry(Cell { column, step })?));
            let entries: Entries = steps.clone().filter_map(entry).collect();
            let unloaded = state.unloaded.get(&column);
            (entries, unloaded.map(|unloaded| (state.plan.schema().name(column).clone(), unloaded.clone())))
        })?;
        if let Some((name, unloaded)) = unloaded {
            entries.extend(unloaded.read(&name, &steps).await?);
            entries.sort_unstable_by_key(|(step, _)| *step);
        }
        Ok(entries)
    }

    /// The names of the columns, and the number of steps in which a source has a value.
    pub(crate) fn rows(&self) -> (Vec<Name>, usize) {
        let state = self.lock();
        let schema = state.plan.schema();
        let steps = schema.sources().map(|source| state.scheduler.len(source)).max().unwrap_or(0);
        (schema.columns().iter().map(|column| column.name.clone()).collect(), steps)
    }
}

impl State {
    /// The entry of a cell, if it is in memory.
    pub(super) fn entry(&self, cell: Cell) -> Option<Entry> {
        let value = self.table.get(cell);
        if value.is_none() && !self.scheduler.is_skipped(cell) {
            return None;
        }
        let receipt = self.receipts.get(cell).map(|receipt| receipt.to_string().into());
        Some(Entry { value, receipt })
    }

    fn cell(&self, cell: Cell) -> CellState {
        match self.table.get(cell) {
            Some(value) => CellState::Stored(value),
            None if self.scheduler.is_skipped(cell) => CellState::Skipped,
            None if self.is_unloaded(cell) => CellState::NotLoaded,
            None => CellState::Waiting,
        }
    }

    /// Reads a cell that is in memory, or is not stored.
    fn loaded<T>(&self, cell: Cell, read: impl FnOnce(&Self, Cell) -> T) -> Result<T> {
        if self.is_unloaded(cell) { Err(self.not_loaded(cell)) } else { Ok(read(self, cell)) }
    }

    fn stored_values(&self, column: usize) -> Result<Values> {
        self.check_loaded_cells(column, 0..usize::MAX)?;
        Ok(Values { history: self.table.history(column), steps: 0..self.scheduler.end(column) })
    }

    fn last(&self, column: usize) -> Result<Option<(usize, Value)>> {
        let steps = 0..self.scheduler.end(column);
        let mut values = Values { history: self.table.history(column), steps };
        let last = values.next_back();
        // A later step may be in the store.
        self.check_loaded_cells(column, last.as_ref().map_or(0, |(step, _)| *step)..usize::MAX)?;
        Ok(last)
    }

    /// Checks that the stored cells of a column in some steps are in memory.
    fn check_loaded_cells(&self, column: usize, steps: Range<usize>) -> Result<()> {
        match self.first_unloaded(column, &steps) {
            Some(step) => Err(self.not_loaded(Cell { column, step })),
            None => Ok(()),
        }
    }
}

/// The stored values of a column with their steps, in the order of the steps. Made by [`iter`](crate::flow::Handle::iter)
/// of a column and [`LiveFlow::iter`](crate::flow::LiveFlow::iter).
#[derive(Clone)]
pub struct Values {
    history: History,
    /// The steps that are left.
    steps: Range<usize>,
}

impl Iterator for Values {
    type Item = (usize, Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.steps.find_map(|step| Some((step, self.history.value(step)?)))
    }
}

impl DoubleEndedIterator for Values {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.steps.by_ref().rev().find_map(|step| Some((step, self.history.value(step)?)))
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the texts of a conversation.
        f.debug_struct("Values").field("steps", &self.steps).finish_non_exhaustive()
    }
}

/// The chunks in which a range of steps is read: of many steps, or of few large ones.
#[derive(Debug)]
pub(crate) struct Chunks {
    steps: Range<usize>,
    /// The number of steps of the next chunk.
    count: usize,
}

impl Chunks {
    /// The chunks of these steps, as far as they are before `end`.
    pub(crate) fn new(steps: &impl RangeBounds<usize>, end: usize) -> Self {
        let start = match steps.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match steps.end_bound() {
            Bound::Included(last) => end.min(last.saturating_add(1)),
            Bound::Excluded(excluded) => end.min(*excluded),
            Bound::Unbounded => end,
        };
        // The first step shows how large the others are.
        Self { steps: start..end, count: 1 }
    }

    /// The next chunk; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Range<usize>> {
        let start = self.steps.start;
        let chunk = start..self.steps.end.min(start.saturating_add(self.count));
        self.steps.start = chunk.end.max(start);
        (!chunk.is_empty()).then_some(chunk)
    }

    /// Adapts the next chunk to the bytes of the last one, because their steps are probably as large.
    pub(crate) fn adapt(&mut self, bytes: usize) {
        self.count = if bytes > BYTES / 2 { self.count.div_ceil(2) } else { CHUNK.min(2 * self.count) };
    }
}
