//! What stands behind [`prompt`](crate::prompt): the step from messages to text.

mod adaptive;
mod choice;
mod choose;
#[cfg(feature = "genai")]
mod genai;
mod offline;
mod overloaded;
mod refused;
mod reply;
mod watched;

use std::sync::Arc;

use futures::stream::BoxStream;

use crate::error::BoxError;

#[cfg(feature = "genai")]
pub use self::genai::{Genai, GenaiError};
pub use adaptive::Adaptive;
pub use choice::Choice;
#[cfg(feature = "genai")]
pub use choose::BASE_URL;
pub use choose::{UnknownModel, VARIABLE, by_name, from_env};
pub use offline::Offline;
pub use overloaded::Overloaded;
pub use refused::Refused;
pub(crate) use reply::ReplyError;
pub use reply::{Chunk, End, Finish};

pub use crate::rendering::{Request, Schema};
pub use crate::usage::Usage;

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

    /// What is missing to ask the model, such as its key; nothing, unless told otherwise. It is found out without
    /// asking, and a run asks all its models for it before it computes anything.
    ///
    /// # Errors
    ///
    /// What is missing, and how to come by it.
    fn ready(&self) -> Result<(), BoxError> {
        Ok(())
    }

    /// Begins a reply: pieces of text in order, then exactly one [`Chunk::End`]. A stream that ends
    /// without it broke off, and its text counts for nothing.
    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>>;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn ready(&self) -> Result<(), BoxError> {
        (**self).ready()
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        (**self).reply(request)
    }
}
