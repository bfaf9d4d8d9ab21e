//! How long a run takes over its critical path, with computes of 50 ms: what no order of computing
//! can go below, and what a barrier between levels or steps costs, by hand and in other engines.
//!
//! `cargo bench -p columnar-tests --bench latency`

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
/// For longer than so many units nobody waits.
const WAITED: u32 = 100;

/// Answers after so many units.
fn slow(units: u32) -> impl Fn(Context) -> std::pin::Pin<Box<dyn Future<Output = String> + Send>> {
    move |cx| {
        Box::pin(async move {
            sleep(UNIT * units).await;
            cx.step().to_string()
        })
    }
}

/// Two branches of unlike levels: one is slow first and quick then, the other the reverse. Level by
/// level it takes 3 + 3 + 1 units, along the longest path 3 + 1 + 1.
fn skewed() -> Flow {
    let user = source("user");
    let a1 = column("a1", user.latest(), slow(3));
    let a2 = column("a2", a1.latest(), slow(1));
    let b1 = column("b1", user.latest(), slow(1));
    let b2 = column("b2", b1.latest(), slow(3));
    flow([column("joined", [a2.latest(), b2.latest()], slow(1))]).expect("a sound flow")
}

/// Six columns, one of them a reducer: over queued steps only the reducer makes a step wait.
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

/// A flow, and what is known of it.
struct Subject {
    name: &'static str,
    make: fn() -> Flow,
    steps: usize,
    /// How many cells may run at once.
    width: usize,
    /// The units of the critical path.
    critical: u32,
    /// A step level by level: the units of the computes of each.
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

    /// The critical path as it takes when nothing is around it: so many computes, one after the other.
    /// A timer may be late by a millisecond, so that is more than its units.
    async fn critical_path(&self) -> Duration {
        let started = Instant::now();
        for _ in 0..self.critical {
            sleep(UNIT).await;
        }
        started.elapsed()
    }

    /// Step by step, and each level when the one before it is done.
    async fn by_barrier(&self) -> Duration {
        let started = Instant::now();
        for _ in 0..self.steps {
            for level in self.levels {
                join_all(level.iter().map(|units| sleep(UNIT * *units))).await;
            }
        }
        started.elapsed()
    }

    /// What the barriers cost at the least, which is what they are said to cost where nobody would wait.
    fn barrier_units(&self) -> u32 {
        let step: u32 = self.levels.iter().filter_map(|level| level.iter().max()).sum();
        step * u32::try_from(self.steps).unwrap_or(u32::MAX)
    }

    /// Measures it beside what has barriers, in turns. Returns how ours stands to the critical path.
    fn measure(&self, runtime: &Runtime, peers: &[Peer]) -> f64 {
        let Self { name, steps, .. } = *self;
        let mut contenders: Vec<Contender<'_>> = vec![
            Box::new(|| runtime.block_on(self.critical_path())),
            Box::new(|| runtime.block_on(self.run())),
        ];
        let mut names = Vec::new();
        if self.barrier_units() <= WAITED {
            names.push("by_barrier");
            contenders.push(Box::new(|| runtime.block_on(self.by_barrier())));
            for peer in peers {
                names.push(&*peer.name);
                contenders.push(Box::new(move || peer.converse(name, steps, UNIT)));
            }
        } else {
            let unit = "units of 50 ms, at the least";
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
    // graph-flow has no node of two inputs, and without an event loop Hamilton overlaps nothing.
    let mut peers = [rust, python].concat();
    peers.retain(|peer| !["graph_flow", "hamilton_sync"].contains(&&*peer.name));
    let ratios = SUBJECTS.map(|subject| (subject.name, subject.measure(&runtime, &peers)));
    for (name, ratio) in ratios {
        bar(&format!("{name}_over_critical"), ratio, 1.02);
    }
}

criterion_group!(benches, latency);
criterion_main!(benches);
