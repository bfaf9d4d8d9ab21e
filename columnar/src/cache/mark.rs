//! Where a request is marked, for a provider that keeps what stands before a mark.

use std::fmt;

/// A mark in a request: the provider keeps everything before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// Where the mark is.
    pub position: Position,
    /// For how long.
    pub lifetime: Lifetime,
    /// What for.
    pub reason: Reason,
}

/// Which request will find what stands before a mark. They print as in "for the next request".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The next one of the column.
    Next,
    /// This one: it was kept by the request before.
    Previous,
    /// All that are made under the instruction, in this flow and in others.
    Instruction,
    /// Those of forks.
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
    /// Behind the instruction.
    System,
    /// Behind this part of the messages, counted as [`Messages::parts`](crate::Messages::parts) yields them.
    Part(usize),
}

/// For how long a provider keeps what was marked, counted from when it was last used. What that is in
/// minutes, its [`CachePolicy`](super::CachePolicy) says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// As long as providers keep it when nothing is said.
    Short,
    /// Longer, for a higher fee.
    Long,
}
