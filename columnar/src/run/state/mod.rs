//! What a flow, its columns and its run share.
//!
//! One short lock guards it; nobody waits for I/O inside.

mod change;
mod compute_steps;
mod receipts;
mod restore;
mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::task::Waker;

use crate::cache::{CachePlan, CachePolicy, Pace};
use crate::compute::{Defaults, Settings};
use crate::context::budget::{self, Budget};
use crate::context::{Assembler, Messages, Snapshot};
use crate::declare::{Name, Plan, Reads};
use crate::error::{list, suggest};
use crate::history::Value;
use crate::model::Choice;
use crate::run::forecast::{Forecast, forecast};
use crate::run::table::Table;
use crate::run::{Error, Result};
use crate::schedule::{Cell, InvalidHistory, Progress, Scheduler};
use crate::store::{Entry, Put, Store, StoreError};
use crate::tokens::{Chars, Counter};
use crate::usage::{Bill, Receipt, SpendLimit};

pub(crate) use compute_steps::ComputeSteps;
use receipts::Receipts;
use restore::Stored;
pub(crate) use run::{Rest, Work};

/// How many cells of a flow are computed at once by default.
const CONCURRENCY: usize = 32;

pub(crate) struct Shared {
    state: Mutex<State>,
    /// Held while a value is counted and written, so that all are counted by the same. Taken before the
    /// state is.
    counter: RwLock<Arc<dyn Counter>>,
    /// `None` where the table, which is in memory, is all there is.
    store: Option<Arc<dyn Store>>,
    /// Held while the next value of a source or a change of the columns is on its way, so that steps
    /// are given out in order and none is left empty by a store that fails.
    writing: tokio::sync::Mutex<()>,
}

struct State {
    plan: Arc<Plan>,
    scheduler: Scheduler,
    table: Table,
    /// Of the same cells, as far as they have any.
    receipts: Receipts,
    /// What the columns ask for, by column.
    settings: Vec<Arc<Settings>>,
    /// How contexts are counted; the same as that of the values.
    counter: Arc<dyn Counter>,
    /// The budget of the flow.
    budget: Budget,
    /// What goes with every context.
    defaults: Arc<Defaults>,
    /// By column, as far as contexts have been made.
    assemblers: Vec<Option<Assembler>>,
    /// The steps at which this flow and another one parted, and since when that is known.
    forks: BTreeMap<usize, usize>,
    /// What the columns held that were removed, should they come back.
    retired: BTreeMap<Name, Vec<(usize, Entry)>>,
    /// What is in the store and not in memory.
    stored: Stored,
    run: Running,
}

enum Running {
    No,
    /// A run goes on. It is woken when there may be more to do.
    Yes(Option<Waker>),
}

impl Shared {
    /// A flow without values.
    pub(crate) fn new(plan: Arc<Plan>, store: Option<Arc<dyn Store>>, steps: &ComputeSteps<'_>) -> Self {
        let scheduler = Scheduler::new(Arc::clone(&plan), CONCURRENCY);
        let mut state = State {
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
        state.settle(steps.settings());
        Self::of(state, store)
    }

    fn of(state: State, store: Option<Arc<dyn Store>>) -> Self {
        let (counter, state) = (RwLock::new(Arc::clone(&state.counter)), Mutex::new(state));
        Self { state, counter, store, writing: tokio::sync::Mutex::new(()) }
    }

    fn counter(&self) -> RwLockReadGuard<'_, Arc<dyn Counter>> {
        self.counter.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the counter of tokens, also for the values that are stored already.
    pub(crate) fn set_counter(&self, counter: Arc<dyn Counter>) {
        let mut known = self.counter.write().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        state.table = state.table.counted(&*counter);
        state.counter = Arc::clone(&counter);
        state.assemblers.clear();
        *known = counter;
    }

    /// Sets the budget of the columns that have none of their own.
    pub(crate) fn set_budget(&self, budget: Budget) {
        let mut state = self.lock();
        state.budget = budget;
        state.assemblers.clear();
    }

    /// Nothing that runs under the lock leaves the state half changed, so a panic somewhere else
    /// under it is no reason to give up.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.lock().plan)
    }

    /// Sets the usual time from one step to the next.
    pub(crate) fn set_pace(&self, pace: Pace) {
        Arc::make_mut(&mut self.lock().defaults).pace = pace;
    }

    /// Sets the model of the columns that have none of their own.
    pub(crate) fn set_model(&self, model: Choice) {
        Arc::make_mut(&mut self.lock().defaults).model = model;
    }

    /// Limits what all calls together may cost.
    pub(crate) fn set_spend_limit(&self, limit: SpendLimit) {
        Arc::make_mut(&mut self.lock().defaults).limit = Some(limit);
    }

    /// The index of a column.
    pub(crate) fn find(&self, name: &str) -> Result<usize> {
        self.lock().find(name)
    }

    /// The index of a column that is computed.
    fn find_derived(&self, name: &str) -> Result<usize> {
        let (plan, column) = (self.plan(), self.find(name)?);
        if plan.schema().is_source(column) {
            return Err(Error::NotDerived { column: plan.schema().name(column).clone() });
        }
        Ok(column)
    }

    /// Sets how many cells are computed at once.
    pub(crate) fn set_concurrency(&self, cells: usize) {
        let mut state = self.lock();
        state.scheduler.limit(cells);
        state.wake();
    }

    /// Serialises what changes the columns and what pushes.
    pub(crate) async fn writing(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    pub(crate) async fn push(&self, source: usize, value: Value) -> Result<usize> {
        let _writing = self.writing.lock().await;
        let plan = self.plan();
        let name = plan.schema().name(source);
        if !plan.schema().is_source(source) {
            let sources = list(plan.schema().sources().map(|source| plan.schema().name(source).as_str()));
            return Err(Error::NotASource { column: name.clone(), sources });
        }
        loop {
            let step = self.len(source);
            let put = match self.put(source, step, value.clone().into()) {
                None => Ok(Put::Stored),
                Some(put) => put.await,
            };
            match put.map_err(|source| Error::Store { column: name.clone(), step, source })? {
                Put::Stored => {
                    self.pushed(Cell { column: source, step }, value);
                    return Ok(step);
                }
                // A push that was dropped on its way had arrived all the same: it comes first.
                Put::Exists(Entry { value: Some(earlier), .. }) => {
                    self.pushed(Cell { column: source, step }, earlier);
                }
                Put::Exists(Entry { value: None, .. }) => {
                    let source = StoreError::other(InvalidHistory::Empty { step });
                    return Err(Error::Load { column: name.clone(), source });
                }
            }
        }
    }

    fn pushed(&self, cell: Cell, value: Value) {
        let counter = self.counter();
        let tokens = counter.count(&value);
        let mut state = self.lock();
        state.table.insert(cell, value, tokens);
        state.scheduler.handle_pushed(cell.column);
        state.wake();
    }

    pub(crate) fn get(&self, column: usize, step: usize) -> Option<Value> {
        self.lock().table.get(Cell { column, step })
    }

    /// What a cell cost, if that is known in memory.
    pub(crate) fn receipt(&self, column: usize, step: usize) -> Option<Arc<Receipt>> {
        self.lock().receipts.get(Cell { column, step }).cloned()
    }

    /// What all cells cost, as far as that is known in memory.
    pub(crate) fn bill(&self) -> Bill {
        let state = self.lock();
        let columns = state.plan.schema().columns().iter().enumerate().map(|(column, declared)| {
            let receipts = state.receipts.of(column).map(|(step, receipt)| (step, Arc::clone(receipt)));
            (declared.name.clone(), receipts.collect())
        });
        Bill::new(columns.collect())
    }

    /// How many steps of a column are stored without a gap.
    pub(crate) fn len(&self, column: usize) -> usize {
        self.lock().scheduler.len(column)
    }

    /// The steps in which every column is stored.
    pub(crate) fn steps(&self) -> usize {
        self.lock().scheduler.steps()
    }

    /// The columns whose values depend on those of a column, in topological order.
    pub(crate) fn dependents(&self, column: &str) -> Result<Vec<Name>> {
        let (plan, column) = (self.plan(), self.find(column)?);
        Ok(plan.names(&plan.dependents(column)))
    }

    pub(crate) fn progress(&self) -> Progress {
        self.lock().scheduler.progress()
    }

    /// What the next run will do. Rehearsed on a copy, outside of the lock.
    pub(crate) fn forecast(&self) -> Forecast {
        let mut state = self.lock();
        let plan = Arc::clone(&state.plan);
        let assembler = |column| {
            let reads = plan.schema().reads(column)?;
            Some(state.assembler(column, reads).1.clone())
        };
        let assemblers: Vec<_> = (0..plan.schema().columns().len()).map(assembler).collect();
        let (scheduler, table) = (state.scheduler.clone(), state.table.clone());
        drop(state);
        forecast(&plan, scheduler, &table, &assemblers)
    }

    /// The sources that the next step waits for while another source is ahead of them.
    pub(crate) fn missing(&self) -> Vec<Name> {
        let state = self.lock();
        let (schema, opened) = (state.plan.schema(), state.scheduler.opened());
        let (behind, ahead): (Vec<_>, Vec<_>) =
            schema.sources().partition(|&source| state.scheduler.len(source) <= opened);
        if ahead.is_empty() { Vec::new() } else { state.plan.names(&behind) }
    }

    pub(crate) fn messages(&self, column: usize, step: usize) -> Result<Messages> {
        self.lock().messages(Cell { column, step })
    }

    /// The same for a column by its name.
    pub(crate) fn messages_of(&self, name: &str, step: usize) -> Result<Messages> {
        let mut state = self.lock();
        let column = state.find(name)?;
        state.messages(Cell { column, step })
    }

    /// Where to mark the messages of a derived column at a step.
    pub(crate) fn cache_plan(
        &self,
        column: usize,
        step: usize,
        provider: &CachePolicy,
        pace: Pace,
    ) -> Result<CachePlan> {
        let messages = self.messages(column, step)?;
        Ok(CachePlan::of(&messages, messages.instruction(), provider, pace))
    }
}

impl State {
    /// Goes by what the columns ask for.
    fn settle(&mut self, settings: Vec<Arc<Settings>>) {
        for (column, settings) in settings.iter().enumerate() {
            self.scheduler.rule(column, settings.rules);
        }
        self.settings = settings;
        self.assemblers.clear();
    }

    /// What is stored of a cell, if it is in memory.
    fn entry(&self, cell: Cell) -> Option<Entry> {
        let value = self.table.get(cell);
        if value.is_none() && !self.scheduler.is_skipped(cell) {
            return None;
        }
        let receipt = self.receipts.get(cell).map(|receipt| receipt.to_string().into());
        Some(Entry { value, receipt })
    }

    fn find(&self, name: &str) -> Result<usize> {
        let schema = self.plan.schema();
        schema.find(name).ok_or_else(|| {
            let known = schema.columns().iter().map(|column| column.name.as_str());
            Error::UnknownColumn { name: name.to_owned(), help: suggest(name, known) }
        })
    }

    fn messages(&mut self, cell: Cell) -> Result<Messages> {
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
    fn snapshot(&mut self, cell: Cell) -> Result<Snapshot> {
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
    fn check_loaded(&self, reads: &Reads, cell: Cell) -> Result<()> {
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
    fn assembler(&mut self, column: usize, reads: &Reads) -> (&Table, &mut Assembler) {
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

    fn wake(&mut self) {
        if let Running::Yes(waker) = &mut self.run
            && let Some(waker) = waker.take()
        {
            waker.wake();
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Flow").field("steps", &state.scheduler.steps()).finish_non_exhaustive()
    }
}
