//! Coding sessions: files that are edited are part of what is sent.
//!
//! This library sends each new version behind everything that was said before. Others keep the files in
//! one place and change them there; `layouts` has them.

use std::sync::Arc;

use columnar::{Flow, Result, column, flow, source, this};

use super::answering::{answering, subject};
use super::{ANSWERED, SAID, wait};
use crate::cost::dice::Dice;
use crate::cost::trace::{Kind, Pause, Trace};

const SESSIONS: usize = 12;
const TURNS: usize = 60;
const FILES: usize = 12;

/// Files, in tokens.
const FILE: &[usize] = &[200, 500, 1000, 2000, 4000];

/// What is said and edited in a session.
#[derive(Clone, Debug)]
pub struct Session {
    /// The files at the beginning.
    pub files: Vec<String>,
    /// What is said at each turn, and the files that have another text from then on.
    pub turns: Vec<(String, Vec<(usize, String)>)>,
}

/// The instruction, in tokens.
pub const INSTRUCTION: usize = 1500;

/// Twelve sessions of sixty turns over twelve files, most of the edits in few of them.
pub fn sessions() -> Vec<Session> {
    let mut dice = Dice::new(6);
    let session = |_| {
        let files = (0..FILES).map(|_| dice.text(FILE)).collect();
        let turn = |_| {
            let edits = usize::from(dice.happens(0.5));
            let edit = |_| {
                let most = if dice.happens(0.7) { 2 } else { FILES - 1 };
                (dice.count(0, most), dice.text(FILE))
            };
            let edits: Vec<_> = (0..edits).map(edit).collect();
            (dice.text(SAID), edits)
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
/// Those of the flows, none of which fails.
pub fn trace() -> Result<Trace> {
    let coder = subject("coder", INSTRUCTION, 0);
    let mut trace = Trace::new("T6 edits", Kind::Mutable, vec![coder.clone()]);
    for Session { files, turns } in sessions() {
        let (user, edited) = (source("user"), source("files"));
        let views = (edited.all(), user.all(), this());
        let coding = Arc::new(flow([column("coder", views, answering(&coder, ANSWERED))])?);
        wait(push(&coding, &files, &turns))?;
        (0..TURNS)
            .try_fold(None, |after, step| trace.step(after, Pause::Thought, &coding, step).map(Some))?;
    }
    Ok(trace)
}

/// All files at the first step, then those that were edited.
async fn push(flow: &Flow, files: &[String], turns: &[(String, Vec<(usize, String)>)]) -> Result<()> {
    for (step, (said, edits)) in turns.iter().enumerate() {
        let mut texts: Vec<&str> = edits.iter().map(|(_, text)| text.as_str()).collect();
        if step == 0 {
            texts.extend(files.iter().map(String::as_str));
        }
        flow.push("files", texts.join("\n")).await?;
        flow.push("user", said.as_str()).await?;
    }
    flow.run().await
}
