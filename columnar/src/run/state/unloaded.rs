//! The cells of a flow that are stored and not in memory, and the loading of those that contexts show.
//!
//! Opening loads everything, unless the program asks for less. No method leaves a gap: a method loads what it reads, reads
//! the store, or returns an error.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::{FlowState, PastColumn, PastStore, Unloaded};
use crate::declare::{InputView, Reads};
use crate::history::StepRanges;
use crate::run::Result;
use crate::run::contexts::context_cells;
use crate::run::user_code::caught;
use crate::schedule::Cell;
use crate::store::Store;

/// Loads steps until `next` returns none: loaded values may show that a context needs others.
pub(crate) async fn load_all(mut next: impl FnMut() -> Vec<Unloaded>) -> Result<()> {
    loop {
        let parts = next();
        if parts.is_empty() {
            return Ok(());
        }
        for part in parts {
            part.load().await?;
        }
    }
}

impl FlowState {
    /// Takes the values into memory that this flow, or one that shares its past, has loaded since. Returns the columns
    /// that are now in memory, to be dropped outside of the lock: a column may be the last to have a store.
    #[must_use]
    pub(crate) fn adopt(&mut self) -> Vec<Unloaded> {
        let Self { unloaded, table, receipts, scheduler, .. } = self;
        let loaded = unloaded.extract_if(.., |column, unloaded| {
            unloaded.adopt(*column, table, receipts, scheduler);
            unloaded.steps.is_empty()
        });
        loaded.map(|(_, loaded)| loaded).collect()
    }

    /// Whether a cell is stored and not in memory.
    pub(crate) fn is_unloaded(&self, cell: Cell) -> bool {
        self.unloaded.get(&cell.column).is_some_and(|unloaded| unloaded.steps.contains(cell.step))
    }

    /// The first step of a column within a range that is stored and not in memory.
    pub(crate) fn first_unloaded(&self, column: usize, steps: &Range<usize>) -> Option<usize> {
        self.unloaded.get(&column)?.steps.first_in(steps)
    }

    /// The number of derived cells that are not in memory.
    pub(crate) fn unloaded_cells(&self) -> usize {
        // Sources are no work of a run, so they are no part of its progress.
        let derived = self.unloaded.iter().filter(|(column, _)| !self.plan.schema().is_source(**column));
        derived.map(|(_, unloaded)| unloaded.steps.count()).fold(0, usize::saturating_add)
    }

    /// The cells among these that are not in memory.
    pub(crate) fn unloaded_of(
        &self,
        cells: impl IntoIterator<Item = (usize, Range<usize>)>,
    ) -> Vec<Unloaded> {
        let mut steps_by_column: BTreeMap<usize, StepRanges> = BTreeMap::new();
        for (column, steps) in cells {
            if let Some(unloaded) = self.unloaded.get(&column) {
                steps_by_column.entry(column).or_default().extend(&unloaded.steps.within(&steps));
            }
        }
        let needed = steps_by_column.into_iter().filter(|(_, steps)| !steps.is_empty());
        needed.filter_map(|(column, steps)| Some(self.unloaded.get(&column)?.with_steps(steps))).collect()
    }

    /// The cells of the steps from this one on that are not in memory.
    pub(crate) fn unloaded_from(&self, step: usize) -> Vec<Unloaded> {
        self.unloaded_of(self.unloaded.keys().map(|&column| (column, step..usize::MAX)))
    }

    /// The last steps of the columns from `first` on, as many as were asked for when the flow was opened.
    pub(crate) fn recent(&self, first: usize) -> Vec<Unloaded> {
        let recent = self.stored.recent.unwrap_or(usize::MAX);
        let columns = self.unloaded.range(first..).map(|(column, _)| *column);
        self.unloaded_of(
            columns.map(|column| (column, self.scheduler.len(column).saturating_sub(recent)..usize::MAX)),
        )
    }

    /// The next steps that a run computes, of a flow whose last steps alone are in memory; all steps of another flow. Cells that
    /// wait for answers are listed with their contexts, at any time.
    pub(crate) fn next_window(&self, steps: usize) -> Range<usize> {
        let is_answered = self.settings.iter().any(|settings| settings.external.is_some());
        if self.stored.recent.is_none() || is_answered {
            return 0..usize::MAX;
        }
        let after = self.window.as_ref().map_or(0, |window| window.end);
        let first = self.scheduler.next_missing(after).unwrap_or(self.scheduler.begun());
        first..first.saturating_add(steps)
    }

    /// Leaves the values before a step to the store, which has them. Returns what was in memory, to be dropped outside of the
    /// lock.
    #[must_use]
    pub(crate) fn unload(&mut self, store: &Arc<dyn Store>, step: usize) -> impl Sized + use<> {
        let plan = Arc::clone(&self.plan);
        let mut dropped = Vec::new();
        for (column, declared) in plan.schema().columns().iter().enumerate() {
            let Some(key) = self.stored.key(column).cloned() else { continue };
            let mut steps = self.scheduler.stored_before(column, step);
            steps.extend(
                &self.unloaded.get(&column).map(|unloaded| unloaded.steps.clone()).unwrap_or_default(),
            );
            if steps.is_empty() {
                continue;
            }
            let attachments = self.stored.attachments.clone();
            let past = PastColumn {
                name: declared.name.clone(),
                is_source: plan.schema().is_source(column),
                counter: Arc::clone(&self.counter),
                stored: Some(PastStore { store: Arc::clone(store), key, attachments }),
            };
            self.receipts.forget(column, step);
            let end = self.scheduler.end(column);
            // A new past: the earlier one keeps what was loaded.
            let unloaded = self.unloaded.insert(column, Unloaded::new(past, steps));
            dropped.push((self.table.forget(column, step, end), unloaded));
        }
        dropped
    }

    /// The cells that are not in memory and that the contexts of missing cells show, within a window of steps, and of this number
    /// of last steps. Calls filters and the counter, so no lock guards this state.
    pub(crate) fn needed(&mut self, last: usize, window: &Range<usize>) -> Vec<Unloaded> {
        let plan = self.plan.clone();
        let mut cells = Vec::new();
        for column in 0..plan.schema().columns().len() {
            let Some(reads) = plan.schema().reads(column) else { continue };
            // Windows only move forward, so no later cell reads an earlier step than this one.
            let missing = self.scheduler.len(column).saturating_sub(last);
            let first = Cell { column, step: if last > 0 { missing } else { missing.max(window.start) } };
            let mut next = Some((reads, first));
            while let Some((reads, cell)) = next {
                cells.extend(self.needed_by(reads, cell, window.end));
                next = self
                    .thread_cell(reads, cell)
                    .and_then(|cell| Some((plan.schema().reads(cell.column)?, cell)));
            }
        }
        self.unloaded_of(cells)
    }

    /// The cells that a cell and the later ones of the column need.
    fn needed_by(&mut self, reads: &Reads, cell: Cell, end: usize) -> Vec<(usize, Range<usize>)> {
        // A filter or counter that panics does so again when the cell is computed, and fails it.
        let shown = caught(|| self.context_cells(reads, cell)).flatten().unwrap_or_default();
        let shown =
            shown.into_iter().map(|(column, steps)| (column, self.reached(column, &steps)..steps.end));
        let needed = self.scheduler.needed(cell);
        shown.chain(needed.map(|(column, steps)| (column, self.reached(column, &steps)..end))).collect()
    }

    /// The last cell of the conversation that a cell continues, if it is in memory.
    fn thread_cell(&self, reads: &Reads, cell: Cell) -> Option<Cell> {
        let &InputView { column, ref spec, .. } = reads.thread.as_ref()?;
        let steps = spec.cells(cell.step, &self.scheduler.skipped(column));
        steps.rev().map(|step| Cell { column, step }).find(|cell| self.table.has(*cell))
    }

    /// The first step to load of a column for a window over these steps. A window that has turned out to reach over skipped
    /// steps, and is not in memory as a whole, is loaded with as many earlier ones: a gap may be long, and each look at
    /// the store takes its time.
    fn reached(&self, column: usize, steps: &Range<usize>) -> usize {
        let is_loaded = self.first_unloaded(column, steps).is_none();
        let gap = if is_loaded { 0 } else { self.scheduler.skipped(column).count_within(steps) };
        steps.start.saturating_sub(gap)
    }

    /// The cells that the context of a cell shows or counts, and the cells of the request before. Calls filters and the
    /// counter.
    fn context_cells(&mut self, reads: &Reads, cell: Cell) -> Option<Vec<(usize, Range<usize>)>> {
        let contexts = self.contexts_now(cell.column)?;
        let table = &self.table;
        Some(context_cells(
            reads,
            cell,
            &contexts.assembler,
            |cell| self.is_unloaded(cell),
            |column| self.scheduler.skipped(column),
            |input, step| table.get(Cell { column: input.column, step }),
        ))
    }
}
