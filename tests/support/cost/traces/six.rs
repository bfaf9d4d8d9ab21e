//! Six columns of the six patterns, as flows have them.

use std::sync::Arc;

use columnar::{Flow, Result, column, flow, source, this};

use super::answering::{answering, subject};
use super::{ANSWERED, SAID, session};
use crate::cost::dice::Dice;
use crate::cost::trace::{Kind, Subject, Trace};

const SESSIONS: usize = 8;
const STEPS: usize = 120;

/// Lists, in tokens.
const LISTED: &[usize] = &[20, 40, 60];

fn subjects() -> [Subject; 6] {
    [
        subject("topics", 200, 0),
        subject("summary", 800, 0),
        subject("critique", 500, 1),
        subject("journal", 1100, 0),
        subject("assistant", 1500, 0),
        subject("mood", 1300, 0),
    ]
}

fn declare() -> Result<Flow> {
    let user = source("user");
    let [topics, summary, critique, journal, assistant, mood] = subjects();
    let summary = column("summary", (user.all(), this().latest()), answering(&summary, ANSWERED));
    let digest = summary.latest().named("digest");
    flow([
        column("topics", user.latest(), answering(&topics, LISTED)),
        column("critique", [digest, user.latest()], answering(&critique, ANSWERED)),
        column("journal", (user.latest(), this()), answering(&journal, ANSWERED)),
        column("assistant", (user.all(), this()), answering(&assistant, ANSWERED)),
        column("mood", user.window(8), answering(&mood, LISTED)),
        summary,
    ])
}

/// Eight sessions of 120 steps.
///
/// # Errors
///
/// Those of the flows, none of which fails.
pub fn trace() -> Result<Trace> {
    let mut trace = Trace::new("T2 six", Kind::AppendOnly, subjects().to_vec());
    let mut dice = Dice::new(2);
    for _ in 0..SESSIONS {
        session(&mut trace, &Arc::new(declare()?), STEPS, SAID, &mut dice)?;
    }
    Ok(trace)
}
