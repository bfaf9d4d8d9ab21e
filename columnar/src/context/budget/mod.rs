//! Token budgets: the tokens that a context may have, and the truncation of larger ones.
//!
//! ```text
//! program, flow, column ──▶ Budget ──▶ token_limit ─┐
//! (compute/policy.rs)                               ├──▶ strategy ──▶ omitted turns ──▶ Report
//! histories ──▶ sizes of turns (context/turns.rs) ──┘                 (context/cut.rs)
//! ```
//!
//! A turn is the inputs of a column at one step, or its own value at that step. Truncation omits whole turns, before turns
//! are merged into messages. Truncation is a function of the sizes of turns and reads no text.

mod json;
mod persistent;
mod report;
mod token_limit;

use std::fmt;
use std::sync::OnceLock;

pub(crate) use persistent::PersistentCuts;
pub use report::{BudgetError, FixedText, Report};
pub(crate) use token_limit::{TokenLimit, TurnCut, Turns};

/// The most tokens of a request, and the strategy for a context that is larger.
///
/// A budget is set for a column after the compute step, for a flow with
/// [`LiveFlow::set_budget`](crate::flow::LiveFlow::set_budget), or for the whole program with [`set_default`]. Each field
/// is taken from the first of these that sets it. Without a number of [`tokens`](Self::tokens), nothing is truncated. A run
/// checks before it computes anything that the budgets of the columns hold a message.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::budget::{Budget, Strategy};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column assistant(user, self) = prompt("You are a helpful assistant.").budget(8_000);
///     column mood(user)            = prompt("Name the mood.").budget(Budget::new().rolling_window());
/// };
/// chat.set_budget(Budget::of(100_000).low_water(0.8));
///
/// chat.user.push("Hello!").await?;
/// chat.run().await?;
/// let messages = chat.mood.messages(0)?;
/// let report = messages.report().expect("there is a budget");
/// assert_eq!((report.strategy, report.is_truncated()), (Strategy::RollingWindow, false));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Budget {
    tokens: Option<usize>,
    token_buffer: Option<usize>,
    strategy: Option<Strategy>,
    minimum_recent: Option<usize>,
    low_water: Option<f64>,
}

impl Budget {
    /// The default number of tokens that are reserved for the reply.
    pub const TOKEN_BUFFER: usize = 1024;

    /// The default number of newest turns that [`Strategy::TruncateMiddle`] keeps first.
    pub const MINIMUM_RECENT: usize = 4;

    /// A budget that sets no field.
    pub const fn new() -> Self {
        Self { tokens: None, token_buffer: None, strategy: None, minimum_recent: None, low_water: None }
    }

    /// A budget of this many tokens; see [`tokens`](Self::tokens).
    pub const fn of(tokens: usize) -> Self {
        Self::new().tokens(tokens)
    }

    /// Sets the number of tokens for the instruction, the messages and the reply together: at most the context window of
    /// the model. They are counted by the [counter](crate::flow::LiveFlow::set_counter) of the flow.
    pub const fn tokens(mut self, tokens: usize) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets how many of the tokens are reserved for the reply; [`TOKEN_BUFFER`](Self::TOKEN_BUFFER) by default. Reserve
    /// as many as the reply [may have](crate::Prompt::max_tokens).
    pub const fn token_buffer(mut self, tokens: usize) -> Self {
        self.token_buffer = Some(tokens);
        self
    }

    /// Sets the strategy for a context that is too large; [`Strategy::TruncateMiddle`] by default. Without a number of tokens,
    /// the limit is the [window](crate::model::ContextWindow) of the model, if that is known.
    pub const fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// Sets the strategy to [`Strategy::TruncateMiddle`].
    pub const fn truncate_middle(self) -> Self {
        self.strategy(Strategy::TruncateMiddle)
    }

    /// Sets the strategy to [`Strategy::RollingWindow`].
    pub const fn rolling_window(self) -> Self {
        self.strategy(Strategy::RollingWindow)
    }

    /// Sets the strategy to [`Strategy::StopAtLimit`].
    pub const fn stop_at_limit(self) -> Self {
        self.strategy(Strategy::StopAtLimit)
    }

    /// Sets how many of the newest turns [`Strategy::TruncateMiddle`] keeps before it considers older ones;
    /// [`MINIMUM_RECENT`](Self::MINIMUM_RECENT) by default. One is always kept.
    pub const fn minimum_recent(mut self, turns: usize) -> Self {
        self.minimum_recent = Some(turns);
        self
    }

    /// Sets a low-water mark, as a share of the limit: a context over the limit is truncated to the mark, and the cut
    /// stays where it is until the limit is exceeded again. A context that is truncated a little at every step begins
    /// differently in each request, so no provider can serve it from a cache. With a mark, most requests repeat the one
    /// before. The default is 1: no mark.
    ///
    /// Cuts persist from step to step if the column has a self history or reads whole histories alone. The steps of any
    /// other column may be computed out of order, so each of the contexts is truncated alone.
    ///
    /// # Panics
    ///
    /// If the share is not above 0 and at most 1.
    pub const fn low_water(mut self, share: f64) -> Self {
        // NaN fails the first comparison.
        assert!(
            share > 0.0 && share <= 1.0,
            "the low-water mark is a share of the limit, above 0 and at most 1"
        );
        self.low_water = Some(share);
        self
    }

    /// Whether the limit is the window of the model: a strategy is chosen, and no number of tokens.
    pub(crate) const fn takes_window(&self) -> bool {
        self.strategy.is_some() && self.tokens.is_none()
    }

    /// The budget for a window of so many tokens: a strategy without a number of tokens cuts to the window. A request may
    /// have `input` tokens, and a request with the reply `tokens`.
    pub(crate) fn within(self, tokens: usize, input: usize) -> Self {
        let token_buffer = self.token_buffer.unwrap_or(Self::TOKEN_BUFFER);
        let window = self.takes_window().then(|| tokens.min(input.saturating_add(token_buffer)));
        Self { tokens: self.tokens.or(window), ..self }
    }

    /// The fields of this budget, and the fields of `fallback` where it sets none.
    pub(crate) fn or(&self, fallback: &Self) -> Self {
        Self {
            tokens: self.tokens.or(fallback.tokens),
            token_buffer: self.token_buffer.or(fallback.token_buffer),
            strategy: self.strategy.or(fallback.strategy),
            minimum_recent: self.minimum_recent.or(fallback.minimum_recent),
            low_water: self.low_water.or(fallback.low_water),
        }
    }
}

/// A budget of this many tokens, with no other field set.
impl From<usize> for Budget {
    fn from(tokens: usize) -> Self {
        Self::of(tokens)
    }
}

/// The strategy for a context that has more tokens than the budget leaves.
///
/// No strategy truncates the instruction or omits the newest turn, which is all inputs of the column at the current step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Keeps the newest turns, up to [`Budget::minimum_recent`](Budget::minimum_recent). Then adds the oldest turn and the
    /// next newest one alternately, on each side as long as the next turn fits. A line in a user message replaces the
    /// omitted turns: `<elided>12 turns, about 3400 tokens</elided>`. A line that does not fit beside the newest turn is left
    /// out. For long conversations in which the beginning matters.
    #[default]
    TruncateMiddle,
    /// Keeps the newest turns that fit, and nothing else.
    RollingWindow,
    /// Fails with [`BudgetError::OverLimit`], which names the largest columns. For tasks in which every turn matters.
    StopAtLimit,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TruncateMiddle => "truncate_middle",
            Self::RollingWindow => "rolling_window",
            Self::StopAtLimit => "stop_at_limit",
        })
    }
}

static DEFAULT: OnceLock<Budget> = OnceLock::new();

/// Sets the budget of the whole program, for the fields that neither a column nor the flow sets. Call it once, before the
/// first run.
///
/// # Errors
///
/// Returns the budget if one was set before. The earlier one stays in effect.
///
/// ```
/// use columnar::budget::{Budget, set_default};
///
/// assert_eq!(set_default(Budget::of(200_000)), Ok(()));
/// assert_eq!(set_default(Budget::of(8_000)), Err(Budget::of(8_000)));
/// ```
pub fn set_default(budget: Budget) -> Result<(), Budget> {
    DEFAULT.set(budget)
}

/// The budget that [`set_default`] has set.
pub(crate) fn program_default() -> Budget {
    DEFAULT.get().cloned().unwrap_or_default()
}
