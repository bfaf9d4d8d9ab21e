//! The traces: flows of the library that are run with compute steps that reply at once, and with values of random
//! lengths.

pub mod adversarial;
pub mod budgets;
pub mod chat;
pub mod coding;
pub mod edits;
pub mod fan;
pub mod histories;
pub mod layouts;
pub mod lifetimes;
pub mod patterns;
pub mod record;
mod replies;
pub mod sessions;
pub mod threads;
pub mod tools;

use std::ops::Range;
use std::sync::Arc;

use columnar::{Flow, Result};
use tokio::runtime::Builder;

use super::random::Random;
use super::trace::{Pause, Trace};

/// The lengths of messages of people, in tokens.
const MESSAGES: &[usize] = &[15, 30, 60, 100, 150, 250, 600];

/// The lengths of replies of models, in tokens.
const REPLIES: &[usize] = &[60, 120, 200, 300, 400, 700];

/// All traces except the traces of `coding` and `threads`, which are compared by layout.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn all() -> Result<Vec<Trace>> {
    let mut traces = vec![chat::trace()?, patterns::trace()?, tools::trace()?, budgets::trace()?];
    traces.extend(fan::traces()?);
    traces.extend(adversarial::traces()?);
    Ok(traces)
}

/// Runs a future that does no I/O.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
    runtime.block_on(future)
}

/// Adds a session with this number of steps, each with one value of `user`. Returns the turns of the session in order.
fn session(
    trace: &mut Trace,
    flow: &Arc<Flow>,
    steps: usize,
    lengths: &[usize],
    random: &mut Random,
) -> Result<Vec<usize>> {
    let mut turns = Vec::new();
    continue_session(trace, flow, &mut turns, steps, lengths, random)?;
    Ok(turns)
}

/// Adds further steps of a session.
fn continue_session(
    trace: &mut Trace,
    flow: &Arc<Flow>,
    turns: &mut Vec<usize>,
    steps: usize,
    lengths: &[usize],
    random: &mut Random,
) -> Result<()> {
    wait(push_and_run(flow, steps, lengths, random))?;
    let more = record(trace, flow, turns.len()..turns.len() + steps, turns.last().copied())?;
    turns.extend(more);
    Ok(())
}

/// Adds a fork of a flow with this number of steps. The first step follows the last shared turn, after a pause. Returns
/// the fork and the turns of all steps.
fn fork(
    trace: &mut Trace,
    flow: &Arc<Flow>,
    (at, pause): (usize, Pause),
    turns: &[usize],
    steps: usize,
    random: &mut Random,
) -> Result<(Arc<Flow>, Vec<usize>)> {
    let other = Arc::new(flow.fork(at)?);
    wait(push_and_run(&other, steps, MESSAGES, random))?;
    let shared = turns.iter().copied().take(at);
    let new = record(trace, &other, at..at + steps, shared.clone().next_back())?;
    if let Some(first) = new.first().and_then(|first| trace.turns.get_mut(*first)) {
        first.pause = pause;
    }
    Ok((other, shared.chain(new).collect()))
}

async fn push_and_run(flow: &Flow, steps: usize, lengths: &[usize], random: &mut Random) -> Result<()> {
    for _ in 0..steps {
        flow.push("user", random.text(lengths)).await?;
    }
    flow.run().await
}

/// Adds these steps of a flow, one turn after the other.
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
