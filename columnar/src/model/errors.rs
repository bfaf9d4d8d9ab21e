//! The errors of a model that decide whether a call is repeated: [`Overloaded`], [`Refused`] and [`Truncated`].

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::declare::error::chain;

/// The error of a model that takes no more calls for now: there were too many, or the model is busy with calls of
/// others.
///
/// A [`Model`](super::Model) returns this error, or another error with this one as a source.
/// [`Adaptive`](super::Adaptive) then makes fewer calls at once and repeats the call, and
/// [`retry`](crate::compute::Policy::retry) waits for the time that the model asks for.
///
/// ```
/// use columnar::BoxError;
/// use columnar::model::Overloaded;
/// use std::time::Duration;
///
/// let error: BoxError = Overloaded { retry_after: Some(Duration::from_secs(20)) }.into();
/// assert_eq!(error.to_string(), "the model takes no more calls for now, and asks to wait 20s");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("the model takes no more calls for now{}", PauseRequest(*retry_after))]
pub struct Overloaded {
    /// The time to wait before the next call, if the model names one.
    pub retry_after: Option<Duration>,
}

impl Overloaded {
    /// Finds the first `Overloaded` among an error and its sources.
    ///
    /// ```
    /// use columnar::model::Overloaded;
    ///
    /// assert_eq!(Overloaded::of(&Overloaded::default()), Some(&Overloaded { retry_after: None }));
    /// assert_eq!(Overloaded::of(&std::fmt::Error), None);
    /// ```
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}

/// The error of a model that refuses this request for good: the key is wrong, the model does not exist, or the request
/// is malformed.
///
/// A [`Model`](super::Model) returns this error, or another error with this one as a source.
/// [`retry`](crate::compute::Policy::retry) does not repeat such a call.
///
/// ```
/// use columnar::BoxError;
/// use columnar::model::Refused;
///
/// let error: BoxError = Refused.into();
/// assert_eq!(Refused::of(&*error), Some(&Refused));
/// assert_eq!(Refused::of(&std::fmt::Error), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("trying again does not help")]
pub struct Refused;

impl Refused {
    /// Finds the first `Refused` among an error and its sources.
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}

/// The error of a reply that was cut off, and is therefore not stored. The tokens of the call are paid for.
///
/// [`retry`](crate::compute::Policy::retry) does not repeat such a call: the next reply has the same limit.
///
/// ```
/// use columnar::model::{End, Finish, Truncated};
/// use columnar::prelude::*;
/// use columnar::testing::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let model = ScriptedModel::new(|_| "First, we should".to_owned()).end(|_| End::new(Finish::Length));
/// let chat = flow! {
///     source user;
///     column answer(user, self) = prompt("Answer.").model(model.clone()).max_tokens(3);
/// };
/// chat.user.push("Shall we rewrite it?").await?;
/// let error = chat.run().await.unwrap_err();
/// assert!(matches!(Truncated::of(&error), Some(Truncated::MaxTokens { max_tokens: 3, .. })));
/// assert_eq!(chat.answer.get(0), None);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Truncated {
    /// The reply reached the limit.
    #[error(
        "the reply was cut off at its limit of {max_tokens} tokens{}: raise it with `max_tokens`, or store such replies with {}",
        if *has_text { "" } else { " before it had any text, as thoughts count" },
        if *has_text { "`allow_truncated`" } else { "`allow_truncated` and `allow_empty`" }
    )]
    #[non_exhaustive]
    MaxTokens {
        /// The limit: [`Request::max_tokens`](super::Request::max_tokens).
        max_tokens: u32,
        /// Whether the reply had text. A model that thinks may need all tokens for thoughts.
        has_text: bool,
    },
    /// The reply was cut off below the limit: request and reply together fill the context window of the model, or the
    /// server has a lower limit.
    #[error(
        "the reply was cut off below its limit, because the context window of the model is full or its server has a lower limit: shorten the request, for example with `budget`, or store such replies with `allow_truncated`"
    )]
    ContextWindow,
    /// The server left out a part of the context, so the reply is no reply to it.
    #[error(
        "the server left out a part of the context: raise the window of its model, as with `Provider::max_context`, or shorten the request, for example with `budget`"
    )]
    Context,
}

impl Truncated {
    /// Finds the first `Truncated` among an error and its sources.
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}

/// The end of a message: the requested pause, if there is one.
pub(super) struct PauseRequest(pub(super) Option<Duration>);

impl fmt::Display for PauseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pause) if !pause.is_zero() => write!(f, ", and asks to wait {pause:?}"),
            _ => Ok(()),
        }
    }
}
