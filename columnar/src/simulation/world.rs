//! One world: its dice, its faults, and the account of what happens in it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use futures::StreamExt;
use futures::future::{Either, select};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::account::{Account, Verdict};
use super::disturb::disturb;
use super::fault::Fault;
use super::store::{Simulated, SimulatedStore};
use crate::declare::Name;
use crate::flow::LiveFlow;
use crate::run::{Error, Event, Run};
use crate::store::{MemoryStore, Store};

/// Longer than anything in the world takes that is not silent for ever.
const SILENCE: Duration = Duration::from_hours(24);

/// How many runs a flow may take to come to its end.
const MOST_RUNS: usize = 1000;

/// How often something goes wrong that may: once in so many times.
const RARITY: usize = 12;

/// The world of one schedule. Clones are the same world.
#[derive(Clone)]
pub struct World(Arc<Inner>);

struct Inner {
    seed: u64,
    state: Mutex<State>,
    dropped: Notify,
}

struct State {
    dice: Rng,
    /// How many things may still go wrong by chance.
    faults: usize,
    scripted: BTreeMap<(String, usize), VecDeque<Fault>>,
    account: Account,
    /// The first promise that was broken.
    broken: Option<String>,
}

impl World {
    pub(super) fn new(seed: u64, faults: usize) -> Self {
        let state = State {
            dice: Rng::with_seed(seed),
            faults,
            scripted: BTreeMap::new(),
            account: Account::default(),
            broken: None,
        };
        Self(Arc::new(Inner { seed, state: Mutex::new(state), dropped: Notify::new() }))
    }

    /// What decides everything in this world.
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// A store in memory that is slow and fails as the world will have it.
    pub fn store(&self) -> SimulatedStore {
        self.store_over(MemoryStore::new())
    }

    /// The same around a store of yours, which is held to what it confirms.
    pub fn store_over(&self, store: impl Store) -> SimulatedStore {
        SimulatedStore::new(store, Simulated(self.clone()))
    }

    /// Lets this go wrong with a cell: with its next attempt, or the next time it is stored. Said
    /// several times, one after the other goes wrong. A push fails only if it is scripted; what goes
    /// wrong by chance befalls computed columns.
    pub fn script(&self, column: &str, step: usize, fault: Fault) {
        self.lock().scripted.entry((column.to_owned(), step)).or_default().push_back(fault);
    }

    /// Takes the compute steps that the flow has at this moment into the world: from now on they take
    /// random times, and go wrong.
    pub fn enter<C, I>(&self, flow: &LiveFlow<'_, C, I>) {
        let world = self.clone();
        flow.live.wrap(move |step, cx| disturb(world.clone(), step, cx));
    }

    /// Runs the flow until every cell of the steps that have begun is stored, as often as it takes,
    /// and holds all that it shows against what a flow promises.
    ///
    /// # Panics
    ///
    /// When a promise is broken, or the flow does not come to an end.
    pub async fn drive<C, I>(&self, flow: &LiveFlow<'_, C, I>) {
        let mut runs = 0;
        while !self.run(flow).await {
            runs += 1;
            assert!(runs < MOST_RUNS, "after {runs} runs the flow has not come to its end");
        }
        let account = self.lock();
        for (column, step, saw) in account.account.saw() {
            let shown = flow.messages(column, step).map(|messages| messages.to_json());
            assert!(
                shown.as_deref().is_ok_and(|shown| shown == saw),
                "`{column}` at step {step} was given other messages than it shows now"
            );
        }
    }

    /// What has happened so far, a line each, without any text of the flow: the same for the same seed.
    pub fn log(&self) -> String {
        self.lock().account.log().to_owned()
    }

    /// One run, and whether everything is stored after it.
    async fn run<C, I>(&self, flow: &LiveFlow<'_, C, I>) -> bool {
        self.lock().account.run_begins();
        let mut run: Run<'_, Name> = Run::new(flow.live.clone());
        loop {
            let next = timeout(SILENCE, select(run.next(), Box::pin(self.0.dropped.notified()))).await;
            match next {
                Ok(Either::Left((Some(Ok(event)), _))) => self.hear(flow, &event),
                Ok(Either::Left((Some(Err(error)), _))) => {
                    self.expect(&error);
                    assert!(run.next().await.is_none(), "an error is the last item of a run");
                    return false;
                }
                Ok(Either::Left((None, _))) => break,
                // Nothing answers any more, or the run is to be dropped.
                Ok(Either::Right(_)) | Err(_) => {
                    drop(run);
                    let known = |column: &Name, step| flow.get(column, step).is_some();
                    self.lock().account.run_was_dropped(known);
                    self.check();
                    return false;
                }
            }
        }
        self.check();
        let progress = flow.progress();
        let waits = progress.waiting > 0 && progress.failed == 0;
        assert!(progress.running == 0 && !waits, "a run that ends leaves nothing to do: {progress:?}");
        progress.failed == 0
    }

    fn hear<C, I>(&self, flow: &LiveFlow<'_, C, I>, event: &Event) {
        let now = flow.get(event.column(), event.step());
        self.hold(|account| account.shows(event, now.as_deref()));
        self.check();
    }

    /// Only what the world has done itself may be the error of a run.
    fn expect(&self, error: &Error) {
        self.check();
        let (column, step) = match error {
            Error::Compute { column, step, .. }
            | Error::Panicked { column, step }
            | Error::Store { column, step, .. } => (column, *step),
            #[expect(clippy::panic, reason = "it is how a test fails")]
            other => panic!("a run ended with an error that nobody made: {other}"),
        };
        self.lock().account.run_failed(column, step);
    }

    /// Panics if a promise was broken. Not where it is found out, because a flow catches the panics of
    /// its computes.
    #[expect(clippy::panic, reason = "it is how a test fails")]
    pub(super) fn check(&self) {
        let broken = self.lock().broken.take();
        if let Some(broken) = broken {
            panic!("{broken}");
        }
    }

    pub(super) fn drop_run(&self) {
        self.0.dropped.notify_one();
    }

    /// What goes wrong with the cell this time.
    pub(super) fn fault(&self, column: &Name, step: usize, kinds: &[Fault]) -> Option<Fault> {
        let mut state = self.lock();
        if let Some(scripted) = state.scripted.get_mut(&(column.to_string(), step))
            && scripted.front().is_some_and(|next| kinds.contains(next))
        {
            return scripted.pop_front();
        }
        // A push that fails would be the test's own to repeat; it does so only if it is scripted.
        let by_chance = state.faults > 0 && state.account.was_computed(column, step);
        if !by_chance || state.dice.usize(0..RARITY) > 0 {
            return None;
        }
        state.faults -= 1;
        let at = state.dice.usize(0..kinds.len());
        kinds.get(at).copied()
    }

    /// How long the next thing takes.
    pub(super) fn delay(&self) -> Duration {
        Duration::from_millis(self.lock().dice.u64(0..50))
    }

    pub(super) fn hold(&self, note: impl FnOnce(&mut Account) -> Verdict) {
        let mut state = self.lock();
        if let Err(broken) = note(&mut state.account) {
            state.broken.get_or_insert(broken);
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
