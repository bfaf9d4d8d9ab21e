//! Where a request is marked, for a provider that keeps what stands before a mark.

/// A mark in a request: the provider keeps everything before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// Where it stands.
    pub place: Place,
    /// For how long.
    pub lifetime: Lifetime,
}

/// The end of a piece of a request, in the order of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Behind the instruction.
    System,
    /// Behind this part of the messages, counted as [`Messages::parts`](crate::Messages::parts) yields them.
    Part(usize),
}

/// For how long a provider keeps what was marked, counted from when it was last used. What that is in
/// minutes, its [`Provider`](super::Provider) says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// As long as providers keep it when nothing is said.
    Short,
    /// Longer, for a higher fee.
    Long,
}
