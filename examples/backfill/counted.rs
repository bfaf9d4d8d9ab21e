//! A model that counts how often it is asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::BoxError;
use columnar::model::{Chunk, Model, Request};
use futures::stream::BoxStream;

/// Clones count together.
#[derive(Clone)]
pub(crate) struct Counted {
    model: Arc<dyn Model>,
    calls: Arc<AtomicUsize>,
}

impl Counted {
    pub(crate) fn new(model: Arc<dyn Model>) -> Self {
        Self { model, calls: Arc::default() }
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Model for Counted {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.model.reply(request)
    }
}
