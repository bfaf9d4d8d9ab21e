//! Flows that a task in the background computes.

use std::fmt;
use std::ops::Deref;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::hub::{Hub, HubHandle, Stop};
use super::parts::HasParts;
#[cfg(feature = "engine")]
use super::parts::FlowParts;
use super::position::Position;
use super::subscription::Subscription;
use super::task::serve;
#[cfg(feature = "engine")]
use crate::declare::Name;
use crate::flow::{ColumnId, LiveFlow};
use crate::model::deadline;
use crate::run::{Error, Result, SeenCells};

/// A flow that can be spawned: any flow whose compute steps borrow nothing.
///
/// The trait is in the [prelude](crate::prelude).
pub trait Spawn: HasParts + Send + Sync + Sized + 'static {
    /// The columns in events.
    type Column: ColumnId;

    /// Starts a task that computes the flow from now on: the cells that an earlier process has left, and the cells of
    /// every push.
    ///
    /// Spawn a flow once. If several tasks have the same flow, or a task and a [run](LiveFlow::run), each cell is still
    /// computed once, but the deltas reach only the subscriptions of the task that computes the cell.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    fn spawn(self) -> Spawned<Self> {
        let (task, spawned) = FlowTask::new(self);
        tokio::spawn(task.serve());
        spawned
    }
}

impl<C: Send + Sync + 'static, I: ColumnId + 'static> Spawn for LiveFlow<'static, C, I> {
    type Column = I;
}

/// The structs that `flow!` declares, and types of yours that dereference to a live flow.
impl<F, C, I> Spawn for F
where
    F: Deref<Target = LiveFlow<'static, C, I>> + Send + Sync + 'static,
    C: Send + Sync + 'static,
    I: ColumnId + 'static,
{
    type Column = I;
}

/// The parts are a flow, whose columns are known by name.
#[cfg(feature = "engine")]
impl Spawn for FlowParts {
    type Column = Name;
}

/// A flow with a task in the background, which computes every value that is pushed.
///
/// A spawned flow dereferences to the flow, so columns, reads and pushes are as before. Clones are handles to the same
/// flow.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::service::Spawned;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column answer(user, self) = prompt("You are a helpful assistant.");
///     }
/// }
///
/// /// A request of a client, which need not wait for the answer.
/// async fn post(chat: &Spawned<Chat>, text: String) -> Result<usize> {
///     chat.user.push(text).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = Chat::new().spawn();
/// post(&chat, "Which language?".into()).await?;
/// let step = post(&chat, "Why?".into()).await?;       // also while the first answer is computed
/// chat.completed(step).await?;
/// assert_eq!(chat.answer.len(), 2);
/// # Ok(()) }
/// ```
///
/// # Clients that leave
///
/// A dropped handle or [`Subscription`] cancels nothing. When the last one is dropped, the task computes all that was
/// pushed, stores the values, and ends; then the store is free. Handles of columns, and clones of the flow itself, do
/// not keep the task, but do keep the store: a value that is pushed over such a handle afterwards is stored, and
/// computed when the flow is spawned again.
///
/// # Errors
///
/// An error that ends a run is an [`Event::Failed`](crate::Event::Failed) for all subscriptions, and an error for all who
/// wait. The task does not repeat the run: the next push does, or [`retry`](Self::retry).
///
/// After a failed write nobody knows which values the store has. So the task ends, as after a
/// [`shutdown`](Self::shutdown), and the flow has to be opened again; [`Flows`](super::Flows) open such a flow at the
/// next request.
pub struct Spawned<F> {
    // Dropped before the handle, so that without it nothing holds the flow.
    flow: Arc<F>,
    /// A channel that is closed when the task has dropped the flow.
    ended: watch::Receiver<()>,
    handle: HubHandle,
}

impl<F: Spawn> Spawned<F> {
    /// The events from now on: cells that are stored after this call, and the texts of the cells in progress from the
    /// first byte.
    pub fn subscribe(&self) -> Subscription<F::Column> {
        Subscription::new(self.handle.clone(), self.handle.parts.shared.stored_now())
    }

    /// The events from a position on. [`Position::START`] is before step 0, and
    /// [`Subscription::position`] is where another subscription was.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::service::Position;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let f = flow([column("answer", source("user").latest(), prompt("Answer."))])?.spawn();
    /// for text in ["one", "two", "three"] {
    ///     f.push("user", text).await?;
    /// }
    /// f.settled().await?;
    /// let events: Vec<_> = f.subscribe_from(&Position::before(1)).take(2).collect().await;
    /// assert_eq!((events[0].step(), events[1].step()), (1, 2));
    /// # Ok(()) }
    /// ```
    pub fn subscribe_from(&self, position: &Position) -> Subscription<F::Column> {
        let seen = SeenCells::new(self.handle.parts.shared.plan(), |column| position.of(column));
        Subscription::new(self.handle.clone(), seen)
    }
}

impl<F> Spawned<F> {
    /// The position after all cells that are stored now.
    pub fn position(&self) -> Position {
        Position::new(&self.handle.parts.shared.stored_now())
    }

    /// Waits until a step is complete: each cell of the step is stored. The call also waits for a step that nobody has
    /// pushed yet, and for [answers](crate::compute::external).
    ///
    /// # Errors
    ///
    /// - [`Error::Shared`] with the error that ended the run, if the step is not complete.
    /// - [`Error::Missing`] if the task leaves the step incomplete for another reason: the task was cancelled or shut
    ///   down, or the cell failed and the column [may wait](crate::compute::Policy::or_wait).
    pub async fn completed(&self, step: usize) -> Result<()> {
        let hub = &self.handle;
        let shared = &self.handle.parts.shared;
        let completed = hub.wait_for(|| {
            // A step that has not begun waits for a push.
            let rest = hub.at_rest().filter(|_| shared.lock().scheduler.begun() > step || hub.is_closed());
            // After that question: the task may have stored the step before it came to rest.
            match shared.first_missing(step) {
                None => Some(Ok(())),
                Some(column) if !hub.is_closed() && shared.awaits_answer(&column, step) => None,
                Some(column) => Some(rest?.and(Err(Error::Missing { column, step }))),
            }
        });
        completed.await
    }

    /// Waits until the task has nothing to do.
    ///
    /// # Errors
    ///
    /// [`Error::Shared`] with the error that ended the last run.
    pub async fn settled(&self) -> Result<()> {
        self.handle.wait_for(|| self.handle.at_rest()).await
    }

    /// The error that ended the last run; `None` if the run ended well, or another run has begun.
    pub fn error(&self) -> Option<Arc<Error>> {
        self.handle.error()
    }

    /// Computes the cells that failed or were cancelled, as the next push would.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// static IS_DOWN: AtomicBool = AtomicBool::new(true);
    /// let answer = async |_: Context| if IS_DOWN.load(Ordering::SeqCst) { Err("HTTP 503") } else { Ok("Rust") };
    /// let f = flow([column("answer", source("user").latest(), answer)])?.spawn();
    /// let step = f.push("user", "Which language?").await?;
    /// assert!(f.completed(step).await.is_err());
    ///
    /// IS_DOWN.store(false, Ordering::SeqCst);
    /// f.retry();
    /// f.completed(step).await?;
    /// # Ok(()) }
    /// ```
    pub fn retry(&self) {
        self.handle.request(|control| control.retry = true);
    }

    /// Drops the cells in progress, as dropping a [run](crate::Run) does, and computes nothing before the next push or
    /// [`retry`](Self::retry). These compute the dropped cells again.
    pub fn cancel(&self) {
        self.handle.stop(Stop::Cancel);
    }

    /// Ends the task: no further cell starts, and the cells in progress are finished and stored. The missing cells are
    /// computed when the flow is spawned again.
    ///
    /// [Subscriptions](Subscription) end after the last stored value. Values can be read and pushed as long as there is
    /// a handle; the store is free when the last handle is dropped.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let (store, answer) = (MemoryStore::new(), column("answer", source("user").latest(), prompt("Answer.")));
    /// let f = Flow::open(store.clone(), [&answer]).await?.spawn();
    /// f.push("user", "Which language?").await?;
    /// f.shutdown().await;
    /// drop(f);
    ///
    /// let f = Flow::open(store, [&answer]).await?.spawn();    // in another process
    /// f.completed(0).await?;
    /// # Ok(()) }
    /// ```
    pub async fn shutdown(&self) {
        self.end(None).await;
    }

    /// A [`shutdown`](Self::shutdown) that drops the cells which are still in progress after this time, as
    /// [`cancel`](Self::cancel) does. Returns whether all cells were stored in time.
    pub async fn shutdown_timeout(&self, limit: Duration) -> bool {
        self.end(Some(deadline(Instant::now(), limit))).await
    }

    /// Begins a [`shutdown`](Self::shutdown), and does not wait for it.
    #[cfg(feature = "engine")]
    pub(crate) fn leave(&self) {
        self.handle.stop(Stop::Shutdown);
    }

    /// Ends the task, and returns whether it ended before the deadline.
    pub(crate) async fn end(&self, deadline: Option<Instant>) -> bool {
        // The task is closed before the flow is dropped, and only the drop of the flow frees the store.
        let mut receiver = self.ended.clone();
        let mut ended = pin!(receiver.changed());
        self.handle.stop(Stop::Shutdown);
        // Nothing is ever sent: an error ends the wait.
        let is_in_time = before(deadline, ended.as_mut()).await.is_some();
        if !is_in_time {
            self.handle.stop(Stop::Abort);
            let _ = ended.await;
        }
        is_in_time
    }
}

/// The result of a future that ends before the deadline.
pub(super) async fn before<T>(deadline: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}

/// The task of a spawned flow.
pub(super) struct FlowTask<F> {
    // Dropped in this order.
    hub: Arc<Hub>,
    flow: Arc<F>,
    ended: watch::Sender<()>,
}

/// A spawned flow for as long as the task has it.
pub(super) struct WeakSpawned<F> {
    hub: Weak<Hub>,
    flow: Weak<F>,
    ended: watch::Receiver<()>,
}

impl<F: Spawn> FlowTask<F> {
    /// A task that has not begun, and the first handle to its flow.
    pub(super) fn new(flow: F) -> (Self, Spawned<F>) {
        let hub = Arc::new(Hub::new(flow.__parts()));
        let flow = Arc::new(flow);
        let Some(handle) = HubHandle::new(&hub) else { unreachable!("a new hub is not closed") };
        let ended = watch::Sender::new(());
        let spawned = Spawned { flow: Arc::clone(&flow), ended: ended.subscribe(), handle };
        (Self { hub, flow, ended }, spawned)
    }

    pub(super) fn downgrade(&self) -> WeakSpawned<F> {
        let hub = Arc::downgrade(&self.hub);
        let flow = Arc::downgrade(&self.flow);
        WeakSpawned { hub, flow, ended: self.ended.subscribe() }
    }

    /// Computes the flow as long as it has handles.
    pub(super) async fn serve(self) {
        serve(&self.hub).await;
    }
}

impl<F> Drop for FlowTask<F> {
    /// Also when the run panics, and when the runtime ends, perhaps before the task has begun.
    fn drop(&mut self) {
        self.hub.close();
    }
}

impl<F> WeakSpawned<F> {
    /// A further handle; `None` if the task has ended.
    pub(super) fn upgrade(&self) -> Option<Spawned<F>> {
        let flow = self.flow.upgrade()?;
        let hub = self.hub.upgrade()?;
        Some(Spawned { flow, ended: self.ended.clone(), handle: HubHandle::new(&hub)? })
    }

    /// Whether the task has dropped the flow.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.has_changed().is_err()
    }

    /// Waits until the task has dropped the flow.
    pub(super) async fn ended(&mut self) {
        // Nothing is ever sent: an error ends the wait.
        let _ = self.ended.changed().await;
    }
}

impl<F> Clone for Spawned<F> {
    fn clone(&self) -> Self {
        Self { flow: Arc::clone(&self.flow), ended: self.ended.clone(), handle: self.handle.clone() }
    }
}

impl<F> Deref for Spawned<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.flow
    }
}

impl<F> fmt::Debug for Spawned<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawned").field("flow", &self.handle.parts.shared).finish_non_exhaustive()
    }
}
