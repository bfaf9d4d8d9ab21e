//! What may go wrong.

/// Something that goes wrong with one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The compute step answers with an error.
    Error,
    /// It answers with an error after the first pieces of its text.
    BreaksOff,
    /// It panics.
    Panic,
    /// It never answers: the run has to be dropped.
    Silence,
    /// The store says that it failed, and has stored nothing.
    NotStored,
    /// The store says that it failed, and has stored the value all the same.
    StoredUnknown,
    /// The run is dropped while the cell is computed.
    Dropped,
}

impl Fault {
    /// Those that befall a compute step.
    pub(super) const OF_COMPUTES: [Self; 5] =
        [Self::Error, Self::BreaksOff, Self::Panic, Self::Silence, Self::Dropped];

    /// Those that befall a store.
    pub(super) const OF_STORES: [Self; 2] = [Self::NotStored, Self::StoredUnknown];
}
