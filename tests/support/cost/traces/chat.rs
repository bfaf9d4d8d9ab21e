//! Chats: everything that was said is sent again, and all begin with the same instruction.

use std::sync::Arc;

use columnar::{Result, column, flow, source, this};

use super::answering::{answering, subject};
use super::{ANSWERED, SAID, session};
use crate::cost::dice::Dice;
use crate::cost::trace::{Kind, Trace};

const SESSIONS: usize = 12;

/// Twelve chats of 20 to 80 turns.
///
/// # Errors
///
/// Those of the flows, none of which fails.
pub fn trace() -> Result<Trace> {
    let assistant = subject("assistant", 1400, 0);
    let mut trace = Trace::new("T1 chat", Kind::AppendOnly, vec![assistant.clone()]);
    let mut dice = Dice::new(1);
    for _ in 0..SESSIONS {
        let user = source("user");
        let views = (user.all(), this());
        let chat = Arc::new(flow([column("assistant", views, answering(&assistant, ANSWERED))])?);
        let steps = dice.count(20, 80);
        session(&mut trace, &chat, steps, SAID, &mut dice)?;
    }
    Ok(trace)
}
