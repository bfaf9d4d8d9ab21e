//! Loading values that are in the store and not in memory.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};

use super::Result;
use super::needs::load_all;
use super::shared::Shared;

impl Shared {
    /// Loads the stored values of the steps from this one on.
    pub(crate) async fn load(&self, step: usize) -> Result<()> {
        load_all(|| self.lock().unloaded_within(&(step..usize::MAX))).await
    }

    /// The loading of the values that a run reads; `None` if all values are in memory.
    pub(super) fn loading(self: &Arc<Self>) -> Option<BoxFuture<'static, Result<()>>> {
        if self.lock().unloaded.is_empty() {
            return None;
        }
        let shared = Arc::clone(self);
        Some(async move { load_all(|| shared.needed(0)).await }.boxed())
    }
}
