//! The kinds of faults.

/// A fault of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The compute step returns an error.
    Error,
    /// The compute step returns an error after the first piece of text.
    BreaksOff,
    /// The compute step panics.
    Panic,
    /// The compute step never returns: the run has to be dropped.
    Silence,
    /// The store returns an error and has stored nothing.
    NotStored,
    /// The store returns an error although the value is stored.
    StoredUnknown,
    /// The run is dropped while the cell is computed.
    Dropped,
}

impl Fault {
    /// The faults of compute steps.
    pub(super) const COMPUTE: [Self; 5] =
        [Self::Error, Self::BreaksOff, Self::Panic, Self::Silence, Self::Dropped];

    /// The faults of stores.
    pub(super) const STORE: [Self; 2] = [Self::NotStored, Self::StoredUnknown];
}
