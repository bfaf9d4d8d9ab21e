//! The marks in a request, for providers that cache the prefix before a mark.

use std::fmt;

/// A mark in a request: the provider caches everything before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// Where the mark is.
    pub position: Position,
    /// How long the prefix is kept.
    pub lifetime: Lifetime,
    /// Which request reads it.
    pub reason: Reason,
}

/// The request that reads the prefix before a mark. It prints as in "for the next request".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The next request of the column.
    Next,
    /// This request: the one before wrote the prefix.
    Previous,
    /// All requests with the instruction, in this flow and in others.
    Instruction,
    /// Requests of forks.
    Forks,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Next => "the next request",
            Self::Previous => "this request",
            Self::Instruction => "all under the instruction",
            Self::Forks => "forks",
        })
    }
}

/// The end of a piece of a request, in the order of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// After the instruction.
    System,
    /// After this part of the messages, counted as [`Messages::parts`](crate::Messages::parts) yields them.
    Part(usize),
}

/// How long a provider keeps a marked prefix after its last use. The [`CachePolicy`](super::CachePolicy) has the time in
/// minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// The default of the provider.
    Short,
    /// Longer, for a higher fee.
    Long,
}
