//! The values of a flow: one row per step, one column per column.

use alloc::vec::Vec;

use crate::scheduler::Cell;
use crate::value::Value;

/// All values that are stored, in memory. A cell is written once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    columns: Vec<Vec<Option<Value>>>,
}

impl Table {
    pub(crate) fn get(&self, column: usize, step: usize) -> Option<&Value> {
        self.columns.get(column)?.get(step)?.as_ref()
    }

    /// Writes a cell that has no value yet; one that has keeps it.
    pub(crate) fn insert(&mut self, cell: Cell, value: Value) {
        if self.columns.len() <= cell.column {
            self.columns.resize_with(cell.column + 1, Vec::new);
        }
        let Some(column) = self.columns.get_mut(cell.column) else { return };
        if column.len() <= cell.step {
            column.resize(cell.step + 1, None);
        }
        if let Some(slot) = column.get_mut(cell.step) {
            slot.get_or_insert(value);
        }
    }
}
