//! Cells, and the actions that a driver carries out for the scheduler.

/// One column at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cell {
    pub(crate) column: usize,
    pub(crate) step: usize,
}

/// The next thing that a driver does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Compute the cell.
    Compute(Cell),
    /// Ask for the answer of the cell, which comes from outside.
    Ask(Cell),
    /// Store the computed value.
    Store(Cell),
    /// Store the cell as skipped.
    Skip(Cell),
    /// Emit the event of the stored cell.
    Emit(Cell),
}

/// The error of a report that does not match the state of the cell. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidTransition;
