//! How long a run takes over its critical path, with computes of 50 ms: what no order of computing
//! can go below, and what a barrier between levels or steps costs.
//!
//! `cargo bench -p columnar-tests --bench latency`

use std::time::Duration;

use columnar::prelude::*;
use columnar_tests::figures::{bar, figure};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};

const UNIT: Duration = Duration::from_millis(50);
const ROUNDS: usize = 5;

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

/// The median time of a run over so many queued steps, in units.
fn units(runtime: &Runtime, make: fn() -> Flow, steps: usize, width: usize) -> f64 {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            runtime.block_on(async {
                let flow = make();
                flow.limit(width);
                for _ in 0..steps {
                    flow.push("user", "x").await.expect("memory takes it");
                }
                let started = Instant::now();
                flow.run().await.expect("nothing fails");
                started.elapsed()
            })
        })
        .collect();
    times.sort_unstable();
    times.get(ROUNDS / 2).map_or(0.0, |time| time.as_secs_f64() / UNIT.as_secs_f64())
}

/// The critical path as it takes when nothing is around it: so many computes, one after the other. A
/// timer may be late by a millisecond, so that is more than its units.
fn critical_path(runtime: &Runtime, units: u32) -> f64 {
    runtime.block_on(async {
        let started = Instant::now();
        for _ in 0..units {
            sleep(UNIT).await;
        }
        started.elapsed().as_secs_f64() / UNIT.as_secs_f64()
    })
}

fn latency(_: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a clock is all it needs");
    let mut bars = Vec::new();
    for (name, make, steps, width, critical, barrier) in [
        ("skewed", skewed as fn() -> Flow, 1, 32, 5, 7.0),
        ("queued", six, 20, 200, 1 + 20 + 3, 5.0 * 20.0),
        ("backfill", map, 1000, 64, 16, 1000.0),
    ] {
        let (took, critical) = (units(&runtime, make, steps, width), critical_path(&runtime, critical));
        figure(&format!("{name}_units"), took, "units of 50 ms");
        figure(&format!("{name}_critical_units"), critical, "units of 50 ms");
        figure(&format!("{name}_by_barrier_units"), barrier, "units of 50 ms, at the least");
        bars.push((format!("{name}_over_critical"), took / critical));
    }
    for (name, ratio) in bars {
        bar(&name, ratio, 1.02);
    }
}

criterion_group!(benches, latency);
criterion_main!(benches);
