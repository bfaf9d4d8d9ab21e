//! The driver: a stream of events that carries out the actions of the scheduler while the stream is polled.
//!
//! ```text
//! scheduler ──▶ actions ──▶ driver ──▶ computation ──▶ storing ──▶ events
//! ```
//!
//! There is no hidden task: a program that stops polling has no calls in progress that others wait for.

mod actions;
mod ask;
mod computation;
mod reports;
mod storing;
mod warm_up;
mod windows;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use futures::Stream;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, SelectAll, StreamExt};

use self::actions::{RunAction, RunStatus};
use self::computation::{CellReport, CellWrite, Computation, ComputationStage, Unstored};
use self::warm_up::SingleFlight;
use super::event::{ColumnId, Event};
use super::shared::SharedFlow;
use super::user_code::{ComputeSteps, caught, discard};
use super::{Error, Result};
use crate::compute::trace::RunSpan;
use crate::declare::{Name, Plan};
use crate::model::Choice;
use crate::model::usage::Fingerprint;
use crate::schedule::Cell;

/// A run of a flow: a [`Stream`] of events, and a future that discards them.
///
/// A run computes the missing cells while the run is polled. An error is the last item of the stream and the result of the
/// future. Dropping a run cancels the cells that are not stored yet, which the next run computes.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column echo(user.latest) = |cx: Context| async move { cx.messages().last_text().into_owned() };
/// };
/// chat.user.push("hello").await?;
///
/// let mut run = chat.run();
/// while let Some(event) = run.try_next().await? {
///     if let Event::Value { column, step, value } = event {
///         println!("{column} at step {step}: {value}");
///     }
/// }
///
/// chat.user.push("and again").await?;
/// chat.run().await?;
/// # Ok(()) }
/// ```
#[must_use = "a run does nothing unless it is polled or awaited"]
pub struct Run<'a, I = Name> {
    /// `None` when the run is over: then the run holds neither the flow nor the store.
    shared: Option<Arc<SharedFlow>>,
    steps: ComputeSteps<'a>,
    has_begun: bool,
    /// The loading of stored values that the missing cells read, before anything is computed.
    loading: Option<BoxFuture<'static, Result<()>>>,
    /// The plan as of the last lookup of an unknown column.
    plan: Arc<Plan>,
    computations: SelectAll<Computation<'a>>,
    single_flight: SingleFlight,
    writes: FuturesUnordered<CellWrite>,
    /// A finished cell. The scheduler asks to store the cell before anything else is polled, so one is enough.
    unstored: Option<Unstored>,
    /// The failure of a cell that failed at the start.
    early_failure: Option<(Cell, CellReport)>,
    /// The warnings about columns, until the first cell of each.
    warnings: BTreeMap<usize, String>,
    /// The error that ends the run.
    failure: Option<Error>,
    span: RunSpan,
    /// The queue that is the model of the flow in a run by batches.
    queue: Option<Choice>,
    // `fn() -> I` is `Send` and `Sync` for every `I`. A run holds no value of `I`.
    id: PhantomData<fn() -> I>,
}

impl<'a, I> Run<'a, I> {
    pub(crate) fn new(shared: Arc<SharedFlow>, steps: ComputeSteps<'a>) -> Self {
        let plan = shared.plan();
        Self {
            shared: Some(shared),
            steps,
            has_begun: false,
            loading: None,
            plan,
            computations: SelectAll::new(),
            single_flight: SingleFlight::default(),
            writes: FuturesUnordered::new(),
            unstored: None,
            early_failure: None,
            warnings: BTreeMap::new(),
            failure: None,
            span: RunSpan::default(),
            queue: None,
            id: PhantomData,
        }
    }

    /// The same run with the queue of a run by batches as the model of the flow.
    #[cfg(feature = "providers")]
    pub(crate) fn with_queue(mut self, queue: Choice) -> Self {
        self.queue = Some(queue);
        self
    }

    /// The number of cells that are being computed or stored.
    #[cfg(feature = "providers")]
    pub(crate) fn cells_in_progress(&self) -> usize {
        self.computations.len() + self.writes.len() + usize::from(self.unstored.is_some())
    }
}

impl<I: ColumnId> Stream for Run<'_, I> {
    type Item = Result<Event<I>>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        let Some(shared) = &self.shared else { return Poll::Ready(None) };
        if !self.has_begun {
            let warnings = match shared.begin_run(self.queue.as_ref()) {
                Ok(warnings) => warnings,
                Err(error) => {
                    // Nothing has begun, so there is nothing to end: every later poll returns `None`.
                    self.shared = None;
                    return Poll::Ready(Some(Err(error)));
                }
            };
            // Columns may have been removed since the run was made. During a run columns are only added.
            (self.plan, self.loading) = (shared.plan(), shared.next_window(self.queue.is_some()));
            self.warnings = warnings;
            self.has_begun = true;
            self.span = RunSpan::begin();
        }
        let _entered = self.span.enter();
        loop {
            if let Some(loading) = &mut self.loading {
                match loading.poll_unpin(task) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(())) => self.loading = None,
                    Poll::Ready(Err(error)) => {
                        self.fail(error);
                        return Poll::Ready(self.finish());
                    }
                }
            }
            // Actions come first, because an action stores a finished cell, and there is room for one only.
            if let Some(event) = self.act(task).or_else(|| self.poll_cells(task)) {
                return Poll::Ready(Some(Ok(event)));
            }
            match self.shared().run_status(task.waker()) {
                RunStatus::CanAct => {}
                RunStatus::Waiting => return Poll::Pending,
                RunStatus::WindowDone => self.loading = self.shared().next_window(self.queue.is_some()),
                RunStatus::Finished => return Poll::Ready(self.finish()),
            }
        }
    }
}

impl<'a, I: ColumnId + 'a> IntoFuture for Run<'a, I> {
    type Output = Result<()>;
    type IntoFuture = BoxFuture<'a, Result<()>>;

    fn into_future(mut self) -> Self::IntoFuture {
        async move {
            while let Some(event) = self.next().await {
                event?;
            }
            Ok(())
        }
        .boxed()
    }
}

impl<I> Drop for Run<'_, I> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<I> fmt::Debug for Run<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("has_begun", &self.has_begun)
            .field("is_over", &self.shared.is_none())
            .field("computing", &self.computations.len())
            .field("storing", &self.writes.len())
            .finish_non_exhaustive()
    }
}

impl<I: ColumnId> Run<'_, I> {
    /// Carries out the actions of the scheduler, up to the next event.
    fn act(&mut self, task: &mut TaskContext<'_>) -> Option<Event<I>> {
        while let Some(action) = self.shared().next_action() {
            match action {
                RunAction::Compute(cell, mut context, made) => {
                    context.defaults = context.defaults.with_queue(self.queue.as_ref());
                    // `SharedFlow::extend` changes the steps before the plan, so added columns have theirs.
                    let Some(step) = self.steps.get(cell.column) else {
                        unreachable!("a cell that is computed has a compute step")
                    };
                    // A model is asked for the name. A model that panics here does so again when the step calls the model.
                    let warm_up = caught(|| self.single_flight.join(&step.settings, &context));
                    let column = self.name(cell.column).clone();
                    let stage = ComputationStage::NotStarted { step, context };
                    let mut computation = Computation::new(cell, column, stage, made);
                    computation.warm_up = warm_up.unwrap_or_default();
                    computation.warning = self.warnings.remove(&cell.column);
                    if let event @ Some(_) = self.compute(computation, task) {
                        return event;
                    }
                }
                RunAction::Ask(cell) => {
                    let Some(column) = self.column_id(cell) else { continue };
                    return Some(Event::Pending { column, step: cell.step });
                }
                RunAction::Refuse(cell, error) => {
                    let column = self.name(cell.column).clone();
                    let stage = ComputationStage::Refused(error);
                    let refused = Computation::new(cell, column, stage, Fingerprint::default());
                    if let event @ Some(_) = self.compute(refused, task) {
                        return event;
                    }
                }
                RunAction::Store(cell) => match self.take_unstored(cell) {
                    Some(unstored) => self.store(unstored, task),
                    None => unreachable!("a cell that is stored has been computed"),
                },
                RunAction::Skip(cell, reason) => {
                    // A cell that is skipped by a compute step has a span and a receipt.
                    let computed = self.take_unstored(cell);
                    let skipped = computed.unwrap_or_else(|| self.skipped(cell, reason));
                    self.store(skipped, task);
                }
                RunAction::Emit(cell, value, reason) => {
                    // The scheduler emits the steps of a column in order, because readers append the values.
                    // The type of this run's columns has no name for a column of an extension.
                    let Some(column) = self.column_id(cell) else { continue };
                    let step = cell.step;
                    return Some(match value {
                        Some(value) => Event::Value { column, step, value },
                        None => Event::Skipped { column, step, reason },
                    });
                }
            }
        }
        None
    }

    /// Polls the cells in progress, up to the next event.
    fn poll_cells(&mut self, task: &mut TaskContext<'_>) -> Option<Event<I>> {
        while let Poll::Ready(Some((unstored, put))) = self.writes.poll_next_unpin(task) {
            self.put_done(unstored, put);
        }
        // No action is left, so each cell that may start has started, and this failure prevents none.
        if let Some((cell, report)) = self.early_failure.take()
            && let event @ Some(_) = self.handle_report(cell, report)
        {
            return event;
        }
        while self.unstored.is_none()
            && let Poll::Ready(Some((cell, report))) = self.computations.poll_next_unpin(task)
        {
            let report = self.counted(report);
            if let event @ Some(_) = self.handle_report(cell, report) {
                return event;
            }
        }
        None
    }

    /// Ends the run, and returns the last item.
    fn finish(&mut self) -> Option<Result<Event<I>>> {
        // Before the last item, because then the reader may run again, or open the store again.
        self.end();
        mem::take(&mut self.span).done();
        self.failure.take().map(Err)
    }

    /// The column of a cell in events; `None` for a column that an extension of the flow has added.
    fn column_id(&mut self, cell: Cell) -> Option<I> {
        I::__of(cell.column, self.name(cell.column))
    }
}

impl<I> Run<'_, I> {
    fn fail(&mut self, error: Error) {
        // Cells in progress may fail as well. The first error stopped the run.
        if self.failure.is_some() {
            return discard(error);
        }
        self.span.failed(&error, error.class());
        self.failure = Some(error);
    }

    /// The name of a column, which may have been added since the run began.
    fn name(&mut self, column: usize) -> &Name {
        if column >= self.plan.schema().columns().len() {
            self.plan = self.shared().plan();
        }
        self.plan.schema().name(column)
    }

    fn shared(&self) -> &Arc<SharedFlow> {
        match &self.shared {
            Some(shared) => shared,
            None => unreachable!("a run that is over carries out no action"),
        }
    }

    fn end(&mut self) {
        if let Some(shared) = self.shared.take()
            && self.has_begun
        {
            // Dropping a compute step may panic, so the run ends before.
            let dropped =
                (mem::take(&mut self.computations), mem::take(&mut self.writes), mem::take(&mut self.steps));
            // A loading holds the flow as well.
            self.loading = None;
            shared.end_run();
            drop(dropped);
        }
    }
}
