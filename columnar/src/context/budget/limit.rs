//! What a budget leaves for the messages of a column.

use super::Budget;
use super::error::BudgetError;
use super::strategy::Strategy;

/// How many tokens the messages of a column may have, and how they are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) tokens: usize,
    pub(crate) strategy: Strategy,
    pub(crate) minimum_recent: usize,
    /// Where there is a low-water mark: how many tokens are left by a cut, which then stays.
    pub(crate) low_water: Option<usize>,
}

impl Limit {
    /// `instruction` is how many tokens go with every call besides the messages. `None` for a budget
    /// without tokens.
    pub(crate) fn of(budget: &Budget, instruction: usize) -> Result<Option<Self>, BudgetError> {
        let Some(all) = budget.tokens else { return Ok(None) };
        let token_buffer = budget.token_buffer.unwrap_or(Budget::TOKEN_BUFFER);
        let taken = token_buffer.saturating_add(instruction);
        let tokens = all.saturating_sub(taken);
        if tokens == 0 {
            let short = taken.saturating_sub(all).saturating_add(1);
            return Err(BudgetError::NoRoom { budget: all, token_buffer, instruction, short });
        }
        Ok(Some(Self {
            tokens,
            strategy: budget.strategy.unwrap_or_default(),
            minimum_recent: budget.minimum_recent.unwrap_or(Budget::MINIMUM_RECENT).max(1),
            low_water: budget.low_water.map(|share| part_of(tokens, share)),
        }))
    }
}

/// A share of so many tokens, rounded down.
#[expect(clippy::cast_possible_truncation, reason = "the share is between 0 and 1")]
#[expect(clippy::cast_precision_loss, reason = "a low-water mark of 2^53 tokens may be off by one")]
#[expect(clippy::cast_sign_loss, reason = "the share is above 0")]
fn part_of(tokens: usize, share: f64) -> usize {
    (tokens as f64 * share) as usize
}
