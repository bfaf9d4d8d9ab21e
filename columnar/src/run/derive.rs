//! Flows that share their past with another one: forks, and flows with replaced or removed columns.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use super::compute_steps::{ComputeSteps, settings};
use super::exclusions::store_exclusions;
use super::past::{Loaded, Unloaded};
use super::shared::Shared;
use super::state::{RunState, State};
use super::{Error, Result};
use crate::compute::{Settings, Step};
use crate::declare::{Name, Plan};
use crate::run::reopen::Definition;
use crate::store::Store;

/// The most forks that a flow remembers. Those of the first steps are forgotten first.
const FORKS: usize = 16;

impl Shared {
    /// A flow with the columns of `plan`, in memory. `origins` gives, for each of them, the column of this flow whose
    /// values it takes over.
    pub(crate) fn derive(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        steps: &ComputeSteps<'_>,
    ) -> Self {
        let settings = steps.settings();
        Self::of(self.lock().derive(plan, origins, usize::MAX, settings), None)
    }

    /// A flow with the same columns and the values before `step`, in memory.
    pub(crate) fn fork(&self, step: usize) -> Result<Self> {
        let state = self.lock().fork(step)?;
        Ok(Self::of(state, None))
    }

    /// A fork on an empty store, which gets a copy of the values.
    pub(crate) async fn fork_into(&self, step: usize, store: Arc<dyn Store>) -> Result<Self> {
        let mut state = self.lock().fork(step)?;
        // A cell that is stored meanwhile may be in the copy alone: the fork gets `Put::Exists` for it.
        state.stored = self.copy_fork(step, &*store).await?;
        store_exclusions(&state, &*store).await?;
        let State { unloaded, stored, .. } = &mut state;
        for (column, unloaded) in unloaded {
            if let Some(key) = stored.key(*column) {
                *unloaded = unloaded.copied((Arc::clone(&store), key.clone()));
            }
        }
        Ok(Self::of(state, Some(store)))
    }

    /// Removes the columns that `origins` does not name. Fails during a run, which may be computing them. The caller calls
    /// [`wake`](Self::wake) when it holds no lock.
    pub(crate) fn remove_columns<'a>(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        steps: &ComputeSteps<'a>,
        left: Vec<Option<Step<'a>>>,
    ) -> Result<()> {
        // Both change under both locks, so a run that begins now finds the compute steps of the new plan.
        let mut steps = steps.lock();
        let mut state = self.lock();
        if matches!(state.run, RunState::Active(_)) {
            return Err(Error::Running);
        }
        let mut next = state.derive(plan, origins, usize::MAX, settings(&left));
        // A store keeps the entries of removed columns and their declarations itself.
        if self.store.is_none() {
            (next.stored.definition, next.removed) = state.removed_columns(origins);
        }
        next.has_unknown_exclusion = state.has_unknown_exclusion;
        next.generation = state.generation + 1;
        let removed = (mem::replace(&mut *state, next), mem::replace(&mut *steps, left));
        drop((state, steps));
        // Outside of the locks: they are the last to have the filters and the compute steps of the removed columns.
        drop(removed);
        Ok(())
    }
}

impl State {
    /// The state of a fork at this step. This state remembers the fork.
    fn fork(&mut self, step: usize) -> Result<Self> {
        let schema = self.plan.schema();
        if let Some(source) = schema.sources().find(|&source| self.scheduler.len(source) < step) {
            // No underflow: `step` is greater than a length.
            return Err(Error::Missing { column: schema.name(source).clone(), step: step - 1 });
        }
        let since = self.scheduler.begun();
        // An earlier fork at this step stays, because contexts since then take it into account.
        self.forks.entry(step).or_insert(since);
        if self.forks.len() > FORKS {
            self.forks.pop_first();
        }
        Ok(self.before(step))
    }

    /// The state of a flow with the same columns and the values before `step`.
    pub(super) fn before(&self, step: usize) -> Self {
        let (plan, settings) = (Arc::clone(&self.plan), self.settings.clone());
        let origins: Vec<_> = (0..plan.schema().columns().len()).map(Some).collect();
        self.derive(plan, &origins, step, settings)
    }

    /// The state of a flow with the columns of `plan` and, of each origin, the values before `step`.
    fn derive(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        step: usize,
        settings: Vec<Arc<Settings>>,
    ) -> Self {
        let mut derived = Self {
            scheduler: self.scheduler.derive(Arc::clone(&plan), origins, step),
            plan,
            table: self.table.derive(origins, step),
            receipts: self.receipts.derive(origins, step),
            settings: Vec::new(),
            counter: Arc::clone(&self.counter),
            budget: self.budget.clone(),
            defaults: Arc::clone(&self.defaults),
            contexts: Vec::new(),
            generation: 0,
            forks: self.forks.clone(),
            documents: self.documents.clone(),
            exclusions: Arc::new(self.exclusions.before(step)),
            has_unknown_exclusion: false,
            unloaded: self.derive_unloaded(origins, step),
            removed: BTreeMap::new(),
            stored: self.stored.derive(origins),
            run: RunState::Stopped,
            is_stale: self.is_stale,
        };
        derived.documents.retain(|_, (steps, _)| *steps <= step);
        // A fork counts for its own contexts from its first step on. Forks of later steps are not in its past.
        derived.forks.retain(|at, since| *at <= step && *since <= step);
        if step < usize::MAX {
            derived.forks.insert(step, step);
        }
        drop(derived.set_settings(settings));
        let contexts = |origin: &Option<usize>| {
            let contexts = self.contexts.get((*origin)?)?.as_ref()?;
            Some(contexts.before(step))
        };
        // Only now, because `set_settings` forgets them. They know the truncations of the shared past.
        derived.contexts = origins.iter().map(contexts).collect();
        derived
    }

    fn derive_unloaded(&self, origins: &[Option<usize>], step: usize) -> BTreeMap<usize, Unloaded> {
        let column = |(column, origin): (usize, &Option<usize>)| {
            let unloaded = self.unloaded.get(&(*origin)?)?.before(step);
            (!unloaded.steps().is_empty()).then_some((column, unloaded))
        };
        origins.iter().enumerate().filter_map(column).collect()
    }

    /// The columns that `origins` does not name, and those that were removed before, by the keys that a store would have
    /// for them; and the declarations of all columns.
    fn removed_columns(&self, origins: &[Option<usize>]) -> (Definition, BTreeMap<Name, Unloaded>) {
        let (mut removed, schema) = (self.removed.clone(), self.plan.schema());
        let mut definition = self.stored.definition.clone();
        let keys = definition.keys(schema);
        let updated = definition.update(schema, &keys, &self.settings, |_, _| true);
        debug_assert!(updated.is_ok(), "every change is allowed");
        let columns = 0..schema.columns().len();
        for column in columns.filter(|&column| !origins.contains(&Some(column))) {
            let (unloaded, mut steps) = (self.unloaded.get(&column), self.scheduler.stored_steps(column));
            if let Some(unloaded) = unloaded {
                steps = steps.minus(unloaded.steps());
            }
            let loaded = Loaded {
                steps,
                history: self.table.history(column),
                receipts: self.receipts.derive(&[Some(column)], usize::MAX),
                skipped: self.scheduler.skipped_steps(column).collect(),
            };
            let counter = Arc::clone(&self.counter);
            let unloaded = Unloaded::removed(loaded, unloaded, schema.is_source(column), counter);
            removed.extend(keys.get(column).map(|key| (key.clone(), unloaded)));
        }
        (definition, removed)
    }
}
