//! Conversations that end after a step, and chats whose pauses are longer than a lifetime.

use std::sync::Arc;

use columnar::{Flow, Result, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::{MESSAGES, REPLIES, session};
use crate::cost::clock::Clock;
use crate::cost::random::Random;
use crate::cost::trace::{ColumnSpec, Kind, Trace};

/// The conversations of one step, and the tokens of their messages.
const CONVERSATIONS: usize = 80;
const LONG: &[usize] = &[3000];

const CHATS: usize = 6;
const STEPS: usize = 40;

/// Conversations of one step, which share no more than a short instruction.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn one_step() -> Result<Trace> {
    let assistant = column_spec("assistant", 100, 0);
    let mut trace = Trace::new("T8 one step", Kind::OneStep, vec![assistant.clone()]);
    let mut random = Random::new(18);
    for _ in 0..CONVERSATIONS {
        session(&mut trace, &chat(&assistant)?, 1, LONG, &mut random)?;
    }
    Ok(trace)
}

/// Chats with pauses of about ten minutes, and of hours.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn slow() -> Result<Trace> {
    let assistant = column_spec("assistant", 1400, 0);
    let mut trace = Trace::new("T8 slow", Kind::Slow, vec![assistant.clone()]);
    trace.clocks = &[Clock::Minutes, Clock::Hours];
    let mut random = Random::new(19);
    for _ in 0..CHATS {
        session(&mut trace, &chat(&assistant)?, STEPS, MESSAGES, &mut random)?;
    }
    Ok(trace)
}

fn chat(assistant: &ColumnSpec) -> Result<Arc<Flow>> {
    let views = (source("user").all(), this());
    Ok(Arc::new(flow([column(&assistant.name, views, replying(assistant, REPLIES))])?))
}
