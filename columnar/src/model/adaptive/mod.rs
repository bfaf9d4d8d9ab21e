//! [`Adaptive`]: a model with as many calls at once as it takes.

mod limit;
mod permits;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use backon::ExponentialBuilder;
use futures::future::TryFutureExt;
use futures::stream::{self, BoxStream, Stream, StreamExt};

use self::permits::{Permit, Permits, WaitBudget};
use super::{Chunk, Model, Overloaded, Request};
use crate::error::BoxError;

/// How many calls go on at once, unless told otherwise.
const MAX_CONCURRENCY: usize = 32;

/// How long a call waits for an overloaded model, unless told otherwise. Most quotas are by the minute.
const MAX_WAIT: Duration = Duration::from_mins(2);

/// How long a model that does not say is left alone after it refused a call: twice as long each time,
/// and up to as long again by chance, so that programs that were refused together part.
const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(500))
    .with_max_delay(Duration::from_secs(30))
    .with_jitter();

/// A model with as many calls at once as it takes. All clones together have one limit, whatever
/// columns and flows ask them.
///
/// When the model refuses a call with [`Overloaded`], half as many may go on, nothing new begins for as
/// long as the model asks or for a pause that grows, and the call is made again. That is not told: the
/// call has not failed, it takes longer. Calls that were refused together are one refusal. Each time
/// that as many calls were answered as may go on, one more may.
///
/// So that a model which takes nothing any more holds up no flow for ever, each call has
/// [`patience`](Self::patience). What comes after the first piece of a reply is not made again here;
/// that is what [`retry`](crate::compute::Policy::retry) is for.
///
/// A call counts from its beginning to the end of its reply. Only one that has had something to tell
/// for more than a second, and whose run nobody reads in the meantime, does not: so a run can wait for
/// another one on the same model.
///
/// Models chosen by name are wrapped in it already. Needs the clock of a tokio runtime.
///
/// ```
/// use columnar::model::{Adaptive, Offline};
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let model = Adaptive::new(Offline::new()).max_concurrency(8);
/// let chat = flow! {
///     source user;
///     column topics(user.latest) = prompt("List the topics.").with(model.clone());
///     column summary(user, self.latest) = prompt("Update the summary.").with(model.clone());
/// };
/// chat.user.push("hello").await?;
/// chat.run().await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Adaptive {
    model: Arc<dyn Model>,
    permits: Arc<Permits>,
    patience: Duration,
}

impl Adaptive {
    /// The model with a limit, which begins at its ceiling of 32 calls at once.
    pub fn new(model: impl Model) -> Self {
        let permits = Arc::new(Permits::new(MAX_CONCURRENCY, PAUSES));
        Self { model: Arc::new(model), permits, patience: MAX_WAIT }
    }

    /// The same model with a limit of its own, which begins at so many calls at once, at least one,
    /// and never goes above it.
    #[must_use]
    pub fn max_concurrency(self, calls: usize) -> Self {
        Self { permits: Arc::new(Permits::new(calls, PAUSES)), ..self }
    }

    /// Lets each call wait so long for a model that answers nobody, and so long after refusals of its
    /// own; two minutes unless told otherwise. A call that would have to wait longer fails at once,
    /// with what the model said. The wait for other calls to be over, and for pauses between answers
    /// to others, is not counted.
    #[must_use]
    pub fn max_wait(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Makes the call until it is not refused.
    async fn open(self, request: Request) -> Result<impl Stream<Item = Result<Chunk, BoxError>>, BoxError> {
        let mut patience = WaitBudget::new(self.patience);
        let mut refusal = None;
        loop {
            let permit = match self.permits.take(&mut patience).await {
                Ok(permit) => permit,
                Err(overloaded) => return Err(refusal.unwrap_or_else(|| overloaded.into())),
            };
            let mut call = Call { reply: self.model.reply(request.clone()), permit: Some(permit) };
            match call.next().await {
                Some(Err(error)) if Overloaded::of(&*error).is_some() => {
                    patience.refused();
                    refusal = Some(error);
                }
                first => return Ok(stream::iter(first).chain(call)),
            }
        }
    }
}

impl Model for Adaptive {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn ready(&self) -> Result<(), BoxError> {
        self.model.ready()
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        self.clone().open(request).try_flatten_stream().boxed()
    }
}

impl fmt::Debug for Adaptive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adaptive")
            .field("model", &self.name())
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

/// A reply and the permit of its call, which it gives back as soon as it is known what became of it.
struct Call {
    reply: BoxStream<'static, Result<Chunk, BoxError>>,
    permit: Option<Permit>,
}

impl Stream for Call {
    type Item = Result<Chunk, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, poller: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { reply, permit } = &mut *self;
        let Some(going_on) = permit else { return Poll::Ready(None) };
        let chunk = ready!(going_on.poll(poller, |poller| reply.poll_next_unpin(poller)));
        if matches!(chunk, Some(Ok(Chunk::Text(_)))) {
            return Poll::Ready(chunk);
        }
        // Whatever else comes is the last.
        match (permit.take(), &chunk) {
            (Some(permit), Some(Ok(_))) => permit.answered(),
            (Some(permit), Some(Err(error))) => permit.failed(&**error),
            _ => {}
        }
        Poll::Ready(chunk)
    }
}
