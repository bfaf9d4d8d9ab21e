//! Assembles the contexts of one column: delimiters, filters and the budget, over the values of the flow.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::budget::{Budget, BudgetError, PersistentCuts, Strategy, TokenLimit};
use super::delimiters::{ContextSettings, Overhead};
use super::exclusions::Exclusions;
use super::layout::{Layout, TierMemory, document_tokens};
use super::omissions::Truncation;
use super::snapshot::Snapshot;
use super::turns::CutRule;
use crate::context::documents::UpdateError;
use crate::declare::{Filter, Input, Reads, Window};
use crate::history::tokens::Counter;
use crate::history::{History, StepRanges};
use crate::schedule::Cell;

/// The number of texts that an error names.
const LARGEST: usize = 3;

/// Everything about the contexts of a column that does not depend on the step. Made with the first context.
#[derive(Clone, Debug)]
pub(crate) struct Assembler {
    overhead: Arc<Overhead>,
    limit: Result<Option<TokenLimit>, BudgetError>,
    /// Whether cuts persist.
    is_persistent: bool,
    has_filters: bool,
    /// The target of the tiers of documents, in tokens; `None` without such documents.
    target: Option<usize>,
}

/// The reason why there is no context.
#[derive(Debug)]
pub(crate) enum AssembleError {
    /// The context is over the budget.
    Budget(BudgetError),
    /// The value of a step is no update of the documents before it.
    Update { step: usize, error: UpdateError },
}

impl From<BudgetError> for AssembleError {
    fn from(error: BudgetError) -> Self {
        Self::Budget(error)
    }
}

/// The results of earlier contexts of a column. A cache over its steps: all of them can be found out again. Both parts are
/// made with the first result, because most columns have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// The cuts so far, if they persist, by the step from which on contexts heed the same exclusions.
    cuts: Option<BTreeMap<usize, PersistentCuts>>,
    /// The values that pass the filter of an input, by whether it is an instruction and by its index.
    filtered: Option<BTreeMap<(bool, usize), FilteredHistory>>,
    /// The tiers of documents, if the column reads them in tiers.
    tiers: Option<Box<TierMemory>>,
}

impl Memory {
    /// The memory of a flow that shares the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        // The columns that filters read may have been replaced since.
        let cuts = self
            .cuts
            .as_ref()
            .map(|cuts| cuts.range(..=step).map(|(since, cuts)| (*since, cuts.before(step))).collect());
        let tiers = self.tiers.as_ref().map(|tiers| Box::new(tiers.before(step)));
        Self { cuts, filtered: None, tiers }
    }
}

impl Assembler {
    pub(crate) fn new(
        reads: &Reads,
        settings: ContextSettings<'_>,
        budget: &Budget,
        counter: Arc<dyn Counter>,
        default_target: usize,
    ) -> Self {
        let overhead = Overhead::new(reads, settings, counter);
        let instruction = overhead.instruction.unwrap_or(0);
        let limit = TokenLimit::of(budget, instruction, overhead.least_message(reads)).map(|limit| {
            let low_water = |limit: &TokenLimit| limit.low_water.filter(|_| is_computed_in_order(reads));
            limit.map(|limit| TokenLimit { low_water: low_water(&limit), ..limit })
        });
        // A cut to the limit itself is soon exceeded again, so it is not worth remembering.
        let is_persistent = matches!(limit, Ok(Some(TokenLimit { low_water: Some(_), .. })));
        let has_filters = reads.all_inputs().any(|input| input.spec.filter.is_some());
        let target = reads.tiered.as_ref().map(|tiered| tiered.tiering.target.unwrap_or(default_target));
        Self { overhead: Arc::new(overhead), limit, is_persistent, has_filters, target }
    }

    /// Takes the values of a context, all of whose inputs are stored. `fork` is the nearest step at which a fork
    /// diverged; `history` gives the values of a column. Calls no code of users.
    pub(crate) fn snapshot(
        &self,
        reads: Arc<Reads>,
        cell: Cell,
        fork: Option<usize>,
        exclusions: Option<&Arc<Exclusions>>,
        history: impl FnMut(usize) -> History,
    ) -> Snapshot {
        Snapshot::new(reads, cell, (fork, exclusions), Arc::clone(&self.overhead), history)
    }

    /// Assembles a context of the values that were taken. Calls filters and the counter.
    ///
    /// # Errors
    ///
    /// If the context is over a budget that never truncates, or the budget leaves no tokens for messages, or a stored value
    /// is no update of documents.
    pub(crate) fn assemble(&self, snapshot: &mut Snapshot, memory: &mut Memory) -> Result<(), AssembleError> {
        if self.has_filters {
            self.filter(snapshot, memory);
        }
        snapshot.hide();
        if let Some(target) = self.target {
            let tiers = memory.tiers.get_or_insert_default();
            let tiers = tiers.at(snapshot, target, snapshot.step);
            let tiers = tiers.map_err(|(step, error)| AssembleError::Update { step, error })?;
            snapshot.lay_out(Layout::new(tiers));
        }
        // After the tiers, which know the history with all cells.
        snapshot.exclude();
        self.truncate(snapshot, memory)?;
        snapshot.find_moves();
        Ok(())
    }

    /// Replaces the values of filtered inputs by those that pass.
    fn filter(&self, snapshot: &mut Snapshot, memory: &mut Memory) {
        let (reads, step) = (Arc::clone(&snapshot.reads), snapshot.step);
        let filtered = memory.filtered.get_or_insert_default();
        let key = |input: &Input| (input.is_instruction(), input.at);
        // Its values, and those of the contexts before it that it depends on.
        let previous = previous_step(&reads, step, |input, step| match &input.spec.filter {
            None => snapshot.has(input, step),
            Some(filter) => {
                let (filtered, Some(column)) =
                    (filtered.entry(key(input)).or_default(), snapshot.history(input))
                else {
                    return false;
                };
                filtered.check_known(filter, column, step..step + 1);
                filtered.passed.has(step)
            }
        });
        for input in reads.all_inputs() {
            let Some(filter) = &input.spec.filter else { continue };
            let filtered = filtered.entry(key(input)).or_default();
            let needed = |step| input.spec.needed(input.spec.cells(step));
            let Range { start, end } = needed(step);
            let Some(column) = snapshot.history(input) else { continue };
            filtered.check(filter, column, if self.reads_all_steps() { 0 } else { start }..end);
            if let Some(previous) = previous {
                filtered.check_known(filter, column, needed(previous));
            }
            snapshot.replace(input, filtered.passed.clone());
        }
    }

    /// Omits the turns that do not fit the budget.
    fn truncate(&self, snapshot: &mut Snapshot, memory: &mut Memory) -> Result<(), BudgetError> {
        // A budget without room is an error of each cell, and not of the assembler, which is made once.
        let Some(limit) = self.limit.as_ref().map_err(Clone::clone)? else { return Ok(()) };
        let since = snapshot.excluding_since(snapshot.step);
        // Cuts begin anew with other exclusions, because the turns before have other sizes then.
        let cuts = self.is_persistent.then(|| {
            memory.cuts.get_or_insert_default().entry(since).or_insert_with(|| PersistentCuts::from(since))
        });
        let tiers = memory.tiers.as_deref();
        let documents = |step| tiers.map_or(0, |tiers| tiers.tokens(step));
        let truncation = Truncation::new(snapshot, &CutRule { limit, documents: &documents }, cuts);
        let report = &truncation.report;
        if report.is_over_limit() {
            let ([of_system, of_messages], limit, strategy) =
                (snapshot.fixed_tokens(), limit.tokens, limit.strategy);
            if of_system + of_messages >= limit {
                let (tokens, largest) = (of_system + of_messages, snapshot.largest_fixed(LARGEST));
                return Err(BudgetError::NoRoomForTurns { tokens, limit, largest });
            }
            if strategy == Strategy::StopAtLimit {
                let (tokens, contributors) = (report.before + of_system, snapshot.contributors());
                return Err(BudgetError::OverLimit { tokens, limit, contributors });
            }
        }
        snapshot.truncate(truncation);
        Ok(())
    }

    /// Checks that the budget holds a message at all.
    pub(crate) fn check(&self) -> Result<(), BudgetError> {
        self.limit.as_ref().map(drop).map_err(Clone::clone)
    }

    pub(crate) fn overhead(&self) -> &Overhead {
        &self.overhead
    }

    /// Whether a context depends on all earlier ones, because cuts persist or documents have tiers.
    pub(crate) fn reads_all_steps(&self) -> bool {
        self.is_persistent || self.target.is_some()
    }

    /// Whether contexts have anything to remember.
    pub(crate) fn has_memory(&self) -> bool {
        self.reads_all_steps() || self.has_filters
    }

    /// The tokens of the documents in tiers that the contexts of the first steps show; empty without such documents.
    pub(crate) fn document_tokens(&self, updates: &History, steps: usize) -> Vec<usize> {
        if self.target.is_none() {
            Vec::new()
        } else {
            document_tokens(updates, steps, &*self.overhead.counter)
        }
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
    reads.self_view.is_some() || reads.all_inputs().all(|input| input.spec.window == Window::All)
}

/// The last step before this one at which an input has a value: that of the column's previous request. `is_read` returns
/// whether an input shows a value of its column at a step.
pub(crate) fn previous_step(
    reads: &Reads,
    step: usize,
    mut is_read: impl FnMut(&Input, usize) -> bool,
) -> Option<usize> {
    let mut is_read_at = |input: &Input, step: usize| {
        step.checked_sub(input.spec.lag).is_some_and(|source| is_read(input, source))
    };
    (0..step).rev().find(|&step| reads.inputs.iter().any(|input| is_read_at(input, step)))
}

/// The values that pass a filter, as a history: windows, sums and budgets work on it as on a column. The filter is called
/// once for each value, as long as the memory is kept.
#[derive(Clone, Debug, Default)]
struct FilteredHistory {
    passed: History,
    checked: StepRanges,
}

impl FilteredHistory {
    /// Checks the values of steps, all of which are stored.
    fn check(&mut self, filter: &Filter, column: &History, steps: Range<usize>) {
        self.check_known(filter, column, steps.clone());
        // Steps without a value are skipped for good.
        self.checked.insert(steps);
    }

    /// Checks the values of steps, as far as they are stored.
    fn check_known(&mut self, filter: &Filter, column: &History, steps: Range<usize>) {
        for step in StepRanges::from(steps).minus(&self.checked).steps() {
            if let (Some(text), Some(value)) = (column.text(step), column.value(step)) {
                if filter.shows(step, text.value) {
                    self.passed.insert(step, value, text.tokens);
                }
                self.checked.insert(step..step + 1);
            }
        }
    }
}
