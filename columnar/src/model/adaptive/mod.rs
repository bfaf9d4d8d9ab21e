//! [`Adaptive`]: a model whose limit on concurrent calls adapts to refusals.

mod limit;
mod permits;

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use backon::ExponentialBuilder;
use futures::stream::{self, BoxStream, StreamExt};

use self::permits::{Permit, Permits, WaitBudget};
use super::{Chunk, Model, Overloaded, ReplySettings, Request};
use crate::declare::error::BoxError;
use crate::declare::limits::{FIRST_PAUSE, LONGEST_PAUSE, MAX_CONCURRENCY, MAX_WAIT};

/// The pauses after a refused call, if the model names none: twice as long each time, with jitter of up to as long again,
/// so that programs that were refused together spread out.
const PAUSES: ExponentialBuilder =
    ExponentialBuilder::new().with_min_delay(FIRST_PAUSE).with_max_delay(LONGEST_PAUSE).with_jitter();

/// A model with a limit on concurrent calls that adapts to refusals. All clones share one limit, across columns and
/// flows.
///
/// The limit begins at 32 calls. While it is in full use and the model answers, the limit doubles with every wave of
/// answers, up to [its maximum](Self::max_concurrency). So a service reaches a thousand calls after five waves, and a
/// few flows stay at 32. A flow computes [32 cells](crate::flow::LiveFlow::set_concurrency) at once by default, so
/// only several flows, or one with a larger number, need more.
///
/// When the model refuses a call with [`Overloaded`], the limit is halved, no call begins for the time that the model
/// asks for or for a growing pause, and the call is repeated. [`Event::Waiting`](crate::Event::Waiting) reports that
/// the call takes longer, and has not failed. A call whose prompt has a [backup](crate::Prompt::or_model) fails at
/// once instead. Calls that were refused together count as one refusal. After that the limit grows by one with every
/// wave of answers, and by more after eight waves without another refusal.
///
/// Each call waits for [`max_wait`](Self::max_wait) at most, so that a model which refuses all calls cannot block a flow
/// for ever. A call that fails after the first piece of its reply is not repeated here; use
/// [`retry`](crate::compute::Policy::retry) for that.
///
/// A call counts from the beginning to the end of the reply. The exception is a call whose reply has been ready for
/// more than a second while the run is not polled. So a run can wait for another run on the same model.
///
/// Models chosen by name are wrapped in an `Adaptive` already. An `Adaptive` needs the clock of a tokio runtime.
///
/// ```
/// use columnar::model::{Adaptive, Offline};
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let model = Adaptive::new(Offline::new()).max_concurrency(8);
/// let chat = flow! {
///     source user;
///     column topics(user.latest)        = prompt("List the topics.").model(model.clone());
///     column summary(user, self.latest) = prompt("Update the summary.").model(model.clone());
/// };
/// chat.user.push("hello").await?;
/// chat.run().await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Adaptive {
    model: Arc<dyn Model>,
    permits: Arc<Permits>,
    max_wait: Duration,
}

impl Adaptive {
    /// Wraps a model with a limit of at most 1,000 concurrent calls.
    pub fn new(model: impl Model) -> Self {
        let permits = Arc::new(Permits::new(MAX_CONCURRENCY, PAUSES));
        Self { model: Arc::new(model), permits, max_wait: MAX_WAIT }
    }

    /// The same model with a separate limit, which never exceeds this many concurrent calls, at least one. The default
    /// is 1,000. Set a maximum for a server that takes any number of calls and answers slowly.
    #[must_use]
    pub fn max_concurrency(self, calls: usize) -> Self {
        Self { permits: Arc::new(Permits::new(calls, PAUSES)), ..self }
    }

    /// Sets the longest wait of a call, two minutes by default. The time limits the period in which the model answers
    /// no call, and separately the pauses after refusals of this call. A call that would have to wait longer fails at
    /// once with the model's error. Time in which other calls are answered does not count.
    #[must_use]
    pub fn max_wait(self, max_wait: Duration) -> Self {
        Self { max_wait, ..self }
    }
}

/// A call that is repeated until the model does not refuse.
struct RepeatedCall {
    model: Adaptive,
    request: Request,
    /// The budget for waiting; `None` before the first poll.
    budget: Option<WaitBudget>,
    /// The last refusal.
    refusal: Option<BoxError>,
    /// The call whose reply has begun.
    call: Option<PermittedReply>,
}

impl RepeatedCall {
    async fn next(&mut self) -> Option<Result<Chunk, BoxError>> {
        if let Some(call) = &mut self.call {
            return call.next().await;
        }
        let permits = &self.model.permits;
        // With a backup there is no reason to wait.
        let wait = if self.request.may_wait { self.model.max_wait } else { Duration::ZERO };
        let budget = self.budget.get_or_insert_with(|| WaitBudget::new(wait));
        let permit = match permits.take(budget).await {
            Ok(permit) => permit,
            // The model's own error explains more than the `Overloaded` of a wait that is too long.
            Err(overloaded) => {
                return Some(Err(self.refusal.take().unwrap_or_else(|| overloaded.into())));
            }
        };
        let mut call =
            PermittedReply { reply: self.model.model.reply(self.request.clone()), permit: Some(permit) };
        // A refusal after the first piece is returned, since the reader has that piece already.
        match call.next().await {
            Some(Err(error)) if Overloaded::of(&*error).is_some() => {
                budget.refused = true;
                let pause = permits.pause();
                if pause > budget.left {
                    return Some(Err(error));
                }
                let message = error.to_string();
                self.refusal = Some(error);
                Some(Ok(Chunk::Waiting { pause, error: message }))
            }
            first => {
                self.call = Some(call);
                first
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

    fn accepts(&self, settings: &ReplySettings, max_tokens: u32) -> Result<(), BoxError> {
        self.model.accepts(settings, max_tokens)
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let calls = RepeatedCall { model: self.clone(), request, budget: None, refusal: None, call: None };
        let chunks = stream::unfold(Some(calls), |calls| async move {
            let mut calls = calls?;
            let chunk = calls.next().await?;
            // Nothing follows an error.
            let rest = chunk.is_ok().then_some(calls);
            Some((chunk, rest))
        });
        chunks.boxed()
    }
}

impl fmt::Debug for Adaptive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adaptive")
            .field("model", &self.name())
            .field("max_wait", &self.max_wait)
            .finish_non_exhaustive()
    }
}

/// A reply with the permit of the call. The permit is released when the outcome is known.
struct PermittedReply {
    reply: BoxStream<'static, Result<Chunk, BoxError>>,
    permit: Option<Permit>,
}

impl PermittedReply {
    async fn next(&mut self) -> Option<Result<Chunk, BoxError>> {
        let Self { reply, permit } = self;
        let held = permit.as_ref()?;
        let chunk = poll_fn(|poller| held.poll(poller, |poller| reply.poll_next_unpin(poller))).await;
        if !matches!(chunk, Some(Ok(Chunk::Text(_) | Chunk::Thought(_) | Chunk::Waiting { .. }))) {
            // Any other item is the last. A stream that ends without `Chunk::End` shows nothing about the limit.
            match (permit.take(), &chunk) {
                (Some(permit), Some(Ok(_))) => permit.answered(),
                (Some(permit), Some(Err(error))) => permit.failed(&**error),
                _ => {}
            }
        }
        chunk
    }
}
