//! Sessions at the limits of the rules.

use std::sync::Arc;

use columnar::{Column, Flow, Result, View, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::{MESSAGES, REPLIES, continue_session, fork, session, wait};
use crate::cost::clock::Clock;
use crate::cost::random::Random;
use crate::cost::trace::{Kind, Pause, Trace};

const STEPS: usize = 40;

/// The numbers of sources: as many blocks a step as a mark looks back, one less, more, and many more.
const WIDE: [(&str, usize); 4] =
    [("T7 wide 17", 17), ("T7 wide 18", 18), ("T7 wide 24", 24), ("T7 wide 60", 60)];

/// Words, in tokens.
const WORDS: &[usize] = &[5, 10, 20];

/// All adversarial traces.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn traces() -> Result<Vec<Trace>> {
    let mut traces =
        WIDE.into_iter().map(|(name, sources)| wide(name, sources)).collect::<Result<Vec<_>>>()?;
    traces.extend([small()?, edge()?, restarts()?, forks()?, late()?]);
    Ok(traces)
}

fn chat(name: &'static str, instruction: usize) -> Result<(Trace, Arc<Flow>)> {
    let assistant = column_spec("assistant", instruction, 0);
    let user = source("user");
    let chat = flow([column("assistant", (&user, this()), replying(&assistant, REPLIES))])?;
    Ok((Trace::new(name, Kind::Adversarial, vec![assistant]), Arc::new(chat)))
}

/// A step has one block for each source, and one for the reply.
fn wide(name: &'static str, sources: usize) -> Result<Trace> {
    let mut random = Random::new(7);
    let assistant = column_spec("assistant", 1100, 0);
    let names: Vec<String> = (0..sources).map(|at| format!("s{at}")).collect();
    let columns: Vec<Column> = names.iter().map(source).collect();
    let views: Vec<View> = columns.iter().map(Column::all).chain([this()]).collect();
    let wide = Arc::new(flow([column("assistant", views, replying(&assistant, REPLIES))])?);
    wait(async {
        for _ in 0..STEPS {
            for name in &names {
                wide.push(name, random.text(MESSAGES)).await?;
            }
        }
        wide.run().await
    })?;
    let mut trace = Trace::new(name, Kind::Adversarial, vec![assistant]);
    (0..STEPS).try_fold(None, |after, step| trace.step(after, Pause::Thought, &wide, step).map(Some))?;
    Ok(trace)
}

/// Prefixes that stay below the minimum, and some that reach it late.
fn small() -> Result<Trace> {
    let mut random = Random::new(8);
    let topics = column_spec("topics", 300, 0);
    let state = column_spec("state", 600, 0);
    let notes = column_spec("notes", 20, 0);
    let user = source("user");
    let small = Arc::new(flow([
        column("topics", user.latest(), replying(&topics, WORDS)),
        column("state", (user.window(3), this().latest()), replying(&state, WORDS)),
        column("notes", (user.latest(), this()), replying(&notes, WORDS)),
    ])?);
    let mut trace = Trace::new("T7 small", Kind::Adversarial, vec![topics, state, notes]);
    session(&mut trace, &small, STEPS, MESSAGES, &mut random)?;
    Ok(trace)
}

/// Forks of forks.
fn forks() -> Result<Trace> {
    let mut random = Random::new(9);
    let (mut trace, base) = chat("T7 forks", 1200)?;
    let mut turns = Vec::new();
    for at in (4..STEPS).step_by(4) {
        continue_session(&mut trace, &base, &mut turns, 4, MESSAGES, &mut random)?;
        let (other, mut turns) = fork(&mut trace, &base, (at, Pause::Thought), &turns, 3, &mut random)?;
        fork(&mut trace, &other, (at + 3, Pause::Thought), &turns, 6, &mut random)?;
        continue_session(&mut trace, &other, &mut turns, 3, MESSAGES, &mut random)?;
    }
    Ok(trace)
}

/// Pauses that end a second before or after the lifetime, at random.
///
/// Without a longer lifetime, no policy that does not know the next pause comes close to the bound. In a long history,
/// always marking costs `(r + w) / 2` a token on average, and never marking costs 1. The bound knows the next pause:
/// after a pause that was too long, the bound writes if the next one is not, and sends plainly if it is, which is
/// `(r + (w + 1) / 2) / 2`. With 1.25 and 0.05 that is 0.65 over 0.5875, or 1.106.
fn edge() -> Result<Trace> {
    let mut random = Random::new(12);
    let (mut trace, chat) = chat("T7 edge", 1200)?;
    trace.clocks = &[Clock::Edge];
    for _ in 0..6 {
        // A fork at step 0 has no values, so the fork is a new session with the same columns.
        let other = chat.fork(0)?;
        session(&mut trace, &Arc::new(other), STEPS, MESSAGES, &mut random)?;
    }
    Ok(trace)
}

/// A program that is down for hours every few steps.
fn restarts() -> Result<Trace> {
    let mut random = Random::new(10);
    let (mut trace, chat) = chat("T7 restarts", 1200)?;
    session(&mut trace, &chat, STEPS, MESSAGES, &mut random)?;
    for turn in trace.turns.iter_mut().skip(8).step_by(8) {
        turn.pause = Pause::Down;
    }
    Ok(trace)
}

/// Forks at steps whose requests were sent long ago.
fn late() -> Result<Trace> {
    let mut random = Random::new(11);
    let (mut trace, base) = chat("T7 late forks", 1200)?;
    let turns = session(&mut trace, &base, STEPS, MESSAGES, &mut random)?;
    // All forks follow the last turn, so the requests of the shared steps are old.
    let last = vec![turns.last().copied().unwrap_or_default(); STEPS];
    for at in [5, 15, 25, 35] {
        fork(&mut trace, &base, (at, Pause::Thought), &last, 6, &mut random)?;
    }
    Ok(trace)
}
