//! What a flow, its columns and its run share.
//!
//! One short lock guards it; nobody waits for I/O inside.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use super::compute_steps::ComputeSteps;
use super::forecast::{Forecast, forecast};
use super::state::State;
use super::{Error, Result};
use crate::cache::{CachePlan, CachePolicy, Pace};
use crate::context::Messages;
use crate::context::budget::Budget;
use crate::declare::{Name, Plan};
use crate::error::list;
use crate::history::Value;
use crate::model::Choice;
use crate::schedule::{Cell, InvalidHistory, Progress};
use crate::store::{Entry, Put, Store, StoreError};
use crate::tokens::Counter;
use crate::usage::{Bill, Receipt, SpendLimit};

pub(crate) struct Shared {
    state: Mutex<State>,
    /// Held while a value is counted and written, so that all are counted by the same. Taken before the
    /// state is.
    counter: RwLock<Arc<dyn Counter>>,
    /// `None` where the table, which is in memory, is all there is.
    pub(super) store: Option<Arc<dyn Store>>,
    /// Held while the next value of a source or a change of the columns is on its way, so that steps
    /// are given out in order and none is left empty by a store that fails.
    pub(super) writing: tokio::sync::Mutex<()>,
}

impl Shared {
    /// A flow without values.
    pub(crate) fn new(plan: Arc<Plan>, store: Option<Arc<dyn Store>>, steps: &ComputeSteps<'_>) -> Self {
        Self::of(State::new(plan, steps.settings()), store)
    }

    pub(super) fn of(state: State, store: Option<Arc<dyn Store>>) -> Self {
        let (counter, state) = (RwLock::new(Arc::clone(&state.counter)), Mutex::new(state));
        Self { state, counter, store, writing: tokio::sync::Mutex::new(()) }
    }

    pub(super) fn counter(&self) -> RwLockReadGuard<'_, Arc<dyn Counter>> {
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
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
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
    pub(super) fn find_derived(&self, name: &str) -> Result<usize> {
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

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Flow").field("steps", &state.scheduler.steps()).finish_non_exhaustive()
    }
}
