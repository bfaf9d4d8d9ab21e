//! Loops with tools: a person calls, the model calls a tool a few times, then the person calls again. The texts are
//! generated. The number and the lengths of the texts follow the multi-turn dialogues with long contexts in the
//! Berkeley Function-Calling Leaderboard: 4 to 6 questions, 6 calls, 15 KB.

use std::sync::Arc;

use columnar::{Result, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::wait;
use crate::cost::random::Random;
use crate::cost::trace::{Kind, Pause, Trace};

const SESSIONS: usize = 60;

/// The lengths of questions, in tokens.
const QUESTIONS: &[usize] = &[30, 50, 80, 120];

/// The lengths of results of tools, in tokens: most are short, some are whole files.
const RESULTS: &[usize] = &[15, 25, 40, 80, 200, 700, 2800];

/// The lengths of calls, in tokens.
const CALLS: &[usize] = &[15, 25, 40];

/// Sixty dialogues that share the instruction and the descriptions of the tools.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn trace() -> Result<Trace> {
    let agent = column_spec("agent", 2500, 0);
    let mut trace = Trace::new("T3 tools", Kind::AppendOnly, vec![agent.clone()]);
    let mut random = Random::new(3);
    for _ in 0..SESSIONS {
        let input = source("input");
        let loops = Arc::new(flow([column("agent", (input.all(), this()), replying(&agent, CALLS))])?);
        let mut pauses = Vec::new();
        wait(async {
            for _ in 0..random.count(4, 6) {
                pauses.push(Pause::Thought);
                loops.push("input", random.text(QUESTIONS)).await?;
                // With 5 questions on average, 1.2 calls each are the 6 calls of the leaderboard.
                for _ in 0..=usize::from(random.happens(0.2)) {
                    pauses.push(Pause::Tool);
                    loops.push("input", random.text(RESULTS)).await?;
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
