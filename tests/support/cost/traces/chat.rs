//! Chats: the whole conversation is sent again, and all chats share an instruction.

use std::sync::Arc;

use columnar::{Result, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::{MESSAGES, REPLIES, session};
use crate::cost::random::Random;
use crate::cost::trace::{Kind, Trace};

const SESSIONS: usize = 12;

/// Twelve chats of 20 to 80 turns.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn trace() -> Result<Trace> {
    let assistant = column_spec("assistant", 1400, 0);
    let mut trace = Trace::new("T1 chat", Kind::AppendOnly, vec![assistant.clone()]);
    let mut random = Random::new(1);
    for _ in 0..SESSIONS {
        let user = source("user");
        let views = (user.all(), this());
        let chat = Arc::new(flow([column("assistant", views, replying(&assistant, REPLIES))])?);
        let steps = random.count(20, 80);
        session(&mut trace, &chat, steps, MESSAGES, &mut random)?;
    }
    Ok(trace)
}
