//! The cost of a cell whose compute step does nothing: readiness, context, compute, store and event. It is compared with
//! the minimal work by hand, and with other engines where they are installed.
//!
//! `cargo bench -p columnar-tests --bench scheduling`
//!
//! For LangGraph and Hamilton, `python3 -m pip install langgraph==1.2.22 sf-hamilton==1.90.0`; `COLUMNAR_PEERS_PYTHON`
//! selects another interpreter.
//!
//! All do the same work on one thread: every node returns a value of 100 characters, and the values are kept. The figures
//! include the start of a run (the push, the session, the source), but not the construction of the graph. A peer keeps the
//! values of one run, columnar those of all runs. In Rust each turn begins with a run that is not measured, as a warm-up.

use std::future::ready;
use std::hint::black_box;
use std::path::Path;

use columnar::Value;
use columnar::prelude::*;
use columnar_tests::figures::{
    Contender, bar, figure, medians, micros_each, over, self_timed_medians, timed,
};
use columnar_tests::peers::{Peer, Peers};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::runtime::{Builder, Runtime};

const CHAIN: u32 = 100;
/// Many short turns, so that other work of the machine does not affect the median.
const STEPS: u32 = 5;
const ROUNDS: usize = 75;
/// The rounds of the peers in Python, which take a thousand times as long.
const PYTHON_ROUNDS: usize = 15;

/// A graph that is measured here and in the peers.
struct Subject {
    shape: &'static str,
    make: fn(u32) -> Flow,
    columns: u32,
    /// The figure of a cell of this library.
    name: &'static str,
}

const SUBJECTS: [Subject; 4] = [
    Subject { shape: "chain", make: chain, columns: CHAIN, name: "cell_us" },
    Subject { shape: "wide", make: row, columns: CHAIN, name: "cell_wide_us" },
    Subject { shape: "chain", make: chain, columns: 10 * CHAIN, name: "cell_1000_columns_us" },
    Subject { shape: "wide", make: row, columns: 10 * CHAIN, name: "cell_wide_1000_columns_us" },
];

/// A value of 100 characters.
fn value() -> Value {
    "x".repeat(100).into()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime of one thread needs nothing")
}

/// A chain of columns: each reads the one before, and its compute step is ready at once.
fn chain(columns: u32) -> Flow {
    let (mut last, value) = (source("user"), value());
    for at in 0..columns {
        let value = value.clone();
        last = column(format!("c{at}"), last.latest(), move |_: Context| ready(value.clone()));
    }
    flow([last]).expect("a chain is a sound flow")
}

/// A row of columns: each reads the source, and its compute step is ready at once.
fn row(columns: u32) -> Flow {
    let (user, value) = (source("user"), value());
    let columns = (0..columns).map(|at| {
        let value = value.clone();
        column(format!("c{at}"), user.latest(), move |_: Context| ready(value.clone()))
    });
    flow(columns).expect("a row is a sound flow")
}

async fn step(flow: &Flow) {
    flow.push("user", value()).await.expect("memory takes it");
    flow.run().await.expect("nothing fails");
}

fn grow(runtime: &Runtime, flow: &Flow, steps: u32) {
    runtime.block_on(async {
        for _ in 0..steps {
            step(flow).await;
        }
    });
}

/// The same values by hand: a boxed future for each cell, awaited, and its value kept.
async fn by_hand(kept: &mut Vec<Value>, value: &Value) {
    for _ in 0..CHAIN {
        let value = value.clone();
        let cell: BoxFuture<'static, Value> = black_box(ready(value).boxed());
        kept.push(cell.await);
    }
}

fn beside_by_hand(runtime: &Runtime) {
    let (flow, mut kept, text) = (chain(CHAIN), Vec::new(), value());
    let [chained, hand] = medians(
        ROUNDS,
        [&mut || grow(runtime, &flow, STEPS), &mut || {
            (0..STEPS).for_each(|_| runtime.block_on(by_hand(&mut kept, &text)));
        }],
    );
    figure("cell_by_hand_us", micros_each(hand, CHAIN * STEPS), "us");
    figure("cell_over_by_hand", over(chained, hand), "x");
}

/// The cost of a cell for each shape, here and in the peers. Returns that of a cell in a chain of 100 in microseconds, and
/// for each shape the ratio to the best peer in Rust.
fn beside_peers(runtime: &Runtime) -> (f64, Vec<(String, f64)>) {
    let Peers { rust, python } = Peers::start(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let (mut cells, mut over_best) = (Vec::new(), Vec::new());
    for Subject { shape, make, columns, name } in SUBJECTS {
        let flow = make(columns);
        let beside = |peer: &Peer, runs| -> Contender<'_> {
            let peer = peer.clone();
            Box::new(move || peer.run(shape, columns, runs) / runs)
        };
        let mut contenders: Vec<Contender<'_>> = vec![Box::new(|| {
            grow(runtime, &flow, 1);
            timed(|| grow(runtime, &flow, STEPS)) / STEPS
        })];
        contenders.extend(rust.iter().map(|peer| beside(peer, STEPS)));
        let mut times = self_timed_medians(ROUNDS, &mut contenders);
        // In separate turns: after seconds of Python the caches of the CPU would be cold for all others.
        let mut contenders: Vec<Contender<'_>> = python.iter().map(|peer| beside(peer, 1)).collect();
        times.extend(self_timed_medians(PYTHON_ROUNDS, &mut contenders));

        let mut each = times.into_iter().map(|time| micros_each(time, columns));
        let ours = each.next().unwrap_or_default();
        figure(name, ours, "us");
        cells.push(ours);
        let theirs: Vec<f64> = each.collect();
        for (peer, each) in rust.iter().chain(&python).zip(&theirs) {
            figure(&format!("{}_{shape}_{columns}_us", peer.name), *each, "us");
        }
        if let Some(best) = theirs.into_iter().take(rust.len()).reduce(f64::min) {
            over_best.push((format!("{shape}_{columns}_over_best_in_rust"), ours / best));
        }
    }
    (cells.first().copied().unwrap_or_default(), over_best)
}

/// The cost of a cell after histories of growing length. Returns the ratio of the longest history to the shortest.
fn over_history(runtime: &Runtime) -> f64 {
    let grown = |steps| {
        let flow = chain(2);
        grow(runtime, &flow, steps);
        flow
    };
    let flows = [100, 1_000, 10_000, 100_000, 1_000_000].map(grown);
    let mut contenders = flows
        .each_ref()
        .map(|flow| -> Contender<'_> { Box::new(move || timed(|| grow(runtime, flow, STEPS))) });
    let times = self_timed_medians(ROUNDS, &mut contenders);
    for (power, time) in (2..).zip(&times) {
        figure(&format!("cell_after_1e{power}_us"), micros_each(*time, 2 * STEPS), "us");
    }
    match times[..] {
        [early, .., late] => over(late, early),
        _ => unreachable!("there are five"),
    }
}

fn figures(runtime: &Runtime) {
    beside_by_hand(runtime);
    let late_over_early = over_history(runtime);
    let (cell, over_best) = beside_peers(runtime);
    bar("cell_us", cell, 1.0);
    bar("cell_1e6_over_1e2", late_over_early, 1.2);
    for (name, ratio) in over_best {
        bar(&name, ratio, 1.0);
    }
}

fn scheduling(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("scheduling");
    group.throughput(Throughput::Elements(CHAIN.into()));
    let flow = chain(CHAIN);
    group.bench_function("a step of a chain", |bench| bench.iter(|| runtime.block_on(step(&flow))));
    let flow = row(CHAIN);
    group.bench_function("a step of a row", |bench| bench.iter(|| runtime.block_on(step(&flow))));
    let (mut kept, text) = (Vec::new(), value());
    group.bench_function("by hand", |bench| {
        bench.iter(|| {
            kept.clear();
            runtime.block_on(by_hand(&mut kept, &text));
        });
    });
    group.finish();
    figures(&runtime);
}

criterion_group!(benches, scheduling);
criterion_main!(benches);
