//! Six columns with the six common patterns of views.

use std::sync::Arc;

use columnar::{Flow, Result, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::{MESSAGES, REPLIES, session};
use crate::cost::random::Random;
use crate::cost::trace::{ColumnSpec, Kind, Trace};

const SESSIONS: usize = 8;
const STEPS: usize = 120;

/// The lengths of lists, in tokens.
const LISTS: &[usize] = &[20, 40, 60];

fn column_specs() -> [ColumnSpec; 6] {
    [
        column_spec("topics", 200, 0),
        column_spec("summary", 800, 0),
        column_spec("critique", 500, 1),
        column_spec("journal", 1100, 0),
        column_spec("assistant", 1500, 0),
        column_spec("mood", 1300, 0),
    ]
}

fn declare() -> Result<Flow> {
    let user = source("user");
    let [topics, summary, critique, journal, assistant, mood] = column_specs();
    let summary = column("summary", (user.all(), this().latest()), replying(&summary, REPLIES));
    let digest = summary.latest().named("digest");
    flow([
        column("topics", user.latest(), replying(&topics, LISTS)),
        column("critique", [digest, user.latest()], replying(&critique, REPLIES)),
        column("journal", (user.latest(), this()), replying(&journal, REPLIES)),
        column("assistant", (user.all(), this()), replying(&assistant, REPLIES)),
        column("mood", user.window(8), replying(&mood, LISTS)),
        summary,
    ])
}

/// Eight sessions of 120 steps.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn trace() -> Result<Trace> {
    let mut trace = Trace::new("T2 six", Kind::AppendOnly, column_specs().to_vec());
    let mut random = Random::new(2);
    for _ in 0..SESSIONS {
        session(&mut trace, &Arc::new(declare()?), STEPS, MESSAGES, &mut random)?;
    }
    Ok(trace)
}
