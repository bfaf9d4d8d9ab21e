//! Where a flow comes from and how its columns change: taken up from a store, with further columns,
//! with fewer, or forked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Running, Shared, State, empty_source};
use crate::error::{Error, Result};
use crate::name::Name;
use crate::plan::Plan;
use crate::scheduler::{Cell, Rules};
use crate::store::Entry;

impl Shared {
    /// Takes over what the store holds, sources first: a step begins when they have their values.
    pub(crate) async fn restore(&self) -> Result<()> {
        let _writing = self.writing.lock().await;
        let plan = self.plan();
        let columns = 0..plan.schema().columns().len();
        let (sources, derived): (Vec<_>, Vec<_>) =
            columns.partition(|&column| plan.schema().is_source(column));
        for source in sources {
            let mut entries = self.load(&plan, source).await?;
            entries.sort_by_key(|(step, _)| *step);
            let name = plan.schema().name(source);
            for (expected, (step, entry)) in entries.into_iter().enumerate() {
                if step != expected {
                    let problem = format!("step {expected} is not there, but step {step} is").into();
                    return Err(Error::Load { column: name.clone(), source: problem });
                }
                let value = entry.value().ok_or_else(|| empty_source(name, step))?;
                self.lock().pushed(Cell { column: source, step }, value);
            }
        }
        for column in derived {
            let restored = Restored { column, cells: self.load(&plan, column).await? };
            let mut state = self.lock();
            restored.check(&plan, state.scheduler.opened())?;
            state.restore(restored);
        }
        Ok(())
    }

    async fn load(&self, plan: &Plan, column: usize) -> Result<Vec<(usize, Entry)>> {
        let (Some(store), name) = (&self.store, plan.schema().name(column)) else { return Ok(Vec::new()) };
        store.load(name.clone()).await.map_err(|source| Error::Load { column: name.clone(), source })
    }

    /// What is known already of the columns that a longer plan has at its end.
    pub(crate) async fn load_added(&self, plan: &Plan) -> Result<Vec<Restored>> {
        let mut restored = Vec::new();
        for column in self.plan().schema().columns().len()..plan.schema().columns().len() {
            let retired = self.lock().retired.get(plan.schema().name(column)).cloned();
            let cells = match retired {
                Some(cells) => cells,
                None => self.load(plan, column).await?,
            };
            restored.push(Restored { column, cells });
        }
        Ok(restored)
    }

    /// Goes on with a longer plan. On an error nothing has changed.
    pub(super) fn extend(&self, plan: Arc<Plan>, restored: Vec<Restored>, rules: &[Rules]) -> Result<()> {
        let mut state = self.lock();
        restored.iter().try_for_each(|restored| restored.check(&plan, state.scheduler.opened()))?;
        state.plan = Arc::clone(&plan);
        state.scheduler.extend(plan);
        state.rule(rules);
        for restored in restored {
            let name = state.plan.schema().name(restored.column).clone();
            state.retired.remove(&name);
            state.restore(restored);
        }
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
        rules: &[Rules],
    ) -> Self {
        let state = self.lock().derive(plan, origins, step);
        Self::of(state, None, rules)
    }

    /// Goes on with fewer columns, those that `origins` names. Not while a run goes on, which may be
    /// computing one of the others.
    pub(super) fn reduce(&self, plan: Arc<Plan>, origins: &[Option<usize>], rules: &[Rules]) -> Result<()> {
        let mut state = self.lock();
        if matches!(state.run, Running::Yes(_)) {
            return Err(Error::Running);
        }
        let mut next = state.derive(plan, origins, usize::MAX);
        next.retired = state.retire(origins);
        next.rule(rules);
        *state = next;
        Ok(())
    }

    /// The steps before which this flow can be forked.
    pub(crate) fn forkable(&self, step: usize) -> Result<()> {
        let state = self.lock();
        let schema = state.plan.schema();
        match schema.sources().find(|&source| state.scheduler.len(source) < step) {
            Some(source) => Err(Error::Missing { column: schema.name(source).clone(), step: step - 1 }),
            None => Ok(()),
        }
    }
}

impl State {
    fn derive(&self, plan: Arc<Plan>, origins: &[Option<usize>], step: usize) -> Self {
        let scheduler = self.scheduler.derive(Arc::clone(&plan), origins, step);
        let (table, retired) = (self.table.derive(origins, step), BTreeMap::new());
        Self { plan, scheduler, table, retired, run: Running::No }
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

    fn restore(&mut self, restored: Restored) {
        for (step, entry) in restored.cells {
            let cell = Cell { column: restored.column, step };
            if self.scheduler.handle_restored(cell, entry == Entry::Skipped).is_ok()
                && let Entry::Value(value) = entry
            {
                self.table.insert(cell, value);
            }
        }
    }
}

/// What a store holds of a derived column.
pub(crate) struct Restored {
    column: usize,
    cells: Vec<(usize, Entry)>,
}

impl Restored {
    /// Refuses values of steps that have not begun.
    fn check(&self, plan: &Plan, opened: usize) -> Result<()> {
        match self.cells.iter().find(|(step, _)| *step >= opened) {
            None => Ok(()),
            Some((step, _)) => {
                let source =
                    format!("it holds a value for step {step}, but only {opened} steps have begun").into();
                Err(Error::Load { column: plan.schema().name(self.column).clone(), source })
            }
        }
    }
}
