//! Reading from the store what a flow does not have in memory.

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
    /// Loads what is stored of the steps from this one on.
    pub(crate) async fn load(&self, step: usize) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let _writing = self.writing.lock().await;
        let plan = self.plan();
        for column in 0..plan.schema().columns().len() {
            let (key, loaded) = {
                let state = self.lock();
                (state.stored.key(column).cloned(), state.stored.loaded(column))
            };
            let (Some(key), false) = (key, step >= loaded) else { continue };
            let stored_steps = StoredSteps { prefix: loaded, beyond: Vec::new() };
            let entries = load(&**store, &plan, column, &key, step..loaded, &stored_steps).await?;
            self.take_up(&plan, column, entries)?;
            let mut state = self.lock();
            state.stored.loaded.iter_mut().skip(column).take(1).for_each(|loaded| *loaded = step);
            // What was found out about what is shown may have been without these values.
            state.assemblers.clear();
        }
        Ok(())
    }

    /// How many steps there are of which anything is stored.
    pub(crate) fn rows(&self) -> usize {
        let state = self.lock();
        state.plan.schema().sources().map(|source| state.scheduler.len(source)).max().unwrap_or(0)
    }

    /// What is stored of a column in some steps, in memory or not.
    pub(crate) async fn entries(&self, name: &Name, steps: Range<usize>) -> Result<Entries> {
        let (plan, column, mut entries, key, away) = {
            let state = self.lock();
            let column = state.find(name)?;
            let in_memory = state.stored.loaded(column).clamp(steps.start, steps.end);
            let entry = |step| Some((step, state.entry(Cell { column, step })?));
            let entries: Entries = (in_memory..steps.end).filter_map(entry).collect();
            let key = state.stored.key(column).cloned();
            (Arc::clone(&state.plan), column, entries, key, steps.start..in_memory)
        };
        if away.is_empty() {
            return Ok(entries);
        }
        let (Some(store), Some(key)) = (&self.store, key) else {
            return Err(Error::NotLoaded { column: name.clone(), step: away.start });
        };
        let stored_steps = StoredSteps { prefix: away.end, beyond: Vec::new() };
        entries.extend(load(&**store, &plan, column, &key, away, &stored_steps).await?);
        Ok(entries)
    }

    pub(super) fn take_up(&self, plan: &Plan, column: usize, entries: Entries) -> Result<()> {
        let taken = self.lock().take_up(plan, column, entries);
        taken.map_err(|error| unloadable(plan, column, error))
    }
}

/// What is stored of a column in some steps, all of it.
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
    let mut entries = loaded.map_err(|source| failed(plan, column, source))?;
    entries.sort_unstable_by_key(|(step, _)| *step);
    let mut there = entries.iter().map(|(step, _)| *step);
    match expected.find(|step| there.next() != Some(*step)) {
        Some(step) => Err(unloadable(plan, column, InvalidHistory::Withheld { step })),
        None => Ok(entries),
    }
}

pub(super) fn failed(plan: &Plan, column: usize, source: StoreError) -> Error {
    Error::Load { column: plan.schema().name(column).clone(), source }
}

pub(super) fn unloadable(plan: &Plan, column: usize, error: InvalidHistory) -> Error {
    failed(plan, column, StoreError::other(error))
}
