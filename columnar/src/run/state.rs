//! The state of a live flow, which one lock guards.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;

use super::past::Unloaded;
use super::table::{Receipts, Table};
use super::{Error, Result};
use crate::compute::{Defaults, Settings};
use crate::context::budget::{self, Budget, BudgetError};
use crate::context::{Assembler, Messages, Snapshot};
use crate::declare::{Name, Plan, Reads};
use crate::reopen::{Definition, KeptColumns};
use crate::schedule::{Cell, Scheduler};
use crate::tokens::{Chars, Counter};

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
    pub(super) assemblers: Vec<Option<Assembler>>,
    /// The nearest forks: the step at which each diverges, and the first step whose contexts take it into account.
    pub(super) forks: BTreeMap<usize, usize>,
    /// The columns with stored values that are not in memory.
    pub(super) unloaded: BTreeMap<usize, Unloaded>,
    /// The removed columns of a flow without a store, for columns of the same name that are added later.
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

/// The columns of a flow as its store has them.
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
            counter: Arc::new(Chars),
            budget: Budget::new(),
            defaults: Arc::default(),
            assemblers: Vec::new(),
            forks: BTreeMap::new(),
            unloaded: BTreeMap::new(),
            removed: BTreeMap::new(),
            stored: StoredColumns::default(),
            run: RunState::Stopped,
            is_stale: false,
        };
        state.set_settings(settings);
        state
    }

    /// Sets the settings of all columns.
    pub(super) fn set_settings(&mut self, settings: Vec<Arc<Settings>>) {
        for (column, settings) in settings.iter().enumerate() {
            self.scheduler.rule(column, settings.rules);
        }
        self.settings = settings;
        // They have the budgets and the instructions of the earlier settings.
        self.assemblers.clear();
    }

    /// Takes the values into memory that this flow, or one that shares its past, has loaded since.
    pub(super) fn adopt(&mut self) -> &mut Self {
        let Self { unloaded, table, receipts, scheduler, .. } = self;
        unloaded.retain(|&column, unloaded| {
            unloaded.adopt(column, table, receipts, scheduler);
            !unloaded.steps().is_empty()
        });
        self
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

    pub(super) fn messages(&mut self, cell: Cell) -> Result<Messages> {
        self.check_derived(cell.column)?;
        let (schema, step) = (self.plan.schema(), cell.step);
        // A step that has not begun lacks a source, even if this column does not read it.
        if step >= self.scheduler.begun()
            && let Some(source) = schema.sources().find(|&source| self.scheduler.len(source) <= step)
        {
            return Err(Error::Missing { column: schema.name(source).clone(), step });
        }
        let snapshot = self.snapshot(cell)?;
        if snapshot.is_current() {
            return Ok(Messages::new(snapshot));
        }
        Err(Error::Skipped { column: snapshot.column().clone(), step })
    }

    /// The context of a derived cell.
    pub(super) fn snapshot(&mut self, cell: Cell) -> Result<Snapshot> {
        let schema = self.plan.schema();
        if let Some(missing) = self.scheduler.missing(cell) {
            return Err(Error::Missing { column: schema.name(missing.column).clone(), step: missing.step });
        }
        let Some(reads) = schema.reads(cell.column).cloned() else {
            unreachable!("`{}` is derived", schema.name(cell.column))
        };
        // A value that is not in memory looks like a skipped one, so assembly would show less and not fail.
        self.check_loaded(&reads, cell)?;
        // Contexts of steps that had begun before the fork do not change: requests may have been sent.
        let counts = |(_, since): &(&usize, &usize)| **since <= cell.step;
        let fork = self.forks.range(..=cell.step).rev().find(counts).map(|(step, _)| *step);
        let fork =
            fork.filter(|fork| self.has_context(&reads, Cell { step: fork.saturating_sub(1), ..cell }));
        let (table, assembler) = self.assembler(cell.column, &reads);
        let snapshot = assembler.assemble(reads, cell, fork, |column| table.history(column));
        snapshot.map_err(|source| {
            let column = self.plan.schema().name(cell.column).clone();
            match source {
                BudgetError::NoRoom { .. } => Error::BudgetTooSmall { column, source },
                _ => Error::Budget { column, step: cell.step, source },
            }
        })
    }

    /// Checks that the budgets of all columns with missing cells hold a message.
    pub(super) fn check_budgets(&mut self) -> Result<()> {
        let plan = Arc::clone(&self.plan);
        for column in 0..plan.schema().columns().len() {
            if let Some(reads) = plan.schema().reads(column).filter(|_| self.has_missing_cells(column)) {
                let checked = self.assembler(column, reads).1.check();
                checked.map_err(|source| {
                    let column = plan.schema().name(column).clone();
                    Error::BudgetTooSmall { column, source }
                })?;
            }
        }
        Ok(())
    }

    /// Whether the next run computes cells of a column.
    pub(super) fn has_missing_cells(&self, column: usize) -> bool {
        self.scheduler.len(column) < self.scheduler.begun()
    }

    /// The assembler of a column, with the values that its contexts show.
    pub(super) fn assembler(&mut self, column: usize, reads: &Reads) -> (&Table, &mut Assembler) {
        if self.assemblers.len() <= column {
            self.assemblers.resize_with(self.plan.schema().columns().len().max(column + 1), || None);
        }
        let Some(slot) = self.assemblers.get_mut(column) else {
            unreachable!("the list was extended to this column")
        };
        let assembler = slot.get_or_insert_with(|| {
            let settings = self.settings.get(column).cloned().unwrap_or_default();
            // Each field of a budget comes from the column, else from the flow, else from the program.
            let budget = settings.budget.as_deref().map(|budget| budget.or(&self.budget));
            let budget = budget.as_ref().unwrap_or(&self.budget).or(&budget::program_default());
            let (instruction, counter) = (settings.instruction.as_deref(), Arc::clone(&self.counter));
            Assembler::new(reads, instruction, &budget, counter)
        });
        (&self.table, assembler)
    }

    /// Wakes the active run, because there may be more to do.
    pub(super) fn wake(&mut self) {
        if let RunState::Active(waker) = &mut self.run
            // Taken, because the run leaves a waker again each time before it waits.
            && let Some(waker) = waker.take()
        {
            waker.wake();
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
