//! Reading a store that may be damaged: each answer is checked before anything depends on the answer.

use std::ops::Range;

use super::contract::{StepEntries, Store};
use super::error::StoreError;
use crate::declare::Name;
use crate::history::StoredSteps;

/// A number of steps that no column can have. Adding to a step below this number does not overflow.
const MAX_STEPS: usize = isize::MAX.unsigned_abs();

/// The length up to which a prefix costs little, even if the number is wrong.
const FEW: usize = 512;

pub(crate) const NOT_RETURNED: &str = "the store lists it and cannot return it";

/// The stored steps of a column as the store lists them, in order. Nothing is read, so listed steps may be missing.
pub(crate) async fn listed_steps(store: &dyn Store, column: &Name) -> Result<StoredSteps, StoreError> {
    let stored_steps = store.stored_steps(column.clone()).await?;
    // The first step after the prefix is not stored.
    let mut least = stored_steps.prefix.saturating_add(1);
    for &step in &stored_steps.beyond {
        if step < least {
            return Err(StoreError::corrupt(column, step, "the store lists it twice or out of order"));
        }
        least = step.saturating_add(1);
    }
    let last = stored_steps.beyond.last().copied().or(stored_steps.prefix.checked_sub(1));
    match last.filter(|last| *last >= MAX_STEPS) {
        Some(last) => {
            Err(StoreError::corrupt(column, last, "the store lists it, and no column has so many steps"))
        }
        None => Ok(stored_steps),
    }
}

/// The stored steps of a column. The last step of a long prefix is read, since the length may be damaged, and each
/// step of a prefix takes time and memory.
pub(crate) async fn stored_steps(store: &dyn Store, column: &Name) -> Result<StoredSteps, StoreError> {
    let stored_steps = listed_steps(store, column).await?;
    if let Some(last) = stored_steps.prefix.checked_sub(1).filter(|last| *last >= FEW)
        && load(store, column, last..last + 1).await?.is_empty()
    {
        return Err(StoreError::corrupt(column, last, NOT_RETURNED));
    }
    Ok(stored_steps)
}

/// The stored entries of a column within these steps, ascending and each once.
pub(crate) async fn load(
    store: &dyn Store,
    column: &Name,
    steps: Range<usize>,
) -> Result<StepEntries, StoreError> {
    let mut entries = store.load(column.clone(), steps.clone()).await?;
    entries.retain(|(step, _)| steps.contains(step));
    // Stores may return entries in any order.
    entries.sort_unstable_by_key(|(step, _)| *step);
    let twice = entries.iter().zip(entries.iter().skip(1)).find(|(one, next)| one.0 == next.0);
    match twice {
        Some(((step, _), _)) => Err(StoreError::corrupt(column, *step, "the store returned it twice")),
        None => Ok(entries),
    }
}
