//! Chats that outgrow their budget, as each strategy cuts them.

use std::sync::Arc;

use columnar::budget::Budget;
use columnar::compute::Policy as _;
use columnar::{Result, column, flow, source, this};

use super::answering::{answering, subject};
use super::{ANSWERED, SAID, session};
use crate::cost::dice::Dice;
use crate::cost::trace::{Kind, Trace};

const SESSIONS: usize = 6;
const STEPS: usize = 90;

/// Less than half of what a session has in the end, in tokens.
const TOKENS: usize = 16_000;

/// By name, how a column is cut.
fn strategies() -> [(&'static str, Budget); 7] {
    let [rolling, middle] = [Budget::of(TOKENS).rolling_window(), Budget::of(TOKENS).truncate_middle()];
    [
        ("all", Budget::new()),
        ("rolling", rolling.clone()),
        ("rolling_80", rolling.clone().low_water(0.8)),
        ("rolling_50", rolling.low_water(0.5)),
        ("middle", middle.clone()),
        ("middle_80", middle.clone().low_water(0.8)),
        ("middle_50", middle.low_water(0.5)),
    ]
}

/// Six sessions of ninety steps with a column for each strategy.
///
/// # Errors
///
/// Those of the flows, none of which fails.
pub fn trace() -> Result<Trace> {
    let mut dice = Dice::new(4);
    let subjects = strategies().map(|(name, budget)| (subject(name, 1400, 0), budget));
    let asked = subjects.iter().map(|(subject, _)| subject.clone()).collect();
    let mut trace = Trace::new("T4 budget", Kind::Budget, asked);
    for _ in 0..SESSIONS {
        let user = source("user");
        let columns = subjects.iter().map(|(subject, budget)| {
            let step = answering(subject, ANSWERED).budget(budget.clone());
            column(&subject.name, (user.all(), this()), step)
        });
        session(&mut trace, &Arc::new(flow(columns)?), STEPS, SAID, &mut dice)?;
    }
    Ok(trace)
}
