//! A run whose calls wait for batches: a run, and the batches that answer it.
//!
//! ```text
//! run ──▶ queue ──▶ worker ──▶ provider
//!  ▲        ▲          │ ▲
//!  └────────┴── answer ┘ └──▶ journal, in the store
//! ```
//!
//! A batch is submitted when the run has nothing else to do.

mod journal;
mod worker;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use futures::Stream;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::{Sleep, sleep};

use self::journal::{Journal, OpenedJournal};
use self::worker::BatchWorker;
use super::event::{ColumnId, Event};
use super::shared::SharedFlow;
use super::user_code::ComputeSteps;
use super::{Error, Result, Run};
use crate::declare::Name;
use crate::declare::default_limits::{FIRST_LOOK, LONGEST_LOOK};
use crate::model::{BatchQueue, Choice, Provider};

/// A run of a flow whose calls are requests of batches: a [`Stream`] of events, and a future that discards them. Made by
/// [`batch`](crate::flow::LiveFlow::batch).
///
/// Each prompt cell that is ready becomes a request. When the run has nothing else to do, the requests are submitted; the
/// answers become cells, and the cells that are ready then form the next batch. Dropping a run, or the end of the process,
/// cancels no batch: the next run by batches on the same store goes on with it.
///
/// ```no_run
/// use columnar::compute::secs;
/// use columnar::model::Provider;
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::result::Result<(), columnar::BoxError> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest) = prompt("List the topics.");
/// };
/// chat.user.push("We should rewrite the backend in Rust.").await?;
/// let provider = Provider::new("anthropic/claude-sonnet-5-5")?;
/// let mut run = chat.batch(provider).pauses(secs(60), secs(900)).max_requests(10_000);
/// while let Some(event) = run.try_next().await? {
///     println!("{event:?}");
/// }
/// # Ok(()) }
/// ```
#[must_use = "a run does nothing unless it is polled or awaited"]
pub struct BatchRun<'a, I = Name> {
    run: Run<'a, I>,
    queue: Arc<BatchQueue>,
    pauses: [Duration; 2],
    most_requests: usize,
    stage: BatchStage,
    /// The number of batches, with the batches of earlier runs.
    batches: usize,
    work: FuturesUnordered<BoxFuture<'static, ()>>,
    /// The time until which requests are gathered, while a cell waits for something else.
    gathering: Option<Pin<Box<Sleep>>>,
}

enum BatchStage {
    Opening(BoxFuture<'static, Result<OpenedJournal>>),
    Working(Arc<BatchWorker>),
    /// The last notes are written, before the last item.
    Ending(BoxFuture<'static, ()>, Option<Error>),
    Over,
}

impl BatchStage {
    /// The last notes of a run that ends with this error, or without one.
    fn ending(worker: Arc<BatchWorker>, error: Option<Error>) -> Self {
        // A batch goes on in the next run while a cell may need an answer that is not stored.
        let may_end = !matches!(error, Some(Error::Store { .. }));
        let is_whole = error.is_none();
        let notes = async move {
            let queue = &worker.queue;
            // Without the note, the next run remembers batches that no cell asks for.
            let _ = worker.journal.end(|batch| may_end && (is_whole || queue.is_taken(batch))).await;
        };
        Self::Ending(notes.boxed(), error)
    }
}

impl<'a, I> BatchRun<'a, I> {
    pub(crate) fn new(shared: Arc<SharedFlow>, steps: ComputeSteps<'a>, provider: Provider) -> Self {
        let queue = BatchQueue::new(provider);
        let opening = Journal::open(shared.store.clone()).boxed();
        let run = Run::new(shared, steps).with_queue(Choice::Queue(Arc::clone(&queue)));
        Self {
            run,
            queue,
            pauses: [FIRST_LOOK, LONGEST_LOOK],
            most_requests: usize::MAX,
            stage: BatchStage::Opening(opening),
            batches: 0,
            work: FuturesUnordered::new(),
            gathering: None,
        }
    }

    /// Sets the pause between the first two looks at a batch, 30 seconds by default, and the longest pause, 10 minutes. Each
    /// pause is twice as long as the one before.
    ///
    /// The first pause is also the longest time for which a request waits for others, while cells of the flow wait for
    /// something else than a batch.
    pub fn pauses(mut self, first: Duration, longest: Duration) -> Self {
        self.pauses = [first, longest.max(first)];
        self
    }

    /// Sets the most requests of a batch, where an account may have less in its queue than a batch of the provider can have.
    /// By default the limits of the provider split a batch.
    pub fn max_requests(mut self, requests: usize) -> Self {
        self.most_requests = requests;
        self
    }
}

impl<I: ColumnId> BatchRun<'_, I> {
    /// Submits what is due, and lets the batches go on. Returns whether the run may go on.
    fn work(&mut self, worker: &Arc<BatchWorker>, task: &mut TaskContext<'_>) -> bool {
        for batch in self.queue.take_asked() {
            self.work.push(Arc::clone(worker).resume(batch).boxed());
        }
        if self.is_due(task) {
            let requests = self.queue.take_unsent();
            for requests in self.queue.provider().split_batches(requests, self.most_requests) {
                self.queue.send(self.batches, &requests);
                self.work.push(Arc::clone(worker).submit(self.batches, requests).boxed());
                self.batches += 1;
            }
        }
        let mut has_worked = false;
        while let Poll::Ready(Some(())) = self.work.poll_next_unpin(task) {
            has_worked = true;
        }
        has_worked
    }

    /// Whether the requests in the queue are to be submitted now.
    fn is_due(&mut self, task: &mut TaskContext<'_>) -> bool {
        if !self.queue.has_unsent() {
            self.gathering = None;
            return false;
        }
        // A batch of the first answers of many would be a small one.
        if self.queue.is_arriving() {
            return false;
        }
        // Each cell that does not wait for an answer may lead to more requests.
        if self.run.cells_in_progress() == self.queue.waiting() {
            self.gathering = None;
            return true;
        }
        let [pause, _] = self.pauses;
        let gathering = self.gathering.get_or_insert_with(|| Box::pin(sleep(pause)));
        let is_over = gathering.poll_unpin(task).is_ready();
        if is_over {
            self.gathering = None;
        }
        is_over
    }
}

impl<I: ColumnId> Stream for BatchRun<'_, I> {
    type Item = Result<Event<I>>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            let worker = match &mut this.stage {
                BatchStage::Opening(opening) => {
                    match ready!(opening.poll_unpin(task)) {
                        Ok(opened) => this.open(opened),
                        Err(error) => {
                            this.stage = BatchStage::Over;
                            return Poll::Ready(Some(Err(error)));
                        }
                    }
                    continue;
                }
                BatchStage::Working(worker) => Arc::clone(worker),
                BatchStage::Ending(notes, error) => {
                    ready!(notes.poll_unpin(task));
                    let error = error.take();
                    this.stage = BatchStage::Over;
                    return Poll::Ready(error.map(Err));
                }
                BatchStage::Over => return Poll::Ready(None),
            };
            match this.run.poll_next_unpin(task) {
                Poll::Ready(Some(Ok(event))) => return Poll::Ready(Some(Ok(event))),
                Poll::Ready(end) => this.stage = BatchStage::ending(worker, end.and_then(Result::err)),
                Poll::Pending if this.work(&worker, task) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<I> BatchRun<'_, I> {
    fn open(&mut self, opened: OpenedJournal) {
        let OpenedJournal { journal, remembered } = opened;
        for (batch, ids) in remembered {
            self.batches = self.batches.max(batch + 1);
            self.queue.remember(batch, ids);
        }
        let queue = Arc::clone(&self.queue);
        let worker = BatchWorker { queue, journal, pauses: self.pauses };
        self.stage = BatchStage::Working(Arc::new(worker));
    }
}

impl<'a, I: ColumnId + 'a> IntoFuture for BatchRun<'a, I> {
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

impl<I> fmt::Debug for BatchRun<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, batches, work, .. } = self;
        f.debug_struct("BatchRun")
            .field("run", run)
            .field("batches", batches)
            .field("in_progress", &work.len())
            .finish_non_exhaustive()
    }
}
