//! Code of users in a flow: the compute steps of the columns, and calls of filters, counters, stores, wakers and models,
//! which may panic. A panic costs one cell: a broken function must not end the flow.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll};

use futures::future::FutureExt;

#[cfg(feature = "simulation")]
use crate::compute::{Context, Reply};
use crate::compute::{Step, StepSettings};
use crate::declare::error::CaughtFuture;
pub(crate) use crate::declare::error::{caught, discard};
use crate::store::{StoreError, StoreFuture};

/// The compute steps of a flow, by column; `None` for a source. Clones share the list, so a run finds the steps of
/// the columns that are added.
///
/// Compute steps may borrow, and handles of columns have no lifetime. So the steps are apart from
/// [`SharedFlow`](super::SharedFlow), which handles hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComputeSteps<'a>(Arc<Mutex<Vec<Option<Step<'a>>>>>);

impl<'a> ComputeSteps<'a> {
    pub(crate) fn new(steps: Vec<Option<Step<'a>>>) -> Self {
        Self(Arc::new(Mutex::new(steps)))
    }

    // A clone, because a step that is called may change the list.
    pub(crate) fn get(&self, column: usize) -> Option<Step<'a>> {
        self.lock().get(column).cloned().flatten()
    }

    /// The settings of all columns, by column.
    pub(crate) fn settings(&self) -> Vec<Arc<StepSettings>> {
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

    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Option<Step<'a>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The settings of columns, by column.
pub(crate) fn settings(steps: &[Option<Step<'_>>]) -> Vec<Arc<StepSettings>> {
    steps
        .iter()
        .map(|step| step.as_ref().map(|step| Arc::clone(&step.settings)).unwrap_or_default())
        .collect()
}

/// A request to a store. A panic of the store, whether called, polled or dropped, is an error of the request.
pub(crate) struct StoreRequest<T>(CaughtFuture<Result<T, StoreError>>);

impl<T> StoreRequest<T> {
    pub(crate) fn new(call: impl FnOnce() -> StoreFuture<T>) -> Self {
        Self(CaughtFuture::new(call))
    }
}

impl<T> Future for StoreRequest<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let polled = self.0.poll_unpin(task);
        polled.map(|done| {
            done.unwrap_or_else(|| Err(StoreError::other("the store panicked, which is a bug in it")))
        })
    }
}
