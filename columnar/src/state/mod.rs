//! What a flow, its columns and its run share.
//!
//! One short lock guards it; nobody waits for I/O inside.

mod change;
mod live;
mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::cache::{CachePlan, Pace, Provider};
use crate::compute::Terms;
use crate::context::{Messages, Shown};
use crate::error::{Error, Result, list, suggest};
use crate::forecast::{Forecast, forecast};
use crate::name::Name;
use crate::plan::Plan;
use crate::scheduler::{Cell, Progress, Scheduler, Unloadable};
use crate::store::{Entry, Put, Store};
use crate::table::Table;
use crate::tokens::Chars;
use crate::value::Value;

pub(crate) use live::Live;
pub(crate) use run::{Rest, Work};

/// How many cells of a flow are computed at once, unless told otherwise.
const CONCURRENCY: usize = 32;

pub(crate) struct Shared {
    state: Mutex<State>,
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
    /// By column: how many characters go to a model with every call besides the context, if one is asked.
    instructions: Vec<Option<usize>>,
    /// What the columns held that were removed, should they come back.
    retired: BTreeMap<Name, Vec<(usize, Entry)>>,
    run: Running,
}

enum Running {
    No,
    /// A run goes on. It is woken when there may be more to do.
    Yes(Option<Waker>),
}

impl Shared {
    fn new(plan: Arc<Plan>, store: Option<Arc<dyn Store>>, terms: &[Terms]) -> Self {
        let scheduler = Scheduler::new(Arc::clone(&plan), CONCURRENCY);
        let (table, retired) = (Table::default(), BTreeMap::new());
        let state = State { plan, scheduler, table, instructions: Vec::new(), retired, run: Running::No };
        Self::of(state, store, terms)
    }

    fn of(mut state: State, store: Option<Arc<dyn Store>>, terms: &[Terms]) -> Self {
        state.set(terms);
        Self { state: Mutex::new(state), store, writing: tokio::sync::Mutex::new(()) }
    }

    /// Nothing that runs under the lock leaves the state half changed, so a panic somewhere else
    /// under it is no reason to give up.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.lock().plan)
    }

    /// The index of a column.
    pub(crate) fn find(&self, name: &str) -> Result<usize> {
        let state = self.lock();
        let schema = state.plan.schema();
        schema.find(name).ok_or_else(|| {
            let known = schema.columns().iter().map(|column| column.name.as_str());
            Error::UnknownColumn { name: name.to_owned(), help: suggest(name, known) }
        })
    }

    /// Lets so many cells be computed at once.
    pub(crate) fn limit(&self, cells: usize) {
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
            let put = match self.put(name, step, value.clone().into()) {
                None => Ok(Put::Stored),
                Some(put) => put.await,
            };
            match put.map_err(|source| Error::Store { column: name.clone(), step, source })? {
                Put::Stored => {
                    self.lock().pushed(Cell { column: source, step }, value);
                    return Ok(step);
                }
                // A push that was dropped on its way had arrived all the same: it comes first.
                Put::Exists(Entry::Value(earlier)) => {
                    self.lock().pushed(Cell { column: source, step }, earlier);
                }
                Put::Exists(Entry::Skipped) => {
                    let source = Unloadable::Empty { step }.into();
                    return Err(Error::Load { column: name.clone(), source });
                }
            }
        }
    }

    pub(crate) fn get(&self, column: usize, step: usize) -> Option<Value> {
        self.lock().table.get(Cell { column, step })
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
        let state = self.lock();
        let (plan, scheduler, table, instructions) = (
            Arc::clone(&state.plan),
            state.scheduler.clone(),
            state.table.clone(),
            state.instructions.clone(),
        );
        drop(state);
        forecast(&plan, scheduler, &table, &instructions)
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
        let state = self.lock();
        let schema = state.plan.schema();
        if schema.is_source(column) {
            return Err(Error::NotDerived { column: schema.name(column).clone() });
        }
        // A step that has not begun is short of a source, whether or not this column reads it.
        if step >= state.scheduler.opened()
            && let Some(source) = schema.sources().find(|&source| state.scheduler.len(source) <= step)
        {
            return Err(Error::Missing { column: schema.name(source).clone(), step });
        }
        let shown = state.shown(Cell { column, step })?;
        if shown.is_current() {
            return Ok(Messages::new(shown));
        }
        Err(Error::Skipped { column: schema.name(column).clone(), step })
    }

    /// Where to mark the messages of a derived column at a step.
    pub(crate) fn cache_plan(
        &self,
        column: usize,
        step: usize,
        provider: &Provider,
        pace: Pace,
    ) -> Result<CachePlan> {
        let messages = self.messages(column, step)?;
        let instruction = self.lock().instructions.get(column).copied().flatten().unwrap_or(0);
        Ok(CachePlan::of(&messages, Chars::estimate(instruction), provider, pace))
    }
}

impl State {
    /// Goes by what is known of the compute steps.
    fn set(&mut self, terms: &[Terms]) {
        for (column, terms) in terms.iter().enumerate() {
            self.scheduler.rule(column, terms.rules);
        }
        self.instructions = terms.iter().map(|terms| terms.instruction).collect();
    }

    /// What the compute of a derived cell sees, all of which is stored.
    fn shown(&self, cell: Cell) -> Result<Shown> {
        let schema = self.plan.schema();
        if let Some(missing) = self.scheduler.missing(cell) {
            return Err(Error::Missing { column: schema.name(missing.column).clone(), step: missing.step });
        }
        match Shown::new(schema, cell, |column| self.table.history(column)) {
            Some(shown) => Ok(shown),
            None => unreachable!("`{}` is derived", schema.name(cell.column)),
        }
    }

    fn pushed(&mut self, cell: Cell, value: Value) {
        self.table.insert(cell, value);
        self.scheduler.handle_pushed(cell.column);
        self.wake();
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
