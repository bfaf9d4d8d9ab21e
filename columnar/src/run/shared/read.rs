//! Reading values in memory and in the store.

use std::ops::{Bound, Range, RangeBounds};
use std::sync::Arc;

use futures::future;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};

use super::SharedFlow;
use crate::declare::Name;
use crate::history::Value;
use crate::run::state::load_all;
use crate::run::{Error, Result};
use crate::schedule::Cell;
use crate::store::{BYTES, CHUNK, Entry, Store, attachment_refs, put_blobs};

impl SharedFlow {
    /// Loads the stored values of the steps from this one on.
    pub(crate) async fn load(&self, step: usize) -> Result<()> {
        load_all(|| self.lock().unloaded_from(step)).await
    }

    /// The value of a cell, from memory or the store.
    pub(crate) async fn value(&self, name: &str, step: usize) -> Result<Option<Value>> {
        let mut entries = self.entries(name, step..step.saturating_add(1)).await?;
        let Some((_, entry)) = entries.pop() else { return Ok(None) };
        Ok(self.attached(name, step, entry).await?.value)
    }

    /// The stored values of a column within a range, from memory or the store.
    pub(crate) fn values(
        self: &Arc<Self>,
        name: &str,
        steps: &impl RangeBounds<usize>,
    ) -> BoxStream<'static, Result<(usize, Value)>> {
        let end = match self.by_name(name, |state, column| state.scheduler.end(column)) {
            Ok(end) => end,
            Err(error) => return stream::once(future::err(error)).boxed(),
        };
        // The end is fixed here, so a column that grows while it is read does not keep the stream from ending.
        let unread = (Arc::clone(self), name.to_owned(), StepChunks::new(steps, end));
        let values = stream::try_unfold(unread, async |(shared, name, mut chunks)| {
            let Some(steps) = chunks.next() else { return Ok::<_, Error>(None) };
            let entries = shared.entries(&name, steps).await?;
            chunks.adapt(entries.iter().map(|(_, entry)| entry.len()).sum());
            // An attachment is in memory from its own value on.
            let read = (Arc::clone(&shared), name.clone(), entries.into_iter());
            let values = stream::try_unfold(read, async |(shared, name, mut entries)| {
                for (step, entry) in entries.by_ref() {
                    if let Some(value) = shared.attached(&name, step, entry).await?.value {
                        return Ok(Some(((step, value), (shared, name, entries))));
                    }
                }
                Ok(None)
            });
            Ok(Some((values, (shared, name, chunks))))
        });
        values.try_flatten().boxed()
    }

    /// An entry of a column, whose value has the attachments.
    pub(crate) async fn attached(&self, name: &str, step: usize, entry: Entry) -> Result<Entry> {
        if attachment_refs(&entry).is_empty() {
            return Ok(entry);
        }
        let (known, unloaded) = self.by_name(name, |state, column| {
            (state.entry(Cell { column, step }), state.unloaded.get(&column).cloned())
        })?;
        match (known, unloaded) {
            (None, Some(unloaded)) => unloaded.attach(step, entry).await,
            (known, _) => Ok(known.unwrap_or(entry)),
        }
    }

    /// Stores the attachments of entries in another store.
    pub(crate) async fn copy_attachments(
        &self,
        name: &str,
        entries: &[(usize, Entry)],
        into: &dyn Store,
    ) -> Result<()> {
        // One after the other, because the attachments of all may be larger than the memory. The last one is kept for the
        // next cells, which often have the same.
        let mut last = None;
        for (step, entry) in entries {
            let whole = self.attached(name, *step, entry.clone()).await?;
            put_blobs(into, whole.value.as_ref()).await.map_err(Error::open)?;
            last = Some(whole);
        }
        drop(last);
        Ok(())
    }

    /// The stored entries of a column within some steps, of one chunk at most, ascending. Those that are not in memory are
    /// read without attachments, and not kept.
    pub(crate) async fn entries(&self, name: &str, steps: Range<usize>) -> Result<Vec<(usize, Entry)>> {
        let (mut entries, unloaded) = self.by_name(name, |state, column| {
            let entries = steps.clone().filter_map(|step| Some((step, state.entry(Cell { column, step })?)));
            (entries.collect::<Vec<_>>(), state.unloaded.get(&column).cloned())
        })?;
        if let Some(unloaded) = unloaded {
            entries.extend(unloaded.read(&steps).await?);
            entries.sort_unstable_by_key(|(step, _)| *step);
        }
        Ok(entries)
    }

    /// The names of the columns, and the number of steps in which a source has a value.
    pub(crate) fn rows(&self) -> (Vec<Name>, usize) {
        let state = self.lock();
        let schema = state.plan.schema();
        let steps = schema.sources().map(|source| state.scheduler.len(source)).max().unwrap_or(0);
        (schema.columns().iter().map(|column| column.name.clone()).collect(), steps)
    }
}

/// The chunks in which a range of steps is read: of many steps, or of few large ones.
#[derive(Debug)]
pub(crate) struct StepChunks {
    steps: Range<usize>,
    /// The number of steps of the next chunk.
    count: usize,
}

impl StepChunks {
    /// The chunks of these steps before `end`.
    pub(crate) fn new(steps: &impl RangeBounds<usize>, end: usize) -> Self {
        let start = match steps.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match steps.end_bound() {
            Bound::Included(last) => end.min(last.saturating_add(1)),
            Bound::Excluded(excluded) => end.min(*excluded),
            Bound::Unbounded => end,
        };
        // The first step shows how large the others are.
        Self { steps: start..end, count: 1 }
    }

    /// The next chunk; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Range<usize>> {
        let start = self.steps.start;
        let chunk = start..self.steps.end.min(start.saturating_add(self.count));
        self.steps.start = chunk.end.max(start);
        (!chunk.is_empty()).then_some(chunk)
    }

    /// Adapts the next chunk to the bytes of the last one, because the next steps are probably as large.
    pub(crate) fn adapt(&mut self, bytes: usize) {
        self.count = if bytes > BYTES / 2 { self.count.div_ceil(2) } else { CHUNK.min(2 * self.count) };
    }
}
