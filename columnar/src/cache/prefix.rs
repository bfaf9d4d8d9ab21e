//! How much of a request is sent again, byte for byte, at the beginning of the next one.
//!
//! The declaration alone decides it: windows move on by one step, what is shown of a column's whole
//! history stays, and everything new stands at the end. So it is known before the next step is.

use core::fmt;

use crate::context::{Messages, Part, Role};
use crate::name::Name;
use crate::tokens::Chars;
use crate::window::Window;

/// How much of a request is the beginning of the next one, too, and where that ends. Providers charge a
/// fraction for what they have seen at the beginning of an earlier request.
///
/// It prints as a sentence. Made by [`Derived::explain_cache`](crate::flow::Handle::explain_cache) and
/// [`LiveFlow::explain_cache`](crate::flow::LiveFlow::explain_cache).
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest) = prompt("List the topics.");
///     column assistant(user, self) = prompt("You are a helpful assistant.");
///     column coach(user, topics.latest, self) = prompt("Coach.");
/// };
/// for text in ["one", "two"] {
///     chat.user.push(text).await?;
/// }
/// chat.run().await?;
///
/// let assistant = chat.assistant.explain_cache(1)?;
/// assert_eq!((assistant.bytes, assistant.difference), (assistant.of_bytes, None));
///
/// let coach = chat.coach.explain_cache(1)?;
/// let difference = coach.difference.as_ref().map(ToString::to_string);
/// assert_eq!(difference.as_deref(), Some("`topics.latest` at step 1"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StablePrefix {
    /// The bytes of the messages that the next request repeats.
    pub bytes: usize,
    /// The bytes of all messages.
    pub of_bytes: usize,
    /// The tokens of what is repeated, estimated as characters over 4.
    pub tokens: usize,
    /// The tokens of all messages, estimated the same way.
    pub of_tokens: usize,
    /// The first thing that the next request does not repeat; `None` if it repeats everything.
    pub difference: Option<Difference>,
}

/// What is shown now and not by the next request. It prints as the view and the step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The column that is shown.
    pub column: Name,
    /// The step of it.
    pub step: usize,
    /// How much of the column is shown: the view to widen, if the prefix matters more than the window.
    pub window: Window,
    /// Whether it is the own past.
    pub own: bool,
}

impl StablePrefix {
    pub(crate) fn of(messages: &Messages) -> Self {
        let (mut chars, mut bytes, mut of_chars, mut of_bytes) = (0, 0, 0, 0);
        let mut difference = None;
        for part in messages.parts() {
            if difference.is_none() {
                difference = Difference::of(&part);
            }
            of_chars += part.text().chars().count();
            of_bytes += part.len();
            if difference.is_none() {
                (chars, bytes) = (of_chars, of_bytes);
            }
        }
        let (tokens, of_tokens) = (Chars::estimate(chars), Chars::estimate(of_chars));
        Self { bytes, of_bytes, tokens, of_tokens, difference }
    }
}

impl Difference {
    fn of(part: &Part<'_>) -> Option<Self> {
        match (part.fate(), part.origin()) {
            ((window, false), Some(origin)) => {
                let own = part.role() == Role::Assistant;
                Some(Self { column: origin.column.clone(), step: origin.step, window, own })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = if self.own { "self" } else { self.column.as_str() };
        write!(f, "`{column}{}` at step {}", self.window, self.step)
    }
}

impl fmt::Display for StablePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, of_bytes, tokens, of_tokens, difference } = self;
        match difference {
            None => write!(f, "all {bytes} bytes, about {tokens} tokens, begin the next request, too"),
            Some(first) => write!(
                f,
                "{bytes} of {of_bytes} bytes, about {tokens} of {of_tokens} tokens, begin the next request, \
                 too; {first} is the first that does not"
            ),
        }
    }
}
