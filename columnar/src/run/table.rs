//! The values of a flow: one row per step, one column per column.

use crate::history::{History, Value};
use crate::schedule::Cell;
use crate::tokens::Counter;

/// All values that are stored, in memory. A cell is written once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    columns: Vec<History>,
}

impl Table {
    pub(crate) fn get(&self, cell: Cell) -> Option<Value> {
        self.columns.get(cell.column)?.value(cell.step)
    }

    /// All values of a column, as they are at this moment.
    pub(crate) fn history(&self, column: usize) -> History {
        self.columns.get(column).cloned().unwrap_or_default()
    }

    /// Writes a cell that has no value yet, and how many tokens it has; one that has keeps it.
    pub(crate) fn insert(&mut self, cell: Cell, value: Value, tokens: usize) {
        if self.columns.len() <= cell.column {
            self.columns.resize_with(cell.column + 1, History::default);
        }
        if let Some(column) = self.columns.get_mut(cell.column) {
            column.insert(cell.step, value, tokens);
        }
    }

    /// The same values, counted another way.
    pub(crate) fn counted(&self, counter: &dyn Counter) -> Self {
        Self { columns: self.columns.iter().map(|column| column.counted(counter)).collect() }
    }

    /// The table of another flow that shares the past of this one: the values before `step` of the
    /// columns that `origins` names, in that order.
    pub(crate) fn derive(&self, origins: &[Option<usize>], step: usize) -> Self {
        let column = |origin: &Option<usize>| {
            let origin = origin.and_then(|origin| self.columns.get(origin));
            origin.map(|history| history.before(step)).unwrap_or_default()
        };
        Self { columns: origins.iter().map(column).collect() }
    }
}
