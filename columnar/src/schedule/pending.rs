//! The cells that wait for an answer.

use std::collections::BTreeSet;

use super::action::{Cell, InvalidTransition};

/// The cells that wait for an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingCells {
    cells: BTreeSet<Cell>,
    /// The cells for which no run has asked.
    unasked: BTreeSet<Cell>,
}

impl PendingCells {
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn contains(&self, cell: Cell) -> bool {
        self.cells.contains(&cell)
    }

    /// Whether runs have asked for all cells.
    pub(super) fn is_asked(&self) -> bool {
        self.unasked.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Cell> {
        self.cells.iter().copied()
    }

    /// Whether a run has asked for a cell.
    pub(super) fn has_asked(&self, cell: Cell) -> bool {
        self.contains(cell) && !self.unasked.contains(&cell)
    }

    /// The next cell for which no run has asked. From now on, a run has.
    pub(super) fn ask(&mut self) -> Option<Cell> {
        self.unasked.pop_first()
    }

    /// Lets a run ask for a cell again.
    pub(super) fn ask_again(&mut self, cell: Cell) -> Result<(), InvalidTransition> {
        if !self.contains(cell) {
            return Err(InvalidTransition);
        }
        self.unasked.insert(cell);
        Ok(())
    }

    /// Removes all cells of a column.
    pub(super) fn withdraw(&mut self, column: usize) {
        self.cells.retain(|cell| cell.column != column);
        self.unasked.retain(|cell| cell.column != column);
    }

    pub(super) fn insert(&mut self, cell: Cell) {
        self.cells.insert(cell);
        self.unasked.insert(cell);
    }

    pub(super) fn remove(&mut self, cell: Cell) -> Result<(), InvalidTransition> {
        self.unasked.remove(&cell);
        if self.cells.remove(&cell) { Ok(()) } else { Err(InvalidTransition) }
    }
}
