//! The steps that are not in memory and that contexts show.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::contexts::context_cells;
use super::guard::caught;
use super::past::Unloaded;
use super::shared::Shared;
use super::state::State;
use super::{Error, Result};
use crate::declare::{InputView, Name, Reads};
use crate::history::StepRanges;
use crate::schedule::Cell;

/// Steps of a column that are to be loaded.
pub(super) struct Load {
    column: Name,
    unloaded: Unloaded,
    steps: StepRanges,
}

/// Loads steps until `next` returns none.
pub(super) async fn load_all(mut next: impl FnMut() -> Vec<Load>) -> Result<()> {
    loop {
        let loads = next();
        if loads.is_empty() {
            return Ok(());
        }
        for Load { column, unloaded, steps } in loads {
            unloaded.load(&column, &steps).await?;
        }
    }
}

impl Shared {
    /// The steps that are not in memory and that the contexts of missing cells show, and of this number of last steps.
    pub(super) fn needed(&self, last: usize) -> Vec<Load> {
        let mut copy = {
            let state = self.lock();
            if state.unloaded.is_empty() {
                return Vec::new();
            }
            state.before(usize::MAX)
        };
        copy.needed(last)
    }
}

impl State {
    /// The steps within a range that are not in memory, of all columns.
    pub(super) fn unloaded_within(&self, steps: &Range<usize>) -> Vec<Load> {
        self.loads(self.unloaded.keys().map(|column| (*column, steps.clone())))
    }

    /// The steps of a column within a range that are not in memory.
    pub(super) fn loads_of(&self, column: usize, steps: Range<usize>) -> Vec<Load> {
        self.loads([(column, steps)])
    }

    /// The number of derived cells that are not in memory.
    pub(super) fn unloaded_cells(&self) -> usize {
        let derived = self.unloaded.iter().filter(|(column, _)| !self.plan.schema().is_source(**column));
        derived.map(|(_, unloaded)| unloaded.steps().count()).fold(0, usize::saturating_add)
    }

    /// The last steps of the columns from `first` on, as many as were asked for when the flow was opened.
    pub(super) fn recent(&self, first: usize) -> Vec<Load> {
        let start =
            |column| self.stored.recent.map_or(0, |recent| self.scheduler.len(column).saturating_sub(recent));
        self.loads(self.unloaded.range(first..).map(|(&column, _)| (column, start(column)..usize::MAX)))
    }

    /// The steps that are not in memory and that the contexts of missing cells show, and of this number of last steps. Calls
    /// filters and the counter, so no lock guards this state.
    pub(super) fn needed(&mut self, last: usize) -> Vec<Load> {
        let plan = self.plan.clone();
        let mut cells = Vec::new();
        for column in 0..plan.schema().columns().len() {
            let Some(reads) = plan.schema().reads(column) else { continue };
            // Windows only move forward, so no later cell reads an earlier step than this one.
            let first = Cell { column, step: self.scheduler.len(column).saturating_sub(last) };
            // A filter or counter that panics does so again when the cell is computed, and fails it.
            cells.extend(caught(|| self.context_cells(reads, first)).unwrap_or_default());
            let later = |(column, steps): (usize, Range<usize>)| (column, steps.start..usize::MAX);
            cells.extend(reads.needed(column, first.step).map(later));
        }
        self.loads(cells)
    }

    /// The first step of a column within a range that is stored and not in memory.
    pub(super) fn first_unloaded(&self, column: usize, steps: &Range<usize>) -> Option<usize> {
        self.unloaded.get(&column)?.steps().first_in(steps)
    }

    /// Whether a cell is stored and not in memory.
    pub(super) fn is_unloaded(&self, cell: Cell) -> bool {
        self.unloaded.get(&cell.column).is_some_and(|unloaded| unloaded.steps().contains(cell.step))
    }

    /// Whether the values in the context of a cell are in memory.
    pub(super) fn has_context(&self, reads: &Reads, cell: Cell) -> bool {
        let is_loaded = |(column, steps): (usize, _)| self.first_unloaded(column, &steps).is_none();
        self.unloaded.is_empty() || reads.needed(cell.column, cell.step).all(is_loaded)
    }

    pub(super) fn not_loaded(&self, cell: Cell) -> Error {
        Error::NotLoaded { column: self.plan.schema().name(cell.column).clone(), step: cell.step }
    }

    /// The cells that the context of a cell shows or counts, and those of the request before it. Calls filters and the
    /// counter.
    fn context_cells(&mut self, reads: &Arc<Reads>, cell: Cell) -> Vec<(usize, Range<usize>)> {
        let contexts = self.contexts_now(cell.column, reads);
        let value = |input: &InputView, step| self.table.get(Cell { column: input.column, step });
        context_cells(reads, cell, &contexts.assembler, |cell| self.is_unloaded(cell), value)
    }

    /// Loads of the steps that are not in memory.
    fn loads(&self, cells: impl IntoIterator<Item = (usize, Range<usize>)>) -> Vec<Load> {
        let mut steps_by_column: BTreeMap<usize, StepRanges> = BTreeMap::new();
        for (column, steps) in cells {
            if let Some(unloaded) = self.unloaded.get(&column) {
                steps_by_column.entry(column).or_default().extend(&unloaded.steps().within(&steps));
            }
        }
        let load = |(column, steps): (usize, StepRanges)| {
            let unloaded = self.unloaded.get(&column).filter(|_| !steps.is_empty())?.clone();
            Some(Load { column: self.plan.schema().name(column).clone(), unloaded, steps })
        };
        steps_by_column.into_iter().filter_map(load).collect()
    }
}
