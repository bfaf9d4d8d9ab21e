//! Assembles the contexts of one column: delimiters, filters and the budget, over the values of the flow.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::{Budget, BudgetError, PersistentCuts, TokenLimit, Turns};
use super::compaction::{LogContext, LogCounter, LogForm, LogMemory, LogPrices};
use super::cut::{ContextBudget, DocumentMemory};
use super::elisions::MarkedViews;
use super::filters::FilterMemory;
use super::layout::{DocumentLayout, TierMemory, document_tokens};
use super::overhead::{ContextSettings, Overhead};
use super::snapshot::{FlowPast, Snapshot, TakenViews};
use super::step_views::{StepViews, StoredCells};
use super::turns::ContextTurns;
use crate::context::documents::UpdateError;
use crate::declare::{InputView, Reads, Window};
use crate::history::History;
use crate::history::tokens::Counter;
use crate::schedule::Cell;

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
    /// The prices by which documents are laid anew; `None` without a compacted view.
    prices: Option<LogPrices>,
}

/// The turns of a column that reads a log, at a step.
pub(crate) struct LogTurns {
    views: MarkedViews,
}

impl LogTurns {
    /// The turns of a column at a step. Calls the counter.
    pub(crate) fn new(taken: &TakenViews) -> Self {
        Self { views: MarkedViews::new(StepViews::clone(taken)) }
    }

    /// The tokens of the turns from a step on, without the turn of the step itself.
    pub(crate) fn tokens(&self, from: usize) -> usize {
        let step = self.views.step;
        ContextTurns::at(&self.views, step).sum(2 * from..2 * step).tokens
    }
}

/// The reason why there is no context.
#[derive(Debug)]
pub(crate) enum AssembleError {
    /// The context is over the budget.
    Budget(BudgetError),
    /// The value of a step is no update of the documents before.
    Update { step: usize, error: UpdateError },
}

impl From<BudgetError> for AssembleError {
    fn from(error: BudgetError) -> Self {
        Self::Budget(error)
    }
}

/// The results of earlier contexts of a column. A cache over the steps: all of them can be found out again.
/// Each part is made with the first result, because most columns have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextMemory {
    /// The cuts so far, if they persist, by the step from which on contexts heed the same exclusions.
    cuts: Option<BTreeMap<usize, PersistentCuts>>,
    /// The values that pass the filters of inputs.
    filtered: Option<FilterMemory>,
    /// The tiers of documents, if the column reads them in tiers.
    tiers: Option<Box<TierMemory>>,
    /// The log of the documents, if the column reads a compacted view.
    log: Option<Box<LogMemory>>,
}

impl ContextMemory {
    /// The memory of a flow that shares the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        let cuts = self.cuts.as_ref();
        let cuts =
            cuts.map(|cuts| cuts.range(..=step).map(|(since, cuts)| (*since, cuts.before(step))).collect());
        let tiers = self.tiers.as_ref().map(|tiers| Box::new(tiers.before(step)));
        let log = self.log.as_ref().map(|log| Box::new(log.before(step)));
        // The columns that filters read may have been replaced since.
        Self { cuts, filtered: None, tiers, log }
    }
}

impl Assembler {
    pub(crate) fn new(
        reads: &Reads,
        settings: ContextSettings<'_>,
        budget: &Budget,
        counter: Arc<dyn Counter>,
        default_target: usize,
        prices: Option<LogPrices>,
    ) -> Self {
        let overhead = Overhead::new(reads, settings, counter);
        let instruction = overhead.instruction.unwrap_or(0);
        let least = overhead.least_message(reads) + overhead.own_tokens();
        let limit = TokenLimit::of(budget, instruction, least).map(|limit| {
            // Cuts persist only if all that earlier contexts showed is stored when a cell of the column is computed.
            let is_in_order =
                reads.self_view.is_some() || reads.all_inputs().all(|input| input.spec.window == Window::All);
            limit.map(|limit| TokenLimit { low_water: limit.low_water.filter(|_| is_in_order), ..limit })
        });
        // A cut to the limit itself is soon exceeded again, so it is not worth remembering.
        let is_persistent = matches!(limit, Ok(Some(TokenLimit { low_water: Some(_), .. })));
        let has_filters = reads.all_inputs().any(|input| input.spec.filter.is_some());
        let target = reads.tiered.as_ref().map(|tiered| tiered.tiering.target.unwrap_or(default_target));
        // A view may bound the requests itself.
        let prices = prices.zip(reads.compacted());
        let prices = prices.map(|(prices, (_, view))| LogPrices { at_most: view.at_most, ..prices });
        Self { overhead: Arc::new(overhead), limit, is_persistent, has_filters, target, prices }
    }

    /// Takes the values of a context, all of whose inputs are stored. `cells` returns the stored cells of a column. Calls no
    /// code of users, so a lock may be held.
    pub(crate) fn take(
        &self,
        reads: Arc<Reads>,
        cell: Cell,
        past: FlowPast,
        cells: impl FnMut(usize) -> StoredCells,
    ) -> TakenViews {
        TakenViews::new(reads, cell, Arc::clone(&self.overhead), past, cells)
    }

    /// Assembles a context of the values that were taken, which continues the conversation of another one, if the column has
    /// a thread. Calls filters and the counter.
    ///
    /// # Errors
    ///
    /// If the context is over a budget that never truncates, or the budget leaves no tokens for messages, or a stored value
    /// is no update of documents.
    pub(crate) fn assemble(
        &self,
        taken: &TakenViews,
        thread: Option<Arc<Snapshot>>,
        memory: &mut ContextMemory,
    ) -> Result<Snapshot, AssembleError> {
        let mut passing = if self.has_filters {
            memory.filtered.get_or_insert_default().filter(taken, self.reads_all_steps())
        } else {
            StepViews::clone(taken)
        };
        let log = self.log(taken, memory)?;
        if let Some(log) = &log {
            passing = passing.with_documents(log.texts().values());
        }
        let passing = MarkedViews::new(passing);
        let layout = self.layout(taken.updates.as_ref(), &passing, memory)?;
        let context = taken.lay_out(passing, layout, log).exclude().continuing(thread);
        // A budget without room is an error of each cell, and not of the assembler, which is made once.
        let Some(limit) = self.limit.as_ref().map_err(Clone::clone)? else {
            return Ok(context.truncated(None));
        };
        let since = context.excluding_since(context.step);
        // Cuts begin anew with other exclusions, because the turns before have other sizes then.
        let cuts = self.is_persistent.then(|| {
            memory.cuts.get_or_insert_default().entry(since).or_insert_with(|| PersistentCuts::from(since))
        });
        let ContextMemory { tiers, log, .. } = memory;
        let documents = DocumentMemory { tiers: tiers.as_deref(), log: log.as_deref() };
        Ok(ContextBudget { limit, documents }.cut(context, cuts)?)
    }

    /// The layout of the documents, if the column reads some in tiers.
    fn layout(
        &self,
        updates: Option<&History>,
        views: &MarkedViews,
        memory: &mut ContextMemory,
    ) -> Result<Option<DocumentLayout>, AssembleError> {
        let Some((target, updates)) = self.target.zip(updates) else { return Ok(None) };
        let tiers = memory.tiers.get_or_insert_default().at(updates, views, target);
        let tiers = tiers.map_err(|(step, error)| AssembleError::Update { step, error })?;
        Ok(Some(DocumentLayout::new(tiers)))
    }

    /// The log of the documents, if the column reads a compacted view.
    fn log(
        &self,
        taken: &TakenViews,
        memory: &mut ContextMemory,
    ) -> Result<Option<LogContext>, AssembleError> {
        let Some((prices, (input, view))) = self.prices.zip(taken.reads.compacted()) else { return Ok(None) };
        let Some(updates) = taken.history(Some(input)) else { return Ok(None) };
        let form = LogForm::of(view);
        let log = memory.log.get_or_insert_with(|| Box::new(LogMemory::new(form)));
        let shown = log.at(updates, taken.step, self.log_counter(input));
        let shown = shown.map_err(|(step, error)| AssembleError::Update { step, error })?;
        Ok(Some(LogContext::new(shown, prices)))
    }

    /// The prices by which documents are laid anew; `None` without a compacted view.
    pub(crate) fn prices(&self) -> Option<LogPrices> {
        self.prices
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

    /// Whether contexts have a log of documents, which all updates make.
    fn has_log(&self) -> bool {
        self.prices.is_some()
    }

    /// Whether contexts have anything to remember.
    pub(crate) fn has_memory(&self) -> bool {
        self.reads_all_steps() || self.has_filters || self.has_log()
    }

    /// The tokens of the documents that the contexts of the first steps show in a layout of their own, from the history of
    /// their source; empty without such documents. Calls the counter.
    pub(crate) fn document_tokens(
        &self,
        reads: &Reads,
        steps: usize,
        updates: impl FnOnce(usize) -> History,
    ) -> Vec<usize> {
        if let Some(tiered) = &reads.tiered {
            return document_tokens(&updates(tiered.column), steps, &*self.overhead.counter);
        }
        let Some((input, view)) = reads.compacted() else { return Vec::new() };
        let mut log = LogMemory::new(LogForm::of(view));
        let counter = self.log_counter(input);
        // A value that is no update counts as one that changes nothing.
        drop(steps.checked_sub(1).map(|last| log.at(&updates(input.column), last, counter)));
        (0..steps).map(|step| log.sum(step).with_overhead(counter.around).tokens).collect()
    }

    fn log_counter(&self, input: &InputView) -> LogCounter<'_> {
        let around = self.overhead.inputs.get(input.at).copied().unwrap_or(0);
        LogCounter { counter: &*self.overhead.counter, around }
    }

    /// The most tokens that the messages may have.
    pub(crate) fn max_tokens(&self) -> usize {
        match &self.limit {
            Ok(Some(limit)) => limit.tokens,
            _ => usize::MAX,
        }
    }
}
