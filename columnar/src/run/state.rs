//! The state of a live flow, which one lock guards.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::task::Waker;

use super::table::{Receipts, Table, receipt};
use super::{Error, Result};
use crate::compute::{Defaults, Settings};
use crate::context::budget::{self, Budget};
use crate::context::{Assembler, Messages, Snapshot};
use crate::declare::{Name, Plan, Reads};
use crate::reopen::{Definition, KeptColumns};
use crate::schedule::{Cell, InvalidHistory, Scheduler};
use crate::store::Entry;
use crate::tokens::{Chars, Counter};

/// The number of cells of a flow that are computed at once by default.
const CONCURRENCY: usize = 32;

/// Stored entries of a column, by step.
pub(super) type Entries = Vec<(usize, Entry)>;

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
    /// The entries of removed columns, for columns of the same name that are added later.
    pub(super) removed: BTreeMap<Name, Entries>,
    pub(super) stored: StoredColumns,
    pub(super) run: RunState,
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
    /// The first step of each column whose value is in memory; earlier values are in the store only.
    pub(super) loaded: Vec<usize>,
    pub(super) kept: KeptColumns,
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
            removed: BTreeMap::new(),
            stored: StoredColumns::default(),
            run: RunState::Stopped,
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

    /// The entry of a cell, if it is in memory.
    pub(super) fn entry(&self, cell: Cell) -> Option<Entry> {
        let value = self.table.get(cell);
        if value.is_none() && !self.scheduler.is_skipped(cell) {
            return None;
        }
        let receipt = self.receipts.get(cell).map(|receipt| receipt.to_string().into());
        Some(Entry { value, receipt })
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
        // A skipped cell has no value in the table either, so assembly would show less and not fail.
        self.check_loaded(&reads, cell)?;
        // Contexts of steps that had begun before the fork do not change: requests may have been sent.
        let counts = |(_, since): &(&usize, &usize)| **since <= cell.step;
        let fork = self.forks.range(..=cell.step).rev().find(counts).map(|(step, _)| *step);
        let (table, assembler) = self.assembler(cell.column, &reads);
        let snapshot = assembler.assemble(reads, cell, fork, |column| table.history(column));
        snapshot.map_err(|source| {
            let column = self.plan.schema().name(cell.column).clone();
            Error::Budget { column, step: cell.step, source }
        })
    }

    /// Checks that the values in the context of a cell are in memory. Those of missing cells always are.
    fn check_loaded(&self, reads: &Reads, cell: Cell) -> Result<()> {
        let not_loaded = |(column, steps): (usize, Range<usize>)| {
            (!steps.is_empty() && steps.start < self.stored.loaded(column)).then_some((column, steps.start))
        };
        match reads.needed(cell.column, cell.step).find_map(not_loaded) {
            Some((column, step)) => {
                Err(Error::NotLoaded { column: self.plan.schema().name(column).clone(), step })
            }
            None => Ok(()),
        }
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

    /// Takes stored entries into memory.
    pub(super) fn insert_entries(
        &mut self,
        plan: &Plan,
        column: usize,
        entries: Entries,
    ) -> Result<(), InvalidHistory> {
        for (step, entry) in entries {
            let cell = Cell { column, step };
            if let Some(receipt) = receipt(&entry).map_err(|_| InvalidHistory::Receipt { step })? {
                self.receipts.insert(cell, receipt);
            }
            match entry.value {
                Some(value) => {
                    let tokens = self.counter.count(&value);
                    self.table.insert(cell, value, tokens);
                }
                None if plan.schema().is_source(column) => {
                    return Err(InvalidHistory::SkippedSource { step });
                }
                None => self.scheduler.restore_skipped(column, std::iter::once(step)),
            }
        }
        Ok(())
    }
}

impl StoredColumns {
    /// The first step of a column whose value is in memory.
    pub(super) fn loaded(&self, column: usize) -> usize {
        self.loaded.get(column).copied().unwrap_or(0)
    }

    /// Records that the values of a column are in memory from this step on.
    pub(super) fn set_loaded(&mut self, column: usize, step: usize) {
        if let Some(loaded) = self.loaded.get_mut(column) {
            *loaded = step;
        }
    }

    pub(super) fn key(&self, column: usize) -> Option<&Name> {
        self.keys.get(column)
    }

    /// The stored columns of a flow with the columns that `origins` names.
    pub(super) fn derive(&self, origins: &[Option<usize>]) -> Self {
        let loaded = origins.iter().map(|origin| origin.map_or(0, |origin| self.loaded(origin)));
        // A replaced column has no key. A flow with one is in memory, so all keys may be dropped.
        let keys = origins.iter().map(|origin| self.key((*origin)?).cloned());
        Self {
            loaded: loaded.collect(),
            keys: keys.collect::<Option<_>>().unwrap_or_default(),
            definition: self.definition.clone(),
            kept: self.kept.clone(),
        }
    }
}
