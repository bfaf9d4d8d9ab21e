//! Attacks with random operations. As a test each takes a few seconds; it can go on for as long as you like:
//!
//! ```sh
//! cargo test -p columnar-tests --all-features --test soak -- --soak 600            # ten minutes of each
//! cargo test -p columnar-tests --all-features --test soak -- --soak 600 stores     # of one
//! cargo test -p columnar-tests --all-features --test soak -- --seed 4711 stores    # one round again
//! ```
//!
//! A round that fails prints its seed. Everything in a round depends on the seed but the threads of stores and servers.

#![allow(clippy::indexing_slicing, clippy::panic, reason = "a panic is how an attack fails")]

mod bytes;
mod operations;
mod polls;
#[cfg(feature = "providers")]
mod replies;
#[cfg(feature = "providers")]
mod servers;

use std::collections::BTreeMap;
use std::env;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fastrand::Rng;

/// The counts of a round, by their names.
type Counts = BTreeMap<&'static str, usize>;

struct Attack {
    name: &'static str,
    /// The rounds of the short form.
    rounds: u64,
    /// Panics if a promise is broken.
    round: fn(&mut Rng) -> Counts,
}

const ATTACKS: &[Attack] = &[
    Attack { name: "polls", rounds: 300, round: polls::round },
    Attack { name: "operations", rounds: 15, round: operations::round },
    Attack { name: "bytes", rounds: 10, round: bytes::round },
    #[cfg(feature = "providers")]
    Attack { name: "servers", rounds: 40, round: servers::round },
];

#[derive(Default)]
struct Options {
    /// The time for each attack; `None` for the short form.
    soak: Option<Duration>,
    /// The only round.
    seed: Option<u64>,
    /// Parts of the names of attacks; all without any.
    names: Vec<String>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let number = arguments.next().and_then(|number| number.parse().ok());
                number.ok_or_else(|| format!("expected a number after {argument}"))
            };
            match argument.as_str() {
                "--soak" => options.soak = Some(Duration::from_secs(number()?)),
                "--seed" => options.seed = Some(number()?),
                // The options of the usual harness, which `cargo test` passes to all tests.
                option if option.starts_with("--") => {}
                _ => options.names.push(argument),
            }
        }
        Ok(options)
    }
}

impl Attack {
    fn is_chosen(&self, options: &Options) -> bool {
        options.names.is_empty() || options.names.iter().any(|name| self.name.contains(name.as_str()))
    }

    /// Whether all rounds succeed.
    fn run(&self, options: &Options) -> bool {
        let (started, first) = (Instant::now(), options.seed.unwrap_or_else(|| fastrand::u64(..)));
        let goes_on = |rounds: u64| match (options.seed, options.soak) {
            (Some(_), _) => rounds < 1,
            (None, Some(time)) => started.elapsed() < time,
            (None, None) => rounds < self.rounds,
        };
        let (mut rounds, mut counts) = (0, Counts::new());
        while goes_on(rounds) {
            let seed = first.wrapping_add(rounds);
            let Ok(counted) = catch_unwind(|| (self.round)(&mut Rng::with_seed(seed))) else {
                println!("{} FAILED after {rounds} rounds; this one again: --seed {seed} {0}", self.name);
                return false;
            };
            counted.into_iter().for_each(|(name, count)| *counts.entry(name).or_default() += count);
            rounds += 1;
        }
        let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let seconds = started.elapsed().as_secs();
        println!("{}: {rounds} rounds in {seconds} s: {}", self.name, counts.join(", "));
        true
    }
}

fn main() -> ExitCode {
    let options = match Options::parse(env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let chosen = ATTACKS.iter().filter(|attack| attack.is_chosen(&options));
    let (passed, failed): (Vec<bool>, Vec<bool>) =
        chosen.map(|attack| attack.run(&options)).partition(|passed| *passed);
    println!("{} passed, {} failed", passed.len(), failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a future on a runtime of this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime of one thread needs nothing").block_on(future)
}

/// Increments a count.
fn count(counts: &mut Counts, name: &'static str) {
    *counts.entry(name).or_default() += 1;
}
