//! The compute step that sends its messages to a model.

use std::fmt;
use std::mem;
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt};

use super::{Compute, Context, IntoText, Kind, Piece, Reply};
use crate::cache::Pace;
use crate::error::BoxError;
use crate::model::{Choice, Chunk, End, Finish, MaxTokens, Model, ModelError, ReplyError, Truncated};
use crate::rendering::Request;
use crate::tokens::{Chars, Counter};
use crate::trace::CallSpan;
use crate::usage::{Reservation, SpendLimit};

/// A compute step that sends an instruction and the messages of the column to a model, and streams the reply.
///
/// The model is the one set by [`model`](Prompt::model); otherwise that of the
/// [flow](crate::flow::LiveFlow::set_model); otherwise the one that the environment variable `COLUMNAR_MODEL` names;
/// otherwise [`Offline`](crate::model::Offline), which needs no key.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest) = prompt("Extract the main topics as a comma-separated list.");
/// };
/// chat.user.push("We should rewrite the backend in Rust.").await?;
/// chat.run().await?;
/// # Ok(()) }
/// ```
pub fn prompt<Form>(system: impl IntoText<Form>) -> Prompt {
    Prompt {
        system: system.into_text(),
        model: Choice::Inherited,
        max_tokens: None,
        temperature: None,
        stop: Arc::default(),
        pace: None,
        allows: Allowances::default(),
    }
}

/// A compute step that calls a model. Made by [`prompt`].
#[derive(Clone)]
pub struct Prompt {
    system: Arc<str>,
    model: Choice,
    /// `None` for the default of the model.
    max_tokens: Option<u32>,
    temperature: Option<f32>,
    stop: Arc<[String]>,
    pace: Option<Pace>,
    allows: Allowances,
}

/// The replies that a prompt stores although they may be unfinished.
#[derive(Clone, Copy, Default)]
struct Allowances {
    truncated: bool,
    empty: bool,
}

impl Prompt {
    /// Calls this model: a [`Model`](crate::model::Model), or a name as for [`by_name`](crate::model::by_name). All
    /// columns with the same name share one model, with one limit on concurrent calls. An unknown name or a missing key
    /// is an error of the run, before it computes anything; an unknown name that is a literal in `flow!` is a compile error.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column topics(user.latest)   = prompt("List the topics.").model("openai/gpt-4o-mini");
    ///         column assistant(user, self) = prompt("You are a helpful assistant.");
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn model(self, model: impl Into<Choice>) -> Self {
        Self { model: model.into(), ..self }
    }

    /// The most tokens that the reply may have, thoughts included. A model can go on for ever, so there always is a limit.
    /// The default is that of the [model](crate::model::MaxTokens): 4,096, or 25,000 for a model that may think, and never
    /// more than the model can write.
    ///
    /// A reply that reaches the limit is an [error](crate::model::Truncated) of its cell, unless the prompt
    /// [allows](Self::allow_truncated) it.
    #[must_use]
    pub fn max_tokens(self, max_tokens: u32) -> Self {
        Self { max_tokens: Some(max_tokens), ..self }
    }

    /// Stores a reply that was cut off as a value, where the beginning of a reply is enough. By default it is an
    /// [error](crate::model::Truncated) of its cell. A reply that was cut off before its text needs
    /// [`allow_empty`](Self::allow_empty) as well. [`Receipt::finish`](crate::usage::Receipt::finish) of the value tells it
    /// from others.
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// let step = prompt("Begin a story.").max_tokens(200).allow_truncated();
    /// ```
    #[must_use]
    pub fn allow_truncated(mut self) -> Self {
        self.allows.truncated = true;
        self
    }

    /// Stores a reply without text, or with white space alone, as a value. By default it is an error of its cell, which
    /// [`retry`](crate::compute::Policy::retry) tries again. In a [typed](crate::guide::typed) column, where no such reply
    /// is valid, the model is asked again.
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// let step = prompt("List the names in the message, and nothing if there are none.").allow_empty();
    /// ```
    #[must_use]
    pub fn allow_empty(mut self) -> Self {
        self.allows.empty = true;
        self
    }

    /// The sampling temperature, from 0 up to 1 or 2, depending on the provider. The default is that of the model.
    #[must_use]
    pub fn temperature(self, temperature: f32) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// Stop sequences: the reply ends before the first of these texts.
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// let step = prompt("Name the topic.").temperature(0.0).stop(["\n"]);
    /// ```
    #[must_use]
    pub fn stop<T: Into<String>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        Self { stop: texts.into_iter().map(Into::into).collect(), ..self }
    }

    /// The usual time between two requests of the column, if it differs from that of the
    /// [flow](crate::flow::LiveFlow::set_pace). It decides how long a provider shall cache the prefix that a request
    /// shares with the next one.
    ///
    /// ```
    /// use columnar::cache::Pace;
    /// use columnar::compute::secs;
    /// use columnar::prompt;
    ///
    /// let step = prompt("You are a helpful assistant.").pace(Pace::think(secs(75)));
    /// ```
    #[must_use]
    pub fn pace(self, pace: Pace) -> Self {
        Self { pace: Some(pace), ..self }
    }

    fn call(&self, cx: &Context) -> Result<Call, BoxError> {
        // The type of the column decides about an empty reply, and asks again with the reason.
        let allows = Allowances { empty: self.allows.empty || cx.schema().is_some(), ..self.allows };
        let model = self.model.resolve(&cx.defaults().model).map_err(ModelError::into_source)?;
        let request = Request {
            system: cx.instruct(&self.system),
            messages: cx.messages().clone(),
            follow_up: cx.follow_up().to_vec(),
            max_tokens: self.max_tokens.unwrap_or_else(|| MaxTokens::by_model(model.name()).default),
            temperature: self.temperature,
            stop: Arc::clone(&self.stop),
            schema: cx.schema().cloned(),
            pace: self.pace.unwrap_or_else(|| cx.defaults().pace),
        };
        let defaults = cx.defaults();
        let limit = defaults.limit.clone().map(|limit| {
            // Values were counted when they were stored. These texts are no values, so they are estimated.
            let more = request.follow_up.iter().map(|(_, text)| Chars.count(text));
            let input = cx.messages().system_tokens() + cx.messages().tokens() + more.sum::<usize>();
            (limit, u64::try_from(input).unwrap_or(u64::MAX))
        });
        Ok(Call {
            model,
            limit,
            allows,
            max_tokens: request.max_tokens,
            stage: Stage::Pending(request),
            reservation: None,
        })
    }
}

impl Compute for Prompt {
    fn compute(&self, cx: Context) -> Reply<'static> {
        match self.call(&cx) {
            Ok(call) => Reply(Kind::Pieces(call.pieces())),
            Err(error) => Reply::whole(async { Err(error) }),
        }
    }

    fn instruction(&self) -> Option<&str> {
        Some(&self.system)
    }

    fn model(&self) -> Option<Choice> {
        Some(self.model.clone())
    }

    fn reply_limit(&self) -> Option<u32> {
        self.max_tokens
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("model", &self.model)
            .field("max_tokens", &self.max_tokens)
            .finish_non_exhaustive()
    }
}

/// A call to a model.
struct Call {
    model: Arc<dyn Model>,
    /// The spending limit, and the tokens of the request.
    limit: Option<(SpendLimit, u64)>,
    allows: Allowances,
    max_tokens: u32,
    stage: Stage,
    /// The highest possible cost, reserved until the actual cost is known.
    reservation: Option<Reservation>,
}

enum Stage {
    Pending(Request),
    Streaming {
        chunks: BoxStream<'static, Result<Chunk, BoxError>>,
        span: CallSpan,
        received: Received,
    },
    /// The reply has ended, and is discarded if there is an error.
    Ended {
        error: Option<BoxError>,
        span: CallSpan,
    },
    Done,
}

/// The text of a reply so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Received {
    Nothing,
    /// White space, which is no reply.
    Blank,
    Text,
}

impl Received {
    fn and(self, text: &str) -> Self {
        self.max(if text.trim().is_empty() { Self::Blank } else { Self::Text })
    }
}

impl Call {
    /// The text of the reply and its usage, or an error if the reply is incomplete.
    fn pieces(self) -> BoxStream<'static, Result<Piece, BoxError>> {
        let pieces = stream::unfold(self, |mut call| async move { Some((call.next().await?, call)) });
        pieces.boxed()
    }

    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        // An error leaves `Done` behind, so it is the last item.
        match mem::replace(&mut self.stage, Stage::Done) {
            Stage::Pending(request) => Some(self.send(request).await),
            Stage::Streaming { chunks, span, received } => Some(self.receive(chunks, span, received).await),
            Stage::Ended { error: None, .. } | Stage::Done => None,
            // The end of a discarded reply came before as `CallEnded`, so the receipt has its tokens.
            Stage::Ended { error: Some(error), mut span } => {
                span.failed(&*error);
                Some(Err(error))
            }
        }
    }

    async fn send(&mut self, request: Request) -> Result<Piece, BoxError> {
        // Before the span begins: waiting for other calls is no part of this call.
        if let Some((limit, input)) = &self.limit {
            let output = request.max_tokens.into();
            self.reservation = Some(limit.reserve(self.model.name(), *input, output).await?);
        }
        let span = CallSpan::begin(self.model.name(), &request);
        let chunks = {
            // Events that the model emits in this call belong to its span.
            let _entered = span.enter();
            self.model.reply(request)
        };
        self.stage = Stage::Streaming { chunks, span, received: Received::Nothing };
        Ok(Piece::CallStarted(self.model.name().into()))
    }

    async fn receive(
        &mut self,
        mut chunks: BoxStream<'static, Result<Chunk, BoxError>>,
        mut span: CallSpan,
        received: Received,
    ) -> Result<Piece, BoxError> {
        let error = match span.within(chunks.next()).await {
            Some(Ok(Chunk::Text(text))) => {
                span.text(&text);
                self.stage = Stage::Streaming { chunks, span, received: received.and(&text) };
                return Ok(Piece::Text(text));
            }
            Some(Ok(Chunk::End(end))) => {
                span.end(&end);
                // Without a usage the reservation is dropped here, which books all of it.
                if let Some((mut reservation, usage)) = self.reservation.take().zip(end.usage) {
                    reservation.settle(&usage);
                }
                self.stage = Stage::Ended { error: self.defect(&end, received), span };
                return Ok(Piece::CallEnded(end.into()));
            }
            Some(Err(error)) => error,
            None => ReplyError::BrokeOff.into(),
        };
        // Providers do not bill a request without a reply.
        if let Some(mut reservation) = self.reservation.take().filter(|_| received == Received::Nothing) {
            reservation.cancel();
        }
        span.failed(&*error);
        Err(error)
    }

    /// The reason why a reply with this end is not stored.
    fn defect(&self, end: &End, received: Received) -> Option<BoxError> {
        let has_text = received == Received::Text;
        // A reply that was cut off before its text is empty as well, and needs both permissions.
        let is_stored = has_text || self.allows.empty;
        match &end.finish {
            Finish::Stop if is_stored => None,
            Finish::Stop => Some(ReplyError::Empty.into()),
            Finish::Length | Finish::ContextWindow if is_stored && self.allows.truncated => None,
            Finish::Length if self.is_at_limit(end) => {
                Some(Truncated::MaxTokens { max_tokens: self.max_tokens, has_text }.into())
            }
            Finish::Length | Finish::ContextWindow => Some(Truncated::ContextWindow.into()),
            finish @ (Finish::Refused | Finish::Other(_)) => Some(ReplyError::Ended(finish.clone()).into()),
        }
    }

    /// Whether a reply that was cut off has as many tokens as it may have. Some servers report a full context window in
    /// the same way. Their counts may differ a little from the limit.
    fn is_at_limit(&self, end: &End) -> bool {
        let limit = u64::from(self.max_tokens);
        end.usage.is_none_or(|usage| usage.output >= limit - limit / 10)
    }
}
