//! Reading the cells of a flow that are in memory.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::FlowState;
use super::values::entry;
use crate::declare::Name;
use crate::history::{History, SkipReason, Value};
use crate::model::usage::{Bill, CellReceipt, Receipt};
use crate::run::{Error, Result};
use crate::schedule::{Cell, Progress};
use crate::store::Entry;

/// The state of a cell. Made by [`cell`](crate::flow::Handle::cell) of a column and
/// [`LiveFlow::cell`](crate::flow::LiveFlow::cell).
///
/// ```
/// use columnar::CellState;
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column answer(user, self) = prompt("Answer.");
/// };
/// chat.user.push("Since when?").await?;
/// assert_eq!(chat.user.cell(0), CellState::Stored("Since when?".into()));
/// assert_eq!(chat.answer.cell(0), CellState::Waiting);
/// # Ok(()) }
/// ```
// Deliberately closed: a cell has no further state, and a `match` shall be complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellState {
    /// The value is stored, and never changes.
    Stored(Value),
    /// The cell is stored as skipped, and will never have a value. With the reason, unless an earlier version or another
    /// program stored the cell.
    Skipped(Option<SkipReason>),
    /// Nothing is stored yet: the cell waits for a push or a run, or is being computed.
    Waiting,
    /// Nothing is stored yet: the inputs are there, and the cell waits for an [answer](crate::compute::external) from outside.
    Pending,
    /// The cell is stored, with a value or as skipped, but [not in memory](crate::reopen::OpenOptions::recent).
    /// [`LiveFlow::load`](crate::flow::LiveFlow::load) loads it.
    NotLoaded,
}

impl CellState {
    /// The value; `None` if there is none in memory.
    pub(crate) fn into_value(self) -> Option<Value> {
        if let Self::Stored(value) = self { Some(value) } else { None }
    }
}

impl FlowState {
    pub(crate) fn cell(&self, cell: Cell) -> CellState {
        match self.table.get(cell) {
            Some(value) => CellState::Stored(value),
            None if self.scheduler.is_skipped(cell) => CellState::Skipped(self.skip_reason(cell)),
            None if self.is_unloaded(cell) => CellState::NotLoaded,
            None if self.scheduler.is_pending(cell) => CellState::Pending,
            None => CellState::Waiting,
        }
    }

    /// The value of a cell. Fails if the value is stored and not in memory.
    pub(crate) fn value(&self, cell: Cell) -> Result<Option<Value>> {
        match self.cell(cell) {
            CellState::NotLoaded => Err(self.not_loaded(cell)),
            state => Ok(state.into_value()),
        }
    }

    /// The receipt of a cell, if it is in memory.
    pub(crate) fn receipt(&self, cell: Cell) -> Option<Arc<Receipt>> {
        self.receipts.get(cell).cloned()
    }

    /// The reason why a cell in memory is skipped, if it is known.
    pub(crate) fn skip_reason(&self, cell: Cell) -> Option<SkipReason> {
        self.receipts.skip_reason(cell).cloned()
    }

    /// The entry of a cell, if it is in memory.
    pub(crate) fn entry(&self, cell: Cell) -> Option<Entry> {
        let value = self.table.get(cell);
        if value.is_none() && !self.scheduler.is_skipped(cell) {
            return None;
        }
        Some(entry(value, &self.cell_receipt(cell)))
    }

    /// The whole receipt of a cell in memory.
    pub(crate) fn cell_receipt(&self, cell: Cell) -> CellReceipt {
        let skipped = self.skip_reason(cell);
        CellReceipt {
            calls: self.receipt(cell),
            made: self.receipts.made(cell).filter(|_| !self.scheduler.is_skipped(cell)),
            skipped,
            attachments: Vec::new(),
        }
    }

    /// All stored values of a column, by step.
    pub(crate) fn values(&self, column: usize) -> Result<Values> {
        self.check_loaded(column, &(0..usize::MAX))?;
        Ok(self.loaded_values(column))
    }

    /// The last stored value of a column, with its step.
    pub(crate) fn last(&self, column: usize) -> Result<Option<(usize, Value)>> {
        let last = self.loaded_values(column).next_back();
        // A later step may be in the store.
        self.check_loaded(column, &(last.as_ref().map_or(0, |(step, _)| *step)..usize::MAX))?;
        Ok(last)
    }

    fn loaded_values(&self, column: usize) -> Values {
        Values { history: self.table.history(column), steps: 0..self.scheduler.end(column) }
    }

    /// Checks that the stored cells of a column in some steps are in memory.
    fn check_loaded(&self, column: usize, steps: &Range<usize>) -> Result<()> {
        match self.first_unloaded(column, steps) {
            Some(step) => Err(self.not_loaded(Cell { column, step })),
            None => Ok(()),
        }
    }

    pub(crate) fn not_loaded(&self, cell: Cell) -> Error {
        Error::NotLoaded { column: self.name(cell.column).clone(), step: cell.step }
    }

    /// The receipts in memory, by column.
    pub(crate) fn bill(&self) -> Bill {
        let columns = self.plan.schema().columns().iter().enumerate().map(|(column, declared)| {
            let receipts = self.receipts.of(column).map(|(step, receipt)| (step, Arc::clone(receipt)));
            (declared.name.clone(), receipts.collect())
        });
        Bill { columns: columns.collect(), not_loaded: self.unloaded_cells() }
    }

    /// The sources that the next step waits for, if another source is ahead of them.
    pub(crate) fn late_sources(&self) -> Vec<Name> {
        let begun = self.scheduler.begun();
        let sources = self.plan.schema().sources();
        let (behind, ahead): (Vec<_>, Vec<_>) =
            sources.partition(|&source| self.scheduler.len(source) <= begun);
        if ahead.is_empty() { Vec::new() } else { self.plan.names(&behind) }
    }

    pub(crate) fn progress(&self) -> Progress {
        let progress = self.scheduler.progress();
        let not_loaded = self.unloaded_cells();
        // The scheduler counts a stored cell as done until it is loaded and turns out to be skipped.
        Progress { done: progress.done - not_loaded, not_loaded, ..progress }
    }
}

/// The stored values of a column with the steps, in order. Made by [`iter`](crate::flow::Handle::iter)
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
