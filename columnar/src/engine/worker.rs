//! The worker: it owns a flow for as long as a call of it lasts.

use std::error::Error as StdError;
use std::fmt;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt, ready, select};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};

use super::call::{CallError, EngineCall, EngineReply, OwnedCall, Work};
use super::messages::MessageStores;
use crate::compute::error_class::{class, is_temporary};
use crate::declare::default_limits::{FIRST_WAKE, LONGEST_WAKE, RUN_SLICE};
use crate::declare::error::BoxError;
use crate::flow::service::{FlowParts, Spawn, Spawned};
use crate::history::Value;
use crate::model::Overloaded;
#[cfg(feature = "providers")]
use crate::model::Provider;
use crate::run::{Decision, Error, Result};
use crate::schedule::Cell;
use crate::store::Store;

/// The flows of a worker: a call of an engine opens a flow, carries out what it says, and closes the flow. Clones are the same
/// worker.
///
/// Between two calls nothing is open, so the next call may come to any worker. Run as many workers as you need; each flow has one
/// owner, because an engine makes the calls of a key one after another. The lock of the store protects a flow from an owner that
/// is cut off and does not know it.
///
/// - A run lasts for a minute at most, and the cells that are in progress then; the next one is queued after the calls that
///   came meanwhile. So a push waits no longer than that.
/// - An error that passes, as of an overloaded provider, lets the engine wake the flow after a minute, and then twice as long
///   each time, up to an hour. Any other error of a cell ends the run, and the engine gets the column, the step and the kind of
///   the error. The next push or [`run`](super::RemoteFlow::run) tries again.
/// - If an engine gives a call up, because it ended or was cut off, the cells in progress are finished and stored before the
///   flow is closed.
///
/// ```
/// use columnar::engine::FlowWorker;
/// use columnar::prelude::*;
/// use columnar::store::MemoryStore;
///
/// flow! {
///     struct Chat {
///         source user;
///         column answer(user, self) = prompt("You are a helpful assistant.");
///     }
/// }
///
/// let chats = MemoryStore::new();
/// let messages = MemoryStore::new();
/// let worker = FlowWorker::new(move |_key| Chat::open(chats.clone()), move |_key| messages.clone())
///     .slice(secs(20))
///     .on_failure(|key, error| eprintln!("{key}: {error}"));
/// ```
#[derive(Clone)]
pub struct FlowWorker {
    open: Arc<FlowOpener>,
    messages: MessageStores,
    slice: Duration,
    pauses: [Duration; 2],
    #[cfg(feature = "providers")]
    batch: Option<Provider>,
    calls: Arc<watch::Sender<CallsInProgress>>,
    failed: Arc<OnFailedRun>,
}

type FlowOpener = dyn Fn(String) -> BoxFuture<'static, Result<FlowParts>> + Send + Sync;

type OnFailedRun = dyn Fn(&str, &Error) + Send + Sync;

/// The calls that a worker carries out.
#[derive(Debug, Default)]
struct CallsInProgress {
    active: usize,
    is_draining: bool,
}

/// The share of a call in the worker.
struct ActiveCall<'w>(&'w watch::Sender<CallsInProgress>);

impl Drop for ActiveCall<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|calls| calls.active -= 1);
    }
}

/// A flow for the duration of a call. Dropped with the call, it finishes the cells in progress, and computes nothing more.
struct OwnedFlow(Spawned<FlowParts>);

impl Drop for OwnedFlow {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl FlowWorker {
    /// A worker that opens flows with a function, as [`Flows`](crate::service::Flows) do, and makes the stores of messages with
    /// another one. All workers and clients reach the same stores.
    pub fn new<F: Spawn, R, S: Store>(
        open: impl Fn(String) -> R + Send + Sync + 'static,
        stores: impl Fn(&str) -> S + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Result<F>> + Send + 'static,
    {
        Self {
            open: Arc::new(move |key| {
                let opening = open(key);
                async move { Ok(opening.await?.__parts()) }.boxed()
            }),
            messages: MessageStores::new(stores),
            slice: RUN_SLICE,
            pauses: [FIRST_WAKE, LONGEST_WAKE],
            #[cfg(feature = "providers")]
            batch: None,
            calls: Arc::default(),
            failed: Arc::new(|_, _| {}),
        }
    }

    /// Sets the time after which a run starts no more cells, and is queued again. The default is a minute.
    #[must_use]
    pub fn slice(self, slice: Duration) -> Self {
        Self { slice, ..self }
    }

    /// Sets the pause before a run is repeated that failed for a reason that passes, a minute by default, and the longest pause,
    /// an hour. Each pause is twice as long as the one before.
    #[must_use]
    pub fn pauses(self, first: Duration, longest: Duration) -> Self {
        Self { pauses: [first, longest.max(first)], ..self }
    }

    /// Computes by [batches](crate::guide::batches) of a provider. While a batch is under way, the flow is closed, and the engine
    /// wakes it with the [pauses](Self::pauses) of the worker. A batch is submitted, and its results are stored, within a
    /// [slice](Self::slice), so let a slice have the time for that.
    #[cfg(feature = "providers")]
    #[must_use]
    pub fn batch(self, provider: Provider) -> Self {
        Self { batch: Some(provider), ..self }
    }

    /// Calls a function with the key and the error of each run that fails, for the log of the worker. The engine gets the column,
    /// the step and the kind of the error alone, because the message of a provider may quote a conversation.
    #[must_use]
    pub fn on_failure(self, failed: impl Fn(&str, &Error) + Send + Sync + 'static) -> Self {
        Self { failed: Arc::new(failed), ..self }
    }

    /// Ends the calls of this worker, as before a deployment: no cell starts, the ones in progress are finished and stored, and
    /// the engine makes each further call in another worker.
    pub async fn drain(&self) {
        self.calls.send_modify(|calls| calls.is_draining = true);
        // The worker has the sender, so there is no error.
        let _ = self.calls.subscribe().wait_for(|calls| calls.active == 0).await;
    }

    /// Carries out a call. Adapters of engines call this.
    ///
    /// # Errors
    ///
    /// [`CallError`], which says whether the engine makes the call again.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn serve(&self, call: EngineCall, owned: &dyn OwnedCall) -> Result<EngineReply, CallError> {
        let _active = self.begin()?;
        match call {
            EngineCall::Push { column, message } => self.push(owned, &column, &message).await,
            EngineCall::Answer { column, step, message } => {
                let text = self.messages.read(owned.key(), &message).await?;
                self.decide(owned, &column, step, text.map(Decision::Answer), Some(&message)).await
            }
            EngineCall::Accept { column, step } => {
                self.decide(owned, &column, step, Some(Decision::Accept), None).await
            }
            EngineCall::Decline { column, step, message } => {
                let text = self.messages.read(owned.key(), &message).await?;
                let decision = text.map(|reason| Decision::Decline(reason.as_str().to_owned()));
                self.decide(owned, &column, step, decision, Some(&message)).await
            }
            EngineCall::Run { attempt } => self.run(owned, attempt).await,
            // The adapter has cancelled the call that owns the flow, if there is one.
            EngineCall::Cancel => Ok(EngineReply::Cancelled),
        }
    }

    fn begin(&self) -> Result<ActiveCall<'_>, CallError> {
        let mut is_open = true;
        self.calls.send_modify(|calls| {
            is_open = !calls.is_draining;
            calls.active += usize::from(is_open);
        });
        if is_open {
            Ok(ActiveCall(&self.calls))
        } else {
            Err(CallError::Again("this worker is about to end".into()))
        }
    }

    async fn push(
        &self,
        owned: &dyn OwnedCall,
        column: &str,
        message: &str,
    ) -> Result<EngineReply, CallError> {
        let pushed = self.pushed(owned, column, message).await;
        if !matches!(pushed, Err(CallError::Again(_))) {
            self.forget(owned, Some(message)).await?;
        }
        let step = pushed?;
        owned.wake(Duration::ZERO, EngineCall::Run { attempt: 0 });
        Ok(EngineReply::Pushed { step })
    }

    /// The first attempt notes the step, so a later one knows whether the value is stored already.
    async fn pushed(&self, owned: &dyn OwnedCall, column: &str, message: &str) -> Result<usize, CallError> {
        let parts = (self.open)(owned.key().to_owned()).await?;
        let length = parts.shared.by_name(column, |state, column| state.scheduler.len(column))?;
        let next = owned.remember("step", Work::new(ready(Ok(length.to_string())))).await?;
        let next = next.parse().map_err(|error| CallError::Again(BoxError::from(error)))?;
        match self.messages.read(owned.key(), message).await? {
            Some(value) => match pushed_at(&parts, column, next..length, &value).await? {
                Some(step) => Ok(step),
                None => Ok(parts.shared.push(column, value).await?),
            },
            // A message is deleted after its value is stored.
            None if length > next => Ok(next),
            None => Err(missing(message)),
        }
    }

    async fn decide(
        &self,
        owned: &dyn OwnedCall,
        column: &str,
        step: usize,
        decision: Option<Decision>,
        message: Option<&str>,
    ) -> Result<EngineReply, CallError> {
        let parts = (self.open)(owned.key().to_owned()).await?;
        // An earlier attempt may have stored the decision, and this one finds the cell answered.
        let open = is_open(&parts, column, step).to_string();
        let was_open = owned.remember("open", Work::new(ready(Ok(open)))).await? == "true";
        let decided = match decision {
            Some(decision) => parts.shared.decide(column, step, decision).await.map_err(CallError::from),
            // A message is deleted after its decision is stored.
            None if was_open && !is_open(&parts, column, step) => Ok(()),
            None => Err(missing(message.unwrap_or_default())),
        };
        drop(parts);
        if !matches!(decided, Err(CallError::Again(_))) {
            self.forget(owned, message).await?;
        }
        match decided {
            Err(CallError::Refused(error)) if was_open && is_answered(&*error) => {}
            decided => decided?,
        }
        owned.wake(Duration::ZERO, EngineCall::Run { attempt: 0 });
        Ok(EngineReply::Decided)
    }

    async fn forget(&self, owned: &dyn OwnedCall, message: Option<&str>) -> Result<(), CallError> {
        let Some(message) = message else { return Ok(()) };
        self.messages.delete(owned.key(), message).await.map_err(|error| CallError::Again(error.into()))
    }

    async fn run(&self, owned: &dyn OwnedCall, attempt: u32) -> Result<EngineReply, CallError> {
        let cancel = Arc::new(Notify::new());
        let cancelled = Arc::clone(&cancel);
        let computed = async move {
            let reply = self.compute(owned.key(), &cancelled, attempt).await?;
            serde_json::to_string(&reply).map_err(|error| CallError::Again(error.into()))
        };
        // The outcome of the first attempt stands, so a later one lets the engine do the same.
        let told = owned.remember("outcome", Work { future: computed.boxed(), cancel }).await?;
        let reply = serde_json::from_str(&told).map_err(|error| CallError::Again(error.into()))?;
        if let EngineReply::Continues { after_ms, attempt } = reply {
            owned.wake(Duration::from_millis(after_ms), EngineCall::Run { attempt });
        }
        Ok(reply)
    }

    async fn compute(&self, key: &str, cancel: &Notify, attempt: u32) -> Result<EngineReply, CallError> {
        #[cfg_attr(not(feature = "providers"), expect(unused_mut, reason = "batches are of providers"))]
        let mut parts = (self.open)(key.to_owned()).await?;
        #[cfg(feature = "providers")]
        parts.batch.clone_from(&self.batch);
        let flow = OwnedFlow(parts.spawn());
        let mut cancelled = pin!(cancel.notified());
        let settled = pin!(flow.0.settled());
        let slice_over = pin!(self.slice_over());
        match select(cancelled.as_mut(), select(settled, slice_over)).await {
            Either::Right((Either::Left((settled, _)), _)) => {
                return self.settled(key, &flow.0, settled, attempt);
            }
            #[cfg(feature = "providers")]
            Either::Right(_) if self.batch.is_some() => {
                // A batch goes on at its provider.
                flow.0.end(Some(Instant::now())).await;
                return Ok(self.later(attempt, None));
            }
            Either::Right(_) => {
                if let Either::Right(_) = select(cancelled, pin!(flow.0.shutdown())).await {
                    return Ok(EngineReply::Continues { after_ms: 0, attempt: 0 });
                }
            }
            Either::Left(_) => {}
        }
        flow.0.end(Some(Instant::now())).await;
        Ok(EngineReply::Cancelled)
    }

    /// Waits until a run starts no more cells: its time is over, or the worker drains.
    async fn slice_over(&self) {
        let mut calls = self.calls.subscribe();
        // The worker has the sender, so an error is the end of the time.
        let _ = timeout(self.slice, calls.wait_for(|calls| calls.is_draining)).await;
    }

    fn settled(
        &self,
        key: &str,
        flow: &FlowParts,
        settled: Result<()>,
        attempt: u32,
    ) -> Result<EngineReply, CallError> {
        let progress = flow.shared.lock().progress();
        match settled {
            // A failed cell of a column that may wait.
            Ok(()) if progress.failed > 0 => Ok(self.later(attempt, None)),
            Ok(()) => Ok(EngineReply::Complete { pending: progress.pending }),
            Err(Error::Shared(error)) if matches!(*error, Error::Store { .. } | Error::Load { .. }) => {
                Err(CallError::Again(error.into()))
            }
            Err(error) => {
                (self.failed)(key, &error);
                let asked = Overloaded::of(&error).and_then(|overloaded| overloaded.retry_after);
                if is_temporary(&error) {
                    Ok(self.later(attempt, asked))
                } else {
                    Err(CallError::Refused(without_texts(&error)))
                }
            }
        }
    }

    /// The run is repeated after the pause of this attempt, or the longer one that a provider asks for.
    fn later(&self, attempt: u32, asked: Option<Duration>) -> EngineReply {
        let [first, longest] = self.pauses;
        let pause = first.saturating_mul(1 << attempt.min(16)).min(longest).max(asked.unwrap_or_default());
        let after_ms = pause.as_millis().try_into().unwrap_or(u64::MAX);
        EngineReply::Continues { after_ms, attempt: attempt.saturating_add(1) }
    }
}

/// An error as the engine may remember it.
fn without_texts(error: &Error) -> BoxError {
    let inner = if let Error::Shared(inner) = error { &**inner } else { error };
    match inner {
        Error::Compute { column, step, .. } => format!(
            "computing `{column}` at step {step} failed, of the kind `{}`; `on_failure` of the worker has the message",
            class(inner)
        )
        .into(),
        inner => inner.to_string().into(),
    }
}

/// The step among these at which a value is stored.
async fn pushed_at(
    parts: &FlowParts,
    column: &str,
    steps: Range<usize>,
    value: &Value,
) -> Result<Option<usize>> {
    if steps.is_empty() {
        return Ok(None);
    }
    // Someone may have pushed to the flow without the engine, so the values are compared.
    let entries = parts.shared.entries(column, steps).await?;
    let found = entries
        .into_iter()
        .find(|(_, entry)| entry.value.as_ref().is_some_and(|stored| stored.as_str() == value.as_str()));
    Ok(found.map(|(step, _)| step))
}

/// Whether a cell has no value and no decision.
fn is_open(parts: &FlowParts, column: &str, step: usize) -> bool {
    let is_stored =
        parts.shared.by_name(column, |state, column| state.scheduler.is_stored(Cell { column, step }));
    is_stored.is_ok_and(|is_stored| !is_stored)
}

fn missing(message: &str) -> CallError {
    CallError::Refused(format!("the message {message} is not in the store: send the request again").into())
}

fn is_answered(error: &(dyn StdError + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(Error::Answered { .. }))
}

impl fmt::Debug for FlowWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { slice, calls, .. } = self;
        f.debug_struct("FlowWorker")
            .field("slice", slice)
            .field("calls", &*calls.borrow())
            .finish_non_exhaustive()
    }
}
