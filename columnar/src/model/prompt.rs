//! The compute step that asks a model.

use std::fmt;
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt};

use super::{Choice, Chunk, Finish, Model, Request};
use crate::cache::Pace;
use crate::compute::{Compute, Kind, Piece, Reply};
use crate::context::Context;
use crate::error::BoxError;
use crate::trace::CallSpan;

/// The most tokens of a reply, unless told otherwise. A model without a limit can go on for
/// thousands of tokens, so there always is one.
const MAX_TOKENS: u32 = 1024;

/// A compute step that sends the column's messages to a model under an instruction, and streams the
/// reply.
///
/// The model is the one given [`with`](Prompt::with) or [by its name](Prompt::model); otherwise that of the
/// [flow](crate::flow::LiveFlow::model); otherwise the one that the environment variable `COLUMNAR_MODEL` names;
/// otherwise [`Offline`](super::Offline), which needs no key.
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
        model: Choice::Unsaid,
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
        Self { model: Choice::Given(Arc::new(model)), ..self }
    }

    /// Asks the model of this name and no other; see [`by_name`](super::by_name) for the names. All columns that ask
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
            follow_up: Vec::new(),
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            stop: Arc::clone(&self.stop),
            schema: None,
            pace: self.pace.unwrap_or_else(|| cx.messages().pace()),
        };
        let model = self.model.model(&cx.given().model)?;
        let span = CallSpan::begin(model.name(), &request);
        let _entered = span.enter();
        Ok(Call { asked: Some(model.name().into()), chunks: model.reply(request), end: None, span })
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

/// Why a reply counts for nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplyError {
    #[error("the reply broke off before its end")]
    BrokeOff,
    #[error("the reply ended early ({0})")]
    Ended(Finish),
}

/// A call of a model that goes on.
struct Call {
    /// The name of the model, until that is told.
    asked: Option<Arc<str>>,
    chunks: BoxStream<'static, Result<Chunk, BoxError>>,
    /// Why the reply ended that was told to be over.
    end: Option<Finish>,
    span: CallSpan,
}

impl Call {
    /// The text of the reply, what it cost, and an error unless it came to a proper end.
    fn pieces(self) -> BoxStream<'static, Result<Piece, BoxError>> {
        let pieces = stream::unfold(Some(self), |call| async move {
            let mut call = call?;
            match call.next().await? {
                Ok(piece) => Some((Ok(piece), Some(call))),
                Err(error) => {
                    call.span.failed(&*error);
                    Some((Err(error), None))
                }
            }
        });
        pieces.boxed()
    }

    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        if let Some(model) = self.asked.take() {
            return Some(Ok(Piece::Asked(model)));
        }
        if let Some(finish) = self.end.take() {
            return match finish {
                Finish::Stop | Finish::Length => None,
                finish => Some(Err(ReplyError::Ended(finish).into())),
            };
        }
        Some(match self.span.within(self.chunks.next()).await {
            Some(Ok(Chunk::Text(text))) => {
                self.span.text(&text);
                Ok(Piece::Text(text))
            }
            Some(Ok(Chunk::End(end))) => {
                self.span.end(&end);
                self.end = Some(end.finish.clone());
                Ok(Piece::Answered(end.into()))
            }
            Some(Err(error)) => Err(error),
            None => Err(ReplyError::BrokeOff.into()),
        })
    }
}
