//! The memory of flows: for each cell with a value of 100 characters, and for each of many flows that are idle or have 10
//! steps, against a plain list of the same values. Measured as the growth of the process, with the overhead of the
//! allocator.
//!
//! `cargo bench -p columnar-tests --bench memory`

use std::hint::black_box;
use std::mem;

use columnar::Value;
use columnar::prelude::*;
use columnar::testing::script;
use columnar_tests::figures::{bar, figure, grown, resident};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::{Builder, Runtime};

const STEPS: u32 = 200_000;
const FLOWS: u32 = 10_000;
const STEPS_OF_EACH: u32 = 10;

flow! {
    /// The flow of the README. Its compute steps are never called.
    struct Chat {
        source user;
        column topics(user.latest)        = script([""]);
        column summary(user, self.latest) = script([""]);
        column critique(summary.latest.as("digest"), user.latest) = script([""]);
        column assistant(user, self)      = script([""]);
    }
}

flow! {
    /// The same flow with values.
    struct Talk {
        source user;
        column topics(user.latest)        = answer;
        column summary(user, self.latest) = answer;
        column critique(summary.latest.as("digest"), user.latest) = answer;
        column assistant(user, self)      = answer;
    }
}

async fn answer(cx: Context) -> Value {
    text(u32::try_from(cx.step()).unwrap_or(0)).into()
}

/// The growth of the program per item. The items are never freed, because the next ones would use their memory again.
fn kept<T>(count: u32, make: impl FnOnce() -> T) -> f64 {
    let (made, growth) = grown(count, || black_box(make()));
    mem::forget(made);
    growth.unwrap_or_default()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime of one thread needs nothing")
}

fn text(step: u32) -> String {
    format!("{step:>100}")
}

/// A source and a column, with all values stored.
fn cells() -> Flow {
    let user = source("user");
    let flow = flow([column("echo", user.latest(), answer)]).expect("a sound flow");
    runtime().block_on(async {
        for step in 0..STEPS {
            flow.push("user", text(step)).await.expect("memory takes it");
            flow.run().await.expect("nothing fails");
        }
    });
    flow
}

/// Many live flows, each with a few steps.
fn talks() -> Vec<Talk> {
    let talks: Vec<Talk> = (0..FLOWS).map(|_| Talk::new()).collect();
    runtime().block_on(async {
        for step in 0..STEPS_OF_EACH {
            for talk in &talks {
                talk.user.push(text(step)).await.expect("memory takes it");
                talk.run().await.expect("nothing fails");
            }
        }
    });
    talks
}

fn memory(_: &mut Criterion) {
    if resident().is_none() {
        println!("SKIPPED memory: this system does not report the resident memory");
        return;
    }
    let list = kept(STEPS, || (0..STEPS).map(|step| Value::from(text(step))).collect::<Vec<_>>());
    let cells = kept(2 * STEPS, cells);
    let flows = kept(FLOWS, || (0..FLOWS).map(|_| Chat::new()).collect::<Vec<_>>());
    let talks = kept(FLOWS, talks);
    figure("bytes_per_listed_value", list, "bytes");
    figure("bytes_per_cell", cells, "bytes");
    figure("bytes_per_idle_flow", flows, "bytes");
    figure("bytes_per_flow_of_10_steps", talks, "bytes, of 50 values");
    bar("bytes_per_cell", cells, 153.0);
}

criterion_group!(benches, memory);
criterion_main!(benches);
