//! Loops with tools: a person asks, the model calls a tool a few times, then the person asks again. The
//! texts are generated; their number and lengths are those of the multi-turn dialogues of the Berkeley
//! Function-Calling Leaderboard with long contexts: 4 to 6 questions, 6 calls, 15 KB.

use std::sync::Arc;

use columnar::{Result, column, flow, source, this};

use super::answering::{answering, subject};
use super::wait;
use crate::cost::dice::Dice;
use crate::cost::trace::{Kind, Pause, Trace};

const SESSIONS: usize = 60;

/// What people ask, in tokens.
const ASKED: &[usize] = &[30, 50, 80, 120];

/// What tools give back, in tokens: most of it little, some of it whole files.
const GIVEN: &[usize] = &[15, 25, 40, 80, 200, 700, 2800];

/// Calls, in tokens.
const CALLED: &[usize] = &[15, 25, 40];

/// Sixty dialogues that share their instruction and the descriptions of the tools.
///
/// # Errors
///
/// Those of the flows, none of which fails.
pub fn trace() -> Result<Trace> {
    let agent = subject("agent", 2500, 0);
    let mut trace = Trace::new("T3 tools", Kind::AppendOnly, vec![agent.clone()]);
    let mut dice = Dice::new(3);
    for _ in 0..SESSIONS {
        let input = source("input");
        let loops = Arc::new(flow([column("agent", (input.all(), this()), answering(&agent, CALLED))])?);
        let mut pauses = Vec::new();
        wait(async {
            for _ in 0..dice.count(4, 6) {
                pauses.push(Pause::Thought);
                loops.push("input", dice.text(ASKED)).await?;
                for _ in 0..=usize::from(dice.happens(0.2)) {
                    pauses.push(Pause::Tool);
                    loops.push("input", dice.text(GIVEN)).await?;
                }
            }
            loops.run().await
        })?;
        let mut after = None;
        for (step, pause) in pauses.into_iter().enumerate() {
            after = Some(trace.step(after, pause, &loops, step)?);
        }
    }
    Ok(trace)
}
