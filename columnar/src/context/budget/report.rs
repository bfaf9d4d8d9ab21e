//! What became of a context under its budget.

use std::fmt;

use super::strategy::Strategy;
use crate::tokens::Sum;

/// What was left out of a context so that it goes into its budget, if anything was.
///
/// It prints as a sentence. Which cells were left out is told by
/// [`Messages::elided`](crate::Messages::elided).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How the context is cut where it is too large.
    pub strategy: Strategy,
    /// How many tokens it may have.
    pub limit: usize,
    /// How many it would have if nothing were left out.
    pub before: usize,
    /// How many it has, the marker that stands for what is left out included.
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

/// What stands in the place of turns that are left out.
pub(crate) fn marker(elided: Sum) -> String {
    format!("<elided>{} turns, about {} tokens</elided>", elided.count, elided.tokens)
}
