//! A call of a prompt: the request, the reply, and the models that are asked after a failure.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt};

use super::thoughts::ThoughtFilter;
use super::{Piece, PieceSource};
use crate::compute::trace::CallSpan;
use crate::declare::error::BoxError;
use crate::history::tokens::{Counter, Estimate};
use crate::model::cache::MarkedRequest;
use crate::model::rendering::Request;
use crate::model::usage::{Reservation, SpendLimit, SpendLimitError};
use crate::model::{
    Chunk, ContextWindow, End, Finish, MaxTokens, MediaRules, Model, Overloaded, Refused, ReplyError,
    Truncated, check_media,
};

/// The rules for replies: which unfinished replies a prompt stores, and what happens to thoughts.
#[derive(Clone, Copy, Default)]
pub(super) struct ReplyRules {
    pub(super) allows_truncated: bool,
    pub(super) allows_empty: bool,
    pub(super) thoughts: Thoughts,
}

/// The use of thoughts.
#[derive(Clone, Copy, Default)]
pub(super) struct Thoughts {
    /// Whether thoughts in the text are left out.
    pub(super) are_stripped: bool,
    /// Whether the receipt has the thoughts.
    pub(super) are_kept: bool,
}

/// A call to a model.
pub(super) struct ModelCall {
    /// The model that is called, and the backups behind it.
    models: VecDeque<Arc<dyn Model>>,
    request: Request,
    /// The choice of the marks, for the first of the models.
    marked: Option<Arc<MarkedRequest>>,
    /// `None` for the default of each model.
    max_tokens: Option<u32>,
    limit: Option<SpendLimit>,
    /// The tokens of the request, by the counter of the flow.
    input: usize,
    rules: ReplyRules,
    attempt: usize,
    stage: CallStage,
    /// The highest possible cost, reserved until the actual cost is known.
    reservation: Option<Reservation>,
}

enum CallStage {
    /// The next request is not sent.
    Pending,
    /// The reply arrives.
    Streaming(Streaming),
    /// The reply has ended, and is discarded if there is an error.
    Ended { error: Option<BoxError>, span: CallSpan },
    /// The call is over, or a method is at work.
    Done,
}

/// A reply that is being received.
struct Streaming {
    chunks: BoxStream<'static, Result<Chunk, BoxError>>,
    span: CallSpan,
    received: Received,
    filter: Option<ThoughtFilter>,
    /// The thoughts so far, if the receipt shall have them.
    thoughts: String,
}

/// The text of a reply so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Received {
    Nothing,
    /// White space alone, which is no reply.
    Blank,
    Text,
}

impl Received {
    fn and(self, text: &str) -> Self {
        self.max(if text.trim().is_empty() { Self::Blank } else { Self::Text })
    }
}

/// The text and the usage of the reply, or an error if the reply is incomplete.
impl PieceSource for ModelCall {
    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        let result = match mem::replace(&mut self.stage, CallStage::Done) {
            CallStage::Pending => self.send().await,
            CallStage::Streaming(reply) => self.receive(reply).await,
            CallStage::Ended { error: None, .. } | CallStage::Done => return None,
            // The end of a discarded reply came before, as `CallEnded`, so the receipt has the tokens of that reply.
            CallStage::Ended { error: Some(error), mut span } => {
                span.failed(&*error, None);
                Err(error)
            }
        };
        Some(result.or_else(|error| self.ask_backup(error)))
    }
}

impl ModelCall {
    /// A call of the first of these models; the others are backups.
    pub(super) fn new(
        models: Vec<Arc<dyn Model>>,
        request: Request,
        marked: Option<MarkedRequest>,
        max_tokens: Option<u32>,
        limit: Option<SpendLimit>,
        rules: ReplyRules,
    ) -> Self {
        // Values were counted when they were stored. These texts are no values, so they are estimated.
        let more = request.follow_up.iter().map(|(_, text)| Estimate.count(text));
        let input = request.messages.system_tokens() + request.messages.tokens() + more.sum::<usize>();
        Self {
            models: models.into(),
            request,
            marked: marked.map(Arc::new),
            max_tokens,
            limit,
            input,
            rules,
            attempt: 1,
            stage: CallStage::Pending,
            reservation: None,
        }
    }

    /// Goes on with the next model, if there is one and this model caused the error.
    fn ask_backup(&mut self, error: BoxError) -> Result<Piece, BoxError> {
        // Another model would get the same limit, and the same budget for the context.
        let is_of_model = Truncated::of(&*error).is_none() && !error.is::<SpendLimitError>();
        if self.models.len() < 2 || !is_of_model {
            return Err(error);
        }
        self.models.pop_front();
        // The backup has another cache.
        self.marked = None;
        self.stage = CallStage::Pending;
        self.attempt += 1;
        Ok(Piece::Retry { attempt: self.attempt - 1, error })
    }

    async fn send(&mut self) -> Result<Piece, BoxError> {
        let Some(model) = self.models.front() else { return Err(ReplyError::BrokeOff.into()) };
        let name = model.name();
        // Resolved with the model, so that the request and the reservation agree.
        let max_tokens = self.max_tokens.unwrap_or_else(|| MaxTokens::by_model(name).default);
        self.request.max_tokens = max_tokens;
        self.request.media = MediaRules::by_model(name).unwrap_or(&MediaRules::ANY);
        self.request.may_wait = self.models.len() < 2;
        let tokens = self.input;
        if let Some(window) = ContextWindow::by_model(name).filter(|window| window.is_exceeded_by(tokens)) {
            let model = name.to_owned();
            let window = window.most_input;
            return Err(ReplyError::NoRoom { model, tokens, window, source: Refused }.into());
        }
        check_media(&self.request, name, |_| true)?;
        // Reserved before the call: a sum of reported costs would miss the calls in flight.
        // Before the span begins: waiting for other calls is no part of this call.
        if let Some(limit) = &self.limit {
            let input = u64::try_from(self.input).unwrap_or(u64::MAX);
            self.reservation = Some(limit.reserve(name, input, max_tokens.into()).await?);
        }
        let span = CallSpan::of_request(name, &self.request);
        let chunks = {
            // Events that the model emits in this call belong to its span.
            let _entered = span.enter();
            model.reply(self.request.clone())
        };
        let filter = self.rules.thoughts.are_stripped.then(ThoughtFilter::default);
        let name = name.into();
        let received = Received::Nothing;
        let thoughts = String::new();
        self.stage = CallStage::Streaming(Streaming { chunks, span, received, filter, thoughts });
        Ok(Piece::CallStarted(name, self.marked.clone()))
    }

    async fn receive(&mut self, mut reply: Streaming) -> Result<Piece, BoxError> {
        let piece = match reply.span.within(reply.chunks.next()).await {
            Some(Ok(Chunk::Text(text))) => {
                reply.span.text(&text);
                Piece::Text(self.shown(&mut reply, text))
            }
            Some(Ok(Chunk::Thought(text))) => {
                if self.rules.thoughts.are_kept {
                    reply.thoughts.push_str(&text);
                }
                // A thought proves that the reply has begun.
                Piece::Text(String::new())
            }
            Some(Ok(Chunk::Waiting { pause, error })) => Piece::Waiting { pause, error },
            Some(Ok(Chunk::End(end))) => return Ok(self.end(reply, end)),
            Some(Err(error)) => return self.break_off(reply, error),
            None => return self.break_off(reply, ReplyError::BrokeOff.into()),
        };
        self.stage = CallStage::Streaming(reply);
        Ok(piece)
    }

    /// The reply has no end.
    fn break_off(&mut self, mut reply: Streaming, error: BoxError) -> Result<Piece, BoxError> {
        // Providers do not bill a request without a reply.
        if let Some(mut reservation) = self.reservation.take().filter(|_| reply.received == Received::Nothing)
        {
            reservation.cancel();
        }
        let is_refused = Overloaded::of(&*error).is_some() || Refused::of(&*error).is_some();
        if is_refused && reply.received == Received::Nothing {
            self.stage = CallStage::Ended { error: Some(error), span: reply.span };
            return Ok(Piece::CallRefused);
        }
        reply.span.failed(&*error, None);
        Err(error)
    }

    /// The part of a text that is no thought.
    fn shown(&self, reply: &mut Streaming, text: String) -> String {
        let Some(filter) = &mut reply.filter else {
            reply.received = reply.received.and(&text);
            return text;
        };
        let (thoughts, text) = filter.split(&text);
        if self.rules.thoughts.are_kept {
            reply.thoughts.push_str(&thoughts);
        }
        // A thought is paid for, but is no text.
        reply.received = reply.received.max(Received::Blank).and(&text);
        text
    }

    fn end(&mut self, mut reply: Streaming, mut end: End) -> Piece {
        // What is held back here began like a thought, and is text.
        let rest = reply.filter.as_mut().map(ThoughtFilter::finish).filter(|rest| !rest.is_empty());
        if let Some(rest) = rest {
            reply.received = reply.received.and(&rest);
            reply.filter = None;
            reply.chunks = stream::iter([Ok(Chunk::End(end))]).boxed();
            self.stage = CallStage::Streaming(reply);
            return Piece::Text(rest);
        }
        reply.span.end(&end);
        // Without a usage the reservation is dropped here, which books all of it.
        if let Some((mut reservation, usage)) = self.reservation.take().zip(end.usage) {
            reservation.settle(&usage, end.batch);
        }
        end.thoughts = Some(reply.thoughts).filter(|thoughts| !thoughts.is_empty()).map(Into::into);
        self.stage = CallStage::Ended { error: self.defect(&end, reply.received), span: reply.span };
        Piece::CallEnded(end.into())
    }

    /// The reason why a reply with this end is not stored.
    fn defect(&self, end: &End, received: Received) -> Option<BoxError> {
        // A value is stored for good and read by other columns, so a part of a reply is no value.
        let has_text = received == Received::Text;
        // A reply that was cut off before the first text is also empty, and needs both permissions.
        let is_stored = has_text || self.rules.allows_empty;
        let max_tokens = self.request.max_tokens;
        match &end.finish {
            Finish::Stop if is_stored => None,
            Finish::Stop => Some(ReplyError::Empty.into()),
            Finish::Length | Finish::ContextWindow if is_stored && self.rules.allows_truncated => None,
            Finish::Length if is_at_limit(end, max_tokens) => {
                Some(Truncated::MaxTokens { max_tokens, has_text }.into())
            }
            Finish::Length | Finish::ContextWindow => Some(Truncated::ContextWindow.into()),
            Finish::ContextCut => Some(Truncated::Context.into()),
            // The reply was paid for, and the stream is complete: an unknown finish word loses nothing.
            Finish::Other(_) if has_text && !end.finish.is_unfinished() => None,
            Finish::Refused | Finish::Other(_) => Some(ReplyError::ended(end.finish.clone()).into()),
        }
    }
}

/// Whether a reply that was cut off has as many tokens as allowed. Some servers report a full context window in the
/// same way. Their counts may differ a little from the limit.
fn is_at_limit(end: &End, max_tokens: u32) -> bool {
    let limit = u64::from(max_tokens);
    end.usage.is_none_or(|usage| usage.output >= limit - limit / 10)
}
