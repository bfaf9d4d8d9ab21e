//! The reasons why a request reads less from a cache than another request wrote.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::super::prefix::Difference;
use crate::declare::error::Printable;
use crate::model::usage::{Grouped, grouped};

/// The reason why a request read less from the cache than was promised, or why nothing was promised. Prints in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheCause {
    /// No earlier request of the column has the prefix.
    First,
    /// No cheaper reading from a cache is known of the provider of the model.
    NoCache,
    /// The model reported no tokens.
    Unreported,
    /// The request before was shorter than the provider caches.
    BelowMinimum {
        /// The least tokens of a cached prefix.
        minimum: usize,
    },
    /// The request before had no mark that the provider keeps: no mark pays at the pace, or the provider wrote nothing.
    Unwritten,
    /// The request does not repeat what the request before wrote, because this view of the column, the budget, a tier or
    /// an exclusion changed the prefix; `None` if the reason is not known.
    Changed(Option<Difference>),
    /// Another model wrote the prefix.
    OtherModel {
        /// The name of the model that wrote the prefix.
        written_by: Arc<str>,
    },
    /// The prompt of the column had another instruction, effort, schema or another setting when the prefix was written.
    OtherPrompt,
    /// The prefix was written with another lifetime, and need not be found with this one.
    OtherLifetime,
    /// The provider keeps the prefix for a shorter time.
    Expired {
        /// The time since the last use of the prefix.
        after: Duration,
        /// The lifetime.
        lifetime: Duration,
    },
    /// Nothing known explains the difference: the provider dropped the prefix, or sent the request to a machine without
    /// the prefix.
    Evicted,
}

impl CacheCause {
    /// The word for programs, as in JSON.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::First => "first",
            Self::NoCache => "no_cache",
            Self::Unreported => "unreported",
            Self::BelowMinimum { .. } => "below_minimum",
            Self::Unwritten => "unwritten",
            Self::Changed(_) => "changed",
            Self::OtherModel { .. } => "other_model",
            Self::OtherPrompt => "other_prompt",
            Self::OtherLifetime => "other_lifetime",
            Self::Expired { .. } => "expired",
            Self::Evicted => "evicted",
        }
    }
}

impl fmt::Display for CacheCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("first request"),
            Self::NoCache => f.write_str("no cache is known"),
            Self::Unreported => f.write_str("no tokens were reported"),
            Self::BelowMinimum { minimum } => {
                write!(f, "below the minimum of {} tokens", grouped(*minimum))
            }
            Self::Unwritten => f.write_str("nothing was written"),
            Self::Changed(Some(first)) => write!(f, "changed by {first}"),
            Self::Changed(None) => f.write_str("the prefix changed"),
            Self::OtherModel { written_by } => write!(f, "written by `{}`", Printable(written_by)),
            Self::OtherPrompt => f.write_str("another instruction, effort or schema"),
            Self::OtherLifetime => f.write_str("written with another lifetime"),
            Self::Expired { after, lifetime } => {
                write!(f, "{} after a use, kept for {}", Rounded(*after), Rounded(*lifetime))
            }
            Self::Evicted => f.write_str("evicted"),
        }
    }
}

/// A duration in words, in whole units.
struct Rounded(Duration);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            seconds @ 0..120 => write!(f, "{seconds} s"),
            seconds @ 120..7200 => write!(f, "{} min", seconds / 60),
            seconds => write!(f, "{} h", Grouped(seconds / 3600)),
        }
    }
}

/// Tokens that a request should have read from the provider's cache, and did not: the content of
/// [`Event::CacheMiss`](crate::Event::CacheMiss).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheMiss {
    /// The tokens that an earlier request wrote and this one repeats.
    pub promised: u64,
    /// The tokens that were read.
    pub read: u64,
    /// The reason.
    pub cause: CacheCause,
}

impl fmt::Display for CacheMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { promised, read, cause } = self;
        write!(f, "{} of {} tokens were read from the cache: {cause}", Grouped(*read), Grouped(*promised))
    }
}
