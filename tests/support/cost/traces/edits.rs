//! Coding sessions: edited files are part of the requests.
//!
//! This library sends each new version after the whole conversation. Other programs change the files in place; see
//! `layouts`.

use std::sync::Arc;

use columnar::{Flow, Result, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::{MESSAGES, REPLIES, wait};
use crate::cost::random::Random;
use crate::cost::trace::{Kind, Pause, Trace};

const SESSIONS: usize = 12;
const TURNS: usize = 60;
const FILES: usize = 12;

/// Files, in tokens.
const FILE: &[usize] = &[200, 500, 1000, 2000, 4000];

/// The messages and edits of a session.
#[derive(Clone, Debug)]
pub struct Session {
    /// The files at the beginning.
    pub files: Vec<String>,
    /// The message of each turn, and the files that it changes.
    pub turns: Vec<(String, Vec<(usize, String)>)>,
}

/// The instruction, in tokens.
pub const INSTRUCTION: usize = 1500;

/// Twelve sessions of sixty turns over twelve files, most of the edits in few of them.
pub fn sessions() -> Vec<Session> {
    let mut random = Random::new(6);
    let session = |_| {
        let files = (0..FILES).map(|_| random.text(FILE)).collect();
        let turn = |_| {
            let edits = usize::from(random.happens(0.5));
            let edit = |_| {
                let most = if random.happens(0.7) { 2 } else { FILES - 1 };
                (random.count(0, most), random.text(FILE))
            };
            let edits: Vec<_> = (0..edits).map(edit).collect();
            (random.text(MESSAGES), edits)
        };
        let turns = (0..TURNS).map(turn).collect();
        Session { files, turns }
    };
    (0..SESSIONS).map(session).collect()
}

/// The sessions as flows of the library.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn trace() -> Result<Trace> {
    let coder = column_spec("coder", INSTRUCTION, 0);
    let mut trace = Trace::new("T6 edits", Kind::Mutable, vec![coder.clone()]);
    for Session { files, turns } in sessions() {
        let (user, edited) = (source("user"), source("files"));
        let views = (edited.all(), user.all(), this());
        let coding = Arc::new(flow([column("coder", views, replying(&coder, REPLIES))])?);
        wait(push(&coding, &files, &turns))?;
        (0..TURNS)
            .try_fold(None, |after, step| trace.step(after, Pause::Thought, &coding, step).map(Some))?;
    }
    Ok(trace)
}

/// All files at the first step, then those that were edited.
async fn push(flow: &Flow, files: &[String], turns: &[(String, Vec<(usize, String)>)]) -> Result<()> {
    for (step, (message, edits)) in turns.iter().enumerate() {
        let mut texts: Vec<&str> = edits.iter().map(|(_, text)| text.as_str()).collect();
        if step == 0 {
            texts.extend(files.iter().map(String::as_str));
        }
        flow.push("files", texts.join("\n")).await?;
        flow.push("user", message.as_str()).await?;
    }
    flow.run().await
}
