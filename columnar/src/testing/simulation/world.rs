//! The world of one schedule: the random numbers, the faults, and the checks of invariants.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use tokio::sync::Notify;

use super::invariants::{Check, Invariants};
use crate::declare::Name;
use crate::declare::error::{nearest, unknown_column};
use crate::flow::LiveFlow;

/// A fault of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The compute step returns an error.
    Error,
    /// The compute step returns an error after the first piece of text.
    BreaksOff,
    /// The compute step panics.
    Panic,
    /// The compute step never returns: the run has to be dropped.
    Silence,
    /// The store returns an error and has stored nothing.
    NotStored,
    /// The store returns an error although the value is stored.
    StoredUnknown,
    /// The run is dropped while the cell is computed.
    Dropped,
}

impl Fault {
    /// The faults of compute steps.
    pub(super) const COMPUTE: [Self; 5] =
        [Self::Error, Self::BreaksOff, Self::Panic, Self::Silence, Self::Dropped];

    /// The faults of stores.
    pub(super) const STORE: [Self; 2] = [Self::NotStored, Self::StoredUnknown];
}

/// The number of attempts of which one gets a random fault, on average.
const FAULT_INTERVAL: usize = 12;

/// The world of one schedule. Clones are the same world.
#[derive(Clone)]
pub struct World(pub(super) Arc<WorldInner>);

pub(super) struct WorldInner {
    seed: u64,
    state: Mutex<WorldState>,
    /// The notification that a fault drops the run.
    pub(super) dropped: Notify,
}

pub(super) struct WorldState {
    rng: Rng,
    /// The number of random faults that are left.
    faults: usize,
    scripted: BTreeMap<(String, usize), VecDeque<Fault>>,
    /// The columns of the flows that entered or were driven.
    columns: BTreeSet<Name>,
    pub(super) invariants: Invariants,
    /// The first violation.
    violation: Option<String>,
}

impl World {
    pub(super) fn new(seed: u64, faults: usize) -> Self {
        let state = WorldState {
            rng: Rng::with_seed(seed),
            faults,
            scripted: BTreeMap::new(),
            columns: BTreeSet::new(),
            invariants: Invariants::default(),
            violation: None,
        };
        Self(Arc::new(WorldInner { seed, state: Mutex::new(state), dropped: Notify::new() }))
    }

    /// The seed, which decides everything in this world.
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// Schedules a fault for a cell: for the next attempt, or the next time the cell is stored. Several calls schedule
    /// several faults in that order. Random faults affect computed columns alone; a push fails only by a scripted
    /// fault. The simulation fails if no flow that entered the world has the column.
    pub fn script(&self, column: &str, step: usize, fault: Fault) {
        self.lock().scripted.entry((column.to_owned(), step)).or_default().push_back(fault);
    }

    /// All observations so far, one per line, without any text of the flow: the same for the same seed.
    pub fn log(&self) -> String {
        self.lock().invariants.log.clone()
    }

    /// Panics if a promise was broken. `check_that` does not panic, because a flow catches the panics of compute
    /// steps.
    #[expect(clippy::panic, reason = "it is how a test fails")]
    pub(super) fn check(&self) {
        let violation = self.lock().violation.take();
        if let Some(violation) = violation {
            panic!("{violation}");
        }
    }

    /// Records the columns of a flow, for which faults can be scripted.
    pub(super) fn add_columns<C, I>(&self, flow: &LiveFlow<'_, C, I>) {
        let plan = flow.shared.plan();
        self.lock().columns.extend(plan.schema().columns().iter().map(|column| column.name.clone()));
    }

    /// Panics if a fault was scripted for a column that no flow has: the test would pass without the fault.
    #[expect(clippy::panic, reason = "it is how a test fails")]
    pub(super) fn check_scripts(&self) {
        let state = self.lock();
        let columns: Vec<&Name> = state.columns.iter().collect();
        let unknown = state.scripted.keys().find(|(column, _)| !state.columns.contains(column.as_str()));
        if let Some((column, _)) = unknown.filter(|_| !columns.is_empty()) {
            panic!("{}", unknown_column(column, nearest(column, &columns), &columns));
        }
    }

    /// The fault for this attempt of the cell, if there is one.
    pub(super) fn fault(&self, column: &Name, step: usize, kinds: &[Fault]) -> Option<Fault> {
        let mut state = self.lock();
        if let Some(scripted) = state.scripted.get_mut(&(column.to_string(), step))
            // A scripted fault of the store stays in the queue while the cell is computed.
            && scripted.front().is_some_and(|next| kinds.contains(next))
        {
            return scripted.pop_front();
        }
        // A push has no random fault: the test would have to repeat the push.
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

    pub(super) fn lock(&self) -> MutexGuard<'_, WorldState> {
        // A failed assertion poisons the lock. A panic here would then abort, in the `Drop` of a reply.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("seed", &self.0.seed).finish_non_exhaustive()
    }
}
