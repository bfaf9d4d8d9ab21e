//! The duration of a run over its critical path, with compute steps of 50 ms. The critical path is a lower bound for every
//! order. Barriers between levels and steps are measured by hand and in other engines.
//!
//! `cargo bench -p columnar-tests --bench latency`
//!
//! For LangGraph and Hamilton, `python3 -m pip install langgraph==1.2.22 sf-hamilton==1.90.0`; `COLUMNAR_PEERS_PYTHON`
//! selects another interpreter.

use std::path::Path;
use std::time::Duration;

use columnar::prelude::*;
use columnar_tests::figures::{Contender, bar, figure, over, self_timed_medians};
use columnar_tests::peers::{Peer, Peers};
use criterion::{Criterion, criterion_group, criterion_main};
use futures::future::join_all;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};

const UNIT: Duration = Duration::from_millis(50);
const ROUNDS: usize = 3;
/// A longer run with barriers is not measured: its duration is computed.
const MEASURED_UNITS: u32 = 100;

/// A compute step that takes this many units.
fn slow(units: u32) -> impl Fn(Context) -> std::pin::Pin<Box<dyn Future<Output = String> + Send>> {
    move |cx| {
        Box::pin(async move {
            sleep(UNIT * units).await;
            cx.step().to_string()
        })
    }
}

/// Two branches: in one the first column is slow and the second fast, in the other the reverse. Level by level it takes
/// 3 + 3 + 1 units, along the longest path 3 + 1 + 1.
fn skewed() -> Flow {
    let user = source("user");
    let a1 = column("a1", user.latest(), slow(3));
    let a2 = column("a2", a1.latest(), slow(1));
    let b1 = column("b1", user.latest(), slow(1));
    let b2 = column("b2", b1.latest(), slow(3));
    flow([column("joined", [a2.latest(), b2.latest()], slow(1))]).expect("a sound flow")
}

/// Six columns. Of queued steps, only those of the reducer `summary` wait for each other.
fn six() -> Flow {
    let user = source("user");
    let topics = column("topics", user.latest(), slow(1));
    let summary = column("summary", (&topics, this().latest()), slow(1));
    let critique = column("critique", [summary.latest(), user.latest()], slow(1));
    let mood = column("mood", user.latest(), slow(1));
    let verdict = column("verdict", [critique.latest(), mood.latest()], slow(1));
    let assistant = column("assistant", [user.all(), verdict.latest()], slow(1));
    flow([assistant]).expect("a sound flow")
}

fn map() -> Flow {
    let user = source("user");
    flow([column("map", user.latest(), slow(1))]).expect("a sound flow")
}

/// A flow with its size and its critical path.
struct Subject {
    name: &'static str,
    make: fn() -> Flow,
    steps: usize,
    /// The limit on concurrent cells.
    width: usize,
    /// The units of the critical path.
    critical: u32,
    /// The levels of a step, each with the units of its compute steps.
    levels: &'static [&'static [u32]],
}

const SUBJECTS: [Subject; 3] = [
    Subject {
        name: "skewed",
        make: skewed,
        steps: 1,
        width: 32,
        critical: 3 + 1 + 1,
        levels: &[&[3, 1], &[1, 3], &[1]],
    },
    Subject {
        name: "queued",
        make: six,
        steps: 20,
        width: 200,
        critical: 1 + 20 + 3,
        levels: &[&[1, 1], &[1], &[1], &[1], &[1]],
    },
    Subject { name: "backfill", make: map, steps: 1000, width: 64, critical: 16, levels: &[&[1]] },
];

impl Subject {
    async fn run(&self) -> Duration {
        let flow = (self.make)();
        flow.set_concurrency(self.width);
        for _ in 0..self.steps {
            flow.push("user", "x").await.expect("memory takes it");
        }
        let started = Instant::now();
        flow.run().await.expect("nothing fails");
        started.elapsed()
    }

    /// The critical path alone: as many sleeps, one after the other. A timer may be late by a millisecond, so this takes
    /// longer than its units.
    async fn critical_path(&self) -> Duration {
        let started = Instant::now();
        for _ in 0..self.critical {
            sleep(UNIT).await;
        }
        started.elapsed()
    }

    /// Step by step, with a barrier after each level.
    async fn by_barrier(&self) -> Duration {
        let started = Instant::now();
        for _ in 0..self.steps {
            for level in self.levels {
                join_all(level.iter().map(|units| sleep(UNIT * *units))).await;
            }
        }
        started.elapsed()
    }

    /// The least units with barriers. They are printed if the run would take too long to measure.
    fn barrier_units(&self) -> u32 {
        let step: u32 = self.levels.iter().filter_map(|level| level.iter().max()).sum();
        step * u32::try_from(self.steps).unwrap_or(u32::MAX)
    }

    /// Measures the flow against the contenders with barriers, in turns. Returns the ratio of the run to the critical path.
    fn measure(&self, runtime: &Runtime, peers: &[Peer]) -> f64 {
        let Self { name, steps, .. } = *self;
        let mut contenders: Vec<Contender<'_>> = vec![
            Box::new(|| runtime.block_on(self.critical_path())),
            Box::new(|| runtime.block_on(self.run())),
        ];
        let mut names = Vec::new();
        if self.barrier_units() <= MEASURED_UNITS {
            names.push("by_barrier");
            contenders.push(Box::new(|| runtime.block_on(self.by_barrier())));
            for peer in peers {
                names.push(&*peer.name);
                contenders.push(Box::new(move || peer.converse(name, steps, UNIT)));
            }
        } else {
            let unit = "units of 50 ms, at least";
            figure(&format!("{name}_by_barrier_units"), self.barrier_units().into(), unit);
        }
        let times = self_timed_medians(ROUNDS, &mut contenders);
        let [critical, ours, others @ ..] = &times[..] else { unreachable!("two are always there") };
        figure(&format!("{name}_critical_units"), over(*critical, UNIT), "units of 50 ms");
        figure(&format!("{name}_units"), over(*ours, UNIT), "units of 50 ms");
        for (other, time) in names.iter().zip(others) {
            figure(&format!("{name}_{other}_units"), over(*time, UNIT), "units of 50 ms");
            figure(&format!("{name}_{other}_over_critical"), over(*time, *critical), "x");
        }
        over(*ours, *critical)
    }
}

fn latency(_: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a clock is all it needs");
    let Peers { rust, python } = Peers::start(Path::new(env!("CARGO_TARGET_TMPDIR")));
    // graph-flow has no nodes with two inputs, and Hamilton without an event loop has no concurrency.
    let mut peers = [rust, python].concat();
    peers.retain(|peer| !["graph_flow", "hamilton_sync"].contains(&&*peer.name));
    let ratios = SUBJECTS.map(|subject| (subject.name, subject.measure(&runtime, &peers)));
    for (name, ratio) in ratios {
        bar(&format!("{name}_over_critical"), ratio, 1.02);
    }
}

criterion_group!(benches, latency);
criterion_main!(benches);
