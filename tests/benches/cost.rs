//! What requests cost with the marks of this library, and with those of others, over the least that they
//! can cost: all traces, clocks and providers, simulated by the rules that providers have written down.
//!
//! `cargo bench -p columnar-tests --bench cost`
//!
//! Each line of the table is the provider with which ours stands worst; `-- --all` prints all of them, and
//! `-- --columns` the columns of each.

use std::collections::BTreeMap;
use std::env;

use columnar::Result;
use columnar_tests::cost::clock::Clock;
use columnar_tests::cost::market::market;
use columnar_tests::cost::outcome::{Column, Outcome};
use columnar_tests::cost::policies::POLICIES;
use columnar_tests::cost::trace::{Kind, Trace};
use columnar_tests::cost::traces;

fn main() -> Result<()> {
    let has = |flag: &str| env::args().any(|argument| argument == flag);
    let mut outcomes = Vec::new();
    for trace in traces::all()? {
        for (provider, rules) in market() {
            outcomes.extend(Outcome::of(
                &trace,
                &[Clock::Batch, Clock::Human, Clock::Bursty, Clock::Edge],
                provider,
                &rules,
            )?);
        }
    }
    for outcome in &outcomes {
        print!(
            "{:14} {:7} {:28} {:7.3} {:7.3} {:7.3}",
            outcome.trace,
            outcome.clock.name(),
            outcome.provider,
            outcome.over_bound(),
            outcome.declared_over_bound(),
            outcome.total(|c| c.ours) / outcome.total(|c| c.uncached)
        );
        for other in &outcome.others {
            print!(" {:7.3}", other / outcome.total(|c| c.bound));
        }
        println!();
        if has("--columns") {
            for c in &outcome.columns {
                println!(
                    "      {:10} {:7.3} {:7.3} {:7.3}",
                    c.name,
                    c.ours / c.bound,
                    c.declared / c.both,
                    c.ours / c.uncached
                );
            }
        }
    }
    Ok(())
}
