//! Coding sessions as flows of the library, which read the files in one of its layouts.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use columnar::documents::{Kind, Update};
use columnar::model::{Choice, Chunk};
use columnar::{Column, Flow, Result, View, column, flow, prompt, source, this};
use tokio::runtime::Builder;
use tokio::time::advance;

use super::edits::Project;
use super::replies::column_spec;
use super::sessions::{CodingSession, CodingStep, path};
use crate::cost::trace::{self, ColumnSpec, Trace};
use crate::models::ChunkModel;

/// The instruction, in tokens.
pub const INSTRUCTION: usize = 1500;

/// The length of a hash as a text.
const KEY: usize = 16;

/// The circumstances of sessions.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'t> {
    /// The model whose prices the layout follows.
    pub model: &'static str,
    /// The time of each step of all sessions, in seconds.
    pub times: &'t [f64],
}

/// The instruction of all layouts.
pub fn instruction() -> ColumnSpec {
    column_spec("coder", INSTRUCTION, 0)
}

/// The sessions of a project as flows with this view of the files. Each step is pushed and run at its time.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn trace(
    project: Project,
    layout: &str,
    files: &View,
    circumstances: Circumstances<'_>,
) -> Result<Trace> {
    let name = format!("T6 {} {layout}", project.name());
    sessions_trace(name, &project.sessions(), files, circumstances)
}

/// The same for any sessions.
///
/// # Errors
///
/// The errors of the flows. None is expected.
///
/// # Panics
///
/// If a session changes a document twice in a step.
pub fn sessions_trace(
    name: String,
    sessions: &[CodingSession],
    files: &View,
    circumstances: Circumstances<'_>,
) -> Result<Trace> {
    let mut coder = instruction();
    // A process remembers the conversations with an instruction, and each case is one of another program.
    coder.instruction.replace_range(..KEY, &key(&name, sessions, circumstances));
    let mut recorded = Trace::new(name, trace::Kind::Mutable, vec![coder.clone()]);
    let mut times = circumstances.times.iter().copied();
    for session in sessions {
        let coding = Arc::new(flow([coder_of(session, files, &coder, circumstances.model)])?);
        let times: Vec<f64> = times.by_ref().take(session.steps.len()).collect();
        // Pauses of a clock that stands still take no time.
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime of one thread needs nothing");
        runtime.block_on(push_and_run(&coding, session, &times))?;
        let mut after = None;
        for (step, CodingStep { pause, .. }) in session.steps.iter().enumerate() {
            after = Some(recorded.step(after, *pause, &coding, step)?);
        }
    }
    Ok(recorded)
}

/// A text that is different for each case.
fn key(name: &str, sessions: &[CodingSession], Circumstances { model, times }: Circumstances<'_>) -> String {
    let mut hasher = DefaultHasher::new();
    (name, model).hash(&mut hasher);
    times.iter().for_each(|time| time.to_bits().hash(&mut hasher));
    let steps = sessions.iter().flat_map(|session| &session.steps);
    steps.for_each(|step| step.reply.hash(&mut hasher));
    format!("{:0KEY$x}", hasher.finish())
}

/// The column, with a model that gives the replies of the session, so that the replies are equal in all layouts.
fn coder_of(session: &CodingSession, files: &View, coder: &ColumnSpec, model: &'static str) -> Column {
    let replies: Vec<String> = session.steps.iter().map(|step| step.reply.clone()).collect();
    let model = ChunkModel::new(model, move |call, _| {
        let reply = replies.get(call).cloned().unwrap_or_default();
        vec![Ok(Chunk::Text(reply)), Ok(Chunk::stop())]
    });
    let step = prompt(coder.instruction.as_str()).model(Choice::from(model));
    column("coder", (files.clone(), source("user").all(), this()), step)
}

async fn push_and_run(coding: &Flow, session: &CodingSession, times: &[f64]) -> Result<()> {
    let pauses = times.iter().zip(times.iter().skip(1)).map(|(before, at)| at - before);
    let mut pauses = [0.0].into_iter().chain(pauses);
    for CodingStep { message, changes, .. } in &session.steps {
        advance(Duration::from_secs_f64(pauses.next().unwrap_or_default())).await;
        let update = changes.iter().fold(Update::new(), |update, change| match &change.text {
            Some(text) => update.file(path(change.document), text.as_str()),
            None => update.remove(Kind::File, path(change.document)),
        });
        let text = update.to_text().expect("the paths are valid, and each file is changed once");
        coding.push("files", text).await?;
        coding.push("user", message.as_str()).await?;
        coding.run().await?;
    }
    Ok(())
}
