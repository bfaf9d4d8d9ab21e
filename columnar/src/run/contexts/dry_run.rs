//! A dry run of the scheduler, and the tokens of contexts that are not assembled.
//!
//! The dry run counts the cells and the width, which are exact if nothing fails and all cells take equally long. Tokens are
//! estimated, because the new values are not known yet.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::context::{Exclusions, Overhead};
use crate::declare::{Name, Reads};
use crate::run::state::FlowState;
use crate::schedule::{Action, Cell, Scheduler};

/// The assumed number of tokens of a value while no column has computed values.
const DEFAULT_TOKENS: usize = 100;

/// A run in which every cell takes one round.
pub(super) struct DryRun {
    pub(super) rounds: usize,
    pub(super) width: usize,
    /// By column.
    pub(super) columns: Vec<ColumnRun>,
}

/// The cells of a column in a dry run.
#[derive(Clone, Default)]
pub(super) struct ColumnRun {
    pub(super) steps: Vec<usize>,
    /// The most cells in one round.
    pub(super) width: usize,
}

impl DryRun {
    pub(super) fn of(mut scheduler: Scheduler, columns: usize) -> Self {
        let mut dry_run = Self { rounds: 0, width: 0, columns: vec![ColumnRun::default(); columns] };
        // The cells that an active run is computing count as missing.
        scheduler.stop();
        scheduler.begin();
        loop {
            let round = start_round(&mut scheduler);
            if round.is_empty() {
                return dry_run;
            }
            dry_run.add(&round);
            for cell in round {
                let computed = scheduler.handle_computed(cell);
                debug_assert!(computed.is_ok(), "the cell was started just now");
            }
        }
    }

    fn add(&mut self, round: &[Cell]) {
        self.rounds += 1;
        self.width = self.width.max(round.len());
        let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
        for cell in round {
            *widths.entry(cell.column).or_default() += 1;
            if let Some(column) = self.columns.get_mut(cell.column) {
                column.steps.push(cell.step);
            }
        }
        for (column, now) in widths {
            if let Some(column) = self.columns.get_mut(column) {
                column.width = now.max(column.width);
            }
        }
    }
}

/// Stores the computed cells, then starts all that are ready, and returns those.
fn start_round(scheduler: &mut Scheduler) -> Vec<Cell> {
    let mut started = Vec::new();
    while let Some(action) = scheduler.poll() {
        match action {
            Action::Compute(cell) => started.push(cell),
            Action::Store(cell) | Action::Skip(cell) => {
                let stored = scheduler.handle_stored(cell, matches!(action, Action::Skip(_)));
                debug_assert!(stored.is_ok(), "the scheduler asked for it");
            }
            Action::Emit(_) => {}
        }
    }
    started
}

/// Sums of the tokens of all values, stored or assumed, so that the size of a window is a subtraction.
pub(super) struct TokenSums {
    /// By column and step: the tokens of all earlier steps.
    before: Vec<Vec<usize>>,
    exclusions: Arc<Exclusions>,
}

impl TokenSums {
    pub(super) fn of(state: &FlowState) -> Self {
        let schema = state.plan.schema();
        let lengths: Vec<Vec<Option<usize>>> =
            (0..schema.columns().len()).map(|column| tokens(state, column)).collect();
        let derived = lengths.iter().enumerate().filter(|(column, _)| !schema.is_source(*column));
        let typical = mean(derived.flat_map(|(_, lengths)| lengths)).unwrap_or(DEFAULT_TOKENS);
        let before = lengths.iter().map(|lengths| {
            let assumed = mean(lengths).unwrap_or(typical);
            let sums = lengths.iter().scan(0, |sum, length| {
                *sum += length.unwrap_or(assumed);
                Some(*sum)
            });
            [0].into_iter().chain(sums).collect()
        });
        Self { before: before.collect(), exclusions: Arc::clone(&state.exclusions) }
    }

    /// The tokens of a column's values within some steps.
    pub(super) fn values(&self, column: usize, steps: Range<usize>) -> usize {
        let sums = self.before.get(column).map_or(&[][..], Vec::as_slice);
        let [start, end] = [steps.start, steps.end].map(|step| sums.get(step).copied().unwrap_or(0));
        end.saturating_sub(start)
    }

    /// The tokens of a column's values within some steps, each with an overhead, as a context of `step` shows them.
    fn shown(&self, column: usize, name: &Name, steps: Range<usize>, overhead: usize, step: usize) -> usize {
        let excluded =
            if self.exclusions.0.is_empty() { BTreeSet::new() } else { self.exclusions.at(name, step) };
        let excluded = excluded.range(steps.clone());
        let excluded = excluded.map(|&step| self.values(column, step..step + 1) + overhead).sum();
        (steps.len() * overhead + self.values(column, steps)).saturating_sub(excluded)
    }

    /// The tokens of the context of a cell.
    pub(super) fn context(&self, reads: &Reads, column: usize, step: usize, overhead: &Overhead) -> usize {
        let inputs = reads.inputs.iter().zip(&overhead.inputs).map(|(input, delimiters)| {
            self.shown(input.column, &input.name, input.spec.cells(step), *delimiters, step)
        });
        let self_history = reads.self_view.as_ref().map_or(0, |view| {
            self.shown(column, &reads.column, view.self_cells(step), overhead.separator, step)
        });
        let groups = reads.groups.iter().zip(&overhead.groups).map(|(group, tokens)| {
            let members = reads.inputs.get(group.inputs.clone()).unwrap_or_default();
            members.iter().map(|input| input.spec.turns(step).len()).max().unwrap_or(0) * tokens
        });
        let instructions = reads.instructions.iter().map(|input| {
            self.shown(input.column, &input.name, input.spec.cells(step), overhead.separator, step)
        });
        let self_cells = reads.self_view.iter().map(|view| view.self_cells(step));
        let hidden = reads.inputs.iter().map(|input| input.spec.cells(step)).chain(self_cells).enumerate();
        let elided = hidden.filter(|(at, shown)| shown.start > 0 && reads.is_elided(*at));
        let elided = elided
            .map(|(at, shown)| overhead.elision(shown.start, reads.shown_as(at)).1 + overhead.separator);
        instructions.sum::<usize>()
            + inputs.sum::<usize>()
            + groups.sum::<usize>()
            + self_history
            + elided.sum::<usize>()
    }
}

/// The tokens of a column's value in each step that has begun; `None` for a missing value.
fn tokens(state: &FlowState, column: usize) -> Vec<Option<usize>> {
    let history = state.table.history(column);
    let lengths = (0..state.scheduler.begun()).map(|step| {
        let skipped = state.scheduler.is_skipped(Cell { column, step }).then_some(0);
        // A value that is only in the store has no count here, so it gets the average.
        history.text(step).map(|known| known.tokens).or(skipped)
    });
    lengths.collect()
}

fn mean<'l>(lengths: impl IntoIterator<Item = &'l Option<usize>>) -> Option<usize> {
    let (sum, count) =
        lengths.into_iter().flatten().fold((0, 0), |(sum, count), length| (sum + length, count + 1));
    sum.checked_div(count)
}
