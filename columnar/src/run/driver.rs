//! The driver for asynchronous programs: a stream that computes while it is read.

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Poller, Poll};

use futures::Stream;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, SelectAll, StreamExt};

use super::actions::{Rest, Work};
use super::computation::{Computing, Ended, Report};
use super::compute_steps::ComputeSteps;
use super::event::{ColumnId, Event};
use super::shared::Shared;
use super::warm_up::Leading;
use super::{Error, Result};
use crate::declare::{Name, Plan};
use crate::schedule::{Cell, OnFailure};
use crate::store::{Entry, Put, StoreError};
use crate::trace::{CellSpan, RunSpan};
use crate::usage::SpendLimitError;

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
    /// `None` when it is over: then it keeps neither the flow nor its store.
    shared: Option<Arc<Shared>>,
    steps: ComputeSteps<'a>,
    has_begun: bool,
    /// As it was when a column was last looked up that it did not have.
    plan: Arc<Plan>,
    computing: SelectAll<Computing<'a>>,
    leading: Leading,
    storing: FuturesUnordered<Storing>,
    /// What is known of a cell; the scheduler asks for it to be stored before anything else is heard.
    done: Option<Done>,
    /// A cell that failed at once.
    failing: Option<(Cell, Report)>,
    failure: Option<Error>,
    span: RunSpan,
    id: PhantomData<fn() -> I>,
}

/// What a cell will hold.
struct Done {
    cell: Cell,
    entry: Entry,
    span: CellSpan,
}

impl Done {
    fn new(cell: Cell, entry: Entry, Ended { span, receipt }: Ended) -> Self {
        let receipt = receipt.map(|receipt| receipt.to_string().into());
        Self { cell, entry: Entry { receipt, ..entry }, span }
    }
}

/// An entry on its way into the store.
type Storing = BoxFuture<'static, (Done, Result<Put, StoreError>)>;

impl<'a, I: ColumnId> Run<'a, I> {
    /// Does all that the scheduler asks for, up to the next event.
    fn act(&mut self, poller: &mut Poller<'_>) -> Option<Event<I>> {
        while let Some(work) = self.shared().act() {
            match work {
                Work::Compute(cell, context) => {
                    let Some(step) = self.steps.get(cell.column) else {
                        unreachable!("a cell that starts is derived")
                    };
                    let lead = self.leading.join(step.settings(), &context);
                    let event = self.compute(Computing::new(cell, step, context, lead), poller);
                    if event.is_some() {
                        return event;
                    }
                }
                Work::Refuse(cell, error) => {
                    let refused = Computing::refused(cell, self.name(cell.column).clone(), error);
                    let event = self.compute(refused, poller);
                    if event.is_some() {
                        return event;
                    }
                }
                Work::Store(cell) => match self.done.take_if(|done| done.cell == cell) {
                    Some(done) => self.store(done, poller),
                    None => unreachable!("what is to be stored is computed"),
                },
                Work::Skip(cell) => {
                    let failed = self.done.take_if(|done| done.cell == cell);
                    let skipped = failed.unwrap_or_else(|| self.unasked(cell));
                    self.store(skipped, poller);
                }
                Work::Emit(cell, value) => {
                    let Some(column) = self.id(cell) else { continue };
                    let step = cell.step;
                    return Some(match value {
                        Some(value) => Event::Value { column, step, value },
                        None => Event::Skipped { column, step },
                    });
                }
            }
        }
        None
    }

    /// Takes in what happens to the cells, up to the next event.
    fn hear(&mut self, poller: &mut Poller<'_>) -> Option<Event<I>> {
        while let Poll::Ready(Some((done, put))) = self.storing.poll_next_unpin(poller) {
            self.stored(done, put);
        }
        if let Some((cell, report)) = self.failing.take() {
            let event = self.report(cell, report);
            if event.is_some() {
                return event;
            }
        }
        while self.done.is_none()
            && let Poll::Ready(Some((cell, report))) = self.computing.poll_next_unpin(poller)
        {
            let event = self.report(cell, report);
            if event.is_some() {
                return event;
            }
        }
        None
    }

    /// Begins to compute. What is there at once, as the answer of a plain function is, waits for nobody;
    /// but a failure waits until all that may begin beside it has begun.
    fn compute(&mut self, mut computing: Computing<'a>, poller: &mut Poller<'_>) -> Option<Event<I>> {
        if self.failing.is_some() {
            self.computing.push(computing);
            return None;
        }
        let event = match computing.poll_next_unpin(poller) {
            Poll::Ready(Some((cell, report @ Report::Failed { .. }))) => {
                self.failing = Some((cell, report));
                None
            }
            Poll::Ready(Some((cell, report))) => self.report(cell, report),
            Poll::Ready(None) | Poll::Pending => None,
        };
        if !computing.is_over() {
            self.computing.push(computing);
        }
        event
    }

    /// Takes in what happened to a cell. If it is done, the scheduler asks for it to be stored next.
    fn report(&mut self, cell: Cell, report: Report) -> Option<Event<I>> {
        let (column, step) = (self.id(cell), cell.step);
        match report {
            Report::Delta { text } => Some(Event::Delta { column: column?, step, text }),
            Report::Retry { attempt, error } => Some(Event::Retry { column: column?, step, attempt, error }),
            Report::Computed { value, end } => {
                self.done = Some(Done::new(cell, value.into(), end));
                self.shared().computed(cell);
                None
            }
            Report::Skipped { end } => {
                self.done = Some(Done::new(cell, Entry::SKIPPED, end));
                self.shared().skipped(cell);
                None
            }
            Report::Failed { error, end } => {
                if SpendLimitError::of(&error).is_some() {
                    // For the next cell there is nothing left, either.
                    self.shared().broken(cell);
                    self.span.cell_failed();
                    self.fail(error);
                    return None;
                }
                let cause = error.cause();
                match self.shared().failed(cell) {
                    OnFailure::Stop => {
                        self.span.cell_failed();
                        self.fail(error);
                        return None;
                    }
                    OnFailure::Wait => self.span.cell_failed(),
                    OnFailure::Skip => self.done = Some(Done::new(cell, Entry::SKIPPED, end)),
                }
                Some(Event::Failed { column: column?, step, error: cause })
            }
        }
    }

    /// A cell that is skipped because all it reads is empty.
    fn unasked(&mut self, cell: Cell) -> Done {
        let span = CellSpan::new(self.name(cell.column), cell.step);
        Done::new(cell, Entry::SKIPPED, Ended { span, receipt: None })
    }

    fn store(&mut self, done: Done, poller: &mut Poller<'_>) {
        let (shared, cell) = (Arc::clone(self.shared()), done.cell);
        let Some(mut put) = shared.put(cell.column, cell.step, done.entry.clone()) else {
            return self.stored(done, Ok(Put::Stored));
        };
        // A store may be done at once.
        match put.poll_unpin(poller) {
            Poll::Ready(put) => self.stored(done, put),
            Poll::Pending => self.storing.push(put.map(move |put| (done, put)).boxed()),
        }
    }

    fn stored(&mut self, Done { cell, entry, mut span }: Done, put: Result<Put, StoreError>) {
        let stored = put.and_then(|put| {
            let entry = match put {
                Put::Stored => entry,
                Put::Exists(there) => there,
            };
            self.shared().stored(cell, &entry).map(|()| entry)
        });
        match stored {
            Ok(entry) => {
                span.stored(&entry);
                self.span.stored(&entry);
            }
            Err(source) => {
                self.shared().broken(cell);
                let (column, step) = (self.name(cell.column).clone(), cell.step);
                let error = Error::Store { column, step, source };
                span.failed(&error, error.class());
                self.span.cell_failed();
                self.fail(error);
            }
        }
    }

    fn fail(&mut self, error: Error) {
        if self.failure.is_none() {
            self.span.failed(&error, error.class());
            self.failure = Some(error);
        }
    }

    /// What this run calls the column of a cell; `None` for one that came by another door.
    fn id(&mut self, cell: Cell) -> Option<I> {
        I::__of(cell.column, self.name(cell.column))
    }
}

impl<'a, I> Run<'a, I> {
    pub(crate) fn new(shared: Arc<Shared>, steps: ComputeSteps<'a>) -> Self {
        let plan = shared.plan();
        Self {
            shared: Some(shared),
            steps,
            has_begun: false,
            plan,
            computing: SelectAll::new(),
            leading: Leading::default(),
            storing: FuturesUnordered::new(),
            done: None,
            failing: None,
            failure: None,
            span: RunSpan::default(),
            id: PhantomData,
        }
    }

    /// The name of a column, which may have been added since the run began.
    fn name(&mut self, column: usize) -> &Name {
        if column >= self.plan.schema().columns().len() {
            self.plan = self.shared().plan();
        }
        self.plan.schema().name(column)
    }

    fn shared(&self) -> &Arc<Shared> {
        match &self.shared {
            Some(shared) => shared,
            None => unreachable!("a run that is over does nothing"),
        }
    }

    fn end(&mut self) {
        self.steps = ComputeSteps::default();
        if let Some(shared) = self.shared.take()
            && self.has_begun
        {
            // A compute may panic when it is dropped; the flow can be run again all the same.
            let cells = (mem::take(&mut self.computing), mem::take(&mut self.storing));
            shared.end_run();
            drop(cells);
        }
    }
}

impl<I: ColumnId> Stream for Run<'_, I> {
    type Item = Result<Event<I>>;

    fn poll_next(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<Option<Self::Item>> {
        let Some(shared) = &self.shared else { return Poll::Ready(None) };
        if !self.has_begun {
            if let Err(error) = shared.begin_run() {
                self.shared = None;
                return Poll::Ready(Some(Err(error)));
            }
            // Columns may have gone since the run was made; from here on they only come.
            self.plan = shared.plan();
            self.has_begun = true;
            self.span = RunSpan::begin();
        }
        let _entered = self.span.enter();
        loop {
            if let Some(event) = self.act(poller).or_else(|| self.hear(poller)) {
                return Poll::Ready(Some(Ok(event)));
            }
            match self.shared().rest(poller.waker()) {
                Rest::CanAct => {}
                Rest::Waits => return Poll::Pending,
                Rest::Idle => {
                    self.end();
                    mem::take(&mut self.span).done();
                    return Poll::Ready(self.failure.take().map(Err));
                }
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
            .field("has_begun", &self.has_begun)
            .field("is_over", &self.shared.is_none())
            .field("computing", &self.computing.len())
            .field("storing", &self.storing.len())
            .finish_non_exhaustive()
    }
}
