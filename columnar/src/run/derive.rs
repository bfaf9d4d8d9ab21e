//! Flows made of others: with fewer columns, or forked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::compute_steps::{ComputeSteps, settings};
use super::shared::Shared;
use super::state::{Running, State};
use super::{Error, Result};
use crate::compute::{Settings, Step};
use crate::declare::{Name, Plan};
use crate::schedule::Cell;
use crate::store::{Entry, Store};

/// So many forks are remembered, those of the last steps: a flow that is forked time and again stays as it is.
const FORKS: usize = 16;

impl Shared {
    /// Another flow that shares the past of this one: the values of the columns that `origins` names for those of
    /// `plan`. It is kept in memory.
    pub(crate) fn derive(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        steps: &ComputeSteps<'_>,
    ) -> Self {
        let settings = steps.settings();
        Self::of(self.lock().derive(plan, origins, usize::MAX, settings), None)
    }

    /// Another flow with the same columns and the steps of this one before `step`. It is kept in memory.
    pub(crate) fn fork(&self, step: usize) -> Result<Self> {
        let state = self.lock().fork(step)?;
        Ok(Self::of(state, None))
    }

    /// The same on top of an empty store, which gets a copy of these steps.
    pub(crate) async fn fork_into(&self, step: usize, store: Arc<dyn Store>) -> Result<Self> {
        let mut state = self.lock().fork(step)?;
        state.stored = self.store_fork(step, &*store).await?;
        Ok(Self::of(state, Some(store)))
    }

    /// Removes the columns that `origins` does not name, unless a run may be computing them.
    pub(crate) fn reduce<'a>(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        steps: &ComputeSteps<'a>,
        left: Vec<Option<Step<'a>>>,
    ) -> Result<()> {
        // A run that begins meanwhile waits here for the steps of the new plan.
        let mut steps = steps.lock();
        let mut state = self.lock();
        if matches!(state.run, Running::Yes(_)) {
            return Err(Error::Running);
        }
        let mut next = state.derive(plan, origins, usize::MAX, settings(&left));
        // What is stored somewhere is found there again.
        if self.store.is_none() {
            next.retired = state.retire(origins);
        }
        *state = next;
        *steps = left;
        Ok(())
    }
}

impl State {
    /// Remembers a fork at this step, and returns its state.
    fn fork(&mut self, step: usize) -> Result<Self> {
        let schema = self.plan.schema();
        if let Some(source) = schema.sources().find(|&source| self.scheduler.len(source) < step) {
            return Err(Error::Missing { column: schema.name(source).clone(), step: step - 1 });
        }
        let since = self.scheduler.opened();
        self.forks.entry(step).or_insert(since);
        if self.forks.len() > FORKS {
            self.forks.pop_first();
        }
        let (plan, settings) = (Arc::clone(&self.plan), self.settings.clone());
        let origins: Vec<_> = (0..plan.schema().columns().len()).map(Some).collect();
        Ok(self.derive(plan, &origins, step, settings))
    }

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
            assemblers: Vec::new(),
            forks: self.forks.clone(),
            retired: BTreeMap::new(),
            stored: self.stored.derive(origins),
            run: Running::No,
        };
        // A fork knows of itself from its first step on, and of others as far as they were known there.
        derived.forks.retain(|at, since| *at <= step && *since <= step);
        if step < usize::MAX {
            derived.forks.insert(step, step);
        }
        derived.settle(settings);
        let assembler = |origin: &Option<usize>| {
            let assembler = self.assemblers.get((*origin)?)?.as_ref()?;
            Some(assembler.before(step))
        };
        derived.assemblers = origins.iter().map(assembler).collect();
        derived
    }

    /// What is stored of the columns that are no origin, besides what is retired already.
    fn retire(&self, origins: &[Option<usize>]) -> BTreeMap<Name, Vec<(usize, Entry)>> {
        let mut retired = self.retired.clone();
        let columns = 0..self.plan.schema().columns().len();
        for column in columns.filter(|&column| !origins.contains(&Some(column))) {
            let cells = (0..self.scheduler.opened())
                .filter_map(|step| Some((step, self.entry(Cell { column, step })?)));
            retired.insert(self.plan.schema().name(column).clone(), cells.collect());
        }
        retired
    }
}
