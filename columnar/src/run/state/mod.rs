//! The state of a live flow, which one lock guards. No method calls code of users, unless the documentation says so.

mod derive;
mod past;
mod pauses;
mod read;
mod requests;
mod unloaded;
mod values;

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use derive::AdoptedColumn;
pub(crate) use past::{PastColumn, PastStore, Unloaded};
pub(crate) use past::{damaged_update, invalid_history, load_error};
pub use read::{CellState, Values};
pub(crate) use requests::SentCall;
pub(crate) use unloaded::load_all;
pub(crate) use values::{ValueTable, entry, receipt, skip_reason};

use self::requests::LastRequests;
use self::values::Receipts;
use super::contexts::{ColumnContexts, OtherContexts};
use super::{Error, Result};
use crate::compute::{Defaults, StepSettings};
use crate::context::Exclusions;
use crate::context::budget::Budget;
use crate::context::compaction::DocumentLog;
use crate::context::documents::Documents;
use crate::declare::default_limits::CONCURRENCY;
use crate::declare::{Name, Plan};
use crate::history::tokens::{Counter, Estimate};
use crate::model::usage::Fingerprint;
use crate::run::reopen::{FlowDefinition, KeptColumns};
use crate::schedule::{Cell, Scheduler};
use crate::store::LoadedAttachments;

/// The state of a live flow.
pub(crate) struct FlowState {
    pub(crate) plan: Arc<Plan>,
    pub(crate) scheduler: Scheduler,
    pub(crate) table: ValueTable,
    pub(crate) receipts: Receipts,
    /// The reasons of declined cells, for which the next run fails.
    pub(crate) declined: BTreeMap<Cell, String>,
    /// The last requests of this process.
    pub(crate) requests: LastRequests,
    /// By column.
    pub(crate) settings: Vec<Arc<StepSettings>>,
    /// The counter of the tokens in the table and in contexts.
    pub(crate) counter: Arc<dyn Counter>,
    /// The budget of the columns that have none.
    pub(crate) budget: Budget,
    pub(crate) defaults: Arc<Defaults>,
    // Made with the first context, because that calls the counter of users, which no lock may guard.
    /// By column.
    pub(crate) contexts: Vec<Option<Arc<ColumnContexts>>>,
    /// By column, as far as they were needed. Settings that contexts depend on change the fingerprints.
    pub(crate) fingerprints: Vec<Option<Fingerprint>>,
    /// The generation of the contexts: changes of settings, budgets and the counter begin a new one.
    pub(crate) generation: usize,
    /// The nearest forks: the step at which each diverges, and the first step whose contexts take it into account.
    pub(crate) forks: BTreeMap<usize, usize>,
    /// The documents of the sources that were pushed to, after a number of steps, by name. The values have the same
    /// documents, so this is a cache.
    pub(crate) documents: BTreeMap<Name, (usize, Documents)>,
    /// The logs of these sources, after a number of steps. A cache as well.
    pub(crate) logs: BTreeMap<Name, (usize, DocumentLog)>,
    /// The cells that contexts of later steps do not show.
    pub(crate) exclusions: Arc<Exclusions>,
    /// Whether the store may have one more exclusion.
    pub(crate) has_unknown_exclusion: bool,
    /// The columns with stored values that are not in memory.
    pub(crate) unloaded: BTreeMap<usize, Unloaded>,
    /// The removed columns of a flow without a store, by the keys that a store would have, for columns that are added
    /// later.
    pub(crate) removed: BTreeMap<Name, Unloaded>,
    pub(crate) stored: StoredColumns,
    /// The contexts of another flow, which a column of this one has in place of its own.
    pub(crate) rehearsed: Option<Arc<dyn OtherContexts>>,
    pub(crate) is_running: bool,
    /// The steps that the active run computes now, in a flow whose last steps alone are in memory.
    pub(crate) window: Option<Range<usize>>,
    /// Whether values were pushed or columns added that no run has seen to its end.
    pub(crate) is_stale: bool,
}

/// The columns of a flow in the form of the store. Without a store there are declarations alone, and only once a column was
/// removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredColumns {
    pub(crate) definition: FlowDefinition,
    /// The key of each column in the store.
    pub(crate) keys: Vec<Name>,
    pub(crate) kept: KeptColumns,
    /// The number of last steps that are loaded of a column; `None` for all.
    pub(crate) recent: Option<usize>,
    /// The attachments in memory, which the flow shares with the forks.
    pub(crate) attachments: LoadedAttachments,
}

/// A column as callers name it: a handle knows the index, a method of a flow gets the name.
///
/// Callers that need the lock several times look the column up each time, because a removal of columns changes the indices.
/// A flow with handles loses no columns.
pub(crate) trait FindColumn: Copy {
    fn find_in(self, state: &FlowState) -> Result<usize>;
}

impl FindColumn for usize {
    fn find_in(self, _: &FlowState) -> Result<usize> {
        Ok(self)
    }
}

impl FindColumn for &str {
    fn find_in(self, state: &FlowState) -> Result<usize> {
        let schema = state.plan.schema();
        schema.find(self).ok_or_else(|| {
            let columns = schema.columns().iter().map(|column| column.name.clone()).collect();
            Error::unknown_column(self, columns)
        })
    }
}

impl FlowState {
    pub(crate) fn new(plan: Arc<Plan>, settings: Vec<Arc<StepSettings>>) -> Self {
        let scheduler = Scheduler::new(Arc::clone(&plan), CONCURRENCY);
        let mut state = Self::empty(plan, scheduler);
        drop(state.set_settings(settings));
        state
    }

    /// A state without values and settings.
    fn empty(plan: Arc<Plan>, scheduler: Scheduler) -> Self {
        Self {
            plan,
            scheduler,
            table: ValueTable::default(),
            receipts: Receipts::default(),
            declined: BTreeMap::new(),
            requests: LastRequests::default(),
            settings: Vec::new(),
            counter: Arc::new(Estimate),
            budget: Budget::new(),
            defaults: Arc::default(),
            contexts: Vec::new(),
            fingerprints: Vec::new(),
            generation: 0,
            forks: BTreeMap::new(),
            documents: BTreeMap::new(),
            logs: BTreeMap::new(),
            exclusions: Arc::default(),
            has_unknown_exclusion: false,
            unloaded: BTreeMap::new(),
            removed: BTreeMap::new(),
            stored: StoredColumns::default(),
            rehearsed: None,
            is_running: false,
            window: None,
            is_stale: false,
        }
    }

    /// Sets the settings of all columns, and returns what they replace, to be dropped outside of the lock.
    #[must_use]
    pub(crate) fn set_settings(&mut self, settings: Vec<Arc<StepSettings>>) -> impl Sized + use<> {
        for (column, settings) in settings.iter().enumerate() {
            self.scheduler.rule(column, settings.rules);
        }
        (mem::replace(&mut self.settings, settings), self.forget_contexts())
    }

    /// Begins a new generation of contexts: forgets the contexts of all columns. Returns the old ones, to be dropped outside of
    /// the lock: a context may be the last to have a counter.
    #[must_use]
    pub(crate) fn forget_contexts(&mut self) -> impl Sized + use<> {
        self.generation += 1;
        self.fingerprints.clear();
        mem::take(&mut self.contexts)
    }

    /// The name of a column.
    pub(crate) fn name(&self, column: usize) -> &Name {
        self.plan.schema().name(column)
    }
}

impl StoredColumns {
    pub(crate) fn key(&self, column: usize) -> Option<&Name> {
        self.keys.get(column)
    }

    /// The stored columns of a flow with the columns of `plan`, and for each the column of this flow.
    fn derive(&self, plan: &Plan, origins: &[Option<usize>]) -> Self {
        let columns = plan.schema().columns().iter().zip(origins);
        // A replaced column has no key. A flow with one is in memory, and compares views by the keys of all others.
        let keys = columns
            .map(|(column, origin)| origin.and_then(|origin| self.key(origin)).unwrap_or(&column.name));
        Self { keys: keys.cloned().collect(), ..self.clone() }
    }
}
