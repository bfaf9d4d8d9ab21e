//! The compute step that asks a model.

use std::fmt;
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt};

use super::choose;
use super::{Chunk, Finish, Model, Request};
use crate::cache::Pace;
use crate::compute::{Compute, Reply};
use crate::context::Context;
use crate::error::BoxError;
use crate::trace::CallSpan;

/// The most tokens of a reply, unless told otherwise. A model without a limit can go on for
/// thousands of tokens, so there always is one.
const MAX_TOKENS: u32 = 1024;

/// A compute step that sends the column's messages to a model under an instruction, and streams the
/// reply.
///
/// The model is the one given [`with`](Prompt::with); otherwise the one that the environment
/// variable `COLUMNAR_MODEL` names; otherwise [`Offline`](super::Offline), which needs no key.
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
        model: None,
        max_tokens: MAX_TOKENS,
        temperature: None,
        stop: Arc::default(),
        pace: None,
    }
}

/// A reply on its way.
type Chunks = BoxStream<'static, Result<Chunk, BoxError>>;

/// A compute step that asks a model. Made by [`prompt`].
#[derive(Clone)]
pub struct Prompt {
    system: Arc<str>,
    model: Option<Arc<dyn Model>>,
    max_tokens: u32,
    temperature: Option<f32>,
    stop: Arc<[String]>,
    pace: Option<Pace>,
}

impl Prompt {
    /// Asks this model and no other.
    #[must_use]
    pub fn with(self, model: impl Model) -> Self {
        Self { model: Some(Arc::new(model)), ..self }
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

    fn model(&self) -> Result<Arc<dyn Model>, BoxError> {
        match &self.model {
            Some(model) => Ok(Arc::clone(model)),
            None => choose::default(),
        }
    }

    fn ask(&self, cx: &Context) -> Result<(Chunks, CallSpan), BoxError> {
        let request = Request {
            system: cx.instruct(&self.system),
            messages: cx.messages().clone(),
            follow_up: cx.follow_up().to_vec(),
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            stop: Arc::clone(&self.stop),
            schema: cx.schema().cloned(),
            pace: self.pace.unwrap_or_else(|| cx.messages().pace()),
        };
        let model = self.model()?;
        let call = CallSpan::begin(model.name(), &request);
        let _entered = call.enter();
        Ok((model.reply(request), call))
    }
}

impl Compute for Prompt {
    fn compute(&self, cx: Context) -> Reply<'static> {
        match self.ask(&cx) {
            Ok((chunks, call)) => Reply::deltas(text_of(chunks, call)),
            Err(error) => Reply::whole(async { Err(error) }),
        }
    }

    fn instruction(&self) -> Option<&str> {
        Some(&self.system)
    }

    fn model(&self) -> Option<Arc<str>> {
        self.model().ok().map(|model| model.name().into())
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("model", &self.model.as_ref().map(Model::name))
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

/// The text of a reply, and an error unless it came to a proper end.
fn text_of(chunks: Chunks, call: CallSpan) -> impl futures::Stream<Item = Result<String, BoxError>> + Send {
    stream::unfold(Some((chunks, call)), |reply| async move {
        let (mut chunks, mut call) = reply?;
        let error = match call.within(chunks.next()).await {
            Some(Ok(Chunk::Text(text))) => {
                call.text(&text);
                return Some((Ok(text), Some((chunks, call))));
            }
            Some(Ok(Chunk::End(end))) => {
                call.end(&end);
                match end.finish {
                    Finish::Stop | Finish::Length => return None,
                    finish => ReplyError::Ended(finish).into(),
                }
            }
            Some(Err(error)) => error,
            None => ReplyError::BrokeOff.into(),
        };
        call.failed(&*error);
        Some((Err(error), None))
    })
}
