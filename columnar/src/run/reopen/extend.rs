//! Adding columns to a live flow, which may have stored values.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use super::restore::{StoredPlan, is_empty};
use crate::compute::Step;
use crate::declare::{Name, Plan};
use crate::history::StoredSteps;
use crate::history::tokens::{Counter, is_same};
use crate::run::shared::SharedFlow;
use crate::run::state::{FlowState, StoredColumns, Unloaded, invalid_history, load_all};
use crate::run::user_code::{ComputeSteps, settings};
use crate::run::{Error, Result};

/// A longer plan of a flow, with the compute steps and the stored values of the added columns.
pub(crate) struct Extension<'a> {
    plan: Arc<Plan>,
    steps: Vec<Option<Step<'a>>>,
    stored: StoredColumns,
    /// The stored steps of the added columns.
    stored_by_column: Vec<StoredSteps>,
    unloaded: BTreeMap<usize, Unloaded>,
}

impl SharedFlow {
    /// Prepares a change to a longer plan, with the stored values of the columns at the end. This flow does not change
    /// before [`extend`](Self::extend).
    pub(crate) async fn load_added<'a>(
        &self,
        plan: Arc<Plan>,
        steps: Vec<Option<Step<'a>>>,
    ) -> Result<Extension<'a>> {
        let (first, mut stored, may_return) = {
            let state = self.lock();
            let may_return = self.store.is_some() || !state.removed.is_empty();
            (state.plan.schema().columns().len(), state.stored.clone(), may_return)
        };
        let mut unloaded = BTreeMap::new();
        let mut stored_by_column = Vec::new();
        if may_return {
            let keys = stored.definition.keys(plan.schema());
            (unloaded, stored_by_column) = match &self.store {
                None => self.removed_before(&keys, first),
                Some(store) => {
                    let stored_plan = StoredPlan { store, plan: &plan, keys: &keys, first };
                    let stored_by_column = stored_plan.steps().await?;
                    let counter = Arc::clone(&self.lock().counter);
                    (stored_plan.unloaded(&stored_by_column, &counter, &stored.attachments), stored_by_column)
                }
            };
            self.define_added(&plan, &keys, &steps, first, &stored_by_column, &mut stored).await?;
        }
        let extension = Extension { plan, steps, stored, stored_by_column, unloaded };
        if extension.unloaded.is_empty() && self.lock().unloaded.is_empty() {
            return Ok(extension);
        }
        // A copy of the state finds what the added columns read, of all columns. An added cell may start as soon as the
        // state itself has the column.
        // On a copy, because looking for values calls filters and counters, which may use the flow.
        let mut copy = self.lock().before(usize::MAX);
        let counted = extension.counted(&copy.counter);
        drop(copy.extend(&extension, counted)?);
        load_all(|| adopted(&mut copy).recent(first)).await?;
        load_all(|| adopted(&mut copy).needed(0, &(0..usize::MAX))).await?;
        Ok(extension)
    }

    /// Declares the columns from `first` on, whose values were perhaps computed by another declaration.
    async fn define_added(
        &self,
        plan: &Plan,
        keys: &[Name],
        steps: &[Option<Step<'_>>],
        first: usize,
        stored_by_column: &[StoredSteps],
        stored: &mut StoredColumns,
    ) -> Result<()> {
        let StoredColumns { definition, kept, .. } = stored;
        let before = definition.clone();
        definition.update(plan.schema(), keys, &settings(steps), first, |column, change| {
            is_empty(stored_by_column, column - first) || kept.allow(change)
        })?;
        let Some(store) = &self.store else { return Ok(()) };
        stored.keys = keys.to_vec();
        if *definition == before {
            return Ok(());
        }
        // The definition comes before the first value: values without a definition would escape the check of changes.
        store.define(definition.text()).await.map_err(Error::open)
    }

    /// The columns from `first` on that were removed from this flow, and the stored steps.
    fn removed_before(&self, keys: &[Name], first: usize) -> (BTreeMap<usize, Unloaded>, Vec<StoredSteps>) {
        let state = self.lock();
        // Cloned, because the change may fail until `extend` takes the columns.
        let removed = keys.iter().enumerate().skip(first);
        let removed = removed.filter_map(|(column, key)| Some((column, state.removed.get(key)?.clone())));
        let unloaded: BTreeMap<usize, Unloaded> = removed.collect();
        let stored_by_column = (first..keys.len())
            .map(|column| unloaded.get(&column).map(|removed| (&removed.steps).into()).unwrap_or_default());
        (unloaded.clone(), stored_by_column.collect())
    }

    /// Changes to a longer plan. On an error the plan has not changed. The caller calls [`wake`](Self::wake) without a lock.
    pub(crate) fn extend<'a>(&self, extension: &Extension<'a>, steps: &ComputeSteps<'a>) -> Result<()> {
        // A run looks up a step at the start of a cell, so the steps change before the plan. If the plan does not change,
        // the longer list does no harm: no cell looks up the end.
        let earlier = mem::replace(&mut *steps.lock(), extension.steps.clone());
        let (mut state, counted) = loop {
            let counter = Arc::clone(&self.lock().counter);
            let counted = extension.counted(&counter);
            let state = self.lock();
            if is_same(&counter, &state.counter) {
                break (state, counted);
            }
            drop(state);
        };
        let replaced = state.extend(extension, counted)?;
        let returned = state.forget_removed(extension);
        state.is_stale = true;
        drop(state);
        // Outside of the locks, because these may be the last to have code of users.
        drop((earlier, replaced, returned));
        Ok(())
    }
}

impl Extension<'_> {
    /// The added columns with the tokens of this counter, which may have been replaced since the loading.
    fn counted(&self, counter: &Arc<dyn Counter>) -> BTreeMap<usize, Unloaded> {
        let unloaded = self.unloaded.iter();
        unloaded.map(|(column, unloaded)| (*column, unloaded.clone().counted(counter))).collect()
    }
}

impl FlowState {
    /// Takes out the removed columns that have returned.
    fn forget_removed(&mut self, extension: &Extension<'_>) -> Vec<Unloaded> {
        if self.removed.is_empty() {
            return Vec::new();
        }
        let keys = self.stored.definition.keys(extension.plan.schema());
        let keys = extension.unloaded.keys().filter_map(|&column| keys.get(column));
        keys.filter_map(|key| self.removed.remove(key)).collect()
    }

    /// Changes to a longer plan, and returns what that replaces, to be dropped outside of the lock. On an error nothing has
    /// changed.
    fn extend(
        &mut self,
        extension: &Extension<'_>,
        counted: BTreeMap<usize, Unloaded>,
    ) -> Result<impl Sized + use<>> {
        let Extension { plan, steps, stored, stored_by_column, .. } = extension;
        let extended = self.scheduler.extend(Arc::clone(plan), stored_by_column);
        extended.map_err(|(column, error)| invalid_history(plan.schema().name(column), error))?;
        self.stored = stored.clone();
        let plan = mem::replace(&mut self.plan, Arc::clone(plan));
        self.rename_excluded();
        let settings = self.set_settings(settings(steps));
        self.unloaded.extend(counted);
        Ok((plan, settings, self.adopt()))
    }
}

/// A state that no lock guards, with all values that have been loaded.
fn adopted(state: &mut FlowState) -> &mut FlowState {
    drop(state.adopt());
    state
}
