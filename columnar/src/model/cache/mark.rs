//! The marks in a request, for providers that cache the prefix before a mark.

use std::fmt;

use crate::context::tiers::Tier;

/// A mark in a request: the provider caches everything before the mark. A mark prints as a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// The position of the mark.
    pub position: Position,
    /// The time for which the prefix is kept.
    pub lifetime: Lifetime,
    /// The request that reads the prefix.
    pub reason: Reason,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, lifetime, reason } = self;
        write!(f, "after {position}, {lifetime} lifetime, for {reason}")
    }
}

/// The request that reads the prefix before a mark, printed as in "for the next request".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The next request of the column.
    Next,
    /// This request: the request before wrote the prefix.
    Previous,
    /// All requests with the instruction, in this flow and in others.
    Instruction,
    /// Requests of forks.
    Forks,
    /// Requests after documents of a [compacted](crate::CompactedView) view are laid anew behind the mark.
    Documents,
    /// All requests until this tier of documents changes.
    Tier(Tier),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Next => f.pad("the next request"),
            Self::Previous => f.pad("this request"),
            Self::Instruction => f.pad("all under the instruction"),
            Self::Forks => f.pad("forks"),
            Self::Documents => f.pad("documents that are laid anew"),
            Self::Tier(tier) => write!(f, "the tier {tier}"),
        }
    }
}

/// The end of a piece of a request, in the order of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// The end of the instruction.
    System,
    /// The end of this part of the messages, counted as [`Messages::parts`](crate::Messages::parts) yields them.
    Part(usize),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("the instruction"),
            Self::Part(at) => write!(f, "part {at}"),
        }
    }
}

/// The time for which a provider keeps a marked prefix after its last use. The [`CachePolicy`](super::CachePolicy) has
/// both durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lifetime {
    /// The default of the provider.
    Short,
    /// Longer, for a higher fee.
    Long,
}

impl fmt::Display for Lifetime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Short => "short",
            Self::Long => "long",
        })
    }
}
