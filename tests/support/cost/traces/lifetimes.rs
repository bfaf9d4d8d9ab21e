//! Conversations at paces for which the short lifetime is wrong, and conversations that do not go on.

use std::sync::Arc;

use columnar::{Result, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::{MESSAGES, REPLIES, chat, session};
use crate::cost::clock::Clock;
use crate::cost::random::Random;
use crate::cost::trace::{Kind, Trace};

/// The tokens of the messages of conversations of one step.
const QUESTION: &[usize] = &[3000];

/// The chats with pauses of ten minutes, and of hours.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn slow() -> Result<Trace> {
    let mut trace = chat::trace()?;
    "T8 slow".clone_into(&mut trace.name);
    trace.clocks = &[Clock::TenMinutes, Clock::Hours];
    Ok(trace)
}

/// This many conversations of one step, whose instruction is too short for a cache.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn one_step(conversations: usize) -> Result<Trace> {
    let assistant = column_spec("assistant", 20, 0);
    let mut trace =
        Trace::new(format!("T8 one of {conversations}"), Kind::AppendOnly, vec![assistant.clone()]);
    trace.clocks = &[Clock::Human];
    let mut random = Random::new(13);
    for _ in 0..conversations {
        let user = source("user");
        let views = (user.all(), this());
        let chat = Arc::new(flow([column("assistant", views, replying(&assistant, REPLIES))])?);
        session(&mut trace, &chat, 1, QUESTION, &mut random)?;
    }
    Ok(trace)
}

/// Chats of six steps, at the pace of a person.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn short() -> Result<Trace> {
    let assistant = column_spec("assistant", 1400, 0);
    let mut trace = Trace::new("T8 short", Kind::AppendOnly, vec![assistant.clone()]);
    trace.clocks = &[Clock::Human, Clock::Hours];
    let mut random = Random::new(14);
    for _ in 0..40 {
        let user = source("user");
        let views = (user.all(), this());
        let chat = Arc::new(flow([column("assistant", views, replying(&assistant, REPLIES))])?);
        session(&mut trace, &chat, 6, MESSAGES, &mut random)?;
    }
    Ok(trace)
}
