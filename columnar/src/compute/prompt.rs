//! The compute step that asks a model.

use std::fmt;
use std::mem;
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt};

use super::{Compute, Context, Kind, Piece, Reply};
use crate::cache::Pace;
use crate::error::BoxError;
use crate::model::{Choice, Chunk, Finish, Model, ReplyError};
use crate::rendering::Request;
use crate::tokens::{Chars, Counter};
use crate::trace::CallSpan;
use crate::usage::{Reservation, SpendLimit};

/// The most tokens of a reply, unless told otherwise. A model without a limit can go on for
/// thousands of tokens, so there always is one.
const MAX_TOKENS: u32 = 1024;

/// A compute step that sends the column's messages to a model under an instruction, and streams the
/// reply.
///
/// The model is the one given [`with`](Prompt::with) or [by its name](Prompt::model); otherwise that of the
/// [flow](crate::flow::LiveFlow::model); otherwise the one that the environment variable `COLUMNAR_MODEL` names;
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

/// A compute step that asks a model. Made by [`prompt`].
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
    /// Asks this model and no other.
    #[must_use]
    pub fn with(self, model: impl Model) -> Self {
        Self { model: Choice::Instance(Arc::new(model)), ..self }
    }

    /// Asks the model of this name and no other; see [`by_name`](crate::model::by_name) for the names. All columns that ask
    /// for the same name ask the same model, with one limit on calls at once. A name that there is not, or a key that
    /// is missing, is told by the run before it computes anything.
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
    pub fn model(self, name: impl Into<Arc<str>>) -> Self {
        Self { model: Choice::Named(name.into()), ..self }
    }

    /// Lets the reply have at most this many tokens; 1024 unless told otherwise.
    #[must_use]
    pub fn max_tokens(self, max_tokens: u32) -> Self {
        Self { max_tokens, ..self }
    }

    /// Lets the model choose its words so freely: from 0 for not at all, up to 1 or 2, as its provider has it. What is
    /// usual with the model, unless told otherwise.
    #[must_use]
    pub fn temperature(self, temperature: f32) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// Ends the reply before the first of these texts that comes up in it.
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

    /// Says how long it usually takes until the column asks again, where that is not what the
    /// [flow](crate::flow::LiveFlow::pace) says. What was asked is kept in the cache of the model's provider
    /// for as long as that pays.
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

    fn ask(&self, cx: &Context) -> Result<Call, BoxError> {
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
            let more = request.follow_up.iter().map(|(_, text)| Chars.count(text));
            let input = cx.messages().instruction() + cx.messages().tokens() + more.sum::<usize>();
            (limit, u64::try_from(input).unwrap_or(u64::MAX))
        });
        Ok(Call {
            model: self.model.model(&defaults.model)?,
            limit,
            stage: Stage::Asking(request),
            reservation: None,
        })
    }
}

impl Compute for Prompt {
    fn compute(&self, cx: Context) -> Reply<'static> {
        match self.ask(&cx) {
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

/// A call of a model.
struct Call {
    model: Arc<dyn Model>,
    /// What limits it, and how many tokens its request has.
    limit: Option<(SpendLimit, u64)>,
    stage: Stage,
    /// What it may cost, as long as that is not known.
    reservation: Option<Reservation>,
}

enum Stage {
    Asking(Request),
    Answering { chunks: BoxStream<'static, Result<Chunk, BoxError>>, span: CallSpan, is_heard: bool },
    Answered { finish: Finish, span: CallSpan },
    Over,
}

impl Call {
    /// The text of the reply, what it cost, and an error unless it came to a proper end.
    fn pieces(self) -> BoxStream<'static, Result<Piece, BoxError>> {
        let pieces = stream::unfold(self, |mut call| async move { Some((call.next().await?, call)) });
        pieces.boxed()
    }

    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        match mem::replace(&mut self.stage, Stage::Over) {
            Stage::Asking(request) => Some(self.ask(request).await),
            Stage::Answering { chunks, span, is_heard } => Some(self.hear(chunks, span, is_heard).await),
            Stage::Answered { finish: Finish::Stop | Finish::Length, .. } | Stage::Over => None,
            Stage::Answered { finish, mut span } => {
                let error: BoxError = ReplyError::Ended(finish).into();
                span.failed(&*error);
                Some(Err(error))
            }
        }
    }

    async fn ask(&mut self, request: Request) -> Result<Piece, BoxError> {
        if let Some((limit, input)) = &self.limit {
            let output = request.max_tokens.into();
            self.reservation = Some(limit.reserve(self.model.name(), *input, output).await?);
        }
        let span = CallSpan::begin(self.model.name(), &request);
        let chunks = {
            let _entered = span.enter();
            self.model.reply(request)
        };
        self.stage = Stage::Answering { chunks, span, is_heard: false };
        Ok(Piece::Asked(self.model.name().into()))
    }

    async fn hear(
        &mut self,
        mut chunks: BoxStream<'static, Result<Chunk, BoxError>>,
        mut span: CallSpan,
        is_heard: bool,
    ) -> Result<Piece, BoxError> {
        let error = match span.within(chunks.next()).await {
            Some(Ok(Chunk::Text(text))) => {
                span.text(&text);
                self.stage = Stage::Answering { chunks, span, is_heard: true };
                return Ok(Piece::Text(text));
            }
            Some(Ok(Chunk::End(end))) => {
                span.end(&end);
                if let Some((mut reservation, usage)) = self.reservation.take().zip(end.usage) {
                    reservation.settle(&usage);
                }
                self.stage = Stage::Answered { finish: end.finish.clone(), span };
                return Ok(Piece::Answered(end.into()));
            }
            Some(Err(error)) => error,
            None => ReplyError::BrokeOff.into(),
        };
        // Nobody is billed for what was not answered.
        if let Some(mut reservation) = self.reservation.take().filter(|_| !is_heard) {
            reservation.cancel();
        }
        span.failed(&*error);
        Err(error)
    }
}
