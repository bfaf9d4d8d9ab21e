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
    /// The request or the one before had no marks, because none pays at the pace, or the provider ignored the marks: nothing
    /// was read and nothing written.
    Unmarked,
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

impl fmt::Display for CacheCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("first request"),
            Self::NoCache => f.write_str("no cache is known"),
            Self::Unreported => f.write_str("no tokens were reported"),
            Self::BelowMinimum { minimum } => {
                write!(f, "below the minimum of {} tokens", grouped(*minimum))
            }
            Self::Unmarked => f.write_str("without marks"),
            Self::Changed(Some(first)) => write!(f, "changed by {first}"),
            Self::Changed(None) => f.write_str("the prefix changed"),
            Self::OtherModel { written_by } => write!(f, "written by `{}`", Printable(written_by)),
            Self::OtherPrompt => f.write_str("another instruction, effort or schema"),
            Self::OtherLifetime => f.write_str("written with another lifetime"),
            Self::Expired { after, lifetime } => {
                let [after, kept] = [after, lifetime].map(Duration::as_secs);
                write!(f, "used {} s before, and kept for {} s", Grouped(after), Grouped(kept))
            }
            Self::Evicted => f.write_str("evicted"),
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
