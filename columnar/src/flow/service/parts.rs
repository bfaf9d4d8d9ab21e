//! The parts of a flow that a task runs.

use std::ops::Deref;
use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt};

use crate::flow::{ColumnId, LiveFlow};
#[cfg(feature = "providers")]
use crate::model::Provider;
#[cfg(feature = "providers")]
use crate::run::BatchRun;
use crate::run::{ComputeSteps, Event, Result, Run, SharedFlow};

/// A flow whose parts a task can take. A method of [`Spawn`], though hidden, would be on the page of each flow of a user.
#[doc(hidden)]
pub trait HasParts {
    fn __parts(&self) -> FlowParts;
}

/// The parts of a flow that the task needs.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct FlowParts {
    pub(crate) shared: Arc<SharedFlow>,
    pub(super) steps: ComputeSteps<'static>,
    /// The provider by whose batches the task computes.
    #[cfg(feature = "providers")]
    pub(crate) batch: Option<Provider>,
}

impl FlowParts {
    fn new(shared: &Arc<SharedFlow>, steps: &ComputeSteps<'static>) -> Self {
        Self {
            shared: Arc::clone(shared),
            steps: steps.clone(),
            #[cfg(feature = "providers")]
            batch: None,
        }
    }

    /// A run of the flow.
    pub(super) fn run(&self) -> BoxStream<'static, Result<Event>> {
        let shared = Arc::clone(&self.shared);
        #[cfg(feature = "providers")]
        if let Some(provider) = self.batch.clone() {
            return BatchRun::new(shared, self.steps.clone(), provider).boxed();
        }
        Run::new(shared, self.steps.clone()).boxed()
    }
}

#[cfg(feature = "engine")]
impl HasParts for FlowParts {
    fn __parts(&self) -> FlowParts {
        self.clone()
    }
}

impl<C: Send + Sync + 'static, I: ColumnId + 'static> HasParts for LiveFlow<'static, C, I> {
    fn __parts(&self) -> FlowParts {
        FlowParts::new(&self.shared, &self.steps)
    }
}

impl<F, C, I> HasParts for F
where
    F: Deref<Target = LiveFlow<'static, C, I>> + Send + Sync + 'static,
    C: Send + Sync + 'static,
    I: ColumnId + 'static,
{
    fn __parts(&self) -> FlowParts {
        (**self).__parts()
    }
}
