//! Language models: the trait that [`prompt`](crate::prompt) calls, the offline model, and the models of providers.

mod adaptive;
#[doc(hidden)]
pub mod breakdown;
#[doc(hidden)]
pub mod cache;
mod choice;
mod deadline;
mod errors;
pub(crate) mod figures;
#[cfg(any(feature = "providers", feature = "web"))]
pub(crate) mod http;
mod media;
mod observed;
mod offline;
#[cfg(feature = "providers")]
mod provider;
pub(crate) mod registry;
#[doc(hidden)]
pub mod rendering;
mod reply;
#[doc(hidden)]
pub mod usage;

use std::sync::Arc;

use futures::stream::BoxStream;

use crate::declare::error::BoxError;

#[cfg(feature = "providers")]
pub use self::provider::{BatchError, BatchQueue, Provider, ProviderError};
#[cfg(feature = "providers")]
pub(crate) use self::provider::{BatchSearch, EndedBatch, SentBatch, UnsentRequest, hash};
pub use adaptive::Adaptive;
#[cfg(feature = "providers")]
pub use choice::BASE_URL;
pub use choice::{Choice, ModelError, UnknownModel, VARIABLE, by_name, from_env};
pub(crate) use deadline::deadline;
pub use errors::{Overloaded, Refused, Truncated};
pub use media::MediaError;
pub(crate) use media::check_media;
pub use offline::Offline;
pub(crate) use reply::ReplyError;
pub use reply::{Chunk, End};

pub use crate::history::MediaRules;
pub use crate::model::registry::{ContextWindow, Effort, EndDate, MaxTokens, ParseEffortError};
pub use crate::model::rendering::{ReplySettings, Request, Schema};
pub use crate::model::usage::{Finish, Usage};

/// A language model: takes a request, streams a reply.
///
/// ```
/// use columnar::model::{Chunk, Model, Request};
/// use columnar::prelude::*;
/// use futures::stream::{self, BoxStream, StreamExt};
///
/// /// Repeats the last message.
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
///     column assistant(user, self) = prompt("You are a helpful assistant.").model(Parrot);
/// };
/// chat.user.push("hello").await?;
/// chat.run().await?;
/// assert_eq!(chat.assistant.get(0).as_deref(), Some("<user>\nhello\n</user>"));
/// # Ok(()) }
/// ```
pub trait Model: Send + Sync + 'static {
    /// The name of the model, for people to read.
    fn name(&self) -> &str;

    /// Checks that the model can be called, without a call. A run checks all models before any computation. By default
    /// nothing is missing.
    ///
    /// # Errors
    ///
    /// What is missing, such as a key, and how to provide what is missing.
    fn ready(&self) -> Result<(), BoxError> {
        Ok(())
    }

    /// Checks that the model takes these settings, with replies of at most `max_tokens` tokens, without a call. A run
    /// checks all models before any computation. By default all settings are taken.
    ///
    /// # Errors
    ///
    /// The setting that the model does not take, unless the settings are [lenient](ReplySettings::lenient).
    fn accepts(&self, settings: &ReplySettings, max_tokens: u32) -> Result<(), BoxError> {
        let _ = (settings, max_tokens);
        Ok(())
    }

    /// Begins a reply: pieces of text in order, then exactly one [`Chunk::End`]. A stream without that end is an
    /// error, and the text is discarded. A reply that reached [`Request::max_tokens`] ends with [`Finish::Length`].
    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>>;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn ready(&self) -> Result<(), BoxError> {
        (**self).ready()
    }

    fn accepts(&self, settings: &ReplySettings, max_tokens: u32) -> Result<(), BoxError> {
        (**self).accepts(settings, max_tokens)
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        (**self).reply(request)
    }
}
