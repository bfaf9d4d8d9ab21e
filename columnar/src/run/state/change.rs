//! Flows made of others: with fewer columns, or forked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Running, Shared, State, Stored};
use crate::compute::Settings;
use crate::declare::{Name, Plan};
use crate::run::{Error, Result};
use crate::schedule::Cell;
use crate::store::{Entry, Store};

/// So many forks are remembered, those of the last steps: a flow that is forked time and again stays as it is.
const FORKS: usize = 16;

impl Shared {
    /// Another flow that shares the past of this one: what is stored before `step` of the columns that
    /// `origins` names for those of `plan`. It is kept in memory.
    pub(super) fn derive(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        step: usize,
        settings: Vec<Arc<Settings>>,
    ) -> Self {
        let state = self.lock().derive(plan, origins, step, settings);
        Self::of(state, None)
    }

    /// The same flow on top of a store, which has all that it has.
    pub(super) fn on(self, store: Arc<dyn Store>, stored: Stored) -> Self {
        self.lock().stored = stored;
        Self { store: Some(store), ..self }
    }

    /// Goes on with fewer columns, those that `origins` names. Not while a run goes on, which may be
    /// computing one of the others.
    pub(super) fn reduce(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        settings: Vec<Arc<Settings>>,
    ) -> Result<()> {
        let mut state = self.lock();
        if matches!(state.run, Running::Yes(_)) {
            return Err(Error::Running);
        }
        let mut next = state.derive(plan, origins, usize::MAX, settings);
        // What is stored somewhere is found there again.
        if self.store.is_none() {
            next.retired = state.retire(origins);
        }
        *state = next;
        Ok(())
    }

    /// Takes note of a fork that begins at this step.
    pub(crate) fn forking(&self, step: usize) -> Result<()> {
        let mut state = self.lock();
        let schema = state.plan.schema();
        if let Some(source) = schema.sources().find(|&source| state.scheduler.len(source) < step) {
            return Err(Error::Missing { column: schema.name(source).clone(), step: step - 1 });
        }
        let since = state.scheduler.opened();
        state.forks.entry(step).or_insert(since);
        if state.forks.len() > FORKS {
            state.forks.pop_first();
        }
        Ok(())
    }
}

impl State {
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
