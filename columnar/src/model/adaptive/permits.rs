//! The permits for concurrent calls of a model, and the calls that wait for a permit.

use std::collections::BTreeMap;
use std::error::Error;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use backon::ExponentialBuilder;
use futures::task::AtomicWaker;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use super::limit::{Admission, ConcurrencyLimit, Round};
use crate::model::Overloaded;

/// The time after which the permit of a call is lent to others, if the reply is ready and not read.
const UNREAD: Duration = Duration::from_secs(1);

/// The time for which waiting calls rely on the count of another call, if no permit was released since.
const RECOUNT: Duration = Duration::from_millis(10);

/// The extra delay of a call that was refused, so that others begin first: the model may refuse this very call each
/// time.
const REFUSED_DELAY: Duration = Duration::from_millis(10);

/// A limit and the calls under it.
pub(super) struct Permits {
    state: Mutex<PermitState>,
    freed: Notify,
}

struct PermitState {
    limit: ConcurrencyLimit,
    calls: BTreeMap<u64, Arc<ReplyReader>>,
    next: u64,
    /// The time of the last count, if no permit was free then and none was released since.
    full: Option<Instant>,
}

impl Permits {
    pub(super) fn new(max: usize, pauses: ExponentialBuilder) -> Self {
        let state = PermitState {
            limit: ConcurrencyLimit::new(max, pauses),
            calls: BTreeMap::new(),
            next: 0,
            full: None,
        };
        Self { state: Mutex::new(state), freed: Notify::new() }
    }

    /// The time for which no call begins.
    pub(super) fn pause(&self) -> Duration {
        self.lock().limit.pause(Instant::now())
    }

    /// Waits for a permit.
    ///
    /// # Errors
    ///
    /// At once, if the wait would exceed the budget.
    pub(super) async fn take(self: &Arc<Self>, budget: &mut WaitBudget) -> Result<Permit, Overloaded> {
        loop {
            // Created before the check, so that no release is missed.
            let freed = self.freed.notified();
            let now = Instant::now();
            match self.try_take(now) {
                Ok(permit) => {
                    // The pause of this call's own refusal is over, so the next pause comes from another call.
                    budget.refused = false;
                    return Ok(permit);
                }
                Err(Admission::Closed { opens, silent }) => {
                    let until = budget.until(now, opens, silent);
                    let overloaded = Overloaded { retry_after: Some(opens.duration_since(now)) };
                    sleep_until(until.ok_or(overloaded)?).await;
                }
                // A release wakes all waiting calls, and waiting calls also check again after a while. A single woken
                // call might be in a run that is not polled, and the permit would be lost.
                Err(_) => drop(timeout(UNREAD, freed).await),
            }
        }
    }

    fn try_take(self: &Arc<Self>, now: Instant) -> Result<Permit, Admission> {
        let mut state = self.lock();
        // A release wakes all waiting calls. If each waiting call counted, a thousand calls would be counted thousands
        // of times.
        if state.full.is_some_and(|since| now.duration_since(since) < RECOUNT) {
            return Err(Admission::Full);
        }
        // Counted again after a while, because a call becomes unread by the passage of time alone. A reader's lock is
        // taken under this lock and never the other way round.
        let in_flight = state.calls.values().filter(|reader| !reader.is_unread(now)).count();
        match state.limit.admit(in_flight, now) {
            Admission::Now(round) => {
                let call = state.next;
                let reader = Arc::<ReplyReader>::default();
                state.next += 1;
                state.calls.insert(call, Arc::clone(&reader));
                Ok(Permit { permits: Arc::clone(self), call, round, reader })
            }
            refusal => {
                state.full = (refusal == Admission::Full).then_some(now);
                Err(refusal)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, PermitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time that a call may wait for an overloaded model.
///
/// Pauses do not count as long as the model answers other calls in between. The time in which the model answers no
/// call counts, and so do, separately, the pauses after the call's own refusals.
pub(super) struct WaitBudget {
    whole: Duration,
    begun: Instant,
    /// The rest of the budget for pauses after refusals of this call.
    pub(super) left: Duration,
    /// Whether the call was refused, so the next pause counts.
    pub(super) refused: bool,
}

impl WaitBudget {
    pub(super) fn new(whole: Duration) -> Self {
        Self { whole, begun: Instant::now(), left: whole, refused: false }
    }

    /// The time until which the call waits for a model that opens at `opens`; `None` if the wait is too long.
    fn until(&mut self, now: Instant, opens: Instant, silent: Option<Instant>) -> Option<Instant> {
        let mut until = opens;
        if mem::take(&mut self.refused) {
            // A call that cannot get a permit in time fails now, without a pause.
            self.left = self.left.checked_sub(opens.duration_since(now))?;
            until += REFUSED_DELAY;
        }
        // Refusals from before this call began are no part of this wait.
        let silent = silent.map(|silent| opens.duration_since(silent.max(self.begun)));
        silent.is_none_or(|silent| silent <= self.whole).then_some(until)
    }
}

/// The permit of one call, which a drop releases.
pub(super) struct Permit {
    permits: Arc<Permits>,
    call: u64,
    round: Round,
    reader: Arc<ReplyReader>,
}

impl Permit {
    /// Polls the reply to the call.
    pub(super) fn poll<T>(
        &self,
        poller: &mut Context<'_>,
        reply: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.reader.reads(poller.waker());
        let waker = Waker::from(Arc::clone(&self.reader));
        let polled = reply(&mut Context::from_waker(&waker));
        // After a ready item the reply wakes nobody, so the time without a poll begins here.
        if polled.is_ready() {
            self.reader.is_called();
        }
        polled
    }

    /// Notes that the call was answered.
    pub(super) fn answered(self) {
        // The guard is released before `self` is dropped, which locks again.
        self.permits.lock().limit.answered(self.round);
    }

    /// Notes that the call failed. Errors other than a refusal do not affect the limit.
    pub(super) fn failed(self, error: &(dyn Error + 'static)) {
        if let Some(overloaded) = Overloaded::of(error) {
            // Released at the end of this block, before `self` is dropped, which locks again.
            let mut state = self.permits.lock();
            state.limit.refused(self.round, overloaded.retry_after, Instant::now());
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        {
            let mut state = self.permits.lock();
            state.calls.remove(&self.call);
            state.full = None;
        }
        // The lock is free again here, so the calls that wake up need not wait for it.
        self.permits.freed.notify_waiters();
    }
}

/// The task that reads a reply, and the time since which a ready reply has not been read.
///
/// A run computes while its events are read. A run may wait for another, as a loop over events that runs a second flow
/// does. Then the calls of the first run are not polled, and their permits would never be released. But the model has
/// finished with these calls or is waiting itself, so a call that has been ready for a while without a poll does not
/// count.
#[derive(Default)]
struct ReplyReader {
    waker: AtomicWaker,
    called: Mutex<Option<Instant>>,
}

impl ReplyReader {
    fn reads(&self, waker: &Waker) {
        // Cleared before the poll, so that a wake-up during the poll counts.
        *self.called() = None;
        self.waker.register(waker);
    }

    fn is_called(&self) {
        // The first wake-up counts: a second one does not show that the reply was read.
        self.called().get_or_insert_with(Instant::now);
    }

    fn is_unread(&self, now: Instant) -> bool {
        self.called().is_some_and(|called| now.duration_since(called) >= UNREAD)
    }

    fn called(&self) -> MutexGuard<'_, Option<Instant>> {
        self.called.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for ReplyReader {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_called();
        self.waker.wake();
    }
}
