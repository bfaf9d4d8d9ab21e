//! Deterministic simulation with fault injection, for tests of your flows.
//!
//! A schedule is one life of a flow. Compute steps take random times and finish in random order; some fail, panic,
//! stop in the middle or never return. The store fails before or after a value is stored, and runs are dropped. The
//! clock is virtual, and one number, the seed, decides everything. A failing schedule prints the seed and can be run
//! again.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::simulation::Simulation;
//!
//! flow! {
//!     struct Chat {
//!         source user;
//!         column summary(user, self.latest)            = prompt("Update the summary.");
//!         column assistant(user, summary.latest, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! Simulation::new().schedules(20).run(|world| async move {
//!     let chat = Chat::open(world.store()).await?;
//!     world.enter(&chat);
//!     for text in ["Hello", "Which language?", "Why?"] {
//!         chat.user.push(text).await?;
//!     }
//!     world.drive(&chat).await; // runs until everything is computed
//!     assert_eq!(chat.steps(), 3);
//!     Ok(())
//! });
//! ```
//!
//! While it [drives](World::drive) a flow, the world checks the promises of a flow, and panics at the first violation:
//!
//! - a value is stored before its event, emitted once, and never changes;
//! - a cell that is stored or being computed is not computed again;
//! - a cell is computed successfully once, unless the run was dropped or storing the value failed;
//! - the compute step of a cell sees the same messages as [`messages`](crate::flow::Handle::messages) shows
//!   afterwards;
//! - the joined deltas of the successful attempt are the value;
//! - the values of a column are emitted in order of steps; an error is the last item of a run;
//! - a store that is read again still has every confirmed entry.

mod drive;
mod faulty_step;
mod invariants;
mod store;
mod world;

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::{BuildHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use tokio::runtime::Builder;

pub use store::SimulatedStore;
pub use world::{Fault, World};

use crate::run::Result;

/// The environment variable that sets a single seed to run.
pub const SEED: &str = "COLUMNAR_SEED";

/// Runs a test with many seeds, each in a separate world. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Simulation {
    schedules: u64,
    faults: usize,
    seed: Option<u64>,
}

impl Simulation {
    /// A simulation of 100 schedules with at most 8 faults each, from a random seed.
    pub fn new() -> Self {
        Self { schedules: 100, faults: 8, seed: None }
    }

    /// Sets the number of schedules.
    #[must_use]
    pub fn schedules(self, schedules: u64) -> Self {
        Self { schedules, ..self }
    }

    /// Sets the most random faults of a schedule.
    #[must_use]
    pub fn faults(self, faults: usize) -> Self {
        Self { faults, ..self }
    }

    /// Sets the first seed; further schedules use the following numbers.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Runs the test in one world after another, each with a separate, paused clock. If [`COLUMNAR_SEED`](SEED) is
    /// set, only that seed is run.
    ///
    /// # Panics
    ///
    /// If the test panics or returns an error, or a promise is broken. The seed is printed first.
    pub fn run<F, T>(self, test: F)
    where
        F: Fn(World) -> T,
        T: Future<Output = Result<()>>,
    {
        let replayed = env::var(SEED).ok().and_then(|seed| seed.parse().ok());
        let (first, schedules) = match replayed {
            Some(seed) => (seed, 1),
            // The system seeds the hasher of maps.
            None => {
                let random = RandomState::new().build_hasher().finish();
                (self.seed.unwrap_or(random), self.schedules)
            }
        };
        // A random first seed may be close to the largest number.
        for seed in (0..schedules).map(|schedule| first.wrapping_add(schedule)) {
            // The panic goes on after the seed is printed, so nobody sees a broken state.
            let schedule = AssertUnwindSafe(|| self.schedule(seed, &test));
            if let Err(panic) = catch_unwind(schedule) {
                eprintln!("the schedule of seed {seed} failed; to run it again: {SEED}={seed}");
                resume_unwind(panic);
            }
        }
    }

    fn schedule<T: Future<Output = Result<()>>>(self, seed: u64, test: impl Fn(World) -> T) {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let Ok(runtime) = runtime else { unreachable!("a runtime of one thread needs nothing") };
        // The pauses between attempts use the global generator.
        fastrand::seed(seed);
        let world = World::new(seed, self.faults);
        let outcome = runtime.block_on(test(world.clone()));
        // Checked before the outcome, because an error of the test may be the consequence of a violation.
        world.check();
        #[expect(clippy::panic, reason = "it is how a test fails")]
        if let Err(error) = outcome {
            panic!("the test failed: {error}");
        }
        world.check_scripts();
    }
}

impl Default for Simulation {
    fn default() -> Self {
        Self::new()
    }
}
