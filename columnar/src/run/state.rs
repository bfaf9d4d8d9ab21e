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
use crate::error::suggest;
use crate::reopen::Definition;
use crate::schedule::{Cell, InvalidHistory, Scheduler};
use crate::store::Entry;
use crate::tokens::{Chars, Counter};

pub(super) type Entries = Vec<(usize, Entry)>;

/// How many cells of a flow are computed at once by default.
const CONCURRENCY: usize = 32;

pub(super) struct State {
    pub(super) plan: Arc<Plan>,
    pub(super) scheduler: Scheduler,
    pub(super) table: Table,
    /// Of the same cells, as far as they have any.
    pub(super) receipts: Receipts,
    /// What the columns ask for, by column.
    pub(super) settings: Vec<Arc<Settings>>,
    /// How contexts are counted; the same as that of the values.
    pub(super) counter: Arc<dyn Counter>,
    /// The budget of the flow.
    pub(super) budget: Budget,
    /// What goes with every context.
    pub(super) defaults: Arc<Defaults>,
    /// By column, as far as contexts have been made.
    pub(super) assemblers: Vec<Option<Assembler>>,
    /// The steps at which this flow and another one parted, and since when that is known.
    pub(super) forks: BTreeMap<usize, usize>,
    /// What the columns held that were removed, should they come back.
    pub(super) retired: BTreeMap<Name, Vec<(usize, Entry)>>,
    /// What is in the store and not in memory.
    pub(super) stored: Stored,
    pub(super) run: Running,
}

pub(super) enum Running {
    No,
    /// A run goes on. It is woken when there may be more to do.
    Yes(Option<Waker>),
}

/// What a flow has in its store besides the values.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    pub(super) definition: Definition,
    /// By column, the name that it is stored under.
    pub(super) keys: Vec<Name>,
    /// By column, the first step whose value is in memory; those before are in the store alone.
    pub(super) loaded: Vec<usize>,
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
            retired: BTreeMap::new(),
            stored: Stored::default(),
            run: Running::No,
        };
        state.settle(settings);
        state
    }

    /// Goes by what the columns ask for.
    pub(super) fn settle(&mut self, settings: Vec<Arc<Settings>>) {
        for (column, settings) in settings.iter().enumerate() {
            self.scheduler.rule(column, settings.rules);
        }
        self.settings = settings;
        self.assemblers.clear();
    }

    /// What is stored of a cell, if it is in memory.
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
            let known = schema.columns().iter().map(|column| column.name.as_str());
            Error::UnknownColumn { name: name.to_owned(), help: suggest(name, known) }
        })
    }

    pub(super) fn messages(&mut self, cell: Cell) -> Result<Messages> {
        let (schema, step) = (self.plan.schema(), cell.step);
        if schema.is_source(cell.column) {
            return Err(Error::NotDerived { column: schema.name(cell.column).clone() });
        }
        // A step that has not begun is short of a source, whether or not this column reads it.
        if step >= self.scheduler.opened()
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

    /// What the compute of a derived cell sees, all of which is stored.
    pub(super) fn snapshot(&mut self, cell: Cell) -> Result<Snapshot> {
        let schema = self.plan.schema();
        if let Some(missing) = self.scheduler.missing(cell) {
            return Err(Error::Missing { column: schema.name(missing.column).clone(), step: missing.step });
        }
        let Some(reads) = schema.reads(cell.column).cloned() else {
            unreachable!("`{}` is derived", schema.name(cell.column))
        };
        self.check_loaded(&reads, cell)?;
        let known = |(_, since): &(&usize, &usize)| **since <= cell.step;
        let fork = self.forks.range(..=cell.step).rev().find(known).map(|(step, _)| *step);
        let column = reads.column.clone();
        let (table, assembler) = self.assembler(cell.column, &reads);
        let snapshot = assembler.assemble(reads, cell, fork, |column| table.history(column));
        snapshot.map_err(|source| Error::Budget { column, step: cell.step, source })
    }

    /// Whether all that is shown of a cell is in memory, as it is for what is still to be computed.
    pub(super) fn check_loaded(&self, reads: &Reads, cell: Cell) -> Result<()> {
        let away = |(column, steps): (usize, Range<usize>)| {
            (!steps.is_empty() && steps.start < self.stored.loaded(column)).then_some((column, steps.start))
        };
        match reads.needed(cell.column, cell.step).find_map(away) {
            Some((column, step)) => {
                Err(Error::NotLoaded { column: self.plan.schema().name(column).clone(), step })
            }
            None => Ok(()),
        }
    }

    /// What the contexts of a column may hold, and the values that they show.
    pub(super) fn assembler(&mut self, column: usize, reads: &Reads) -> (&Table, &mut Assembler) {
        if self.assemblers.len() <= column {
            self.assemblers.resize_with(self.plan.schema().columns().len().max(column + 1), || None);
        }
        let Some(slot) = self.assemblers.get_mut(column) else {
            unreachable!("there is one for each column")
        };
        let assembler = slot.get_or_insert_with(|| {
            let settings = self.settings.get(column).cloned().unwrap_or_default();
            let budget = settings.budget.as_deref().map(|budget| budget.or(&self.budget));
            let budget = budget.as_ref().unwrap_or(&self.budget).or(&budget::default());
            let (instruction, counter) = (settings.instruction.as_deref(), Arc::clone(&self.counter));
            Assembler::new(reads, instruction, &budget, counter)
        });
        (&self.table, assembler)
    }

    pub(super) fn wake(&mut self) {
        if let Running::Yes(waker) = &mut self.run
            && let Some(waker) = waker.take()
        {
            waker.wake();
        }
    }

    /// Takes values into memory that are stored.
    pub(super) fn take_up(
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
                None if plan.schema().is_source(column) => return Err(InvalidHistory::Empty { step }),
                None => self.scheduler.restore_skipped(column, std::iter::once(step)),
            }
        }
        Ok(())
    }
}

impl Stored {
    /// From which step on the values of a column are in memory.
    pub(super) fn loaded(&self, column: usize) -> usize {
        self.loaded.get(column).copied().unwrap_or(0)
    }

    pub(super) fn key(&self, column: usize) -> Option<&Name> {
        self.keys.get(column)
    }

    /// What another flow has in memory that takes over these columns, and the same one that is left with them
    /// in its store.
    pub(super) fn derive(&self, origins: &[Option<usize>]) -> Self {
        let loaded = origins.iter().map(|origin| origin.map_or(0, |origin| self.loaded(origin)));
        let keys = origins.iter().map(|origin| self.key((*origin)?).cloned());
        Self {
            loaded: loaded.collect(),
            keys: keys.collect::<Option<_>>().unwrap_or_default(),
            definition: self.definition.clone(),
        }
    }
}
