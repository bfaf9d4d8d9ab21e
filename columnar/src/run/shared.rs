//! The part of a live flow that its clones, the handles of its columns and its run share.
//!
//! One lock guards the state. It is held for short computations only, never during I/O or across an `await`.

use std::fmt;
use std::mem;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::watch;

use super::compute_steps::ComputeSteps;
use super::guard::caught;
use super::state::State;
use super::{Error, Result};
use crate::context::budget::Budget;
use crate::declare::{Name, Plan};
use crate::history::Value;
use crate::history::tokens::{Counter, is_same};
use crate::model::Choice;
use crate::model::cache::Pace;
use crate::model::usage::SpendLimit;
use crate::schedule::{Cell, InvalidHistory, Progress};
use crate::store::{Entry, Put, Store, StoreError};

/// The state of a live flow, behind its lock, and its store.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// `None` if the values are in memory only.
    pub(super) store: Option<Arc<dyn Store>>,
    /// Whether a write has failed. Then only opening the store again shows which values it has.
    pub(super) has_store_failed: AtomicBool,
    /// Locked during a push and during a change of the columns. It serialises pushes, so a failing store leaves no gap
    /// in a source.
    pub(super) writing: tokio::sync::Mutex<()>,
    /// Notifies those who follow the flow. Most flows have none.
    pub(super) changes: OnceLock<watch::Sender<()>>,
}

impl Shared {
    /// A flow without values.
    pub(crate) fn new(plan: Arc<Plan>, store: Option<Arc<dyn Store>>, steps: &ComputeSteps<'_>) -> Self {
        Self::of(State::new(plan, steps.settings()), store)
    }

    pub(super) fn of(state: State, store: Option<Arc<dyn Store>>) -> Self {
        Self {
            state: Mutex::new(state),
            store,
            has_store_failed: AtomicBool::new(false),
            writing: tokio::sync::Mutex::new(()),
            changes: OnceLock::new(),
        }
    }

    /// Sets the budget of the columns without their own.
    pub(crate) fn set_budget(&self, budget: Budget) {
        let mut state = self.lock();
        state.budget = budget;
        let forgotten = state.forget_contexts();
        drop(state);
        drop(forgotten);
    }

    /// Locks the state, with all values that have been loaded.
    ///
    /// No code of users runs under the lock: such code may use the flow. Values of types of users are dropped outside of
    /// it, and wakers are woken there. So a panic leaves nothing half changed, and a poisoned lock is used as well.
    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Most flows have all values in memory, and this lock is taken several times for each cell.
        if state.unloaded.is_empty() { state } else { self.adopted(state) }
    }

    /// The locked state, with the values that have been loaded since.
    #[cold]
    fn adopted<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let loaded = state.adopt();
        if loaded.is_empty() {
            return state;
        }
        drop(state);
        drop(loaded);
        self.lock()
    }

    /// Unlocks the state, and wakes the active run, because there may be more to do.
    pub(super) fn unlock_and_wake(mut state: MutexGuard<'_, State>) {
        let waker = state.take_waker();
        drop(state);
        if let Some(waker) = waker {
            // A panic of the reader's waker is no failure of the push that wakes it.
            caught(|| waker.wake());
        }
    }

    /// Wakes the active run and those who follow the flow, after a push or a change of the columns.
    pub(crate) fn wake(&self) {
        Self::unlock_and_wake(self.lock());
        self.notify();
    }

    /// The plan with all columns that the flow has now.
    pub(crate) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.lock().plan)
    }

    /// Sets the usual time from one step to the next.
    pub(crate) fn set_pace(&self, pace: Pace) {
        Arc::make_mut(&mut self.lock().defaults).pace = pace;
    }

    /// Sets the system text of all columns; a blank one is none.
    pub(crate) fn set_system(&self, system: &str) {
        let mut state = self.lock();
        Arc::make_mut(&mut state.defaults).system = (!system.trim().is_empty()).then(|| system.into());
        // Budgets and the sizes of requests depend on it.
        let forgotten = state.forget_contexts();
        drop(state);
        drop(forgotten);
    }

    /// The whole system text of a derived cell.
    pub(crate) fn system(&self, column: usize, step: usize) -> Result<String> {
        let messages = self.messages(column, step)?;
        let instruction = self.lock().settings.get(column).and_then(|settings| settings.instruction.clone());
        Ok(messages.system(instruction.as_deref().unwrap_or_default()))
    }

    /// The whole system text of a cell of the derived column with this name.
    pub(crate) fn system_by_name(&self, name: &str, step: usize) -> Result<String> {
        let column = self.lock().find(name)?;
        self.system(column, step)
    }

    /// Sets the model of the columns without their own.
    pub(crate) fn set_model(&self, model: Choice) {
        let mut state = self.lock();
        let earlier = mem::replace(&mut Arc::make_mut(&mut state.defaults).model, model);
        // The size of tiers depends on the model.
        let contexts = state.forget_contexts();
        drop(state);
        // After the lock: they may be the last to have a model or a counter.
        drop((earlier, contexts));
    }

    /// Limits the cost of all calls together.
    pub(crate) fn set_spend_limit(&self, limit: SpendLimit) {
        Arc::make_mut(&mut self.lock().defaults).limit = Some(limit);
    }

    /// The index of a column.
    pub(crate) fn find(&self, name: &str) -> Result<usize> {
        self.lock().find(name)
    }

    /// The index of a derived column.
    pub(super) fn find_derived(&self, name: &str) -> Result<usize> {
        self.by_name(name, |state, column| state.check_derived(column).map(|()| column))?
    }

    /// Reads the state of a column by its name. The lookup is under the same lock: a removal of columns changes their
    /// indices.
    pub(super) fn by_name<T>(&self, name: &str, read: impl FnOnce(&mut State, usize) -> T) -> Result<T> {
        let mut state = self.lock();
        let column = state.find(name)?;
        Ok(read(&mut state, column))
    }

    /// Sets the number of cells that are computed at once.
    pub(crate) fn set_concurrency(&self, cells: usize) {
        let mut state = self.lock();
        state.scheduler.limit(cells);
        Self::unlock_and_wake(state);
    }

    /// Waits for pushes and changes of the columns, and keeps others waiting until the guard is dropped.
    pub(crate) async fn writing(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// Stores the next value of a source, and returns its step.
    pub(crate) async fn push(&self, source: usize, value: Value) -> Result<usize> {
        self.push_found(|_| Ok(source), value).await
    }

    /// Stores the next value of a source with this name, and returns its step.
    pub(crate) async fn push_by_name(&self, source: &str, value: Value) -> Result<usize> {
        self.push_found(|state| state.find(source), value).await
    }

    async fn push_found(&self, find: impl Fn(&State) -> Result<usize>, value: Value) -> Result<usize> {
        let (known, found) = {
            let state = self.lock();
            (Arc::clone(&state.plan), find(&state)?)
        };
        // Before anything is stored, and outside of the lock: a counter may panic, or push itself.
        let counted = self.counted(&value);
        let pushed = {
            let _writing = self.writing.lock().await;
            self.settle_exclusions().await?;
            // The plan changes under that lock only. A removal of columns changes their indices.
            let plan = self.plan();
            let source = if Arc::ptr_eq(&plan, &known) { found } else { find(&self.lock())? };
            self.push_next(&plan, source, value, counted).await
        };
        // Outside of the lock, because those who are woken may push.
        if pushed.is_ok() {
            self.wake();
        }
        pushed
    }

    async fn push_next(
        &self,
        plan: &Plan,
        source: usize,
        value: Value,
        mut counted: Counted,
    ) -> Result<usize> {
        let name = plan.schema().name(source);
        if !plan.schema().is_source(source) {
            let sources = plan.names(&plan.schema().sources().collect::<Vec<_>>());
            return Err(Error::NotASource { column: name.clone(), sources });
        }
        loop {
            let step = self.len(source);
            let documents = self.updated(plan, source, step, &value).await?;
            let put = match self.put(source, step, value.clone().into()) {
                None => Ok(Put::Stored),
                Some(put) => put.await,
            };
            let put = put.map_err(|source| {
                self.store_failed();
                Error::Store { column: name.clone(), step, source }
            });
            match put? {
                Put::Stored => {
                    self.insert_pushed(Cell { column: source, step }, value, &counted);
                    if let Some(documents) = documents {
                        self.remember(name, step + 1, documents);
                    }
                    return Ok(step);
                }
                // An earlier push was dropped before its store confirmed it. Its value comes first.
                Put::Exists(Entry { value: Some(earlier), .. }) => {
                    let earlier_counted = self.counted(&earlier);
                    self.insert_pushed(Cell { column: source, step }, earlier, &earlier_counted);
                    self.wake();
                    counted = self.counted(&value);
                }
                // No flow skips a cell of a source, so something else has written into the store.
                Put::Exists(Entry { value: None, .. }) => {
                    let source = StoreError::other(InvalidHistory::SkippedSource { step });
                    return Err(Error::Load { column: name.clone(), source });
                }
            }
        }
    }

    fn insert_pushed(&self, cell: Cell, value: Value, counted: &Counted) {
        let (tokens, mut state) = self.lock_counted(&value, counted);
        state.table.insert(cell, value, tokens);
        state.scheduler.handle_pushed(cell.column);
        state.is_stale = true;
    }

    /// Counts a value.
    pub(super) fn counted(&self, value: &str) -> Counted {
        let counter = Arc::clone(&self.lock().counter);
        Counted { tokens: counter.count(value), counter }
    }

    /// Locks the state. Returns the tokens of a value by the counter that the state has then.
    pub(super) fn lock_counted(&self, value: &str, counted: &Counted) -> (usize, MutexGuard<'_, State>) {
        let state = self.lock();
        if is_same(&counted.counter, &state.counter) {
            return (counted.tokens, state);
        }
        drop(state);
        self.lock_recounted(value)
    }

    /// The same after `set_counter` was called.
    #[cold]
    fn lock_recounted(&self, value: &str) -> (usize, MutexGuard<'_, State>) {
        loop {
            let counted = self.counted(value);
            let state = self.lock();
            if is_same(&counted.counter, &state.counter) {
                return (counted.tokens, state);
            }
            // Before the counter: this may be the last reference to it.
            drop(state);
        }
    }

    /// The number of steps of a column that are stored without a gap.
    pub(crate) fn len(&self, column: usize) -> usize {
        self.lock().scheduler.len(column)
    }

    /// The number of steps of the column with this name that are stored without a gap.
    pub(crate) fn len_by_name(&self, name: &str) -> Result<usize> {
        self.by_name(name, |state, column| state.scheduler.len(column))
    }

    /// The number of steps that are stored in every column without a gap.
    pub(crate) fn steps(&self) -> usize {
        self.lock().scheduler.steps()
    }

    /// The columns whose values depend on those of a column, in topological order.
    pub(crate) fn dependents(&self, name: &str) -> Result<Vec<Name>> {
        self.by_name(name, |state, column| state.plan.names(&state.plan.dependents(column)))
    }

    pub(crate) fn progress(&self) -> Progress {
        let state = self.lock();
        let (progress, not_loaded) = (state.scheduler.progress(), state.unloaded_cells());
        // The scheduler counts a stored cell as done until it is loaded and turns out to be skipped.
        Progress { done: progress.done - not_loaded, not_loaded, ..progress }
    }

    /// The sources that the next step waits for, if another source is ahead of them.
    pub(crate) fn missing(&self) -> Vec<Name> {
        let state = self.lock();
        let (schema, begun) = (state.plan.schema(), state.scheduler.begun());
        let (behind, ahead): (Vec<_>, Vec<_>) =
            schema.sources().partition(|&source| state.scheduler.len(source) <= begun);
        if ahead.is_empty() { Vec::new() } else { state.plan.names(&behind) }
    }
}

/// The tokens of a value by a counter, which is held so that its address is not reused.
pub(super) struct Counted {
    tokens: usize,
    counter: Arc<dyn Counter>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Before anything is written: the writer may use the flow.
        let steps = self.steps();
        f.debug_struct("Flow").field("steps", &steps).finish_non_exhaustive()
    }
}
