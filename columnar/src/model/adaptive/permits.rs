//! The calls of a model that go on, and those that wait for one of them to be over.

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

/// How long a call may have something to tell that nobody listens to before its permit is lent.
const UNREAD: Duration = Duration::from_secs(1);

/// How much later a call that was refused tries again than those that were not. It may be refused each
/// time for a reason of its own, and should not be the only one that ever tries.
const REFUSED_DELAY: Duration = Duration::from_millis(10);

/// A limit and the calls that are under it.
pub(super) struct Permits {
    state: Mutex<State>,
    freed: Notify,
}

struct State {
    limit: ConcurrencyLimit,
    calls: BTreeMap<u64, Arc<Reader>>,
    next: u64,
}

impl Permits {
    pub(super) fn new(ceiling: usize, pauses: ExponentialBuilder) -> Self {
        let state = State { limit: ConcurrencyLimit::new(ceiling, pauses), calls: BTreeMap::new(), next: 0 };
        Self { state: Mutex::new(state), freed: Notify::new() }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    ///
    /// If the wait for the model would take more than the patience. It says so at once.
    pub(super) async fn take(self: &Arc<Self>, patience: &mut WaitBudget) -> Result<Permit, Overloaded> {
        loop {
            // Created before the question, so that it misses no answer.
            let freed = self.freed.notified();
            let now = Instant::now();
            match self.ask(now) {
                Ok(permit) => {
                    patience.refused = false;
                    return Ok(permit);
                }
                Err(Admission::Closed { opens, silent }) => {
                    let until = patience.until(now, opens, silent);
                    let asked = Overloaded { retry_after: Some(opens.duration_since(now)) };
                    sleep_until(until.ok_or(asked)?).await;
                }
                // All who wait are told, and look again after a while even so. A single one that was
                // told might be in a run that nobody reads at the moment, and keep it to itself.
                Err(_) => drop(timeout(UNREAD, freed).await),
            }
        }
    }

    fn ask(self: &Arc<Self>, now: Instant) -> Result<Permit, Admission> {
        let mut state = self.lock();
        let going_on = state.calls.values().filter(|reader| !reader.is_unread(now)).count();
        match state.limit.admit(going_on, now) {
            Admission::Now(round) => {
                let (call, reader) = (state.next, Arc::<Reader>::default());
                state.next += 1;
                state.calls.insert(call, Arc::clone(&reader));
                Ok(Permit { permits: Arc::clone(self), call, round, reader })
            }
            turn => Err(turn),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a call waits for an overloaded model.
///
/// It waits through any number of pauses as long as the model answers others in between, but not
/// through more than this of a time in which it answers nobody, nor of pauses after its own refusals.
pub(super) struct WaitBudget {
    whole: Duration,
    begun: Instant,
    /// What is left of it for pauses after own refusals.
    left: Duration,
    refused: bool,
}

impl WaitBudget {
    pub(super) fn new(whole: Duration) -> Self {
        Self { whole, begun: Instant::now(), left: whole, refused: false }
    }

    /// The call itself was refused, and the pause that follows is its own.
    pub(super) fn refused(&mut self) {
        self.refused = true;
    }

    /// Until when the call waits for a model that opens then, if it does.
    fn until(&mut self, now: Instant, opens: Instant, silent: Option<Instant>) -> Option<Instant> {
        let mut until = opens;
        if mem::take(&mut self.refused) {
            self.left = self.left.checked_sub(opens.duration_since(now))?;
            until += REFUSED_DELAY;
        }
        let silent = silent.map(|silent| opens.duration_since(silent.max(self.begun)));
        silent.is_none_or(|silent| silent <= self.whole).then_some(until)
    }
}

/// The permit of one call. Whatever becomes of the call, it is free again when this is dropped.
pub(super) struct Permit {
    permits: Arc<Permits>,
    call: u64,
    round: Round,
    reader: Arc<Reader>,
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
        if polled.is_ready() {
            self.reader.is_called();
        }
        polled
    }

    /// The call was answered.
    pub(super) fn answered(self) {
        self.permits.lock().limit.answered(self.round);
    }

    /// The call failed, perhaps because the model refused it. Any other error says nothing about what
    /// the model takes.
    pub(super) fn failed(self, error: &(dyn Error + 'static)) {
        if let Some(overloaded) = Overloaded::of(error) {
            let mut state = self.permits.lock();
            state.limit.refused(self.round, overloaded.retry_after, Instant::now());
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.permits.lock().calls.remove(&self.call);
        self.permits.freed.notify_waiters();
    }
}

/// Who reads a reply, and whether they do.
///
/// A run computes while it is read. Where one run waits for another, as in a loop over its events
/// that runs a second flow, the calls of the first go on with nobody to read them, and their permits
/// would never become free. The model is done with them, though, or waits itself: a call that has had
/// something to tell for a while, and was not asked, does not count.
#[derive(Default)]
struct Reader {
    waker: AtomicWaker,
    called: Mutex<Option<Instant>>,
}

impl Reader {
    fn reads(&self, waker: &Waker) {
        *self.called() = None;
        self.waker.register(waker);
    }

    fn is_called(&self) {
        self.called().get_or_insert_with(Instant::now);
    }

    fn is_unread(&self, now: Instant) -> bool {
        self.called().is_some_and(|called| now.duration_since(called) >= UNREAD)
    }

    fn called(&self) -> MutexGuard<'_, Option<Instant>> {
        self.called.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Reader {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_called();
        self.waker.wake();
    }
}
