//! The compute step that sends its messages to a model.

use std::fmt;
use std::mem;
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt};

use super::{Compute, Context, Kind, Piece, Reply};
use crate::cache::Pace;
use crate::error::BoxError;
use crate::model::{Choice, Chunk, Finish, Model, ModelError, ReplyError};
use crate::rendering::Request;
use crate::tokens::{Chars, Counter};
use crate::trace::CallSpan;
use crate::usage::{Reservation, SpendLimit};

/// The default for the most tokens of a reply. Without a limit a model can go on for thousands of tokens, so there
/// always is one.
const MAX_TOKENS: u32 = 1024;

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
pub fn prompt(system: impl Into<Arc<str>>) -> Prompt {
    Prompt {
        system: system.into(),
        model: Choice::Inherited,
        max_tokens: MAX_TOKENS,
        temperature: None,
        stop: Arc::default(),
        pace: None,
    }
}

/// A compute step that calls a model. Made by [`prompt`].
#[derive(Clone)]
pub struct Prompt {
    system: Arc<str>,
    model: Choice,
    max_tokens: u32,
    temperature: Option<f32>,
    stop: Arc<[String]>,
    pace: Option<Pace>,
}

impl Prompt {
    /// Calls this model: a [`Model`](crate::model::Model), or a name as for [`by_name`](crate::model::by_name). All
    /// columns with the same name share one model, with one limit on concurrent calls. An unknown name or a missing key
    /// is an error of the run, before it computes anything.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column topics(user.latest) = prompt("List the topics.").model("openai/gpt-4o-mini");
    ///         column assistant(user, self) = prompt("You are a helpful assistant.");
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn model(self, model: impl Into<Choice>) -> Self {
        Self { model: model.into(), ..self }
    }

    /// The most tokens that the reply may have; 1024 by default.
    #[must_use]
    pub fn max_tokens(self, max_tokens: u32) -> Self {
        Self { max_tokens, ..self }
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
        let request = Request {
            system: cx.instruct(&self.system),
            messages: cx.messages().clone(),
            follow_up: cx.follow_up().to_vec(),
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            stop: Arc::clone(&self.stop),
            schema: cx.schema().cloned(),
            pace: self.pace.unwrap_or_else(|| cx.defaults().pace),
        };
        let defaults = cx.defaults();
        let limit = defaults.limit.clone().map(|limit| {
            // Values were counted when they were stored. These texts are no values, so they are estimated.
            let more = request.follow_up.iter().map(|(_, text)| Chars.count(text));
            let input = cx.messages().instruction() + cx.messages().tokens() + more.sum::<usize>();
            (limit, u64::try_from(input).unwrap_or(u64::MAX))
        });
        Ok(Call {
            model: self.model.resolve(&defaults.model).map_err(ModelError::into_source)?,
            limit,
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
    stage: Stage,
    /// The highest possible cost, reserved until the actual cost is known.
    reservation: Option<Reservation>,
}

enum Stage {
    Pending(Request),
    Streaming { chunks: BoxStream<'static, Result<Chunk, BoxError>>, span: CallSpan, has_text: bool },
    Ended { finish: Finish, span: CallSpan },
    Done,
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
            Stage::Streaming { chunks, span, has_text } => Some(self.receive(chunks, span, has_text).await),
            Stage::Ended { finish: Finish::Stop | Finish::Length, .. } | Stage::Done => None,
            // The end of a refused reply came before as `CallEnded`, so the receipt has its tokens.
            Stage::Ended { finish, mut span } => {
                let error: BoxError = ReplyError::Ended(finish).into();
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
        self.stage = Stage::Streaming { chunks, span, has_text: false };
        Ok(Piece::CallStarted(self.model.name().into()))
    }

    async fn receive(
        &mut self,
        mut chunks: BoxStream<'static, Result<Chunk, BoxError>>,
        mut span: CallSpan,
        has_text: bool,
    ) -> Result<Piece, BoxError> {
        let error = match span.within(chunks.next()).await {
            Some(Ok(Chunk::Text(text))) => {
                span.text(&text);
                self.stage = Stage::Streaming { chunks, span, has_text: true };
                return Ok(Piece::Text(text));
            }
            Some(Ok(Chunk::End(end))) => {
                span.end(&end);
                // Without a usage the reservation is dropped here, which books all of it.
                if let Some((mut reservation, usage)) = self.reservation.take().zip(end.usage) {
                    reservation.settle(&usage);
                }
                self.stage = Stage::Ended { finish: end.finish.clone(), span };
                return Ok(Piece::CallEnded(end.into()));
            }
            Some(Err(error)) => error,
            None => ReplyError::BrokeOff.into(),
        };
        // Providers do not bill a request without a reply.
        if let Some(mut reservation) = self.reservation.take().filter(|_| !has_text) {
            reservation.cancel();
        }
        span.failed(&*error);
        Err(error)
    }
}
