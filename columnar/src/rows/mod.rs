//! A flow as a table for other programs: one row per step, one column per column.
//!
//! pandas, Polars and DuckDB open the files as they are: one text per cell, null where there is none, the step in
//! `_step`, and in `_skipped` the names of the columns that are [skipped](crate::compute::Policy::or_skip) at that
//! step. Rows are read into a [store](crate::store), on which a flow is opened afterwards. They may come from
//! another program, if every column has a valid name and holds texts.
//!
//! Reading and writing block the thread that polls. A few rows are in memory at a time.

mod error;
mod ingest;
mod json_lines;
#[cfg(feature = "parquet")]
mod parquet;

use std::ops::Range;

use crate::declare::Name;
use crate::flow::LiveFlow;
use crate::history::Value;
use crate::store::{CHUNK, Entry};

pub use error::RowsError;
use ingest::{CellValue, Ingest};
pub use json_lines::{read_json_lines, write_json_lines};
#[cfg(feature = "parquet")]
pub use parquet::{read_parquet, write_parquet};

/// The member that holds the step; no column can have this name.
const STEP: &str = "_step";

/// The member that holds the names of skipped columns.
const SKIPPED: &str = "_skipped";

/// About the most bytes of rows that are in memory at once; of rows, there are [`CHUNK`] at the most.
const BYTES: usize = 1 << 24;

/// The stored entries of a step.
#[derive(Clone, Debug, Default)]
struct Row {
    step: usize,
    /// By column.
    cells: Vec<Option<Entry>>,
}

impl Row {
    fn value(&self, column: usize) -> Option<&Value> {
        self.cells.get(column)?.as_ref()?.value.as_ref()
    }

    fn skipped<'r>(&'r self, columns: &'r [Name]) -> impl Iterator<Item = &'r str> {
        let cells = self.cells.iter().zip(columns);
        cells.filter(|(cell, _)| cell.as_ref().is_some_and(Entry::is_skipped)).map(|(_, name)| name.as_str())
    }

    fn bytes(&self) -> usize {
        (0..self.cells.len()).filter_map(|column| self.value(column)).map(|value| value.len()).sum()
    }
}

/// Reads the rows of a flow, a chunk at a time.
struct Rows<'f, 'a, C, I> {
    flow: &'f LiveFlow<'a, C, I>,
    columns: Vec<Name>,
    steps: Range<usize>,
    /// The size of the next chunk.
    count: usize,
}

impl<'f, 'a, C, I> Rows<'f, 'a, C, I> {
    fn of(flow: &'f LiveFlow<'a, C, I>) -> Self {
        let shared = &flow.live.shared;
        let columns = shared.plan().schema().columns().iter().map(|column| column.name.clone()).collect();
        Self { flow, columns, steps: 0..shared.rows(), count: 1 }
    }

    /// The next chunk; empty at the end.
    async fn next(&mut self) -> crate::run::Result<Vec<Row>> {
        let steps = self.steps.start..self.steps.end.min(self.steps.start + self.count);
        let empty = |step| Row { step, cells: vec![None; self.columns.len()] };
        let mut rows: Vec<Row> = steps.clone().map(empty).collect();
        for (column, name) in self.columns.iter().enumerate() {
            for (step, entry) in self.flow.live.shared.entries(name, steps.clone()).await? {
                let row = rows.get_mut(step - steps.start);
                if let Some(cell) = row.and_then(|row| row.cells.get_mut(column)) {
                    *cell = Some(entry);
                }
            }
        }
        self.steps.start = steps.end;
        // The next rows are probably as long as these.
        let bytes: usize = rows.iter().map(Row::bytes).sum();
        self.count = if bytes > BYTES / 2 { self.count.div_ceil(2) } else { CHUNK.min(2 * self.count) };
        Ok(rows)
    }
}
