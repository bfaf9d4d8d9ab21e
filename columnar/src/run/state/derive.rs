//! Flows that share the past of another one: forks, and flows with replaced or removed columns.
//!
//! The past is shared and never edited: forks and replaced columns must not change stored contexts.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use super::past::LoadedValues;
use super::{FlowState, PastColumn, Unloaded};
use crate::compute::{Step, StepSettings};
use crate::declare::{Name, Plan};
use crate::history::{StoredSteps, Value};
use crate::model::usage::{CellReceipt, Receipt};
use crate::run::reopen::FlowDefinition;
use crate::run::shared::SharedFlow;
use crate::run::user_code::{ComputeSteps, settings};
use crate::run::{Error, Result};
use crate::schedule::Cell;
use crate::store::Store;

/// The most forks that a flow remembers. Forks of the first steps are forgotten first.
const FORKS: usize = 16;

/// A column that has values of another flow, as if this one had computed them.
pub(crate) struct AdoptedColumn {
    pub(crate) column: usize,
    /// The values, with their receipts, by step.
    pub(crate) cells: Vec<(usize, Value, Option<Arc<Receipt>>)>,
}

impl AdoptedColumn {
    pub(crate) fn without_values(column: usize) -> Self {
        Self { column, cells: Vec::new() }
    }

    fn stored_steps(&self) -> StoredSteps {
        self.cells.iter().map(|(step, ..)| *step).collect()
    }
}

impl SharedFlow {
    /// A flow with the columns of `plan`, in memory. `origins` gives, for each column, the column of this flow whose
    /// values the new flow takes over; a column with adopted values has none.
    pub(crate) fn derive(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        steps: &ComputeSteps<'_>,
        adopted: Option<AdoptedColumn>,
    ) -> Self {
        let settings = steps.settings();
        let stored_steps = adopted.as_ref().map(|adopted| (adopted.column, adopted.stored_steps()));
        let stored_steps = stored_steps.as_ref().map(|(column, steps)| (*column, steps));
        let mut state = self.lock().derive(plan, origins, usize::MAX, settings, stored_steps);
        // No lock guards the new state: the counter is called, and so are the names of models.
        if let Some(adopted) = adopted {
            state.adopt_column(adopted);
        }
        Self::of(state, None)
    }

    /// A flow with the same columns and the values before `step`, in memory.
    pub(crate) fn fork(&self, step: usize) -> Result<Self> {
        let state = self.lock().fork(step)?;
        Ok(Self::of(state, None))
    }

    /// A fork on an empty store, which gets a copy of the values.
    pub(crate) async fn fork_into(&self, step: usize, store: Arc<dyn Store>) -> Result<Self> {
        let mut state = self.lock().fork(step)?;
        // A cell that is stored meanwhile may be in the copy alone: the fork gets `Put::Exists` for that cell.
        self.copy_fork(step, &mut state, &*store).await?;
        let FlowState { unloaded, stored, .. } = &mut state;
        for (column, unloaded) in unloaded {
            if let Some(key) = stored.key(*column) {
                *unloaded = unloaded.copied(Arc::clone(&store), key.clone(), stored.attachments.clone());
            }
        }
        Ok(Self::of(state, Some(store)))
    }

    /// Removes the columns that `origins` does not name. Fails during a run, which may be computing some. The caller calls
    /// [`wake`](Self::wake) without a lock.
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
        if state.is_running {
            return Err(Error::Running);
        }
        let mut next = state.derive(plan, origins, usize::MAX, settings(&left), None);
        // A store keeps the entries and declarations of removed columns itself.
        if self.store.is_none() {
            (next.stored.definition, next.removed) = state.removed_columns(origins);
        }
        next.has_unknown_exclusion = state.has_unknown_exclusion;
        next.generation = state.generation + 1;
        let removed = (mem::replace(&mut *state, next), mem::replace(&mut *steps, left));
        drop((state, steps));
        // Outside of the locks: these are the last to have the filters and the compute steps of the removed columns.
        drop(removed);
        Ok(())
    }
}

impl FlowState {
    /// The state of a fork at this step. This state remembers the fork.
    fn fork(&mut self, step: usize) -> Result<Self> {
        let schema = self.plan.schema();
        if let Some(source) = schema.sources().find(|&source| self.scheduler.len(source) < step) {
            // No underflow: `step` is greater than a length.
            return Err(Error::Missing { column: schema.name(source).clone(), step: step - 1 });
        }
        let since = self.scheduler.begun();
        // An earlier fork at this step stays, because contexts since then take that fork into account.
        self.forks.entry(step).or_insert(since);
        if self.forks.len() > FORKS {
            self.forks.pop_first();
        }
        Ok(self.before(step))
    }

    /// The state of a flow with the same columns and the values before `step`.
    pub(crate) fn before(&self, step: usize) -> Self {
        let plan = Arc::clone(&self.plan);
        let settings = self.settings.clone();
        let origins: Vec<_> = (0..plan.schema().columns().len()).map(Some).collect();
        self.derive(plan, &origins, step, settings, None)
    }

    /// The state of a flow with the columns of `plan` and, of each origin, the values before `step`. `adopted` has a column
    /// without origin, and the steps whose values are inserted later.
    fn derive(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        step: usize,
        settings: Vec<Arc<StepSettings>>,
        adopted: Option<(usize, &StoredSteps)>,
    ) -> Self {
        let scheduler = self.scheduler.derive(Arc::clone(&plan), origins, step, adopted);
        let mut derived = Self {
            table: self.table.derive(origins, step),
            receipts: self.receipts.derive(origins, step),
            requests: self.requests.derive(origins),
            counter: Arc::clone(&self.counter),
            budget: self.budget.clone(),
            defaults: Arc::clone(&self.defaults),
            forks: self.forks.clone(),
            documents: self.documents.clone(),
            logs: self.logs.clone(),
            exclusions: Arc::new(self.exclusions.before(step)),
            unloaded: self.derive_unloaded(origins, step),
            stored: self.stored.derive(&plan, origins),
            rehearsed: self.rehearsed.clone(),
            is_stale: self.is_stale,
            ..Self::empty(plan, scheduler)
        };
        derived.documents.retain(|_, (steps, _)| *steps <= step);
        derived.logs.retain(|_, (steps, _)| *steps <= step);
        // A fork counts for all own contexts, from the first step on. Forks of later steps are not in the past.
        derived.forks.retain(|at, since| *at <= step && *since <= step);
        if step < usize::MAX {
            derived.forks.insert(step, step);
        }
        drop(derived.set_settings(settings));
        let contexts = origins.iter().map(|origin| Some(self.kept((*origin)?)?.before(step)));
        // Only now, because `set_settings` forgets contexts. These know the truncations of the shared past.
        derived.contexts = contexts.collect();
        derived
    }

    /// Inserts adopted values, of cells that count as stored. Calls the counter.
    fn adopt_column(&mut self, AdoptedColumn { column, cells }: AdoptedColumn) {
        let made = Some(self.fingerprint(column));
        for (step, value, calls) in cells {
            let cell = Cell { column, step };
            let tokens = self.counter.count(&value);
            self.table.insert(cell, value, tokens);
            self.receipts.insert(cell, CellReceipt { calls, made, ..CellReceipt::default() });
        }
    }

    fn derive_unloaded(&self, origins: &[Option<usize>], step: usize) -> BTreeMap<usize, Unloaded> {
        let columns = origins.iter().enumerate().filter_map(|(column, origin)| {
            let unloaded = self.unloaded.get(&(*origin)?)?.before(step);
            (!unloaded.steps.is_empty()).then_some((column, unloaded))
        });
        columns.collect()
    }

    /// The columns that `origins` does not name, and those that were removed before, by the keys that a store would
    /// have; and the declarations of all columns.
    fn removed_columns(&self, origins: &[Option<usize>]) -> (FlowDefinition, BTreeMap<Name, Unloaded>) {
        let mut removed = self.removed.clone();
        let schema = self.plan.schema();
        let mut definition = self.stored.definition.clone();
        let keys = definition.keys(schema);
        let updated = definition.update(schema, &keys, &self.settings, 0, |_, _| true);
        debug_assert!(updated.is_ok(), "every change is allowed");
        let columns = 0..schema.columns().len();
        for column in columns.filter(|&column| !origins.contains(&Some(column))) {
            let unloaded = self.unloaded.get(&column);
            let mut steps = self.scheduler.stored_steps(column);
            if let Some(unloaded) = unloaded {
                steps = steps.minus(&unloaded.steps);
            }
            let loaded = LoadedValues {
                steps,
                history: self.table.history(column),
                receipts: self.receipts.derive(&[Some(column)], usize::MAX),
                skipped: self.scheduler.skipped_steps(column).collect(),
            };
            let past = PastColumn {
                name: self.name(column).clone(),
                is_source: schema.is_source(column),
                counter: Arc::clone(&self.counter),
                stored: None,
            };
            let unloaded = Unloaded::removed(past, loaded, unloaded);
            removed.extend(keys.get(column).map(|key| (key.clone(), unloaded)));
        }
        (definition, removed)
    }
}
