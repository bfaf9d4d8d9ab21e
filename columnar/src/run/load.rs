//! Reading values that are in the store and not in memory.

use std::ops::Range;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};

use super::Result;
use super::needs::load_all;
use super::past::Entries;
use super::shared::Shared;
use crate::declare::Name;
use crate::schedule::Cell;

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
        Some(async move { load_all(|| shared.lock().needed(0)).await }.boxed())
    }

    /// The number of steps in which a source has a value.
    pub(crate) fn rows(&self) -> usize {
        let state = self.lock();
        state.plan.schema().sources().map(|source| state.scheduler.len(source)).max().unwrap_or(0)
    }

    /// The stored entries of a column within some steps, of one chunk at most, ascending. Those that are not in memory are
    /// read, and not kept.
    pub(crate) async fn entries(&self, name: &Name, steps: Range<usize>) -> Result<Entries> {
        let (mut entries, unloaded) = {
            let state = self.lock();
            let column = state.find(name)?;
            let entry = |step| Some((step, state.entry(Cell { column, step })?));
            let entries: Entries = steps.clone().filter_map(entry).collect();
            (entries, state.unloaded.get(&column).cloned())
        };
        if let Some(unloaded) = unloaded {
            entries.extend(unloaded.read(name, &steps).await?);
            entries.sort_unstable_by_key(|(step, _)| *step);
        }
        Ok(entries)
    }
}
