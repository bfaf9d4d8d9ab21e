//! The state that the task of a spawned flow shares with all handles and subscriptions.
//!
//! ```text
//!  Flows ──▶ task ──────────▶ run ──▶ state of the flow
//!             │ events                        │
//!             ▼                               │ stored values
//!  handles ◀──▶ hub ──▶ subscriptions ◀───────┘
//!    requests,      texts in progress, failures
//!    task's state
//! ```

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::feed::Feed;
use super::parts::FlowParts;
use crate::run::{Error, Result};

/// The shared state; see the [module](self).
pub(super) struct Hub {
    pub(super) parts: FlowParts,
    feed: Mutex<Feed>,
    pub(super) control: watch::Sender<Control>,
}

/// The requests of handles, and the state of the task.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// The number of handles and subscriptions.
    handles: usize,
    /// A request to compute missing cells, although nothing was pushed.
    pub(super) retry: bool,
    pub(super) stop: Stop,
    /// The work that the task has decided on.
    work: NextWork,
    /// The error that ended the last run.
    error: Option<Arc<Error>>,
}

/// A request to stop; each request includes the ones before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    #[default]
    No,
    /// Drop the cells in progress, and wait for the next push.
    Cancel,
    /// End when the cells in progress are stored.
    Shutdown,
    /// End at once.
    Abort,
}

/// The next thing that the task does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NextWork {
    #[default]
    Run,
    /// Wait for a run of somebody else, and compute all that is missing.
    WaitForRun,
    /// Wait for a request or a push.
    Wait,
    /// End, for good.
    Close,
}

impl Hub {
    pub(super) fn new(parts: FlowParts) -> Self {
        // A first run computes the cells that an earlier process has left.
        let control = Control { retry: true, ..Control::default() };
        let shared = &parts.shared;
        let asked =
            shared.pending_cells().into_iter().filter(|(column, step)| shared.is_asked(column, *step));
        let feed = Feed::new(asked.map(|(column, step)| (step, column)).collect());
        Self { parts, feed: feed.into(), control: watch::Sender::new(control) }
    }

    /// Locks the feed. No change of a feed runs code of users, so a panic leaves nothing half changed.
    pub(super) fn feed(&self) -> MutexGuard<'_, Feed> {
        self.feed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn request(&self, change: impl FnOnce(&mut Control)) {
        self.control.send_modify(change);
    }

    /// Stops the task. A request to end replaces one to cancel.
    pub(super) fn stop(&self, stop: Stop) {
        self.request(|control| {
            control.stop = control.stop.max(stop);
            control.retry = false;
            // The missing cells are left to the next push. Now and not when the task reads the request: a later push is
            // not cancelled.
            self.parts.shared.lock().is_stale = false;
        });
    }

    /// The error that ended the last run, if no other one has begun.
    pub(super) fn error(&self) -> Option<Arc<Error>> {
        self.control.borrow().error.clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.control.borrow().work == NextWork::Close
    }

    /// Decides what the task does next, while no run of its own is active.
    pub(super) fn next(&self) -> NextWork {
        // The error of the run before is dropped after the lock of the requests: its drop is code of users.
        let mut next = NextWork::Wait;
        let mut earlier = None;
        let is_changed = self.control.send_if_modified(|control| {
            let before = (control.stop, control.work);
            if control.stop == Stop::Cancel {
                // The run that the request cancels is over.
                control.stop = Stop::No;
            }
            next = self.decide(control);
            control.work = next;
            if next == NextWork::Run {
                control.retry = false;
                earlier = control.error.take();
            }
            before != (control.stop, control.work)
        });
        drop(earlier);
        if is_changed {
            self.parts.shared.notify();
        }
        next
    }

    fn decide(&self, control: &Control) -> NextWork {
        // After a failed write nobody knows what the store has before the store is opened again, so the task ends.
        if control.stop >= Stop::Shutdown || self.parts.shared.has_store_failed() {
            return NextWork::Close;
        }
        if self.parts.shared.lock().is_running {
            return NextWork::WaitForRun;
        }
        // A dropped handle cancels nothing, because clients post and leave: what they pushed is computed before the end.
        // Under the lock of the requests: a handle that pushes and is dropped does both before or both after this.
        match (control.retry || self.parts.shared.lock().is_stale, control.handles) {
            (true, _) => NextWork::Run,
            (false, 0) => NextWork::Close,
            (false, _) => NextWork::Wait,
        }
    }

    /// The run of the task has ended with an error.
    pub(super) fn fail(&self, error: Error) {
        // The error ends the run and not the task, and the task repeats nothing: that would spend without end.
        let cell = error.cell();
        if cell.is_none_or(|(_, step)| step.is_none()) {
            // The run has failed before it looked at what was pushed, and so would the next run.
            self.parts.shared.lock().is_stale = false;
        }
        if let Some((column, step)) = cell {
            let first_missing = self.parts.shared.by_name(column, |state, column| state.scheduler.len(column));
            let step = step.unwrap_or(first_missing.unwrap_or(0));
            // Before the feed is locked, because an error of users makes its message.
            let cause = error.cause();
            self.feed().fail(column.clone(), step, cause);
        }
        let error = Arc::new(error);
        let mut earlier = None;
        self.request(|control| earlier = control.error.replace(error));
        drop(earlier);
    }

    /// The result of the last run when the task has nothing to do; `None` before.
    pub(super) fn at_rest(&self) -> Option<Result<()>> {
        // Before the state of the task, because the task is busy before its run has seen the values.
        let is_stale = self.parts.shared.lock().is_stale;
        let control = self.control.borrow();
        let is_idle =
            control.work == NextWork::Wait && control.stop == Stop::No && !control.retry && !is_stale;
        if !is_idle && control.work != NextWork::Close {
            return None;
        }
        Some(control.error.as_ref().map_or(Ok(()), |error| Err(Error::Shared(Arc::clone(error)))))
    }

    /// Waits until the check succeeds. The check is repeated after each change of the flow.
    pub(super) async fn wait_for<T>(&self, mut check: impl FnMut() -> Option<T>) -> T {
        let mut changes = self.parts.shared.changes();
        loop {
            if let Some(found) = check() {
                return found;
            }
            // The flow has the sender, so there is no error.
            let _ = changes.changed().await;
        }
    }

    /// The run of the task is over, finished or not.
    pub(super) fn end_run(&self) {
        self.feed().end("the run was cancelled", |column, step| self.parts.shared.is_stored(column, step));
        self.parts.shared.notify();
    }

    /// The task is gone.
    pub(super) fn close(&self) {
        self.end_run();
        self.request(|control| control.work = NextWork::Close);
        self.parts.shared.notify();
    }
}

/// A share in a spawned flow, which keeps its task.
#[derive(Clone)]
pub(super) struct HubHandle {
    // Dropped before the count, because the task may end as soon as no handle is left. The next opening of the flow must
    // then find the store released.
    pub(super) hub: Arc<Hub>,
    _count: HandleCount,
}

/// A handle as the task counts it.
struct HandleCount(watch::Sender<Control>);

impl HubHandle {
    /// A handle to a spawned flow; `None` if its task has ended.
    pub(super) fn new(hub: &Arc<Hub>) -> Option<Self> {
        let mut is_closed = true;
        hub.control.send_if_modified(|control| {
            is_closed = control.work == NextWork::Close;
            control.handles += usize::from(!is_closed);
            false
        });
        (!is_closed).then(|| Self { hub: Arc::clone(hub), _count: HandleCount(hub.control.clone()) })
    }
}

impl Clone for HandleCount {
    fn clone(&self) -> Self {
        self.0.send_if_modified(|control| {
            control.handles += 1;
            false
        });
        Self(self.0.clone())
    }
}

impl Drop for HandleCount {
    fn drop(&mut self) {
        self.0.send_if_modified(|control| {
            control.handles -= 1;
            control.handles == 0
        });
    }
}

impl Deref for HubHandle {
    type Target = Hub;

    fn deref(&self) -> &Hub {
        &self.hub
    }
}
