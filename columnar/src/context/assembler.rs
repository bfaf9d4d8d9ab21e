//! Assembles the contexts of one column: delimiters, filters and the budget, over the values of the flow.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::budget::{Budget, BudgetError, PersistentCuts, Strategy, TokenLimit};
use super::delimiters::Overhead;
use super::omissions::Truncation;
use super::snapshot::Snapshot;
use crate::declare::{Filter, Input, Reads, Window};
use crate::history::History;
use crate::schedule::Cell;
use crate::tokens::Counter;

/// Everything about the contexts of a column that does not depend on the step, and caches over its steps. Made with the
/// first context.
#[derive(Clone, Debug)]
pub(crate) struct Assembler {
    overhead: Arc<Overhead>,
    limit: Result<Option<TokenLimit>, BudgetError>,
    /// The cuts so far, if they persist.
    cuts: Option<PersistentCuts>,
    /// The values that pass the filter of an input, by the index of the input.
    filtered: BTreeMap<usize, FilteredHistory>,
}

impl Assembler {
    pub(crate) fn new(
        reads: &Reads,
        instruction: Option<&str>,
        budget: &Budget,
        counter: Arc<dyn Counter>,
    ) -> Self {
        let overhead = Overhead::new(reads, instruction, counter);
        let limit = TokenLimit::of(budget, overhead.instruction.unwrap_or(0)).map(|limit| {
            let low_water = |limit: &TokenLimit| limit.low_water.filter(|_| is_computed_in_order(reads));
            limit.map(|limit| TokenLimit { low_water: low_water(&limit), ..limit })
        });
        // A cut to the limit itself is soon exceeded again, so it is not worth remembering.
        let is_persistent = matches!(limit, Ok(Some(TokenLimit { low_water: Some(_), .. })));
        let cuts = is_persistent.then(PersistentCuts::default);
        Self { overhead: Arc::new(overhead), limit, cuts, filtered: BTreeMap::new() }
    }

    /// Assembles the context of a cell, all of whose inputs are stored. `fork` is the nearest step at which a fork
    /// diverged; `history` gives the values of a column.
    ///
    /// # Errors
    ///
    /// If the context is over a budget that never truncates, or the budget leaves no tokens for messages.
    pub(crate) fn assemble(
        &mut self,
        reads: Arc<Reads>,
        cell: Cell,
        fork: Option<usize>,
        history: impl Fn(usize) -> History,
    ) -> Result<Snapshot, BudgetError> {
        let mut snapshot =
            Snapshot::new(reads, cell, fork, Arc::clone(&self.overhead), |column, input| match input {
                Some(input) => self.filtered(input, history(column), cell.step),
                None => history(column),
            });
        self.truncate(&mut snapshot)?;
        Ok(snapshot)
    }

    /// The values that an input shows of its column at a step.
    fn filtered(&mut self, input: &Input, column: History, step: usize) -> History {
        match &input.spec.filter {
            None => column,
            Some(filter) => {
                let filtered = self.filtered.entry(input.at).or_default();
                filtered.history(filter, &column, input.spec.needed(input.spec.cells(step)))
            }
        }
    }

    /// Omits the turns that do not fit the budget.
    fn truncate(&mut self, snapshot: &mut Snapshot) -> Result<(), BudgetError> {
        // A budget without room is an error of each cell, and not of the assembler, which is made once.
        let Some(limit) = self.limit.as_ref().map_err(Clone::clone)? else { return Ok(()) };
        let truncation = Truncation::new(snapshot, limit, self.cuts.as_mut());
        let report = &truncation.report;
        if limit.strategy == Strategy::StopAtLimit && report.is_over_limit() {
            let (tokens, limit) = (report.before, report.limit);
            return Err(BudgetError::OverLimit { tokens, limit, contributors: snapshot.contributors() });
        }
        snapshot.truncate(truncation);
        Ok(())
    }

    /// The assembler of a flow that shares the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        let cuts = self.cuts.as_ref().map(|cuts| cuts.before(step));
        // The columns that filters read may have been replaced since.
        Self { cuts, filtered: BTreeMap::new(), ..self.clone() }
    }

    pub(crate) fn overhead(&self) -> &Overhead {
        &self.overhead
    }

    /// The most tokens that the messages may have.
    pub(crate) fn max_tokens(&self) -> usize {
        match &self.limit {
            Ok(Some(limit)) => limit.tokens,
            _ => usize::MAX,
        }
    }
}

/// Whether everything that earlier contexts of the column showed is stored when a cell of it is computed. Only then can
/// cuts persist.
fn is_computed_in_order(reads: &Reads) -> bool {
    reads.self_view.is_some() || reads.inputs.iter().all(|input| input.spec.window == Window::All)
}

/// The values that pass a filter, as a history: windows, sums and budgets work on it as on a column. The filter is called
/// once for each value.
#[derive(Clone, Debug, Default)]
struct FilteredHistory {
    passed: History,
    /// Every step before this one has been checked.
    checked: usize,
}

impl FilteredHistory {
    /// Checks the values in `steps`, which are stored, and returns all values so far that pass the filter.
    fn history(&mut self, filter: &Filter, column: &History, steps: Range<usize>) -> History {
        // A window may begin beyond the checked steps. Then it is checked alone, since the values between
        // need not be stored. Checking a step twice is harmless: `insert` keeps the first value.
        let is_next = steps.start <= self.checked;
        for step in if is_next { self.checked.min(steps.end)..steps.end } else { steps.clone() } {
            if let Some(text) = column.text(step)
                && filter.shows(step, text.value)
                && let Some(value) = column.value(step)
            {
                self.passed.insert(step, value, text.tokens);
            }
        }
        if is_next {
            self.checked = self.checked.max(steps.end);
        }
        self.passed.clone()
    }
}
