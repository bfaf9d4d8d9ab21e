//! A dry run of the scheduler, and the tokens of contexts that are not assembled.
//!
//! The dry run counts the cells and the width, which are exact if nothing fails and all cells take equally long. Tokens are
//! estimated, because the new values are not known yet.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::context::{Exclusions, Overhead};
use crate::declare::{InputView, Name, Reads};
use crate::history::tokens::Sum;
use crate::history::{History, MediaRules, SkippedSteps};
use crate::run::state::FlowState;
use crate::schedule::{Action, Cell, Scheduler};

/// The assumed number of tokens of a value while no column has computed values.
const DEFAULT_TOKENS: usize = 100;

/// A run in which every cell takes one round.
pub(super) struct DryRun {
    /// The scheduler after the run, which knows the cells that will be skipped.
    pub(super) scheduler: Scheduler,
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
    pub(super) fn of(scheduler: Scheduler, columns: usize) -> Self {
        let mut dry_run =
            Self { scheduler, rounds: 0, width: 0, columns: vec![ColumnRun::default(); columns] };
        // The cells that an active run is computing count as missing.
        dry_run.scheduler.stop();
        dry_run.scheduler.begin();
        loop {
            let round = start_round(&mut dry_run.scheduler);
            if round.is_empty() {
                return dry_run;
            }
            dry_run.add(&round);
            for cell in round {
                let computed = dry_run.scheduler.handle_computed(cell);
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

/// The number of batches that follow each other, if each has all calls that are ready, and all other cells take no time.
/// `is_call` tells the columns that call a model.
pub(super) fn waves(mut scheduler: Scheduler, is_call: impl Fn(usize) -> bool) -> usize {
    scheduler.stop();
    scheduler.begin();
    scheduler.lift_limit();
    let mut waves = 0;
    let mut calls = Vec::new();
    loop {
        let mut started = start_round(&mut scheduler);
        if started.is_empty() {
            if calls.is_empty() {
                return waves;
            }
            waves += 1;
            started = std::mem::take(&mut calls);
        } else {
            calls.extend(started.extract_if(.., |cell| is_call(cell.column)));
        }
        for cell in started {
            let computed = scheduler.handle_computed(cell);
            debug_assert!(computed.is_ok(), "the cell was started before");
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
            // The next run does not wait for answers either.
            Action::Ask(_) | Action::Emit(_) => {}
        }
    }
    started
}

/// Sums of the tokens of all values, stored or assumed, so that the size of a window is a subtraction.
pub(super) struct TokenSums {
    /// By column and step: the tokens of all earlier steps.
    before: Vec<Vec<usize>>,
    /// By column, stored or expected.
    skipped: Vec<SkippedSteps>,
    /// By column, for the attachments: how many tokens they have depends on the reader.
    histories: Vec<History>,
    exclusions: Arc<Exclusions>,
}

impl TokenSums {
    pub(super) fn of(state: &FlowState, dry_run: &DryRun) -> Self {
        let schema = state.plan.schema();
        let columns = 0..schema.columns().len();
        let histories: Vec<History> = columns.clone().map(|column| state.table.history(column)).collect();
        let skipped: Vec<SkippedSteps> = columns.map(|column| dry_run.scheduler.skipped(column)).collect();
        let begun = 0..state.scheduler.begun();
        let derived = histories.iter().enumerate().filter(|(column, _)| !schema.is_source(*column));
        let typical =
            mean(derived.map(|(_, history)| history.sum(begun.clone())).sum()).unwrap_or(DEFAULT_TOKENS);
        let before = histories.iter().zip(&skipped).enumerate().map(|(column, (history, skipped))| {
            let max_tokens = state.settings.get(column).and_then(|settings| settings.max_tokens);
            let most = max_tokens.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
            let assumed = mean(history.sum(begun.clone()))
                .or_else(|| state.other_contexts(column)?.mean_tokens())
                .unwrap_or(typical)
                .min(most);
            let sums = begun.clone().scan(0, |sum, step| {
                // A value that is only in the store has no count here, so it gets the average.
                *sum += match history.text(step) {
                    Some(known) => known.tokens,
                    None if skipped.contains(step) => 0,
                    None => assumed,
                };
                Some(*sum)
            });
            [0].into_iter().chain(sums).collect()
        });
        let before = before.collect();
        Self { before, skipped, histories, exclusions: Arc::clone(&state.exclusions) }
    }

    fn skipped(&self, column: usize) -> SkippedSteps {
        self.skipped.get(column).cloned().unwrap_or_default()
    }

    /// The number of a column's values within some steps.
    fn count(&self, column: usize, steps: &Range<usize>) -> usize {
        steps.len() - self.skipped(column).count_within(steps)
    }

    /// The tokens of a column's values within some steps.
    pub(super) fn values(&self, column: usize, steps: Range<usize>) -> usize {
        let sums = self.before.get(column).map_or(&[][..], Vec::as_slice);
        let [start, end] = [steps.start, steps.end].map(|step| sums.get(step).copied().unwrap_or(0));
        end.saturating_sub(start)
    }

    /// For each step, the last one up to it at which a column has a value.
    pub(super) fn last_values(&self, column: usize, steps: &[usize]) -> Vec<usize> {
        let skipped = self.skipped(column);
        steps.iter().map(|&step| skipped.others(0..step + 1).next_back().unwrap_or(step)).collect()
    }

    /// The tokens of a column's values within some steps, each with an overhead, as a context of `step` shows them.
    fn shown(&self, column: usize, name: &Name, steps: Range<usize>, overhead: usize, step: usize) -> usize {
        let excluded =
            if self.exclusions.0.is_empty() { BTreeSet::new() } else { self.exclusions.at(name, step) };
        let excluded = excluded.range(steps.clone());
        let excluded = excluded.map(|&step| self.values(column, step..step + 1) + overhead).sum();
        (self.count(column, &steps) * overhead + self.values(column, steps)).saturating_sub(excluded)
    }

    /// The tokens of the attachments within some steps of a column.
    fn media(&self, column: usize, steps: Range<usize>, media: Option<&MediaRules>) -> usize {
        let history = self.histories.get(column);
        media.zip(history).map_or(0, |(media, history)| history.media_tokens(steps, media))
    }

    /// The tokens of the context of a cell.
    pub(super) fn context(&self, reads: &Reads, column: usize, step: usize, overhead: &Overhead) -> usize {
        let cells = |input: &InputView| input.spec.cells(step, &self.skipped(input.column));
        let own = reads.self_view.iter().map(|view| view.self_cells(step, &self.skipped(column)));
        // Documents in a log are counted as a log.
        let inputs = reads.inputs.iter().zip(&overhead.inputs).filter(|(input, _)| !input.is_log());
        let inputs = inputs.map(|(input, delimiters)| {
            let media = self.media(input.column, cells(input), overhead.media_of(Some(input), &input.spec));
            media + self.shown(input.column, &input.name, cells(input), *delimiters, step)
        });
        let self_history =
            own.clone().map(|shown| self.shown(column, &reads.column, shown, overhead.separator, step));
        let groups = reads.groups.iter().zip(&overhead.groups).map(|(group, tokens)| {
            let members = reads.inputs.get(group.inputs.clone()).unwrap_or_default();
            members.iter().map(|input| self.count(input.column, &cells(input))).max().unwrap_or(0) * tokens
        });
        let instructions = reads
            .instructions
            .iter()
            .map(|input| self.shown(input.column, &input.name, cells(input), overhead.separator, step));
        let inputs_shown = reads.inputs.iter().map(|input| (input.column, cells(input)));
        let shown = inputs_shown.chain(own.map(|shown| (column, shown))).enumerate();
        let elided = shown.filter(|(at, _)| reads.is_elided(*at)).map(|(at, (column, shown))| {
            let hidden = self.count(column, &(0..shown.start));
            if hidden > 0 { overhead.elision(hidden, reads.shown_as(at)).1 + overhead.separator } else { 0 }
        });
        instructions.sum::<usize>()
            + inputs.sum::<usize>()
            + groups.sum::<usize>()
            + self_history.sum::<usize>()
            + elided.sum::<usize>()
    }
}

/// The mean of some numbers of tokens.
fn mean(sum: Sum) -> Option<usize> {
    sum.tokens.checked_div(sum.count)
}
