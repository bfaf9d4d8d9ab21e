//! How many tokens a context may have, and what is left out when it has more.
//!
//! ```text
//! application, flow, column ──▶ Budget ──▶ limit ─┐
//!                                                 ├──▶ strategy ──▶ what is left out ──▶ Report
//! columns, paths, lists ──▶ turns, by their size ─┘
//! ```
//!
//! A turn is what one message of one step is made of: all that a column reads at a step, or what it said
//! there. Turns are cut as a whole and before they are merged into messages. Nothing here sees a text:
//! a strategy is a function of the sizes of turns.

mod limit;
mod persistent;
mod report;

use std::fmt;
use std::sync::OnceLock;

pub(crate) use limit::{Cut, CutMarker, TokenLimit, Turns};
pub(crate) use persistent::PersistentCuts;
pub use report::{BudgetError, Report};

/// How many tokens a request may have, and what happens to a context that is larger.
///
/// Said behind a compute step, for a column; to a flow with
/// [`LiveFlow::set_budget`](crate::flow::LiveFlow::set_budget), for all its columns; or to the whole program with
/// [`set_default`]. Field by field the nearest one counts. Unless somebody says how many
/// [`tokens`](Self::tokens) there are, nothing is ever cut.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::budget::{Budget, Strategy};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column assistant(user, self) = prompt("You are a helpful assistant.").budget(8_000);
///     column mood(user) = prompt("Name the mood.").budget(Budget::new().rolling_window());
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
pub struct Budget {
    tokens: Option<usize>,
    token_buffer: Option<usize>,
    strategy: Option<Strategy>,
    minimum_recent: Option<usize>,
    low_water: Option<f64>,
}

impl Budget {
    /// What is kept for the reply, unless told otherwise.
    pub const TOKEN_BUFFER: usize = 1024;

    /// How many of the newest turns [`Strategy::TruncateMiddle`] keeps first, unless told otherwise.
    pub const MINIMUM_RECENT: usize = 4;

    /// A budget that says nothing yet.
    pub const fn new() -> Self {
        Self { tokens: None, token_buffer: None, strategy: None, minimum_recent: None, low_water: None }
    }

    /// A budget of so many tokens; see [`tokens`](Self::tokens).
    pub const fn of(tokens: usize) -> Self {
        Self::new().tokens(tokens)
    }

    /// So many tokens for the instruction, the messages and the reply: at most what the model takes at
    /// once. They are counted as the flow [counts](crate::flow::LiveFlow::set_counter).
    #[must_use]
    pub const fn tokens(mut self, tokens: usize) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// How many of the tokens are kept for the reply; [`TOKEN_BUFFER`](Self::TOKEN_BUFFER) unless told
    /// otherwise. Keep as many as the reply [may have](crate::Prompt::max_tokens).
    #[must_use]
    pub const fn token_buffer(mut self, tokens: usize) -> Self {
        self.token_buffer = Some(tokens);
        self
    }

    /// Takes this strategy where the context is too large; [`Strategy::TruncateMiddle`] unless told
    /// otherwise.
    #[must_use]
    pub const fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// [`Strategy::TruncateMiddle`].
    #[must_use]
    pub const fn truncate_middle(self) -> Self {
        self.strategy(Strategy::TruncateMiddle)
    }

    /// [`Strategy::RollingWindow`].
    #[must_use]
    pub const fn rolling_window(self) -> Self {
        self.strategy(Strategy::RollingWindow)
    }

    /// [`Strategy::StopAtLimit`].
    #[must_use]
    pub const fn stop_at_limit(self) -> Self {
        self.strategy(Strategy::StopAtLimit)
    }

    /// How many of the newest turns [`Strategy::TruncateMiddle`] keeps before it looks at others;
    /// [`MINIMUM_RECENT`](Self::MINIMUM_RECENT) unless told otherwise. One is always kept.
    #[must_use]
    pub const fn minimum_recent(mut self, turns: usize) -> Self {
        self.minimum_recent = Some(turns);
        self
    }

    /// Cuts down to this share of the limit at once, and then leaves the cut where it is until the limit
    /// is passed again. A context that is cut a little at every step begins differently in each
    /// request, so nothing of it is served from a provider's cache; this way most requests repeat the
    /// one before. Off unless told otherwise, which is the same as 1.
    ///
    /// The cut stays from step to step where the column goes step by step, because it reads its own
    /// past, or where it shows whole histories alone. Of a column that does neither, a step may be
    /// computed before the step before it, so its contexts are cut for themselves.
    ///
    /// # Panics
    ///
    /// When the share is not above 0 and at most 1.
    #[must_use]
    pub const fn low_water(mut self, share: f64) -> Self {
        assert!(
            share > 0.0 && share <= 1.0,
            "the low-water mark is a share of the limit, above 0 and at most 1"
        );
        self.low_water = Some(share);
        self
    }

    /// What is said here, and where nothing is said, what is said farther away.
    pub(crate) fn or(&self, farther: &Self) -> Self {
        Self {
            tokens: self.tokens.or(farther.tokens),
            token_buffer: self.token_buffer.or(farther.token_buffer),
            strategy: self.strategy.or(farther.strategy),
            minimum_recent: self.minimum_recent.or(farther.minimum_recent),
            low_water: self.low_water.or(farther.low_water),
        }
    }
}

/// A budget that says how many tokens there are and nothing else.
impl From<usize> for Budget {
    fn from(tokens: usize) -> Self {
        Self::of(tokens)
    }
}

/// What happens to a context that has more tokens than its budget leaves.
///
/// Whatever the strategy, the instruction is never cut, and at least the newest turn is kept: all that
/// the column reads at the current step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Keeps the newest turns, as many as [`Budget::minimum_recent`](Budget::minimum_recent) says;
    /// then adds the oldest and the next newest in turn, each side as long as its next one fits. A line
    /// in a user message stands for the others: `<elided>12 turns, about 3400 tokens</elided>`. For long
    /// conversations in which the beginning matters.
    #[default]
    TruncateMiddle,
    /// Keeps the newest turns that fit, and nothing else.
    RollingWindow,
    /// Refuses, naming what is largest. For work in which each turn matters.
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

/// Sets the budget of the whole program, which counts where neither a flow nor a column says otherwise.
/// To be called once, before the first run.
///
/// # Errors
///
/// The budget, if one has been set before; that one stays.
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

/// What [`set_default`] has set.
pub(crate) fn default() -> Budget {
    DEFAULT.get().cloned().unwrap_or_default()
}
