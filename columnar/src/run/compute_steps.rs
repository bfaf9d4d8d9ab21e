//! The compute steps of a live flow.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "simulation")]
use crate::compute::{Context, Reply};
use crate::compute::{Settings, Step};

/// The compute steps of a flow, by column; `None` for a source. Clones share them, so a run finds the steps of the
/// columns that are added to it.
///
/// Compute steps may borrow. They are apart from [`Shared`](super::Shared) because handles of columns hold that and
/// have no lifetime.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComputeSteps<'a>(Arc<Mutex<Vec<Option<Step<'a>>>>>);

impl<'a> ComputeSteps<'a> {
    pub(crate) fn new(steps: Vec<Option<Step<'a>>>) -> Self {
        Self(Arc::new(Mutex::new(steps)))
    }

    pub(crate) fn get(&self, column: usize) -> Option<Step<'a>> {
        self.lock().get(column).cloned().flatten()
    }

    /// The settings of all columns, by column.
    pub(super) fn settings(&self) -> Vec<Arc<Settings>> {
        settings(&self.lock())
    }

    /// The same steps for a fork, whose columns change independently.
    pub(crate) fn fork(&self) -> Self {
        Self::new(self.lock().clone())
    }

    /// Wraps every step.
    #[cfg(feature = "simulation")]
    pub(crate) fn wrap(&self, wrap: impl Fn(&Step<'a>, Context) -> Reply<'a> + Clone + Send + Sync + 'a) {
        for step in self.lock().iter_mut().flatten() {
            *step = step.clone().wrap(wrap.clone());
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Option<Step<'a>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The settings of columns, by column.
pub(super) fn settings(steps: &[Option<Step<'_>>]) -> Vec<Arc<Settings>> {
    steps
        .iter()
        .map(|step| step.as_ref().map(|step| Arc::clone(step.settings())).unwrap_or_default())
        .collect()
}
