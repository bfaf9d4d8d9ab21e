//! What a cell costs that does nothing: readiness, context, compute, store and event, against the
//! least that a program could do by hand.
//!
//! `cargo bench -p columnar-tests --bench scheduling`

use std::future::ready;
use std::hint::black_box;

use columnar::Value;
use columnar::prelude::*;
use columnar_tests::figures::{bar, figure, medians, micros_each, over};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::runtime::{Builder, Runtime};

const CHAIN: u32 = 100;
const STEPS: u32 = 50;
const ROUNDS: usize = 15;

/// A value of 100 characters.
fn value() -> Value {
    "x".repeat(100).into()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime of one thread needs nothing")
}

/// So many columns, each of which reads the one before and answers at once.
fn chain(columns: u32) -> Flow {
    let (mut last, value) = (source("user"), value());
    for at in 0..columns {
        let value = value.clone();
        last = column(format!("c{at}"), last.latest(), move |_: Context| ready(value.clone()));
    }
    flow([last]).expect("a chain is a sound flow")
}

/// So many columns, each of which reads the source and answers at once.
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

fn figures(runtime: &Runtime) {
    let (chain_flow, row_flow, mut kept, text) = (chain(CHAIN), row(CHAIN), Vec::new(), value());
    let [chained, wide, hand] = medians(
        ROUNDS,
        [&mut || grow(runtime, &chain_flow, STEPS), &mut || grow(runtime, &row_flow, STEPS), &mut || {
            (0..STEPS).for_each(|_| runtime.block_on(by_hand(&mut kept, &text)));
        }],
    );
    let cell = micros_each(chained, CHAIN * STEPS);
    figure("cell_us", cell, "us");
    figure("cell_wide_us", micros_each(wide, CHAIN * STEPS), "us");
    figure("cell_by_hand_us", micros_each(hand, CHAIN * STEPS), "us");
    figure("cell_over_by_hand", over(chained, hand), "x");

    let (long, broad) = (chain(10 * CHAIN), row(10 * CHAIN));
    let [long, broad] =
        medians(ROUNDS, [&mut || grow(runtime, &long, STEPS), &mut || grow(runtime, &broad, STEPS)]);
    figure("cell_1000_columns_us", micros_each(long, 10 * CHAIN * STEPS), "us");
    figure("cell_wide_1000_columns_us", micros_each(broad, 10 * CHAIN * STEPS), "us");

    let (young, old) = (chain(2), chain(2));
    grow(runtime, &young, 100);
    grow(runtime, &old, 1_000_000);
    let [early, late] = medians(ROUNDS, [&mut || grow(runtime, &young, 50), &mut || grow(runtime, &old, 50)]);
    figure("cell_after_1e2_us", micros_each(early, 100), "us");
    figure("cell_after_1e6_us", micros_each(late, 100), "us");

    bar("cell_us", cell, 1.0);
    bar("cell_1e6_over_1e2", over(late, early), 1.2);
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
