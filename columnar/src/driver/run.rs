//! The driver for asynchronous programs: a stream that computes while it is read.

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Poller, Poll};

use futures::Stream;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{SelectAll, StreamExt};

use super::task::{Report, Task};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::name::Name;
use crate::plan::Plan;
use crate::scheduler::Cell;
use crate::state::{Live, Rest};

/// How the events of a flow name its columns: by a [`Name`], or by an enum that `flow!` declares.
pub trait ColumnId: Sized {
    /// `None` for a column that this does not name: one that was added by an extension.
    #[doc(hidden)]
    fn __of(column: usize, name: &Name) -> Option<Self>;
}

impl ColumnId for Name {
    fn __of(_: usize, name: &Name) -> Option<Self> {
        Some(name.clone())
    }
}

/// A run of a flow: a [`Stream`] of events, and a future for who does not need them.
///
/// ```
/// # use columnar::prelude::*;
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
#[must_use = "a run does nothing unless it is read or awaited"]
pub struct Run<'a, I = Name> {
    live: Live<'a>,
    /// As it was when a column was last looked up that it did not have.
    plan: Arc<Plan>,
    tasks: SelectAll<Task<'a>>,
    phase: Phase,
    failure: Option<Error>,
    id: PhantomData<fn() -> I>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Unpolled,
    Running,
    Over,
}

impl<'a, I> Run<'a, I> {
    pub(crate) fn new(live: Live<'a>) -> Self {
        let plan = live.shared.plan();
        Self { live, plan, tasks: SelectAll::new(), phase: Phase::Unpolled, failure: None, id: PhantomData }
    }

    /// Starts every cell that may start.
    fn start(&mut self) {
        while let Some((cell, context)) = self.live.shared.start() {
            let shared = Arc::clone(&self.live.shared);
            let task = match (context, self.live.step(cell.column)) {
                (Ok(context), Some(step)) => Task::new(cell, step, context, shared),
                (Err(error), _) => Task::refused(cell, self.name(cell.column).clone(), error, shared),
                (Ok(_), None) => unreachable!("a cell that starts is derived"),
            };
            self.tasks.push(task);
        }
    }

    /// The name of a column, which may have been added since the run began.
    fn name(&mut self, column: usize) -> &Name {
        if column >= self.plan.schema().columns().len() {
            self.plan = self.live.shared.plan();
        }
        self.plan.schema().name(column)
    }

    /// Carries a report to the scheduler, and tells what there is to tell of the columns that this run
    /// has names for.
    fn handle(&mut self, cell: Cell, report: Report) -> Option<Event<I>>
    where
        I: ColumnId,
    {
        match &report {
            Report::Delta { .. } | Report::Retry { .. } => {}
            Report::Stored { value } => self.live.shared.stored(cell, value.clone()),
            Report::Failed { .. } => self.live.shared.failed(cell),
        }
        let column = I::__of(cell.column, self.name(cell.column));
        match report {
            Report::Delta { text } => Some(Event::Delta { column: column?, step: cell.step, text }),
            Report::Retry { attempt, error } => {
                Some(Event::Retry { column: column?, step: cell.step, attempt, error })
            }
            Report::Stored { value } => Some(Event::Value { column: column?, step: cell.step, value }),
            Report::Failed { error } => {
                self.failure.get_or_insert(error);
                None
            }
        }
    }

    fn end(&mut self) {
        if mem::replace(&mut self.phase, Phase::Over) == Phase::Running {
            // A compute may panic when it is dropped; the flow can be run again all the same.
            let tasks = mem::take(&mut self.tasks);
            self.live.shared.end_run();
            drop(tasks);
        }
    }
}

impl<I: ColumnId> Stream for Run<'_, I> {
    type Item = Result<Event<I>>;

    fn poll_next(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<Option<Self::Item>> {
        match self.phase {
            Phase::Unpolled => match self.live.shared.begin_run() {
                Ok(()) => self.phase = Phase::Running,
                Err(error) => {
                    self.phase = Phase::Over;
                    return Poll::Ready(Some(Err(error)));
                }
            },
            Phase::Running => {}
            Phase::Over => return Poll::Ready(None),
        }
        loop {
            self.start();
            match self.tasks.poll_next_unpin(poller) {
                Poll::Ready(Some((cell, report))) => {
                    if let Some(event) = self.handle(cell, report) {
                        return Poll::Ready(Some(Ok(event)));
                    }
                }
                Poll::Ready(None) | Poll::Pending => match self.live.shared.rest(poller.waker()) {
                    Rest::CanStart => {}
                    Rest::Waits => return Poll::Pending,
                    Rest::Idle => {
                        self.end();
                        return Poll::Ready(self.failure.take().map(Err));
                    }
                },
            }
        }
    }
}

impl<I> Drop for Run<'_, I> {
    fn drop(&mut self) {
        self.end();
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

impl<I> fmt::Debug for Run<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("phase", &self.phase)
            .field("tasks", &self.tasks.len())
            .finish_non_exhaustive()
    }
}
