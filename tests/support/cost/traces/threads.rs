//! Columns that comment on a chat: they continue the conversation of the assistant, or read it by views of their own.

use std::sync::Arc;

use columnar::{Column, Result, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::{MESSAGES, REPLIES, session};
use crate::cost::clock::Clock;
use crate::cost::random::Random;
use crate::cost::trace::{ColumnSpec, Kind, Trace};

const STEPS: usize = 50;
const CHATS: usize = 3;

/// Chats of fifty steps with columns that comment on each step. The column of the assistant is the first one.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn trace(comments: usize, are_threads: bool) -> Result<Trace> {
    let thread = are_threads.then_some(0);
    let comments = (0..comments)
        .map(|at| ColumnSpec { thread, ..column_spec(&format!("comment_{at}"), 60 * at + 200, 1) });
    let specs: Vec<ColumnSpec> = [column_spec("assistant", 1200, 0)].into_iter().chain(comments).collect();
    let name = if are_threads { "threads" } else { "views" };
    let mut trace = Trace::new(name, Kind::AppendOnly, specs.clone());
    trace.clocks = &[Clock::Human];
    let mut random = Random::new(20);
    for _ in 0..CHATS {
        let user = source("user");
        let mut columns: Vec<Column> = Vec::new();
        for spec in &specs {
            let step = replying(spec, REPLIES);
            columns.push(match columns.first() {
                None => column(&spec.name, (&user, this()), step),
                Some(assistant) if are_threads => column(&spec.name, assistant.thread(), step),
                Some(assistant) => column(&spec.name, (&user, assistant), step),
            });
        }
        session(&mut trace, &Arc::new(flow(columns)?), STEPS, MESSAGES, &mut random)?;
    }
    Ok(trace)
}
