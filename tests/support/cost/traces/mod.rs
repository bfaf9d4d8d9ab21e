//! The traces: flows of the library that are run for real, with computes that answer at once and values
//! of seeded lengths.

pub mod adversarial;
mod answering;
pub mod budgets;
pub mod chat;
pub mod edits;
pub mod fan;
pub mod layouts;
pub mod six;
pub mod tools;

use std::ops::Range;
use std::sync::Arc;

use columnar::{Flow, Result};
use tokio::runtime::Builder;

use super::dice::Dice;
use super::trace::{Pause, Trace};

/// What people write, in tokens.
const SAID: &[usize] = &[15, 30, 60, 100, 150, 250, 600];

/// What models answer, in tokens.
const ANSWERED: &[usize] = &[60, 120, 200, 300, 400, 700];

/// All traces.
///
/// # Errors
///
/// Those of the flows, none of which fails.
pub fn all() -> Result<Vec<Trace>> {
    let mut traces = vec![chat::trace()?, six::trace()?, tools::trace()?, budgets::trace()?, edits::trace()?];
    traces.extend(fan::traces()?);
    traces.extend(adversarial::traces()?);
    Ok(traces)
}

/// Runs a future that waits for nothing outside.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
    runtime.block_on(future)
}

/// A session of so many steps, each of which says one text to the source `user`. Its turns, in order.
fn session(
    trace: &mut Trace,
    flow: &Arc<Flow>,
    steps: usize,
    said: &[usize],
    dice: &mut Dice,
) -> Result<Vec<usize>> {
    let mut turns = Vec::new();
    go_on(trace, flow, &mut turns, steps, said, dice)?;
    Ok(turns)
}

/// So many more steps of a session.
fn go_on(
    trace: &mut Trace,
    flow: &Arc<Flow>,
    turns: &mut Vec<usize>,
    steps: usize,
    said: &[usize],
    dice: &mut Dice,
) -> Result<()> {
    wait(say(flow, steps, said, dice))?;
    let more = record(trace, flow, turns.len()..turns.len() + steps, turns.last().copied())?;
    turns.extend(more);
    Ok(())
}

/// A fork of a flow and so many steps of it. The first follows the last of `turns` that the fork knows,
/// after a pause. The fork, and the turns of all its steps.
fn fork(
    trace: &mut Trace,
    flow: &Arc<Flow>,
    (at, pause): (usize, Pause),
    turns: &[usize],
    steps: usize,
    dice: &mut Dice,
) -> Result<(Arc<Flow>, Vec<usize>)> {
    let other = Arc::new(flow.fork(at)?);
    wait(say(&other, steps, SAID, dice))?;
    let past = turns.iter().copied().take(at);
    let new = record(trace, &other, at..at + steps, past.clone().next_back())?;
    if let Some(first) = new.first().and_then(|first| trace.turns.get_mut(*first)) {
        first.pause = pause;
    }
    Ok((other, past.chain(new).collect()))
}

async fn say(flow: &Flow, steps: usize, said: &[usize], dice: &mut Dice) -> Result<()> {
    for _ in 0..steps {
        flow.push("user", dice.text(said)).await?;
    }
    flow.run().await
}

/// These steps of a flow, one turn after the other.
fn record(
    trace: &mut Trace,
    flow: &Arc<Flow>,
    steps: Range<usize>,
    after: Option<usize>,
) -> Result<Vec<usize>> {
    let mut turns = Vec::new();
    for step in steps {
        let after = turns.last().copied().or(after);
        turns.push(trace.step(after, Pause::Thought, flow, step)?);
    }
    Ok(turns)
}
