//! The windows of a run. Of a flow that has its last steps alone in memory, a run computes some thousand steps at a time, and
//! needs little memory for any number of steps.

use std::ops::Range;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};

use crate::declare::default_limits::{BATCH_WINDOW, RUN_WINDOW};
use crate::run::Result;
use crate::run::shared::SharedFlow;
use crate::run::state::{FlowState, Unloaded, load_all};

impl SharedFlow {
    /// Goes on to the next steps, and returns the loading of the values that these read; `None` if all values are in memory.
    /// The values of earlier steps are left to the store.
    pub(super) fn next_window(self: &Arc<Self>, is_batch: bool) -> Option<BoxFuture<'static, Result<()>>> {
        let mut state = self.lock();
        let mut dropped = None;
        if let (Some(store), Some(recent)) = (&self.store, state.stored.recent) {
            let window = state.next_window(if is_batch { BATCH_WINDOW } else { RUN_WINDOW });
            if state.window.is_some() {
                dropped = Some(state.unload(store, window.start.saturating_sub(recent)));
            }
            state.scheduler.set_horizon(window.end);
            state.window = Some(window);
        }
        let is_loaded = state.unloaded.is_empty();
        drop(state);
        drop(dropped);
        let shared = Arc::clone(self);
        (!is_loaded).then(|| async move { load_all(|| shared.needed(0)).await }.boxed())
    }

    /// The cells that are not in memory and that the contexts of missing cells show, and of this number of last steps.
    pub(crate) fn needed(&self, last: usize) -> Vec<Unloaded> {
        let (mut copy, window) = {
            let state = self.lock();
            if state.unloaded.is_empty() {
                return Vec::new();
            }
            let window = self.window(&state);
            // Later steps may be a million.
            (state.before(window.end), window)
        };
        copy.needed(last, &window)
    }

    /// The steps whose values are to be in memory. A fork has no store, to which it could leave others.
    fn window(&self, state: &FlowState) -> Range<usize> {
        match &state.window {
            Some(window) => window.clone(),
            None if self.store.is_some() => state.next_window(RUN_WINDOW),
            None => 0..usize::MAX,
        }
    }
}

impl FlowState {
    /// Whether the active run goes on to later steps.
    pub(super) fn has_next_window(&self) -> bool {
        self.window.as_ref().is_some_and(|window| self.scheduler.next_missing(window.end).is_some())
    }
}
