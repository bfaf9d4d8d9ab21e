//! The contexts of cells. The values are taken under the lock of the state, and assembled outside of the lock, because
//! assembly calls filters and counters of users. What assembly finds out is kept unless another thread has the memory.

mod assemble;
mod audit;
mod dry_run;
mod forecast;
mod rehearsed;
mod sharing;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

pub use forecast::{ColumnForecast, Forecast, Overflow};
pub(crate) use rehearsed::RehearsedContexts;
pub use sharing::{SharedForecast, Unpaid};

use super::state::damaged_update;
use super::{Error, Result};
use crate::compute::{Defaults, StepSettings};
use crate::context::budget::{Budget, BudgetError};
use crate::context::compaction::LogPrices;
use crate::context::{
    AssembleError, Assembler, ContextMemory, ContextSettings, Snapshot, TakenViews, previous_step,
};
use crate::declare::{InputView, Name, Reads};
use crate::history::tokens::Counter;
use crate::history::{MediaRules, SkippedSteps, StepRanges, Value};
use crate::model::ContextWindow;
use crate::model::cache::CachePolicy;
use crate::schedule::Cell;

/// The assembler of a column, and the memory of the contexts.
pub(crate) struct ColumnContexts {
    pub(crate) assembler: Assembler,
    /// `None` if there is nothing to remember. Locked while filters and the counter are called, so nobody waits for the lock.
    memory: Option<Mutex<ContextMemory>>,
    /// The cache rules of the column's model, if documents need them.
    pub(crate) policy: &'static CachePolicy,
}

/// The contexts of a column of another flow, which a column of this one has in place of its own. A trait, because the state of
/// a flow has these contexts, and they have a flow.
pub(crate) trait OtherContexts: Send + Sync {
    /// The column of this flow.
    fn column(&self) -> &Name;

    /// The values of a context; see [`FlowState::draft`].
    fn draft(&self, step: usize) -> Result<Option<ContextDraft>>;

    /// The contexts of the column of the other flow, which are made if necessary. Calls the counter.
    fn prepare(&self) -> Option<Arc<ColumnContexts>>;

    /// The tokens of the requests at these steps, which ascend. Calls filters and the counter.
    fn request_tokens(&self, steps: &[usize]) -> Option<Vec<usize>>;

    /// The mean tokens of the values that the column of the other flow has.
    fn mean_tokens(&self) -> Option<usize>;
}

/// Makes the assembler of a column, outside of the lock: that counts the instruction and the tags.
pub(crate) struct ContextRecipe {
    pub(crate) column: usize,
    pub(crate) reads: Arc<Reads>,
    pub(crate) settings: Arc<StepSettings>,
    pub(crate) budget: Budget,
    pub(crate) counter: Arc<dyn Counter>,
    /// The settings of the columns that have none.
    pub(crate) defaults: Arc<Defaults>,
    /// The generation of the contexts that are made.
    pub(crate) generation: usize,
}

/// The values of a context, taken under the lock.
pub(crate) struct ContextDraft {
    pub(crate) cell: Cell,
    pub(crate) taken: TakenViews,
    pub(crate) contexts: Arc<ColumnContexts>,
    /// The steps that are not in memory, of the columns that the context shows.
    pub(crate) unloaded: BTreeMap<usize, StepRanges>,
    /// The fee of writing a token into the provider's cache, over the price of a token, where the lifetime of marks changes it.
    pub(crate) write: Option<f64>,
    /// The values of the context that this one continues.
    pub(crate) thread: Option<Box<Self>>,
}

/// The prices of reading and writing that most providers have, over the price of a token.
const USUAL: (f64, f64) = (0.1, 1.25);

/// The smallest minimum of a provider's cache, in tokens.
const MINIMUM: usize = 1024;

impl ColumnContexts {
    fn new(assembler: Assembler, memory: ContextMemory, policy: &'static CachePolicy) -> Arc<Self> {
        let memory = assembler.has_memory().then(|| Mutex::new(memory));
        Arc::new(Self { assembler, memory, policy })
    }

    /// The contexts of a flow that shares the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Arc<Self> {
        let memory = self.memory().map(|memory| memory.before(step));
        Self::new(self.assembler.clone(), memory.unwrap_or_default(), self.policy)
    }

    /// The memory, unless another thread has the lock, or a filter or counter that was called under the lock.
    fn memory(&self) -> Option<MutexGuard<'_, ContextMemory>> {
        match self.memory.as_ref()?.try_lock() {
            Ok(memory) => Some(memory),
            // Filters and counters are called between complete changes, so a panic leaves no half change.
            Err(TryLockError::Poisoned(memory)) => Some(memory.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn assemble(&self, taken: &TakenViews, thread: Option<Arc<Snapshot>>) -> Result<Snapshot, AssembleError> {
        match self.memory() {
            Some(mut memory) => self.assembler.assemble(taken, thread, &mut memory),
            // Waiting could be a deadlock. All that is remembered can be found out again.
            None => self.assembler.assemble(taken, thread, &mut ContextMemory::default()),
        }
    }
}

impl ContextRecipe {
    /// Makes the contexts. Calls the counter.
    pub(crate) fn make(&self) -> Arc<ColumnContexts> {
        let instruction = self.settings.instruction.as_deref();
        let is_after = self.settings.is_after;
        let system = self.defaults.system.clone();
        let media = self.model_name().and_then(|name| MediaRules::by_model(&name));
        let settings = ContextSettings { form: self.settings.form, instruction, is_after, system, media };
        let counter = Arc::clone(&self.counter);
        let target = if self.reads.tiered.is_some() { self.default_target() } else { 0 };
        let policy = self.policy();
        let prices = self.reads.compacted().map(|_| self.prices(policy));
        let mut budget = self.budget.clone();
        // An inherited model may be the one of the environment, so the name is looked up only where it matters.
        if let Some(name) = budget.takes_window().then(|| self.model_name()).flatten() {
            budget = ContextWindow::limit(&name, budget);
        }
        let assembler = Assembler::new(&self.reads, settings, &budget, counter, target, prices);
        ColumnContexts::new(assembler, ContextMemory::default(), policy)
    }

    /// The name of the column's model. An unknown model is an error of the run.
    fn model_name(&self) -> Option<Arc<str>> {
        self.settings.model.as_ref()?.model_name(&self.defaults.model)
    }

    /// The cache rules of the column's model, where documents need them: the name may come from the environment.
    fn policy(&self) -> &'static CachePolicy {
        let name = self.reads.compacted().and_then(|_| self.model_name());
        name.map_or(&CachePolicy::UNKNOWN, |name| CachePolicy::by_model(&name))
    }

    /// The prices by which documents are laid anew.
    fn prices(&self, policy: &CachePolicy) -> LogPrices {
        let window = self.model_name().and_then(|name| ContextWindow::by_model(&name));
        let CachePolicy { price, read, short, minimum, .. } = policy;
        // Most servers keep prefixes. A model that is not known would have everything laid anew with each change otherwise.
        let (read, write) = if policy.models.is_empty() { USUAL } else { (*read, short.factor) };
        LogPrices {
            price: price.unwrap_or(1.0),
            read,
            write,
            minimum: if policy.models.is_empty() { MINIMUM } else { *minimum },
            at_most: None,
            window: window.map_or(usize::MAX, |window| window.tokens),
        }
    }

    /// The tokens of a tier whose view has no target: more than the least that the provider of the column caches.
    fn default_target(&self) -> usize {
        let policy = self.model_name().map(|name| CachePolicy::by_model(&name));
        // A provider without a discount has no minimum.
        let minimum = policy.filter(|policy| policy.read < 1.0).map_or(MINIMUM, |policy| policy.minimum);
        minimum + minimum / 2
    }
}

impl ContextDraft {
    /// Assembles the context. Calls filters and the counter.
    pub(crate) fn assemble(&self) -> Result<Snapshot> {
        let Self { cell, taken, contexts, unloaded, write, thread } = self;
        // A value that is not in memory looks like a skipped one, so assembly would show less and not fail.
        if !unloaded.is_empty() {
            check_loaded(*cell, taken, &contexts.assembler, unloaded)?;
        }
        // Under its own budget and filters, so that the bytes are the ones that were sent.
        let thread = thread.as_ref().map(|thread| thread.assemble().map(Arc::new)).transpose()?;
        let snapshot = contexts.assemble(taken, thread).map_err(|source| {
            let column = taken.column().clone();
            match source {
                AssembleError::Budget(source @ BudgetError::NoRoom { .. }) => {
                    Error::BudgetTooSmall { column, source }
                }
                AssembleError::Budget(source) => Error::Budget { column, step: cell.step, source },
                AssembleError::Update { step, error } => {
                    let tiered = taken.reads.tiered.as_ref().map(|documents| &documents.name);
                    let logged = taken.reads.compacted().map(|(input, _)| &input.name);
                    damaged_update(tiered.or(logged).unwrap_or(&column), step, &error)
                }
            }
        })?;
        Ok(match write {
            Some(factor) => snapshot.written_at(*factor),
            None => snapshot,
        })
    }
}

/// Checks that the values in the context of a cell, and in the context before, are in memory.
fn check_loaded(
    cell: Cell,
    taken: &TakenViews,
    assembler: &Assembler,
    unloaded: &BTreeMap<usize, StepRanges>,
) -> Result<()> {
    let reads = &taken.reads;
    let cells = context_cells(
        reads,
        cell,
        assembler,
        |cell| unloaded.get(&cell.column).is_some_and(|steps| steps.contains(cell.step)),
        |column| taken.skipped(column),
        |input, step| taken.value(input, step),
    );
    let firsts = cells
        .into_iter()
        .filter_map(|(column, steps)| Some((unloaded.get(&column)?.first_in(&steps)?, column)));
    // The first step of all, because loading the first loads the later ones, too.
    let Some((step, column)) = firsts.min() else { return Ok(()) };
    let input = reads.all_inputs().find(|input| input.column == column);
    Err(Error::NotLoaded { column: input.map_or(&reads.column, |input| &input.name).clone(), step })
}

/// The cells that the context of a cell shows or counts, and the cells of the request before, whose prefix is repeated.
/// `skipped` returns the skipped steps of a column, and `value` a value of an input, as far as they are in memory. Calls
/// filters.
pub(crate) fn context_cells(
    reads: &Reads,
    cell: Cell,
    assembler: &Assembler,
    is_unloaded: impl Fn(Cell) -> bool,
    skipped: impl Fn(usize) -> SkippedSteps + Copy,
    value: impl Fn(&InputView, usize) -> Option<Value>,
) -> Vec<(usize, Range<usize>)> {
    let mut cells: Vec<_> = reads.needed(cell.column, cell.step, skipped).collect();
    if assembler.reads_all_steps() {
        cells.iter_mut().for_each(|(_, steps)| steps.start = 0);
    }
    // The values that decide whether a request was made are needed to find the previous one.
    let mut unknown = Vec::new();
    let previous = previous_step(reads, cell.step, |input, step| {
        if is_unloaded(Cell { column: input.column, step }) {
            // With as many earlier steps as come after, in case that this step was not read either.
            unknown.push((input.column, step.saturating_sub(cell.step - step - 1)..step + 1));
            return true;
        }
        let filter = input.spec.filter.as_ref();
        value(input, step).is_some_and(|value| filter.is_none_or(|filter| filter.shows(step, &value)))
    });
    cells.extend(unknown);
    cells.extend(previous.into_iter().flat_map(|step| reads.needed(cell.column, step, skipped)));
    cells
}
