//! Reading values that are in the store and not in memory.

use std::ops::Range;
use std::sync::Arc;

use super::shared::Shared;
use super::state::Entries;
use super::{Error, Result};
use crate::declare::{Name, Plan};
use crate::history::StoredSteps;
use crate::schedule::{Cell, InvalidHistory};
use crate::store::{Store, StoreError};

impl Shared {
    /// Loads the stored values of the steps from this one on.
    pub(crate) async fn load(&self, step: usize) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        // Removing a column changes the indices, which this loop uses across its awaits.
        let _writing = self.writing.lock().await;
        let plan = self.plan();
        for column in 0..plan.schema().columns().len() {
            let (key, loaded) = {
                let state = self.lock();
                (state.stored.key(column).cloned(), state.stored.loaded(column))
            };
            let (Some(key), false) = (key, step >= loaded) else { continue };
            let stored_steps = StoredSteps::before(loaded);
            let entries = load(&**store, &plan, column, &key, step..loaded, &stored_steps).await?;
            self.insert_entries(&plan, column, entries)?;
            let mut state = self.lock();
            state.stored.set_loaded(column, step);
            // Assemblers cache counts and filtered values that may lack these.
            state.assemblers.clear();
        }
        Ok(())
    }

    /// The number of steps in which a source has a value.
    pub(crate) fn rows(&self) -> usize {
        let state = self.lock();
        state.plan.schema().sources().map(|source| state.scheduler.len(source)).max().unwrap_or(0)
    }

    /// The stored entries of a column within some steps, from memory and from the store.
    pub(crate) async fn entries(&self, name: &Name, steps: Range<usize>) -> Result<Entries> {
        let (plan, column, mut entries, key, not_loaded) = {
            let state = self.lock();
            let column = state.find(name)?;
            let in_memory = state.stored.loaded(column).clamp(steps.start, steps.end);
            let entry = |step| Some((step, state.entry(Cell { column, step })?));
            let entries: Entries = (in_memory..steps.end).filter_map(entry).collect();
            let key = state.stored.key(column).cloned();
            (Arc::clone(&state.plan), column, entries, key, steps.start..in_memory)
        };
        if not_loaded.is_empty() {
            return Ok(entries);
        }
        // A fork in memory of a flow with a store shares only the values that were loaded.
        let (Some(store), Some(key)) = (&self.store, key) else {
            return Err(Error::NotLoaded { column: name.clone(), step: not_loaded.start });
        };
        let stored_steps = StoredSteps::before(not_loaded.end);
        entries.extend(load(&**store, &plan, column, &key, not_loaded, &stored_steps).await?);
        Ok(entries)
    }

    pub(super) fn insert_entries(&self, plan: &Plan, column: usize, entries: Entries) -> Result<()> {
        let inserted = self.lock().insert_entries(plan, column, entries);
        inserted.map_err(|error| invalid_history(plan, column, error))
    }
}

/// Loads the entries of a column within some steps.
///
/// # Errors
///
/// If the store cannot be read, or withholds a step that is stored.
pub(super) async fn load(
    store: &dyn Store,
    plan: &Plan,
    column: usize,
    key: &Name,
    steps: Range<usize>,
    stored_steps: &StoredSteps,
) -> Result<Entries> {
    let mut expected = stored_steps.within(&steps).peekable();
    if expected.peek().is_none() {
        return Ok(Vec::new());
    }
    let loaded = store.load(key.clone(), steps.clone()).await;
    let mut entries = loaded.map_err(|source| load_error(plan, column, source))?;
    // Stores may return entries in any order.
    entries.sort_unstable_by_key(|(step, _)| *step);
    let mut loaded = entries.iter().map(|(step, _)| *step);
    match expected.find(|step| loaded.next() != Some(*step)) {
        Some(step) => Err(invalid_history(plan, column, InvalidHistory::NotReturned { step })),
        None => Ok(entries),
    }
}

pub(super) fn load_error(plan: &Plan, column: usize, source: StoreError) -> Error {
    Error::Load { column: plan.schema().name(column).clone(), source }
}

pub(super) fn invalid_history(plan: &Plan, column: usize, error: InvalidHistory) -> Error {
    load_error(plan, column, StoreError::other(error))
}
