//! A flow as a table for other programs: one row per step, one column per column.
//!
//! What is written opens as it is in pandas, Polars or DuckDB: a text per cell, null where there is none, the
//! step in `_step`, and in `_skipped` the names of the columns that are [empty for
//! good](crate::compute::Policy::or_skip) there. What is read goes into a [store](crate::store), on which a flow
//! is then opened.

mod error;
mod json_lines;

use std::ops::Range;

use crate::flow::LiveFlow;
use crate::name::Name;
use crate::store::{Entry, Store, StoreError, put_all};
use crate::value::Value;

pub use error::RowsError;
pub use json_lines::{read_json_lines, write_json_lines};

/// The name of what holds the step; no column can have it.
const STEP: &str = "_step";

/// The name of what holds the names of the columns that are skipped.
const SKIPPED: &str = "_skipped";

/// So many rows are in memory at once.
const ROWS: usize = 512;

/// What is stored at a step.
#[derive(Clone, Debug, Default)]
struct Row {
    step: usize,
    /// By column.
    cells: Vec<Option<Entry>>,
}

impl Row {
    fn value(&self, column: usize) -> Option<&Value> {
        match self.cells.get(column)? {
            Some(Entry::Value(value)) => Some(value),
            Some(Entry::Skipped) | None => None,
        }
    }

    fn skipped<'r>(&'r self, columns: &'r [Name]) -> impl Iterator<Item = &'r Name> {
        let cells = self.cells.iter().zip(columns);
        cells.filter(|(cell, _)| **cell == Some(Entry::Skipped)).map(|(_, name)| name)
    }
}

/// The rows of a flow, some at a time.
struct Rows<'f, 'a, C, I> {
    flow: &'f LiveFlow<'a, C, I>,
    columns: Vec<Name>,
    steps: Range<usize>,
}

impl<'f, 'a, C, I> Rows<'f, 'a, C, I> {
    fn of(flow: &'f LiveFlow<'a, C, I>) -> Self {
        let shared = &flow.live.shared;
        let columns = shared.plan().schema().columns().iter().map(|column| column.name.clone()).collect();
        Self { flow, columns, steps: 0..shared.rows() }
    }

    /// The next rows; none when all have been given.
    async fn next(&mut self) -> crate::Result<Vec<Row>> {
        let steps = self.steps.start..self.steps.end.min(self.steps.start + ROWS);
        self.steps.start = steps.end;
        let empty = |step| Row { step, cells: vec![None; self.columns.len()] };
        let mut rows: Vec<Row> = steps.clone().map(empty).collect();
        for column in 0..self.columns.len() {
            for (step, entry) in self.flow.live.shared.entries(column, steps.clone()).await? {
                let row = rows.get_mut(step - steps.start);
                if let Some(cell) = row.and_then(|row| row.cells.get_mut(column)) {
                    *cell = Some(entry);
                }
            }
        }
        Ok(rows)
    }
}

/// Takes rows in, some at a time.
struct Intake<'s, S> {
    store: &'s S,
    /// By column, what is not stored yet.
    waiting: Vec<(Name, Vec<(usize, Entry)>)>,
    rows: usize,
}

impl<'s, S: Store> Intake<'s, S> {
    async fn new(store: &'s S) -> Result<Self, StoreError> {
        store.open().await?;
        Ok(Self { store, waiting: Vec::new(), rows: 0 })
    }

    fn cell(&mut self, column: &Name, step: usize, entry: Entry) {
        match self.waiting.iter_mut().find(|(name, _)| name == column) {
            Some((_, entries)) => entries.push((step, entry)),
            None => self.waiting.push((column.clone(), vec![(step, entry)])),
        }
    }

    /// A row is whole.
    async fn row(&mut self) -> Result<(), StoreError> {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS) { self.flush().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), StoreError> {
        for (column, entries) in std::mem::take(&mut self.waiting) {
            put_all(self.store, &column, entries).await?;
        }
        Ok(())
    }

    async fn end(mut self) -> Result<usize, StoreError> {
        self.flush().await?;
        Ok(self.rows)
    }
}
