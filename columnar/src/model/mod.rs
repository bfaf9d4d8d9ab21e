//! What stands behind [`prompt`](crate::prompt): the step from messages to text.

mod adaptive;
mod choose;
mod extract;
#[cfg(feature = "genai")]
mod genai;
mod offline;
mod overloaded;
mod prompt;
mod watched;

use std::fmt;
use std::sync::Arc;

use futures::stream::BoxStream;

use crate::cache::Pace;
use crate::context::Messages;
use crate::error::BoxError;

#[cfg(feature = "genai")]
pub use self::genai::{Genai, GenaiError};
pub use adaptive::Adaptive;
#[cfg(feature = "genai")]
pub use choose::BASE_URL;
pub use choose::{UnknownModel, VARIABLE, by_name, default};
pub use offline::Offline;
pub use overloaded::Overloaded;
#[cfg(feature = "tracing")]
pub(crate) use prompt::ReplyError;
pub use prompt::{Prompt, prompt};

/// A language model, as far as a flow needs one.
///
/// ```
/// use columnar::model::{Chunk, Model, Request};
/// use columnar::prelude::*;
/// use futures::stream::{self, BoxStream, StreamExt};
///
/// /// Says back what it is told.
/// struct Parrot;
///
/// impl Model for Parrot {
///     fn name(&self) -> &str {
///         "parrot"
///     }
///
///     fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, columnar::BoxError>> {
///         let text = request.messages.last_text().into_owned();
///         stream::iter([Ok(Chunk::Text(text)), Ok(Chunk::stop())]).boxed()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column assistant(user, self) = prompt("You are a helpful assistant.").with(Parrot);
/// };
/// chat.user.push("hello").await?;
/// chat.run().await?;
/// assert_eq!(chat.assistant.get(0).as_deref(), Some("<user>\nhello\n</user>"));
/// # Ok(()) }
/// ```
pub trait Model: Send + Sync + 'static {
    /// What the model is called, for people to read.
    fn name(&self) -> &str;

    /// Begins a reply: pieces of text in order, then exactly one [`Chunk::End`]. A stream that ends
    /// without it broke off, and its text counts for nothing.
    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>>;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        (**self).reply(request)
    }
}

/// What a model is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The instruction.
    pub system: Arc<str>,
    /// The context of the column.
    pub messages: Messages,
    /// The most tokens the reply may have.
    pub max_tokens: u32,
    /// When the next request of the column is to be expected. It decides what is worth being kept in the
    /// provider's cache; see [`CachePlan::of`](crate::cache::CachePlan::of).
    pub pace: Pace,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chunk {
    /// More text.
    Text(String),
    /// The reply is complete.
    End(End),
}

impl Chunk {
    /// The ordinary end of a reply.
    pub fn stop() -> Self {
        Self::End(End { finish: Finish::Stop, usage: None })
    }
}

/// How a reply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// Why it ended.
    pub finish: Finish,
    /// What it cost, if the model tells.
    pub usage: Option<Usage>,
}

/// Why a reply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// The model had said all it wanted to.
    Stop,
    /// It ran into [`Request::max_tokens`].
    Length,
    /// The provider refused to answer.
    Refused,
    /// Something else, in the provider's word.
    Other(String),
}

impl fmt::Display for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Other(reason) => reason,
        })
    }
}

/// What a call cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request, those read from and written to the cache included.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// Tokens of the request that came from the provider's cache.
    pub cache_read: u64,
    /// Tokens of the request that the provider wrote to its cache.
    pub cache_write: u64,
}
