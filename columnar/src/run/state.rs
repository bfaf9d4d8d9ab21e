//! The state of a live flow, which one lock guards.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::task::Waker;

use super::contexts::ColumnContexts;
use super::past::Unloaded;
use super::table::{Receipts, Table};
use super::{Error, Result};
use crate::compute::{Defaults, Settings};
use crate::context::Exclusions;
use crate::context::budget::Budget;
use crate::context::documents::Documents;
use crate::declare::{Name, Plan};
use crate::history::tokens::{Counter, Estimate};
use crate::run::reopen::{Definition, KeptColumns};
use crate::schedule::Scheduler;

/// The number of cells of a flow that are computed at once by default.
const CONCURRENCY: usize = 32;

/// The state of a live flow.
pub(super) struct State {
    pub(super) plan: Arc<Plan>,
    pub(super) scheduler: Scheduler,
    pub(super) table: Table,
    pub(super) receipts: Receipts,
    /// By column.
    pub(super) settings: Vec<Arc<Settings>>,
    /// The counter of the tokens in the table and in contexts.
    pub(super) counter: Arc<dyn Counter>,
    /// The budget of the columns without their own.
    pub(super) budget: Budget,
    pub(super) defaults: Arc<Defaults>,
    /// By column; made with the first context.
    pub(super) contexts: Vec<Option<Arc<ColumnContexts>>>,
    /// The generation of the contexts: changes of settings, budgets and the counter begin a new one.
    pub(super) generation: usize,
    /// The nearest forks: the step at which each diverges, and the first step whose contexts take it into account.
    pub(super) forks: BTreeMap<usize, usize>,
    /// The documents of the sources that were pushed to, after a number of steps, by name. They can be found again from the
    /// values.
    pub(super) documents: BTreeMap<Name, (usize, Documents)>,
    /// The cells that contexts of later steps do not show.
    pub(super) exclusions: Arc<Exclusions>,
    /// Whether the store may have one more exclusion.
    pub(super) has_unknown_exclusion: bool,
    /// The columns with stored values that are not in memory.
    pub(super) unloaded: BTreeMap<usize, Unloaded>,
    /// The removed columns of a flow without a store, by the keys that a store would have for them, for columns that are
    /// added later.
    pub(super) removed: BTreeMap<Name, Unloaded>,
    pub(super) stored: StoredColumns,
    pub(super) run: RunState,
    /// Whether values were pushed or columns added that no run has seen to its end.
    pub(super) is_stale: bool,
}

/// Whether a run of the flow is active.
pub(super) enum RunState {
    Stopped,
    /// The waker of a run that waits for something to do.
    Active(Option<Waker>),
}

/// The columns of a flow as its store has them. Without a store there are declarations alone, and only once a column was
/// removed.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredColumns {
    pub(super) definition: Definition,
    /// The key of each column in the store.
    pub(super) keys: Vec<Name>,
    pub(super) kept: KeptColumns,
    /// The number of last steps that are loaded of a column; `None` for all.
    pub(super) recent: Option<usize>,
}

impl State {
    pub(super) fn new(plan: Arc<Plan>, settings: Vec<Arc<Settings>>) -> Self {
        let scheduler = Scheduler::new(Arc::clone(&plan), CONCURRENCY);
        let mut state = Self {
            plan,
            scheduler,
            table: Table::default(),
            receipts: Receipts::default(),
            settings: Vec::new(),
            counter: Arc::new(Estimate),
            budget: Budget::new(),
            defaults: Arc::default(),
            contexts: Vec::new(),
            generation: 0,
            forks: BTreeMap::new(),
            documents: BTreeMap::new(),
            exclusions: Arc::default(),
            has_unknown_exclusion: false,
            unloaded: BTreeMap::new(),
            removed: BTreeMap::new(),
            stored: StoredColumns::default(),
            run: RunState::Stopped,
            is_stale: false,
        };
        drop(state.set_settings(settings));
        state
    }

    /// Sets the settings of all columns, and returns what they replace, to be dropped outside of the lock.
    #[must_use]
    pub(super) fn set_settings(&mut self, settings: Vec<Arc<Settings>>) -> impl Sized + use<> {
        for (column, settings) in settings.iter().enumerate() {
            self.scheduler.rule(column, settings.rules);
        }
        (mem::replace(&mut self.settings, settings), self.forget_contexts())
    }

    /// Begins a new generation of contexts: forgets those of all columns. Returns them, to be dropped outside of the lock:
    /// they may be the last to have a counter.
    #[must_use]
    pub(super) fn forget_contexts(&mut self) -> impl Sized + use<> {
        self.generation += 1;
        mem::take(&mut self.contexts)
    }

    /// Takes the values into memory that this flow, or one that shares its past, has loaded since. Returns the columns
    /// that are now in memory, to be dropped outside of the lock: they may be the last to have a store.
    #[must_use]
    pub(super) fn adopt(&mut self) -> Vec<Unloaded> {
        let Self { unloaded, table, receipts, scheduler, .. } = self;
        let adopt = |column: &usize, unloaded: &mut Unloaded| {
            unloaded.adopt(*column, table, receipts, scheduler);
            unloaded.steps().is_empty()
        };
        unloaded.extract_if(.., adopt).map(|(_, loaded)| loaded).collect()
    }

    /// The exclusions, if there are any.
    pub(super) fn exclusions(&self) -> Option<&Arc<Exclusions>> {
        (!self.exclusions.is_empty()).then_some(&self.exclusions)
    }

    pub(super) fn find(&self, name: &str) -> Result<usize> {
        let schema = self.plan.schema();
        schema.find(name).ok_or_else(|| {
            let columns = schema.columns().iter().map(|column| column.name.clone()).collect();
            Error::unknown_column(name, columns)
        })
    }

    pub(super) fn check_derived(&self, column: usize) -> Result<()> {
        let schema = self.plan.schema();
        if schema.is_source(column) {
            return Err(Error::NotDerived { column: schema.name(column).clone() });
        }
        Ok(())
    }

    /// Whether the next run computes cells of a column.
    pub(super) fn has_missing_cells(&self, column: usize) -> bool {
        self.scheduler.len(column) < self.scheduler.begun()
    }

    /// The waker of the active run, if it waits. It is to be woken because there may be more to do, outside of the lock.
    #[must_use]
    pub(super) fn take_waker(&mut self) -> Option<Waker> {
        match &mut self.run {
            // Taken, because the run leaves a waker again each time before it waits.
            RunState::Active(waker) => waker.take(),
            RunState::Stopped => None,
        }
    }
}

impl StoredColumns {
    pub(super) fn key(&self, column: usize) -> Option<&Name> {
        self.keys.get(column)
    }

    /// The stored columns of a flow with the columns that `origins` names.
    pub(super) fn derive(&self, origins: &[Option<usize>]) -> Self {
        // A replaced column has no key. A flow with one is in memory, so all keys may be dropped.
        let keys = origins.iter().map(|origin| self.key((*origin)?).cloned());
        Self { keys: keys.collect::<Option<_>>().unwrap_or_default(), ..self.clone() }
    }
}
