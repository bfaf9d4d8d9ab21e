//! How much of a request is sent again, byte for byte, at the beginning of the next one.
//!
//! The declaration alone decides it: windows move on by one step, what is shown of a column's whole
//! history stays, and everything new stands at the end. So it is known before the next step is.

use std::fmt;

use crate::context::{Fate, Messages, Part};
use crate::declare::{Name, Window, Written};

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
/// assert_eq!((assistant.bytes, assistant.difference), (assistant.total_bytes, None));
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
    pub total_bytes: usize,
    /// The tokens of what is repeated, as the flow [counts](crate::flow::LiveFlow::count_with).
    pub tokens: usize,
    /// The tokens of all messages, counted the same way.
    pub total_tokens: usize,
    /// The first thing that the next request does not repeat; `None` if it repeats everything.
    pub difference: Option<Difference>,
}

/// Why something that is shown now is not repeated by the next request. It prints as what causes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// It leaves the window of a view.
    View {
        /// The column that is shown.
        column: Name,
        /// The step of it.
        step: usize,
        /// How much of the column is shown: the view to widen, if the prefix matters more than the window.
        window: Window,
        /// Whether the view shows each value a step later.
        delayed: bool,
        /// Whether it is the own past.
        own: bool,
    },
    /// The budget will most likely leave out more. A [low-water mark](crate::budget::Budget::low_water)
    /// makes that rare.
    Budget,
}

impl StablePrefix {
    pub(crate) fn of(messages: &Messages) -> Self {
        let mut prefix = Self { bytes: 0, total_bytes: 0, tokens: 0, total_tokens: 0, difference: None };
        let mut is_repeated = true;
        for part in messages.parts() {
            is_repeated &= matches!(part.fate(), Fate::Stays);
            if !is_repeated && prefix.difference.is_none() {
                prefix.difference = Difference::of(&part);
            }
            prefix.total_bytes += part.len();
            prefix.total_tokens += part.tokens();
            if is_repeated {
                (prefix.bytes, prefix.tokens) = (prefix.total_bytes, prefix.total_tokens);
            }
        }
        prefix
    }
}

impl Difference {
    fn of(part: &Part<'_>) -> Option<Self> {
        match (part.fate(), part.origin()) {
            (Fate::Leaves { window, delayed, own }, Some(origin)) => {
                Some(Self::View { column: origin.column.clone(), step: origin.step, window, delayed, own })
            }
            (Fate::MayBeCut | Fate::Cut, _) => Some(Self::Budget),
            _ => None,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &Self::View { ref column, step, window, delayed, own } => {
                let column = if own { "self" } else { column.as_str() };
                write!(f, "`{column}{}` at step {step}", Written { window, delayed })
            }
            Self::Budget => f.write_str("what the budget leaves out"),
        }
    }
}

impl fmt::Display for StablePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, total_bytes, tokens, total_tokens, difference } = self;
        match difference {
            None => write!(f, "all {bytes} bytes, about {tokens} tokens, begin the next request, too"),
            Some(first) => write!(
                f,
                "{bytes} of {total_bytes} bytes, about {tokens} of {total_tokens} tokens, begin the next request, \
                 too; {first} is the first that does not"
            ),
        }
    }
}
