//! The report of a truncation, and the errors of budgets.

use std::fmt;

use super::Strategy;
use crate::context::documents::Key;
use crate::declare::Name;
use crate::declare::error::Printable;

/// The effect of a budget on a context: the size before and after, and the number of omitted turns.
///
/// Prints as a sentence. [`Messages::elided`](crate::Messages::elided) lists the omitted cells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The strategy of the budget.
    pub strategy: Strategy,
    /// The most tokens that the messages may have.
    pub limit: usize,
    /// The tokens of the messages with all turns.
    pub before: usize,
    /// The tokens of the messages without the omitted turns, and with the marker for them.
    pub after: usize,
    /// The number of omitted turns.
    pub turns: usize,
    /// Whether fewer of the newest turns are kept than [`Budget::minimum_recent`](super::Budget::minimum_recent), because
    /// they did not fit.
    pub kept_fewer: bool,
}

impl Report {
    /// Whether any turn was omitted.
    pub fn is_truncated(&self) -> bool {
        self.turns > 0
    }

    /// Whether the messages are still over the limit. That can happen because one turn is always kept.
    pub fn is_over_limit(&self) -> bool {
        self.after > self.limit
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { strategy, limit, before, after, turns, .. } = self;
        if !self.is_truncated() {
            return write!(f, "about {after} of {limit} tokens, nothing left out");
        }
        write!(f, "{turns} turns left out by {strategy}: about {after} of {before} tokens, limit {limit}")?;
        if self.kept_fewer {
            f.write_str("; fewer of the newest turns are kept than should be")?;
        }
        if self.is_over_limit() {
            f.write_str("; the rest is still over the limit")?;
        }
        Ok(())
    }
}

/// A context that does not fit the budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// The context is over the limit, and the strategy is [`StopAtLimit`](super::Strategy::StopAtLimit).
    #[error(
        "it has about {tokens} tokens, and the limit is {limit}{}{}: raise the budget, narrow a view, or choose a strategy \
         that truncates",
        if contributors.is_empty() { "" } else { "; the largest columns are " },
        sizes(contributors, "`")
    )]
    OverLimit {
        /// The tokens of the context: of the messages, and of the documents and instructions in the system text.
        tokens: usize,
        /// The most tokens that the budget leaves for the context.
        limit: usize,
        /// The columns in the context, with the tokens of each, the largest first. The self history has the name of the
        /// column.
        contributors: Vec<(Name, usize)>,
    },
    /// The texts that no budget omits leave no tokens for turns, with any strategy.
    #[error(
        "the documents, instructions and threads that no budget omits have about {tokens} tokens, and the limit is {limit}; the \
         largest are {}: raise the budget, or show fewer or shorter texts",
        sizes(largest, "")
    )]
    NoRoomForTurns {
        /// The tokens of all documents in tiers, with the titles and the replies to them, of the instructions among the
        /// inputs, and of the conversation that the request continues.
        tokens: usize,
        /// The most tokens that the budget leaves for the context: for these texts and the turns together.
        limit: usize,
        /// The largest of these texts, with the tokens of each, the largest first.
        largest: Vec<(FixedText, usize)>,
    },
    /// The reply and the instruction leave too few tokens for any message.
    #[error(
        "of its {budget} tokens, {token_buffer} are reserved for the reply, the instruction has about {instruction}, and \
         an empty message has about {message}: raise the budget to at least {least}, reserve less with `token_buffer`, or \
         shorten the instruction"
    )]
    NoRoom {
        /// The tokens of the budget.
        budget: usize,
        /// The tokens that are reserved for the reply.
        token_buffer: usize,
        /// The tokens of the instruction.
        instruction: usize,
        /// The tokens of the tags around one empty input, the one with the shortest tags.
        message: usize,
        /// The least number of tokens that the budget needs.
        least: usize,
    },
}

/// A text of a context that no budget omits. It prints as in "the largest is the legend".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FixedText {
    /// A document in a [tier](crate::tiers), or in a [compacted](crate::flow::Handle::compacted) view.
    Document(Key),
    /// The legend of the documents.
    Legend,
    /// The file tree of the documents.
    Tree,
    /// The [instructions](crate::View::instruction) of an input, which are in the system text.
    Instructions(Name),
    /// The conversation of a column that the request [continues](crate::Column::thread).
    Thread(Name),
}

impl fmt::Display for FixedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document(key) => write!(f, "`{}`", Printable(key)),
            Self::Legend => f.write_str("the legend"),
            Self::Tree => f.write_str("the file tree"),
            Self::Instructions(column) => write!(f, "`{column}`"),
            Self::Thread(column) => write!(f, "the thread of `{column}`"),
        }
    }
}

/// The first three texts with the tokens of each, between these quotes.
fn sizes<T: fmt::Display>(texts: &[(T, usize)], quote: &str) -> String {
    let sizes = texts.iter().take(3).map(|(text, tokens)| format!("{quote}{text}{quote} with {tokens}"));
    sizes.collect::<Vec<_>>().join(", ")
}
