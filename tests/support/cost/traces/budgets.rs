//! Chats that outgrow a budget, truncated by each strategy.

use std::sync::Arc;

use columnar::budget::Budget;
use columnar::compute::Policy as _;
use columnar::{Result, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::{MESSAGES, REPLIES, session};
use crate::cost::random::Random;
use crate::cost::trace::{Kind, Trace};

const SESSIONS: usize = 6;
const STEPS: usize = 90;

/// The budget, which is less than half of a whole session, in tokens.
const TOKENS: usize = 16_000;

/// The budgets of the columns, by name.
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
/// The errors of the flows. None is expected.
pub fn trace() -> Result<Trace> {
    let mut random = Random::new(4);
    let column_specs = strategies().map(|(name, budget)| (column_spec(name, 1400, 0), budget));
    let columns = column_specs.iter().map(|(column_spec, _)| column_spec.clone()).collect();
    let mut trace = Trace::new("T4 budget", Kind::Budget, columns);
    for _ in 0..SESSIONS {
        let user = source("user");
        let columns = column_specs.iter().map(|(column_spec, budget)| {
            let step = replying(column_spec, REPLIES).budget(budget.clone());
            column(&column_spec.name, (user.all(), this()), step)
        });
        session(&mut trace, &Arc::new(flow(columns)?), STEPS, MESSAGES, &mut random)?;
    }
    Ok(trace)
}
