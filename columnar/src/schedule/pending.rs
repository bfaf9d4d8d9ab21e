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

    /// Whether runs have asked for all cells before a step.
    pub(super) fn is_asked(&self, horizon: usize) -> bool {
        self.unasked.iter().all(|cell| cell.step >= horizon)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Cell> {
        self.cells.iter().copied()
    }

    /// Whether a run has asked for a cell.
    pub(super) fn has_asked(&self, cell: Cell) -> bool {
        self.contains(cell) && !self.unasked.contains(&cell)
    }

    /// The next cell before a step for which no run has asked. From now on, a run has.
    pub(super) fn ask(&mut self, horizon: usize) -> Option<Cell> {
        let next = self.unasked.iter().find(|cell| cell.step < horizon).copied()?;
        self.unasked.take(&next)
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
