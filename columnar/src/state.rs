//! What a flow, its columns and its run share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use futures::future::BoxFuture;

use crate::compute::Step;
use crate::context::{Context, Messages, Missing, assemble};
use crate::error::{BoxError, Error, Result, list, suggest};
use crate::name::Name;
use crate::plan::Plan;
use crate::scheduler::{Cell, Progress, Scheduler};
use crate::store::{Put, Store};
use crate::table::Table;
use crate::value::Value;

/// How many cells of a flow are computed at once, unless told otherwise.
const CONCURRENCY: usize = 32;

/// The shared part of a flow. One short lock guards it; nobody waits for I/O inside.
pub(crate) struct Shared {
    state: Mutex<State>,
    store: Arc<dyn Store>,
    /// Held while the next value of a source or a new column is on its way into the store, so that
    /// steps are given out in order and none is left empty by a store that fails.
    writing: tokio::sync::Mutex<()>,
}

struct State {
    plan: Arc<Plan>,
    scheduler: Scheduler,
    table: Table,
    run: Running,
}

enum Running {
    No,
    /// A run goes on. It is woken when there may be more to do.
    Yes(Option<Waker>),
}

/// What there is to do for a run that has started all it could a moment ago.
pub(crate) enum Rest {
    Idle,
    CanStart,
    Waits,
}

impl Shared {
    fn new(plan: Arc<Plan>, store: Arc<dyn Store>, limits: &Limits) -> Self {
        let scheduler = Scheduler::new(Arc::clone(&plan), CONCURRENCY);
        let mut state = State { plan, scheduler, table: Table::default(), run: Running::No };
        state.limit_columns(limits);
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
        let plan = self.plan();
        plan.schema().find(name).ok_or_else(|| {
            let known = plan.schema().columns().iter().map(|column| column.name.as_str());
            Error::UnknownColumn { name: name.to_owned(), help: suggest(name, known) }
        })
    }

    pub(crate) fn put(
        &self,
        name: Name,
        step: usize,
        value: Value,
    ) -> BoxFuture<'static, Result<Put, BoxError>> {
        self.store.put(name, step, value)
    }

    /// Lets so many cells be computed at once.
    pub(crate) fn limit(&self, cells: usize) {
        let mut state = self.lock();
        state.scheduler.limit(cells);
        state.wake();
    }

    /// Takes over what the store holds, sources first: a step begins when they have their values.
    pub(crate) async fn restore(&self) -> Result<()> {
        let _writing = self.writing.lock().await;
        let plan = self.plan();
        let columns = 0..plan.schema().columns().len();
        let (sources, derived): (Vec<_>, Vec<_>) =
            columns.partition(|&column| plan.schema().is_source(column));
        for source in sources {
            let mut values = self.load(&plan, source).await?;
            values.sort_by_key(|(step, _)| *step);
            for (expected, (step, value)) in values.into_iter().enumerate() {
                if step != expected {
                    let problem = format!("step {expected} is not there, but step {step} is").into();
                    return Err(Error::Load { column: plan.schema().name(source).clone(), source: problem });
                }
                self.lock().pushed(Cell { column: source, step }, value);
            }
        }
        for column in derived {
            let restored = Restored { column, cells: self.load(&plan, column).await? };
            let mut state = self.lock();
            restored.check(&plan, state.scheduler.opened())?;
            state.restore(restored);
        }
        Ok(())
    }

    async fn load(&self, plan: &Plan, column: usize) -> Result<Vec<(usize, Value)>> {
        let name = plan.schema().name(column);
        self.store.load(name.clone()).await.map_err(|source| Error::Load { column: name.clone(), source })
    }

    /// What the store holds of the columns that a longer plan has at its end.
    pub(crate) async fn load_added(&self, plan: &Plan) -> Result<Vec<Restored>> {
        let mut restored = Vec::new();
        for column in self.plan().schema().columns().len()..plan.schema().columns().len() {
            let cells = self.load(plan, column).await?;
            restored.push(Restored { column, cells });
        }
        Ok(restored)
    }

    /// Goes on with a longer plan. On an error nothing has changed.
    fn extend(&self, plan: Arc<Plan>, restored: Vec<Restored>, limits: &Limits) -> Result<()> {
        let mut state = self.lock();
        restored.iter().try_for_each(|restored| restored.check(&plan, state.scheduler.opened()))?;
        state.plan = Arc::clone(&plan);
        state.scheduler.extend(plan);
        state.limit_columns(limits);
        restored.into_iter().for_each(|restored| state.restore(restored));
        state.wake();
        Ok(())
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
            let put = self.put(name.clone(), step, value.clone()).await;
            match put.map_err(|source| Error::Store { column: name.clone(), step, source })? {
                Put::Stored => {
                    self.lock().pushed(Cell { column: source, step }, value);
                    return Ok(step);
                }
                // A push that was dropped on its way had arrived all the same: it comes first.
                Put::Exists(earlier) => self.lock().pushed(Cell { column: source, step }, earlier),
            }
        }
    }

    pub(crate) fn get(&self, column: usize, step: usize) -> Option<Value> {
        self.lock().table.get(column, step).cloned()
    }

    /// How many steps of a column are stored without a gap.
    pub(crate) fn len(&self, column: usize) -> usize {
        self.lock().scheduler.len(column)
    }

    /// The steps in which every column has its value.
    pub(crate) fn steps(&self) -> usize {
        self.lock().scheduler.steps()
    }

    /// The columns whose values depend on those of a column, in topological order.
    pub(crate) fn dependents(&self, column: &str) -> Result<Vec<Name>> {
        let (plan, column) = (self.plan(), self.find(column)?);
        Ok(plan
            .dependents(column)
            .into_iter()
            .map(|dependent| plan.schema().name(dependent).clone())
            .collect())
    }

    pub(crate) fn progress(&self) -> Progress {
        self.lock().scheduler.progress()
    }

    /// The sources that the next step waits for while another source is ahead of them.
    pub(crate) fn missing(&self) -> Vec<Name> {
        let state = self.lock();
        let (schema, opened) = (state.plan.schema(), state.scheduler.opened());
        let (behind, ahead): (Vec<_>, Vec<_>) =
            schema.sources().partition(|&source| state.scheduler.len(source) <= opened);
        if ahead.is_empty() {
            return Vec::new();
        }
        behind.into_iter().map(|source| schema.name(source).clone()).collect()
    }

    pub(crate) fn messages(&self, column: usize, step: usize) -> Result<Messages> {
        let state = self.lock();
        let schema = state.plan.schema();
        if schema.is_source(column) {
            return Err(Error::NotDerived { column: schema.name(column).clone() });
        }
        // A step that has not begun is short of a source, whether or not this column reads it.
        if let Some(source) = schema.sources().find(|&source| state.scheduler.len(source) <= step) {
            return Err(Error::Missing { column: schema.name(source).clone(), step });
        }
        match state.context(Cell { column, step }) {
            Some(context) => Ok(context?.messages().clone()),
            None => unreachable!("`{}` is derived", schema.name(column)),
        }
    }

    /// Begins a run, unless one goes on.
    pub(crate) fn begin_run(&self) -> Result<()> {
        let mut state = self.lock();
        match state.run {
            Running::Yes(_) => Err(Error::Running),
            Running::No => {
                state.run = Running::Yes(None);
                state.scheduler.begin();
                Ok(())
            }
        }
    }

    /// Ends the run that goes on; what it had begun will begin again.
    pub(crate) fn end_run(&self) {
        let mut state = self.lock();
        state.run = Running::No;
        state.scheduler.stop();
    }

    /// The next cell to compute and what its compute sees.
    pub(crate) fn start(&self) -> Option<(Cell, Result<Context>)> {
        let mut state = self.lock();
        let cell = state.scheduler.poll_start()?;
        let context = state.context(cell)?;
        Some((cell, context))
    }

    /// What a run does next that has started all it could. If it waits, `waker` is woken when there
    /// may be more to start.
    pub(crate) fn rest(&self, waker: &Waker) -> Rest {
        let mut state = self.lock();
        if state.scheduler.is_idle() {
            return Rest::Idle;
        }
        if state.scheduler.can_start() {
            return Rest::CanStart;
        }
        if let Running::Yes(slot) = &mut state.run {
            match slot {
                Some(known) => known.clone_from(waker),
                None => *slot = Some(waker.clone()),
            }
        }
        Rest::Waits
    }

    /// The cell is computed and stored.
    pub(crate) fn stored(&self, cell: Cell, value: Value) {
        let mut state = self.lock();
        state.table.insert(cell, value);
        let reported = state.scheduler.handle_stored(cell);
        debug_assert!(reported.is_ok(), "the run reports the cells that it was given");
    }

    /// The cell could not be computed or stored.
    pub(crate) fn failed(&self, cell: Cell) {
        let reported = self.lock().scheduler.handle_failed(cell);
        debug_assert!(reported.is_ok(), "the run reports the cells that it was given");
    }
}

impl State {
    fn limit_columns(&mut self, limits: &Limits) {
        for (column, cells) in limits.iter().enumerate() {
            if let Some(cells) = *cells {
                self.scheduler.limit_column(column, cells);
            }
        }
    }

    fn context(&self, cell: Cell) -> Option<Result<Context>> {
        let schema = self.plan.schema();
        let look_up = |column, step| self.table.get(column, step);
        let context = assemble(schema, cell.column, cell.step, look_up)?;
        Some(
            context.map_err(|Missing { column, step }| Error::Missing {
                column: schema.name(column).clone(),
                step,
            }),
        )
    }

    fn pushed(&mut self, cell: Cell, value: Value) {
        self.table.insert(cell, value);
        self.scheduler.handle_pushed(cell.column);
        self.wake();
    }

    fn restore(&mut self, restored: Restored) {
        for (step, value) in restored.cells {
            let cell = Cell { column: restored.column, step };
            if self.scheduler.handle_restored(cell).is_ok() {
                self.table.insert(cell, value);
            }
        }
    }

    fn wake(&mut self) {
        if let Running::Yes(waker) = &mut self.run
            && let Some(waker) = waker.take()
        {
            waker.wake();
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.lock();
        f.debug_struct("Flow").field("steps", &state.scheduler.steps()).finish_non_exhaustive()
    }
}

/// How many cells of each column may be computed at once, where there is a limit.
type Limits = Vec<Option<usize>>;

/// What a store holds of a derived column.
pub(crate) struct Restored {
    column: usize,
    cells: Vec<(usize, Value)>,
}

impl Restored {
    /// Refuses values of steps that have not begun.
    fn check(&self, plan: &Plan, opened: usize) -> Result<()> {
        match self.cells.iter().find(|(step, _)| *step >= opened) {
            None => Ok(()),
            Some((step, _)) => {
                let source =
                    format!("it holds a value for step {step}, but only {opened} steps have begun").into();
                Err(Error::Load { column: plan.schema().name(self.column).clone(), source })
            }
        }
    }
}

/// A flow that can run: its shared part and the compute steps, which may borrow.
#[derive(Clone, Debug)]
pub(crate) struct Live<'a> {
    pub(crate) shared: Arc<Shared>,
    /// By column; `None` for a source. Grows when columns are added.
    steps: Arc<Mutex<Vec<Option<Step<'a>>>>>,
}

impl<'a> Live<'a> {
    pub(crate) fn new(plan: Arc<Plan>, store: Arc<dyn Store>, steps: Vec<Option<Step<'a>>>) -> Self {
        let shared = Arc::new(Shared::new(plan, store, &limits(&steps)));
        Self { shared, steps: Arc::new(Mutex::new(steps)) }
    }

    pub(crate) fn step(&self, column: usize) -> Option<Step<'a>> {
        self.lock().get(column).cloned().flatten()
    }

    /// Goes on with a longer plan and its steps. On an error the plan is as it was.
    pub(crate) fn extend(
        &self,
        plan: Arc<Plan>,
        restored: Vec<Restored>,
        steps: Vec<Option<Step<'a>>>,
    ) -> Result<()> {
        let limits = limits(&steps);
        // A run looks the steps up when it starts a cell, so they must be there before the plan is.
        *self.lock() = steps;
        self.shared.extend(plan, restored, &limits)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<Step<'a>>>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn limits(steps: &[Option<Step<'_>>]) -> Limits {
    steps.iter().map(|step| step.as_ref()?.cells()).collect()
}
