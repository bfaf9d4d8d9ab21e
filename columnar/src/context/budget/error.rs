//! What a budget refuses.

use std::fmt;

use crate::declare::Name;

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
