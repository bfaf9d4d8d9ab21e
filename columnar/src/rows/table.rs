//! The rows of a flow, the names of the special members, and the errors of all formats.

use std::io;
use std::ops::Range;

use crate::declare::{Name, NameError};
use crate::flow::LiveFlow;
use crate::history::Value;
use crate::run::Error;
use crate::store::{CHUNK, Entry, StoreError};

/// The member that holds the step; no column can have this name.
pub(super) const STEP: &str = "_step";

/// The member that holds the names of skipped columns.
pub(super) const SKIPPED: &str = "_skipped";

/// The approximate limit in bytes of the rows in memory. There are also at most [`CHUNK`] rows.
pub(super) const BYTES: usize = 1 << 24;

/// The stored entries of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) step: usize,
    /// The entry of each column, in the order of the columns.
    cells: Vec<Option<Entry>>,
}

impl Row {
    pub(super) fn value(&self, column: usize) -> Option<&Value> {
        self.cells.get(column)?.as_ref()?.value.as_ref()
    }

    pub(super) fn skipped<'r>(&'r self, columns: &'r [Name]) -> impl Iterator<Item = &'r str> {
        let cells = self.cells.iter().zip(columns);
        cells.filter(|(cell, _)| cell.as_ref().is_some_and(Entry::is_skipped)).map(|(_, name)| name.as_str())
    }

    pub(super) fn bytes(&self) -> usize {
        (0..self.cells.len()).filter_map(|column| self.value(column)).map(|value| value.len()).sum()
    }
}

/// Reads the rows of a flow, a chunk at a time.
pub(super) struct Rows<'f, 'a, C, I> {
    flow: &'f LiveFlow<'a, C, I>,
    pub(super) columns: Vec<Name>,
    steps: Range<usize>,
    /// The size of the next chunk.
    count: usize,
}

impl<'f, 'a, C, I> Rows<'f, 'a, C, I> {
    pub(super) fn of(flow: &'f LiveFlow<'a, C, I>) -> Self {
        let shared = &flow.shared;
        let columns = shared.plan().schema().columns().iter().map(|column| column.name.clone()).collect();
        // The end is fixed now, so pushes during the writing cannot prolong it; the first row shows
        // how long rows are.
        Self { flow, columns, steps: 0..shared.rows(), count: 1 }
    }

    /// The next chunk; empty at the end.
    pub(super) async fn next(&mut self) -> crate::run::Result<Vec<Row>> {
        let steps = self.steps.start..self.steps.end.min(self.steps.start + self.count);
        let empty = |step| Row { step, cells: vec![None; self.columns.len()] };
        let mut rows: Vec<Row> = steps.clone().map(empty).collect();
        for (column, name) in self.columns.iter().enumerate() {
            for (step, entry) in self.flow.shared.entries(name, steps.clone()).await? {
                let row = rows.get_mut(step - steps.start);
                if let Some(cell) = row.and_then(|row| row.cells.get_mut(column)) {
                    *cell = Some(entry);
                }
            }
        }
        self.steps.start = steps.end;
        // The next rows are probably as long as these.
        let bytes: usize = rows.iter().map(Row::bytes).sum();
        // Rounded up, because a chunk without rows would be the end.
        self.count = if bytes > BYTES / 2 { self.count.div_ceil(2) } else { CHUNK.min(2 * self.count) };
        Ok(rows)
    }
}

/// An error of writing or reading rows. It names rows and columns, never values.
///
/// ```
/// use columnar::rows::{InvalidRow, RowsError, read_json_lines};
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let rows = "{\"user\":\"hello\"}\n{\"user\":\"and again\",\"Mood\":\"bright\"}";
/// let error = read_json_lines(&MemoryStore::new(), rows.as_bytes()).await.expect_err("no such name");
/// assert!(matches!(error, RowsError::Row { row: 2, source: InvalidRow::Name(_) }));
/// assert!(error.to_string().starts_with("row 2: `Mood` cannot be a name"));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// The flow could not be read.
    #[error(transparent)]
    Flow(#[from] Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The reader or writer failed.
    #[error("rows cannot be written or read: {0}")]
    Io(#[from] io::Error),
    /// A row is invalid. The rows before it are stored; reading them again is harmless.
    #[error("row {row}: {source}")]
    Row {
        /// The number of the row, counted from 1.
        row: usize,
        /// The reason why it is invalid.
        source: InvalidRow,
    },
}

/// The reason why a row is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRow {
    /// A member cannot be the name of a column.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A line is not a JSON object.
    #[error("it is not a JSON object, from byte {byte} on")]
    NotAnObject {
        /// The position of the error in the line, counted from 1.
        byte: usize,
    },
    /// A value is not a text.
    #[error("`{column}` must be a text; convert it to one")]
    NotText {
        /// The column.
        column: Name,
    },
    /// The member `_skipped` is not a list of texts.
    #[error("`{SKIPPED}` must be a list of column names")]
    Skipped,
    /// The member `_step` is not a whole number, 0 or more.
    #[error("`{STEP}` must be a whole number, 0 or more")]
    Step,
    /// A text is longer than a gigabyte, which Parquet cannot hold.
    #[error("`{column}` is longer than a gigabyte; write JSON Lines")]
    TooLong {
        /// The column.
        column: Name,
    },
}
