//! From one store into another.

use std::ops::Range;

use futures::future::join_all;

use super::{Entry, Put, Store, StoreError, StoredSteps};
use crate::declare::Name;

/// The most steps of a column, or rows of a table, that are moved or held in memory at once.
pub(crate) const CHUNK: usize = 512;

/// The runs of steps, none longer than what is moved at once, in which anything of these steps is stored.
pub(crate) fn chunks(stored_steps: &StoredSteps, steps: &Range<usize>) -> Vec<Range<usize>> {
    let mut chunks: Vec<Range<usize>> = Vec::new();
    for step in stored_steps.within(steps) {
        match chunks.last_mut() {
            Some(chunk) if step - chunk.start < CHUNK => chunk.end = step + 1,
            _ => chunks.push(step..step + 1),
        }
    }
    chunks
}

/// Copies what is stored of a column before a step. An earlier copy may have come so far, but no further.
pub(crate) async fn copy(
    from: &dyn Store,
    into: &dyn Store,
    column: &Name,
    before: usize,
) -> Result<(), StoreError> {
    let beyond = into.stored_steps(column.clone()).await?.within(&(before..usize::MAX)).next();
    if let Some(step) = beyond {
        return Err(StoreError::other(format!(
            "the store to copy into holds `{column}` at step {step} already: use an empty one"
        )));
    }
    let stored_steps = from.stored_steps(column.clone()).await?;
    for chunk in chunks(&stored_steps, &(0..before)) {
        put_all(into, column, from.load(column.clone(), chunk).await?).await?;
    }
    Ok(())
}

/// Stores entries, some of which may be there already.
pub(crate) async fn put_all(
    into: &dyn Store,
    column: &Name,
    entries: Vec<(usize, Entry)>,
) -> Result<(), StoreError> {
    let puts = entries.iter().map(|(step, entry)| into.put(column.clone(), *step, entry.clone()));
    for (put, (step, entry)) in join_all(puts).await.into_iter().zip(&entries) {
        if let Put::Exists(existing) = put?
            && !existing.holds(entry)
        {
            return Err(StoreError::other(format!(
                "`{column}` at step {step} is there already, and is something else"
            )));
        }
    }
    Ok(())
}
