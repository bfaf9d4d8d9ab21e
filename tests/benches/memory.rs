//! What flows hold in memory: for each cell with a value of 100 characters, and for each of many flows
//! that do nothing, against a plain list of the same values. Measured as the growth of the process,
//! so that what the allocator adds is in it.
//!
//! `cargo bench -p columnar-tests --bench memory`

use std::fs;
use std::hint::black_box;
use std::mem;

use columnar::Value;
use columnar::prelude::*;
use columnar::testing::script;
use columnar_tests::figures::{bar, figure};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::Builder;

const STEPS: u32 = 200_000;
const FLOWS: u32 = 10_000;

flow! {
    /// The flow of the README, whose computes are never called.
    struct Chat {
        source user;
        column topics(user.latest) = script([""]);
        column summary(user, self.latest) = script([""]);
        column critique(summary.latest.as("digest"), user.latest) = script([""]);
        column assistant(user, self) = script([""]);
    }
}

/// The memory of the process that is in use, in bytes; `None` where the system does not tell.
fn resident() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// By how much the process grows for each of so many things. They are kept for good: what is freed
/// would be used again for the next ones, and hide them.
fn grown<T>(count: u32, make: impl FnOnce() -> T) -> Option<f64> {
    let before = resident()?;
    mem::forget(black_box(make()));
    Some((resident()? - before) / f64::from(count))
}

fn text(step: u32) -> String {
    format!("{step:>100}")
}

/// A source and a column that has all of its past in view, with every value stored.
fn cells() -> Flow {
    let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
    let user = source("user");
    let echo = column("echo", user.latest(), |cx: Context| {
        std::future::ready(Value::from(text(u32::try_from(cx.step()).unwrap_or(0))))
    });
    let flow = flow([echo]).expect("a sound flow");
    runtime.block_on(async {
        for step in 0..STEPS {
            flow.push("user", text(step)).await.expect("memory takes it");
            flow.run().await.expect("nothing fails");
        }
    });
    flow
}

fn memory(_: &mut Criterion) {
    if resident().is_none() {
        println!("SKIPPED memory: this system does not tell how much of it is in use");
        return;
    }
    let list = grown(STEPS, || (0..STEPS).map(|step| Value::from(text(step))).collect::<Vec<_>>());
    let cells = grown(2 * STEPS, cells);
    let flows = grown(FLOWS, || (0..FLOWS).map(|_| Chat::new()).collect::<Vec<_>>());
    figure("bytes_per_listed_value", list.unwrap_or_default(), "bytes");
    figure("bytes_per_cell", cells.unwrap_or_default(), "bytes");
    figure("bytes_per_idle_flow", flows.unwrap_or_default(), "bytes");
    bar("bytes_per_cell", cells.unwrap_or_default(), 153.0);
}

criterion_group!(benches, memory);
criterion_main!(benches);
