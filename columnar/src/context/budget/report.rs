//! What became of a context under its budget.

use std::fmt;

use super::Strategy;
use crate::declare::Name;

/// What was left out of a context so that it goes into its budget, if anything was.
///
/// It prints as a sentence. [`Messages::elided`](crate::Messages::elided) lists the omitted cells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How the context is cut where it is too large.
    pub strategy: Strategy,
    /// How many tokens it may have.
    pub limit: usize,
    /// How many it would have if nothing were left out.
    pub before: usize,
    /// How many it has, with the marker of the omitted turns.
    pub after: usize,
    /// How many turns are left out.
    pub turns: usize,
    /// Whether fewer of the newest turns are kept than should be, because they did not fit.
    pub kept_fewer: bool,
}

impl Report {
    /// Whether something was left out.
    pub fn is_truncated(&self) -> bool {
        self.turns > 0
    }

    /// Whether what is left is still too large: one turn is always kept.
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
            f.write_str("; what is left is still over the limit")?;
        }
        Ok(())
    }
}

/// Why a context does not go into its budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// The strategy is [`StopAtLimit`](super::Strategy::StopAtLimit), and the limit is passed.
    #[error(
        "its messages have about {tokens} tokens and may have {limit}; most of them are {}: widen the \
         budget, narrow a view, or take a strategy that cuts",
        Contributors(contributors)
    )]
    OverLimit {
        /// The tokens of the messages.
        tokens: usize,
        /// How many there may be.
        limit: usize,
        /// The columns that are shown with their tokens, the largest first. The own past is named like
        /// the column.
        contributors: Vec<(Name, usize)>,
    },
    /// The reply and the instruction leave nothing for the messages.
    #[error(
        "a budget of {budget} tokens leaves nothing for its messages: {token_buffer} are kept for the reply \
         and its instruction has about {instruction}; it is {short} short"
    )]
    NoRoom {
        /// The tokens of the budget.
        budget: usize,
        /// Those that are kept for the reply.
        token_buffer: usize,
        /// Those of the instruction.
        instruction: usize,
        /// By how many the budget is too small to leave a single one.
        short: usize,
    },
}

/// The largest of them as text.
struct Contributors<'e>(&'e [(Name, usize)]);

impl fmt::Display for Contributors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (column, tokens)) in self.0.iter().take(3).enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}`{column}` with {tokens}")?;
        }
        Ok(())
    }
}
