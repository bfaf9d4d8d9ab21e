//! Where a flow comes from and how its columns change: taken up from a store, with further columns,
//! with fewer, or forked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Running, Shared, State};
use crate::compute::Settings;
use crate::error::{Error, Result};
use crate::name::Name;
use crate::plan::Plan;
use crate::scheduler::{Cell, Unloadable};
use crate::store::{Entry, StoreError};

/// So many forks are remembered, those of the last steps: a flow that is forked time and again stays as it is.
const FORKS: usize = 16;

impl Shared {
    /// Takes over what the store holds, sources first: a step begins when they have their values.
    pub(crate) async fn restore(&self) -> Result<()> {
        let _writing = self.writing.lock().await;
        let plan = self.plan();
        if let Some(store) = &self.store {
            store.open().await.map_err(|source| Error::Open { source })?;
        }
        self.lock().scheduler.restore();
        loop {
            let Some(column) = self.lock().scheduler.poll_load() else { return Ok(()) };
            let entries = self.load(&plan, column).await?;
            let loaded = self.lock().load(column, entries);
            loaded.map_err(|error| unloadable(&plan, column, error))?;
        }
    }

    async fn load(&self, plan: &Plan, column: usize) -> Result<Vec<(usize, Entry)>> {
        let (Some(store), name) = (&self.store, plan.schema().name(column)) else { return Ok(Vec::new()) };
        store
            .load(name.clone(), 0..usize::MAX)
            .await
            .map_err(|source| Error::Load { column: name.clone(), source })
    }

    /// What is known already of the columns that a longer plan has at its end.
    pub(crate) async fn load_added(&self, plan: &Plan) -> Result<Vec<Loaded>> {
        let mut loaded = Vec::new();
        for column in self.plan().schema().columns().len()..plan.schema().columns().len() {
            let retired = self.lock().retired.get(plan.schema().name(column)).cloned();
            let entries = match retired {
                Some(entries) => entries,
                None => self.load(plan, column).await?,
            };
            loaded.push((column, entries));
        }
        Ok(loaded)
    }

    /// Goes on with a longer plan. On an error nothing has changed.
    pub(super) fn extend(
        &self,
        plan: Arc<Plan>,
        loaded: Vec<Loaded>,
        settings: Vec<Arc<Settings>>,
    ) -> Result<()> {
        let mut state = self.lock();
        for (column, entries) in &loaded {
            let checked = state.scheduler.check_loaded(&steps(entries));
            checked.map_err(|error| unloadable(&plan, *column, error))?;
        }
        state.scheduler.extend(Arc::clone(&plan));
        state.settle(settings);
        for (column, entries) in loaded {
            state.retired.remove(plan.schema().name(column));
            state.load(column, entries).map_err(|error| unloadable(&plan, column, error))?;
        }
        state.plan = plan;
        state.wake();
        Ok(())
    }

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
        next.retired = state.retire(origins);
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
            settings: Vec::new(),
            counter: Arc::clone(&self.counter),
            budget: self.budget.clone(),
            pace: self.pace,
            allowances: Vec::new(),
            forks: self.forks.clone(),
            retired: BTreeMap::new(),
            run: Running::No,
        };
        // A fork knows of itself from its first step on, and of others as far as they were known there.
        derived.forks.retain(|at, since| *at <= step && *since <= step);
        if step < usize::MAX {
            derived.forks.insert(step, step);
        }
        derived.settle(settings);
        let allowance = |origin: &Option<usize>| {
            let allowance = self.allowances.get((*origin)?)?.as_ref()?;
            Some(allowance.before(step))
        };
        derived.allowances = origins.iter().map(allowance).collect();
        derived
    }

    /// What is stored of the columns that are no origin, besides what is retired already.
    fn retire(&self, origins: &[Option<usize>]) -> BTreeMap<Name, Vec<(usize, Entry)>> {
        let mut retired = self.retired.clone();
        let columns = 0..self.plan.schema().columns().len();
        for column in columns.filter(|&column| !origins.contains(&Some(column))) {
            let cells = (0..self.scheduler.opened()).filter_map(|step| {
                let cell = Cell { column, step };
                let skipped = self.scheduler.is_skipped(cell).then_some(Entry::Skipped);
                Some((step, self.table.get(cell).map(Entry::Value).or(skipped)?))
            });
            retired.insert(self.plan.schema().name(column).clone(), cells.collect());
        }
        retired
    }

    /// Takes up what a store holds of a column.
    fn load(&mut self, column: usize, entries: Vec<(usize, Entry)>) -> Result<(), Unloadable> {
        self.scheduler.handle_loaded(column, steps(&entries))?;
        for (step, entry) in entries {
            if let Entry::Value(value) = entry {
                let tokens = self.counter.count(&value);
                self.table.insert(Cell { column, step }, value, tokens);
            }
        }
        self.wake();
        Ok(())
    }
}

/// What a store holds of a column.
pub(crate) type Loaded = (usize, Vec<(usize, Entry)>);

/// Which steps there are, and whether they are empty.
fn steps(entries: &[(usize, Entry)]) -> Vec<(usize, bool)> {
    entries.iter().map(|(step, entry)| (*step, *entry == Entry::Skipped)).collect()
}

fn unloadable(plan: &Plan, column: usize, error: Unloadable) -> Error {
    Error::Load { column: plan.schema().name(column).clone(), source: StoreError::other(error) }
}
