//! Tools for the tests of your flows: scripted and recorded replies, contexts as text for review, and the conformance
//! suite of stores.

mod cached;
mod cassette;
mod conformance;
#[cfg(feature = "engine")]
mod engines;
mod golden;
mod layered_store;
#[doc(hidden)]
#[cfg(feature = "simulation")]
pub mod simulation;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::{self, BoxStream, StreamExt};

use crate::compute::{Compute, Context, Reply};
use crate::declare::error::BoxError;
use crate::history::Value;
use crate::model::rendering::Request;
use crate::model::{Chunk, End, Finish, Model};

#[doc(hidden)]
pub use cached::check_cached;
pub use cassette::{Cassette, Record};
pub use conformance::conformance;
#[cfg(feature = "engine")]
pub use engines::{EngineHarness, engine_conformance};
pub use golden::context_text;
pub use layered_store::{LayeredStore, StoreLayer};

/// A compute step with one text for each step: the first for step 0, the second for step 1, and so on. A step without a
/// text is an error. A [`Text`](crate::Text) may have attachments.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::testing::script;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column assistant(user, self) = script(["Hi! How can I help?", "TypeScript is a..."]);
/// };
/// chat.user.push("Hello").await?;
/// chat.run().await?;
/// assert_eq!(chat.assistant.get(0).as_deref(), Some("Hi! How can I help?"));
/// # Ok(()) }
/// ```
pub fn script<T: Into<Value>>(replies: impl IntoIterator<Item = T>) -> Script {
    Script { replies: replies.into_iter().map(Into::into).collect() }
}

/// A compute step with one text for each step. Made by [`script`].
#[derive(Clone, Debug)]
pub struct Script {
    replies: Vec<Value>,
}

impl Compute for Script {
    fn compute(&self, cx: Context) -> Reply<'static> {
        match self.replies.get(cx.step()) {
            Some(reply) => Reply::text(reply.clone()),
            None => {
                let error = format!("the script has {} replies", self.replies.len());
                Reply::whole(async { Err(error.into()) })
            }
        }
    }
}

/// A model whose replies are computed by a function and streamed word by word. The model keeps the requests, and
/// clones share these.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::testing::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let model = ScriptedModel::new(|request| format!("{} messages", request.messages.len()));
/// let chat = flow! {
///     source user;
///     column assistant(user, self) = prompt("You are a helpful assistant.").model(model.clone());
/// };
/// chat.user.push("Hello").await?;
/// chat.run().await?;
/// assert_eq!(chat.assistant.get(0).as_deref(), Some("1 messages"));
/// assert_eq!(&*model.requests()[0].system, "You are a helpful assistant.");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    name: Arc<str>,
    reply: Arc<dyn Fn(&Request) -> String + Send + Sync>,
    end: Arc<dyn Fn(&Request) -> End + Send + Sync>,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl ScriptedModel {
    /// A model with this function.
    pub fn new(reply: impl Fn(&Request) -> String + Send + Sync + 'static) -> Self {
        let end = Arc::new(|_: &Request| End::new(Finish::Stop));
        Self { name: "scripted".into(), reply: Arc::new(reply), end, requests: Arc::default() }
    }

    /// The end of each reply, for example with a usage, or cut off. The default is a [`Finish::Stop`] alone.
    ///
    /// ```
    /// use columnar::model::{End, Finish, Usage};
    /// use columnar::prelude::*;
    /// use columnar::testing::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let model = ScriptedModel::new(|_| "one, two, thr".to_owned())
    ///     .end(|request| End::new(Finish::Length).with_usage(Usage::new(20, request.max_tokens.into())));
    /// let chat = flow! {
    ///     source user;
    ///     column count(user) = prompt("Count.").model(model.clone()).max_tokens(4).allow_truncated();
    /// };
    /// chat.user.push("Go!").await?;
    /// chat.run().await?;
    /// assert_eq!(chat.count.receipt(0).map(|receipt| receipt.usage.output), Some(4));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn end(self, end: impl Fn(&Request) -> End + Send + Sync + 'static) -> Self {
        Self { end: Arc::new(end), ..self }
    }

    /// The same model under the name of another one, such as `anthropic/claude-sonnet-5-5`. Cache marks, prices and windows
    /// follow the name. The default is `scripted`, of which nothing is known.
    #[must_use]
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        // Called before the lock is taken, because the functions may ask a clone for `requests`.
        let reply = (self.reply)(&request);
        let end = (self.end)(&request);
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let words: Vec<_> = reply.split_inclusive(' ').map(|word| Ok(Chunk::Text(word.to_owned()))).collect();
        stream::iter(words).chain(stream::iter([Ok(Chunk::End(end))])).boxed()
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").finish_non_exhaustive()
    }
}
