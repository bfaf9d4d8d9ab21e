//! Runs that are polled a random number of times and then dropped, with values that are pushed meanwhile.

use std::collections::BTreeSet;

use columnar::prelude::*;
use columnar_tests::live::Live;
use columnar_tests::strategies::{flows, pauses};
use fastrand::Rng;
use futures::future::poll_immediate;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::{Counts, block_on, count};

/// More polls than a run needs in which every cell pauses.
const MOST_POLLS: usize = 60;

pub(super) fn round(rng: &mut Rng) -> Counts {
    let config = Config { rng_seed: RngSeed::Fixed(rng.u64(..)), ..Config::default() };
    let tree = (flows(), pauses()).new_tree(&mut TestRunner::new(config)).expect("flows are never refused");
    let (described, pauses) = tree.current();
    let live = Live::declare(&described, &pauses).expect("a sound flow");
    let (mut counts, mut emitted, mut pushed) = (Counts::new(), BTreeSet::new(), 0);
    block_on(async {
        while pushed < described.steps() || live.flow.steps() < described.steps() {
            let mut run = live.flow.run();
            for _ in 0..rng.usize(..MOST_POLLS) {
                if pushed < described.steps() && rng.u8(..8) == 0 {
                    live.push(&described, pushed).await.expect("memory takes it");
                    pushed += 1;
                }
                count(&mut counts, "polls");
                match poll_immediate(run.next()).await {
                    Some(Some(Ok(Event::Value { column, step, .. }))) => {
                        assert!(emitted.insert((column, step)), "a value is emitted once");
                    }
                    Some(Some(event)) => drop(event.expect("no cell fails")),
                    Some(None) => break,
                    // The cells yield to the runtime.
                    None => tokio::task::yield_now().await,
                }
            }
            count(&mut counts, "dropped runs");
        }
    });
    for column in &described.columns {
        for (step, value) in column.values.iter().enumerate() {
            let stored = live.flow.get(&column.name, step);
            assert_eq!(stored.as_deref(), Some(value.as_str()), "{} {step}", column.name);
        }
    }
    // The messages are those that the last attempt of each cell got.
    for ((column, step), messages) in live.seen() {
        assert_eq!(live.flow.messages(&column, step).expect("it is computed"), messages);
    }
    counts
}
