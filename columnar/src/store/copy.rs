//! Copies entries from one store into another.

use futures::future::join_all;

use super::checked::{NOT_RETURNED, load, stored_steps};
use super::{Entry, LoadedAttachments, Put, StepEntries, Store, StoreError, put_blobs};
use crate::declare::Name;
use crate::history::StepRanges;

/// The most steps of a column, or rows of a table, that are moved or held in memory at once.
pub(crate) const CHUNK: usize = 512;

/// The approximate limit in bytes of the values that are moved at once.
pub(crate) const BYTES: usize = 1 << 24;

/// Copies the entries of a column before a step, and resumes a copy that was interrupted. An entry at a later step
/// is an error: the target was not empty.
pub(crate) async fn copy(
    from: &dyn Store,
    into: &dyn Store,
    column: &Name,
    before: usize,
) -> Result<(), StoreError> {
    check_beyond(into, column, before).await?;
    let stored_steps = stored_steps(from, column).await?;
    let attachments = LoadedAttachments::default();
    for chunk in StepRanges::from(&stored_steps).within(&(0..before)).chunks(CHUNK) {
        let entries = load(from, column, chunk.clone()).await?;
        let mut found = entries.iter().map(|(step, _)| *step);
        if let Some(step) = stored_steps.within(&chunk).find(|step| found.next() != Some(*step)) {
            return Err(StoreError::corrupt(column, step, NOT_RETURNED));
        }
        // One after the other, because the attachments of a chunk may be larger than the memory. The last one is kept for
        // the next cells, which often have the same.
        let mut last = None;
        for (step, entry) in &entries {
            let whole = attachments.attach(from, column, *step, entry.clone()).await?;
            put_blobs(into, whole.value.as_ref()).await?;
            last = Some(whole);
        }
        drop(last);
        put_all(into, column, entries).await?;
    }
    Ok(())
}

/// Checks that a store to copy into has no entry of a column from this step on. Such an entry would look like a part
/// of the copy.
pub(crate) async fn check_beyond(into: &dyn Store, column: &Name, before: usize) -> Result<(), StoreError> {
    match into.stored_steps(column.clone()).await?.within(&(before..usize::MAX)).next() {
        Some(step) => Err(StoreError::other(format!(
            "the store to copy into holds `{column}` at step {step} already: use an empty one"
        ))),
        None => Ok(()),
    }
}

/// Stores entries of a column, whose attachments are stored. A cell that has the same entry already is passed over; a different entry is an error.
pub(crate) async fn put_all(into: &dyn Store, column: &Name, entries: StepEntries) -> Result<(), StoreError> {
    let cells = entries.into_iter().map(|(step, entry)| (column.clone(), step, entry)).collect();
    put_cells(into, cells, Entry::holds).await
}

/// Stores entries of several columns. A cell that has an entry already is passed over if that one holds the new one, and an
/// error otherwise.
pub(crate) async fn put_cells(
    into: &dyn Store,
    cells: Vec<(Name, usize, Entry)>,
    holds: fn(&Entry, &Entry) -> bool,
) -> Result<(), StoreError> {
    // All puts at once, so that the store can write all entries with one wait. A clone of an entry copies no text.
    let puts = cells.iter().map(|(column, step, entry)| into.put(column.clone(), *step, entry.clone()));
    for (put, (column, step, entry)) in join_all(puts).await.into_iter().zip(&cells) {
        if let Put::Exists(existing) = put?
            && !holds(&existing, entry)
        {
            return Err(occupied(column, *step));
        }
    }
    Ok(())
}

/// The error of a cell that has another entry.
pub(crate) fn occupied(column: &Name, step: usize) -> StoreError {
    StoreError::other(format!("`{column}` at step {step} is there already, and is something else"))
}
