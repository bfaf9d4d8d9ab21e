//! The rows of a live flow.

use std::ops::RangeBounds;
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use serde_json::Value as Json;

use super::live::{LiveFlow, known};
use crate::declare::Name;
use crate::history::{SkipReason, Value};
use crate::model::usage::AttachmentRef;
use crate::run::{Error, Result, SharedFlow, StepChunks, skip_reason};
use crate::store::{Entry, attachment_refs};

/// The stored cells of a flow at one step. Made by [`LiveFlow::rows`].
#[derive(Clone, Debug)]
pub struct Row {
    step: usize,
    columns: Arc<[Name]>,
    /// By column.
    cells: Vec<Option<Entry>>,
}

impl Row {
    /// The step, counted from 0.
    pub fn step(&self) -> usize {
        self.step
    }

    /// The value of a column; `None` if there is none, or the cell is skipped.
    ///
    /// # Panics
    ///
    /// If the flow has no such column.
    #[track_caller]
    pub fn get(&self, column: impl AsRef<str>) -> Option<&Value> {
        self.at(self.find(column.as_ref()))
    }

    /// The stored values with the columns, in order.
    pub fn values(&self) -> impl Iterator<Item = (&Name, &Value)> {
        self.columns.iter().enumerate().filter_map(|(column, name)| Some((name, self.at(column)?)))
    }

    /// The columns that are stored as skipped at this step.
    pub fn skipped(&self) -> impl Iterator<Item = &Name> {
        let cells = self.columns.iter().zip(&self.cells);
        cells.filter(|(_, cell)| cell.as_ref().is_some_and(Entry::is_skipped)).map(|(name, _)| name)
    }

    /// The reason why a column is skipped at this step. `None` for a column with a value or without a stored cell, and if an
    /// earlier version or another program stored the cell.
    ///
    /// # Panics
    ///
    /// If the flow has no such column.
    #[track_caller]
    pub fn skip_reason(&self, column: impl AsRef<str>) -> Option<SkipReason> {
        skip_reason(self.cells.get(self.find(column.as_ref()))?.as_ref()?)
    }

    #[track_caller]
    fn find(&self, column: &str) -> usize {
        let found = self.columns.iter().position(|name| *name == *column);
        known(found.ok_or_else(|| Error::unknown_column(column, self.columns.to_vec())))
    }

    /// The attachments of the column at an index, without the bytes; `None` if there are none.
    pub(crate) fn attachments(&self, column: usize) -> Option<Json> {
        let names = attachment_refs(self.cells.get(column)?.as_ref()?);
        (!names.is_empty()).then(|| names.iter().map(AttachmentRef::to_json).collect())
    }

    /// The value of the column at an index.
    pub(crate) fn at(&self, column: usize) -> Option<&Value> {
        self.cells.get(column)?.as_ref()?.value.as_ref()
    }
}

impl<C, I> LiveFlow<'_, C, I> {
    /// The rows of a range of steps: all stored values of each step, from memory or from the store.
    ///
    /// The stream has a row for each step that has a value of a source when the stream is made. It reads the store in
    /// chunks, without the attachments of the values, and keeps nothing in memory. During a run, a row has the values that are stored when its chunk is read. An
    /// error is the last item.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column size(user.latest) = |cx: Context| async move { cx.messages().last_text().len().to_string() };
    /// };
    /// chat.user.push("Hello").await?;
    /// chat.run().await?;
    /// chat.user.push("and again").await?;
    ///
    /// let mut rows = chat.rows(..);
    /// while let Some(row) = rows.try_next().await? {
    ///     println!("step {}: {:?}", row.step(), row.get("size"));
    ///     for (column, value) in row.values() {
    ///         println!("  {column}: {value}");
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Load`] if the store cannot be read; [`Error::UnknownColumn`] if a column is removed meanwhile.
    pub fn rows(&self, steps: impl RangeBounds<usize>) -> BoxStream<'static, Result<Row>> {
        let chunks = stream::try_unfold(RowChunks::new(self, steps), async |mut rows| {
            let chunk = rows.next().await?;
            Ok::<_, Error>((!chunk.is_empty()).then(|| (stream::iter(chunk.into_iter().map(Ok)), rows)))
        });
        chunks.try_flatten().boxed()
    }
}

/// Reads the rows of a flow, a chunk at a time.
#[derive(Debug)]
pub(crate) struct RowChunks {
    shared: Arc<SharedFlow>,
    pub(crate) columns: Arc<[Name]>,
    chunks: StepChunks,
}

impl RowChunks {
    pub(crate) fn new<C, I>(flow: &LiveFlow<'_, C, I>, steps: impl RangeBounds<usize>) -> Self {
        let (columns, end) = flow.shared.rows();
        let chunks = StepChunks::new(&steps, end);
        Self { shared: Arc::clone(&flow.shared), columns: columns.into(), chunks }
    }

    /// The next chunk; empty at the end.
    pub(crate) async fn next(&mut self) -> Result<Vec<Row>> {
        let Some(steps) = self.chunks.next() else { return Ok(Vec::new()) };
        let rows = steps.clone().map(|step| Row {
            step,
            columns: Arc::clone(&self.columns),
            cells: vec![None; self.columns.len()],
        });
        let mut rows: Vec<Row> = rows.collect();
        let mut bytes = 0;
        for (column, name) in self.columns.iter().enumerate() {
            for (step, entry) in self.shared.entries(name, steps.clone()).await? {
                bytes += entry.len();
                let row = rows.get_mut(step - steps.start);
                if let Some(cell) = row.and_then(|row| row.cells.get_mut(column)) {
                    *cell = Some(entry);
                }
            }
        }
        self.chunks.adapt(bytes);
        Ok(rows)
    }
}
