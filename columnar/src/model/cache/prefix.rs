//! The prefix that a request shares with the next request, byte for byte.
//!
//! The declaration alone decides this prefix: windows move by one step, whole histories stay, and everything new is at
//! the end. So the prefix is known before the next step.

use std::fmt;

use crate::context::tiers::Tier;
use crate::context::{InNext, Messages, Part};
use crate::declare::{Name, Window, WindowSuffix};

/// The prefix that a request shares with the next request: the length, and the reason why the prefix ends. Providers
/// charge less for a cached prefix.
///
/// Two things depend on the size of the next turns, which is not known. With documents in
/// [tiers](crate::TieredView::target), the next reply is assumed to be no longer than the reply before; under
/// [`TruncateMiddle`](crate::budget::Strategy::TruncateMiddle), the next turns are assumed to be as large as the last
/// turns.
///
/// The prefix prints as a sentence. Made by [`Derived::explain_cache`](crate::flow::Handle::explain_cache) and
/// [`LiveFlow::explain_cache`](crate::flow::LiveFlow::explain_cache).
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest)              = prompt("List the topics.");
///     column assistant(user, self)            = prompt("You are a helpful assistant.");
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
    /// The bytes of the messages that the next request repeats. With a longer reply than the last one, tiers may
    /// change sooner; with larger turns, a budget may omit turns sooner.
    pub bytes: usize,
    /// The bytes of all messages.
    pub total_bytes: usize,
    /// The tokens that the next request repeats, by the [counter](crate::flow::LiveFlow::set_counter) of the flow.
    /// This number depends on the next turns as `bytes` does.
    pub tokens: usize,
    /// The tokens of all messages, counted the same way.
    pub total_tokens: usize,
    /// The cause for the first part that the next request does not repeat; `None` if the next request repeats all
    /// parts. Larger turns may bring an earlier part and another cause.
    pub difference: Option<Difference>,
    /// The columns whose requests at this step begin with the same bytes, and can be read by the same provider's cache.
    pub shared: Vec<SharedBeginning>,
}

/// The beginning that the request of another column has, too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedBeginning {
    /// The other column.
    pub column: Name,
    /// The bytes of the system text and of the messages that both requests have.
    pub bytes: usize,
    /// The tokens of these, by the [counter](crate::flow::LiveFlow::set_counter) of the flow.
    pub tokens: usize,
}

impl SharedBeginning {
    /// What two requests have in common, compared by their texts.
    pub(crate) fn of(messages: &Messages, other: &Messages) -> Option<Self> {
        let system = messages.sent_system();
        let mut shared =
            Self { column: other.column().clone(), bytes: system.len(), tokens: messages.system_tokens() };
        if system != other.sent_system() {
            return None;
        }
        for (part, _) in messages.parts().zip(other.parts()).take_while(|(part, other)| part == other) {
            shared.bytes += part.len();
            shared.tokens += part.tokens();
        }
        Some(shared)
    }
}

/// The reason why the next request does not repeat a part, printed as the view or the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The part leaves the window of a view.
    View {
        /// The column of the view.
        column: Name,
        /// The step of the part.
        step: usize,
        /// The window of the view. A wider window keeps the prefix longer.
        window: Window,
        /// The lag of the view in steps.
        lag: usize,
        /// Whether the view is the self history.
        is_self: bool,
    },
    /// The tier of [documents](crate::tiers) changes by itself: an item moves, or a page is not shown again.
    Tier(Tier),
    /// Documents of a [compacted](crate::CompactedView) view are laid anew, from the step of these on.
    Documents {
        /// The step.
        from: usize,
    },
    /// The system text before the messages changes with an [instruction](crate::View::instruction) that the column reads.
    Instruction {
        /// The column of the instruction.
        column: Name,
        /// The window of the view.
        window: Window,
        /// The lag of the view in steps.
        lag: usize,
    },
    /// A cell is [excluded](crate::flow::LiveFlow::exclude) from the next request, or included again.
    Exclusion {
        /// The column of the cell.
        column: Name,
        /// The step of the cell.
        step: usize,
    },
    /// The part stands behind the conversation that the column [continues](crate::Column::thread), or is an instruction
    /// [after](crate::Prompt::after) the messages.
    Message,
    /// The budget will most likely omit more turns. A [low-water mark](crate::budget::Budget::low_water) makes that rare.
    Budget,
}

impl StablePrefix {
    pub(crate) fn of(messages: &Messages) -> Self {
        let mut prefix = Self {
            bytes: 0,
            total_bytes: 0,
            tokens: 0,
            total_tokens: 0,
            difference: None,
            shared: Vec::new(),
        };
        let mut is_repeated = true;
        let root = messages.root();
        let instruction = root.snapshot().reads.instructions.first();
        prefix.difference = instruction.map(|input| {
            let column = input.name.clone();
            let window = input.spec.window;
            let lag = input.spec.lag;
            Difference::Instruction { column, window, lag }
        });
        for part in messages.parts() {
            is_repeated &= matches!(part.in_next(), InNext::Repeated);
            // A leading notice that is not repeated has no view, so a later part has the cause.
            if !is_repeated && prefix.difference.is_none() {
                prefix.difference = Difference::of(&part).or_else(|| {
                    let (column, step) = messages.excluded_next()?;
                    Some(Difference::Exclusion { column, step })
                });
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
        match (part.in_next(), part.origin()) {
            (InNext::Leaves { window, lag, is_self, .. }, Some(origin)) => {
                Some(Self::View { column: origin.column.clone(), step: origin.step, window, lag, is_self })
            }
            (InNext::Moves(tier), _) => Some(Self::Tier(tier)),
            (InNext::LaidAnew { from }, _) => Some(Self::Documents { from }),
            (InNext::Once, _) => Some(Self::Message),
            (InNext::MayBeTruncated | InNext::Truncated, _) => Some(Self::Budget),
            _ => None,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &Self::Instruction { ref column, window, lag } => {
                write!(f, "the instruction `{column}{}`", WindowSuffix { window, lag })
            }
            &Self::View { ref column, step, window, lag, is_self } => {
                let column = if is_self { "self" } else { column.as_str() };
                write!(f, "`{column}{}` at step {step}", WindowSuffix { window, lag })
            }
            Self::Exclusion { column, step } => write!(f, "the exclusion of `{column}` at step {step}"),
            Self::Tier(tier) => write!(f, "the tier {tier}"),
            Self::Documents { from } => write!(f, "the documents of step {from}, which are laid anew"),
            Self::Message => f.write_str("the message of the column"),
            Self::Budget => f.write_str("the part that the budget omits"),
        }
    }
}

impl fmt::Display for StablePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, total_bytes, tokens, total_tokens, difference, shared } = self;
        match difference {
            None => write!(f, "the next request repeats all {bytes} bytes, about {tokens} tokens"),
            Some(first) => write!(
                f,
                "the next request repeats {bytes} of {total_bytes} bytes, about {tokens} of {total_tokens} tokens; the \
                 first difference is {first}"
            ),
        }?;
        shared.iter().try_for_each(|SharedBeginning { column, bytes, tokens }| {
            write!(f, "; the request of `{column}` begins with the same {bytes} bytes, about {tokens} tokens")
        })
    }
}
