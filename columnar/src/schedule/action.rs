//! Cells, and the actions that the scheduler hands to its driver.

/// The place of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cell {
    pub(crate) column: usize,
    pub(crate) step: usize,
}

/// What a driver is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Compute the cell.
    Compute(Cell),
    /// Store what was computed.
    Store(Cell),
    /// Store that the cell stays empty.
    Skip(Cell),
    /// Tell what is stored.
    Emit(Cell),
}
