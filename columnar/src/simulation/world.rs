//! The world of one schedule: its random numbers, its faults, and the checks of its invariants.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use futures::StreamExt;
use futures::future::{Either, select};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::fault::Fault;
use super::faulty_step::start_with_faults;
use super::invariants::{Check, Invariants};
use super::store::{Simulated, SimulatedStore};
use crate::declare::Name;
use crate::flow::LiveFlow;
use crate::run::{Error, Event, Run};
use crate::store::{MemoryStore, Store};

/// Longer than any reply takes: after this time a compute is silent for ever.
const SILENCE: Duration = Duration::from_hours(24);

/// The most runs that a flow may need to finish.
const MOST_RUNS: usize = 1000;

/// One in this many attempts gets a random fault.
const FAULT_INTERVAL: usize = 12;

/// The world of one schedule. Clones are the same world.
#[derive(Clone)]
pub struct World(Arc<Inner>);

struct Inner {
    seed: u64,
    state: Mutex<State>,
    dropped: Notify,
}

struct State {
    rng: Rng,
    /// How many random faults are left.
    faults: usize,
    scripted: BTreeMap<(String, usize), VecDeque<Fault>>,
    invariants: Invariants,
    /// The first violation.
    violation: Option<String>,
}

impl World {
    pub(super) fn new(seed: u64, faults: usize) -> Self {
        let state = State {
            rng: Rng::with_seed(seed),
            faults,
            scripted: BTreeMap::new(),
            invariants: Invariants::default(),
            violation: None,
        };
        Self(Arc::new(Inner { seed, state: Mutex::new(state), dropped: Notify::new() }))
    }

    /// The seed, which decides everything in this world.
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// A store in memory with random delays and faults.
    pub fn store(&self) -> SimulatedStore {
        self.store_over(MemoryStore::new())
    }

    /// A store of yours with random delays and faults; the world checks that it keeps all that it confirms.
    pub fn store_over(&self, store: impl Store) -> SimulatedStore {
        SimulatedStore::new(store, Simulated(self.clone()))
    }

    /// Schedules a fault for a cell: for its next attempt, or the next time it is stored. Several calls schedule several
    /// faults in that order. Random faults affect computed columns alone; a push fails only if it is scripted.
    pub fn script(&self, column: &str, step: usize, fault: Fault) {
        self.lock().scripted.entry((column.to_owned(), step)).or_default().push_back(fault);
    }

    /// Wraps the compute steps that the flow has at this moment: from now on they have random delays and faults.
    pub fn enter<C, I>(&self, flow: &LiveFlow<'_, C, I>) {
        let world = self.clone();
        flow.steps.wrap(move |step, cx| start_with_faults(world.clone(), step, cx));
    }

    /// Runs the flow, as often as it takes, until every cell of the steps that have begun is stored, and checks every
    /// event against the promises of a flow.
    ///
    /// # Panics
    ///
    /// When a promise is broken, or the flow does not finish.
    pub async fn drive<C, I>(&self, flow: &LiveFlow<'_, C, I>) {
        let mut runs = 0;
        while !self.run(flow).await {
            runs += 1;
            assert!(runs < MOST_RUNS, "after {runs} runs the flow has not finished");
        }
        let state = self.lock();
        for (column, step, computed) in state.invariants.messages() {
            let shown = flow.messages(column, step).map(|messages| messages.to_json());
            assert!(
                shown.as_deref().is_ok_and(|shown| shown == computed),
                "`{column}` at step {step} was computed from other messages than it shows now"
            );
        }
    }

    /// All observations so far, one per line, without any text of the flow: the same for the same seed.
    pub fn log(&self) -> String {
        self.lock().invariants.log().to_owned()
    }

    /// Runs the flow once; `true` if everything is stored.
    async fn run<C, I>(&self, flow: &LiveFlow<'_, C, I>) -> bool {
        self.lock().invariants.run_started();
        let mut run: Run<'_, Name> = Run::new(Arc::clone(&flow.shared), flow.steps.clone());
        loop {
            let next = timeout(SILENCE, select(run.next(), Box::pin(self.0.dropped.notified()))).await;
            match next {
                Ok(Either::Left((Some(Ok(event)), _))) => self.emitted(flow, &event),
                Ok(Either::Left((Some(Err(error)), _))) => {
                    self.expect(&error);
                    assert!(run.next().await.is_none(), "an error is the last item of a run");
                    return false;
                }
                Ok(Either::Left((None, _))) => break,
                // A compute is silent, or a fault drops the run.
                Ok(Either::Right(_)) | Err(_) => {
                    drop(run);
                    let is_stored = |column: &Name, step| flow.get(column, step).is_some();
                    self.lock().invariants.run_dropped(is_stored);
                    self.check();
                    return false;
                }
            }
        }
        self.check();
        let progress = flow.progress();
        let is_waiting = progress.waiting > 0 && progress.failed == 0;
        assert!(progress.running == 0 && !is_waiting, "a run that ends leaves nothing to do: {progress:?}");
        progress.failed == 0
    }

    fn emitted<C, I>(&self, flow: &LiveFlow<'_, C, I>, event: &Event) {
        let stored = flow.get(event.column(), event.step());
        self.check_that(|invariants| invariants.emitted(event, stored.as_deref()));
        self.check();
    }

    /// Checks that the error of a run comes from a fault.
    fn expect(&self, error: &Error) {
        self.check();
        let (column, step) = match error {
            Error::Compute { column, step, .. }
            | Error::Panicked { column, step }
            | Error::Store { column, step, .. } => (column, *step),
            #[expect(clippy::panic, reason = "it is how a test fails")]
            other => panic!("a run ended with an error without a fault: {other}"),
        };
        self.lock().invariants.run_failed(column, step);
    }

    /// Panics if a promise was broken. Apart from `check_that`, because a flow catches panics of its computes.
    #[expect(clippy::panic, reason = "it is how a test fails")]
    pub(super) fn check(&self) {
        let violation = self.lock().violation.take();
        if let Some(violation) = violation {
            panic!("{violation}");
        }
    }

    pub(super) fn drop_run(&self) {
        self.0.dropped.notify_one();
    }

    /// The fault of the cell this time, if any.
    pub(super) fn fault(&self, column: &Name, step: usize, kinds: &[Fault]) -> Option<Fault> {
        let mut state = self.lock();
        if let Some(scripted) = state.scripted.get_mut(&(column.to_string(), step))
            && scripted.front().is_some_and(|next| kinds.contains(next))
        {
            return scripted.pop_front();
        }
        // No random fault of a push: the test would have to repeat it.
        let may_fail = state.faults > 0 && state.invariants.was_computed(column, step);
        if !may_fail || state.rng.usize(0..FAULT_INTERVAL) > 0 {
            return None;
        }
        state.faults -= 1;
        let at = state.rng.usize(0..kinds.len());
        kinds.get(at).copied()
    }

    /// A random delay.
    pub(super) fn delay(&self) -> Duration {
        Duration::from_millis(self.lock().rng.u64(0..50))
    }

    /// Records an observation, and keeps the first violation.
    pub(super) fn check_that(&self, observe: impl FnOnce(&mut Invariants) -> Check) {
        let mut state = self.lock();
        if let Err(violation) = observe(&mut state.invariants) {
            state.violation.get_or_insert(violation);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("seed", &self.0.seed).finish_non_exhaustive()
    }
}
