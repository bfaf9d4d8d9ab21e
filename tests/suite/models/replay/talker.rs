//! A model that says what a test tells it to, and what tests ask it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use columnar::BoxError;
use columnar::model::{Chunk, Model, Request};
use columnar::prelude::*;
use futures::stream::{self, BoxStream};
use tempfile::TempDir;

flow! {
    pub(crate) struct Small<M: Model + Clone>(model: M) {
        source user;
        column assistant(user, self) = prompt("You are helpful.\nAnswer.").with(model.clone());
    }
}

/// What a model says at its first call, its second, and so on.
type Script = dyn Fn(usize, &Request) -> Vec<Result<Chunk, BoxError>> + Send + Sync;

/// A model that says exactly these chunks, each at a time of its own.
#[derive(Clone)]
pub(crate) struct Talker {
    script: Arc<Script>,
    calls: Arc<AtomicUsize>,
    /// Decides how long each chunk takes.
    pace: u64,
}

impl Talker {
    pub(crate) fn new(
        script: impl Fn(usize, &Request) -> Vec<Result<Chunk, BoxError>> + Send + Sync + 'static,
    ) -> Self {
        Self { script: Arc::new(script), calls: Arc::default(), pace: 0 }
    }

    pub(crate) fn at(self, pace: u64) -> Self {
        Self { pace, ..self }
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Model for Talker {
    fn name(&self) -> &'static str {
        "talker"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        // No reply ends in the order in which it was asked for.
        let turns = (request.messages.last_text().len() * 37 + call * 7) % 11;
        let pause = Duration::from_millis(self.pace * turns as u64);
        let chunks = stream::iter((self.script)(call, &request));
        chunks
            .then(move |chunk| async move {
                tokio::time::sleep(pause).await;
                chunk
            })
            .boxed()
    }
}

pub(crate) fn said(pieces: &[&str]) -> Vec<Result<Chunk, BoxError>> {
    let pieces = pieces.iter().map(|piece| Ok(Chunk::Text((*piece).to_owned())));
    pieces.chain([Ok(Chunk::stop())]).collect()
}

/// A folder, and the path of a cassette in it.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("chat.json");
    (folder, path)
}

/// What went wrong with the first cell that could not be computed.
pub(crate) fn cause(outcome: Result<()>) -> String {
    match outcome {
        Err(Error::Compute { source, .. } | Error::Model { source, .. }) => source.to_string(),
        other => format!("nothing went wrong with a cell: {other:?}"),
    }
}

pub(crate) async fn ask<M: Model + Clone>(model: M, texts: &[&str]) -> Result<Small<M>> {
    let chat = Small::new(model);
    for text in texts {
        chat.user.push(*text).await?;
    }
    chat.run().await?;
    Ok(chat)
}

/// All pieces that a run tells.
pub(crate) async fn pieces<M: Model + Clone>(model: M) -> Result<Vec<String>> {
    let chat = Small::new(model);
    chat.user.push("Hello").await?;
    let mut pieces = Vec::new();
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        if let Event::Delta { text, .. } = event {
            pieces.push(text);
        }
    }
    Ok(pieces)
}
