//! The part of a live flow that its clones, the handles of its columns and its run share: the state behind a lock, and the
//! store.
//!
//! The lock is held for short computations only, never during I/O or across an `await`, and no code of users runs under
//! the lock: such code may use the flow. A filter, counter, model or waker is called, and a value of a type of users is
//! dropped, after the lock.

mod answers;
mod exclusions;
mod follow;
mod lay_anew;
mod push;
mod read;
mod settings;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures::task::AtomicWaker;
use tokio::sync::watch;

pub(crate) use answers::Decision;
pub use answers::PendingCell;
pub(crate) use follow::SeenCells;
pub(crate) use push::CountedTokens;
pub(crate) use read::StepChunks;

use super::Result;
use super::state::{FindColumn, FlowState};
use super::user_code::{ComputeSteps, caught};
use crate::declare::Plan;
use crate::store::Store;

/// The state of a live flow, behind its lock, and its store.
pub(crate) struct SharedFlow {
    state: Mutex<FlowState>,
    // Apart from the state: a waker is code of users, which no lock may guard.
    /// The waker of the active run.
    pub(crate) waker: AtomicWaker,
    // A flow without a store has no store in memory either, because such a flow must cost nothing.
    /// `None` if the values are in memory only.
    pub(crate) store: Option<Arc<dyn Store>>,
    /// Whether a write has failed. Then only opening the store again shows which values it has.
    has_store_failed: AtomicBool,
    /// Locked during a push and during a change of the columns. The lock serialises pushes, so a failing store leaves no gap
    /// in a source.
    writing: tokio::sync::Mutex<()>,
    /// Notifies the followers of the flow. Made with the first one, because most flows have none.
    changes: OnceLock<watch::Sender<()>>,
}

impl SharedFlow {
    /// A flow without values.
    pub(crate) fn new(plan: Arc<Plan>, store: Option<Arc<dyn Store>>, steps: &ComputeSteps<'_>) -> Self {
        Self::of(FlowState::new(plan, steps.settings()), store)
    }

    pub(crate) fn of(state: FlowState, store: Option<Arc<dyn Store>>) -> Self {
        Self {
            state: Mutex::new(state),
            waker: AtomicWaker::new(),
            store,
            has_store_failed: AtomicBool::new(false),
            writing: tokio::sync::Mutex::new(()),
            changes: OnceLock::new(),
        }
    }

    /// Locks the state, with all values that have been loaded.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, FlowState> {
        // A panic under the lock leaves nothing half changed, because no code of users runs there.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Most flows have all values in memory, and this lock is taken several times for each cell.
        if state.unloaded.is_empty() { state } else { self.adopted(state) }
    }

    /// The locked state, with the values that have been loaded since.
    #[cold]
    fn adopted<'a>(&'a self, mut state: MutexGuard<'a, FlowState>) -> MutexGuard<'a, FlowState> {
        let loaded = state.adopt();
        if loaded.is_empty() {
            return state;
        }
        drop(state);
        drop(loaded);
        self.lock()
    }

    /// Reads the state of a column by its name, with one lock for the lookup and the reading.
    pub(crate) fn by_name<T>(
        &self,
        name: impl AsRef<str>,
        read: impl FnOnce(&FlowState, usize) -> T,
    ) -> Result<T> {
        let state = self.lock();
        let column = name.as_ref().find_in(&state)?;
        Ok(read(&state, column))
    }

    /// The index of a column.
    pub(crate) fn find(&self, name: &str) -> Result<usize> {
        name.find_in(&self.lock())
    }

    /// The plan with all columns that the flow has now.
    pub(crate) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.lock().plan)
    }

    /// Waits for pushes and changes of the columns, and keeps others waiting until the guard is dropped.
    pub(crate) async fn writing(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// Wakes the active run and those who follow the flow, after a push or a change of the columns. The caller has no lock.
    pub(crate) fn wake(&self) {
        // A panic of the reader's waker is no failure of the push that wakes it.
        caught(|| self.waker.wake());
        self.notify();
    }
}

impl fmt::Debug for SharedFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Before anything is written: the writer may use the flow.
        let steps = self.lock().scheduler.steps();
        f.debug_struct("Flow").field("steps", &steps).finish_non_exhaustive()
    }
}
