//! A flow that can run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Shared;
use super::restore::Added;
#[cfg(feature = "simulation")]
use crate::compute::{Context, Reply};
use crate::compute::{Settings, Step};
use crate::declare::Plan;
use crate::run::Result;
use crate::store::Store;

/// The shared part of a flow and its compute steps, which may borrow.
#[derive(Clone, Debug)]
pub(crate) struct Live<'a> {
    pub(crate) shared: Arc<Shared>,
    /// By column; `None` for a source. Grows when columns are added.
    steps: Arc<Mutex<Vec<Option<Step<'a>>>>>,
}

impl<'a> Live<'a> {
    pub(crate) fn new(plan: Arc<Plan>, store: Option<Arc<dyn Store>>, steps: Vec<Option<Step<'a>>>) -> Self {
        let shared = Shared::new(plan, store, settings(&steps));
        Self { shared: Arc::new(shared), steps: Arc::new(Mutex::new(steps)) }
    }

    pub(crate) fn step(&self, column: usize) -> Option<Step<'a>> {
        self.lock().get(column).cloned().flatten()
    }

    /// Puts something around every step.
    #[cfg(feature = "simulation")]
    pub(crate) fn wrap(&self, wrap: impl Fn(&Step<'a>, Context) -> Reply<'a> + Clone + Send + Sync + 'a) {
        for step in self.lock().iter_mut().flatten() {
            *step = step.clone().wrap(wrap.clone());
        }
    }

    /// Goes on with a longer plan and its steps. On an error the plan is as it was.
    pub(crate) fn extend(&self, plan: Arc<Plan>, added: Added, steps: Vec<Option<Step<'a>>>) -> Result<()> {
        let settings = settings(&steps);
        // A run looks the steps up when it starts a cell, so they must be there before the plan is.
        *self.lock() = steps;
        self.shared.extend(plan, added, settings)
    }

    /// Another flow with the same columns and the steps of this one before `step`.
    pub(crate) fn fork(&self, step: usize) -> Result<Self> {
        self.shared.forking(step)?;
        let steps = self.lock();
        let plan = self.shared.plan();
        let origins: Vec<_> = (0..plan.schema().columns().len()).map(Some).collect();
        Ok(self.derive(plan, &origins, step, steps.clone()))
    }

    /// The same on top of a store of its own.
    pub(crate) async fn fork_into(&self, step: usize, store: Arc<dyn Store>) -> Result<Self> {
        let Self { shared, steps } = self.fork(step)?;
        let stored = self.shared.store_fork(step, &*store).await?;
        let Some(shared) = Arc::into_inner(shared) else { unreachable!("nobody else has seen it") };
        Ok(Self { shared: Arc::new(shared.on(store, stored)), steps })
    }

    /// Another flow that shares the past of this one; see [`Shared::derive`].
    pub(crate) fn derive(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        step: usize,
        steps: Vec<Option<Step<'a>>>,
    ) -> Self {
        let shared = self.shared.derive(plan, origins, step, settings(&steps));
        Self { shared: Arc::new(shared), steps: Arc::new(Mutex::new(steps)) }
    }

    /// The same flow with fewer columns: those that `origins` names, with their values.
    pub(crate) fn reduce(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        steps: Vec<Option<Step<'a>>>,
    ) -> Result<()> {
        // Whoever begins a run meanwhile waits here for the steps that belong to the new plan.
        let mut known = self.lock();
        self.shared.reduce(plan, origins, settings(&steps))?;
        *known = steps;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<Step<'a>>>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn settings(steps: &[Option<Step<'_>>]) -> Vec<Arc<Settings>> {
    steps
        .iter()
        .map(|step| step.as_ref().map(|step| Arc::clone(step.settings())).unwrap_or_default())
        .collect()
}
