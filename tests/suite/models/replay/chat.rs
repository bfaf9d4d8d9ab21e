//! The chat that the tests of cassettes record and replay.

use std::path::PathBuf;

use columnar::model::Model;
use columnar::prelude::*;
use tempfile::TempDir;

flow! {
    pub(crate) struct Small<M: Model + Clone>(model: M) {
        source user;
        column assistant(user, self) =
            prompt("You are helpful.\nAnswer.").model(model.clone()).max_tokens(512).allow_truncated();
    }
}

/// A folder, and the path of a cassette in it.
pub(crate) fn cassette_path() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("chat.json");
    (folder, path)
}

/// The error of the first cell that failed.
pub(crate) fn cause(outcome: Result<()>) -> String {
    match outcome {
        Err(Error::Compute { source, .. } | Error::Model { source, .. }) => source.to_string(),
        other => format!("no cell failed: {other:?}"),
    }
}

/// Pushes these messages and runs.
pub(crate) async fn run_chat<M: Model + Clone>(model: M, texts: &[&str]) -> Result<Small<M>> {
    let chat = Small::new(model);
    for text in texts {
        chat.user.push(*text).await?;
    }
    chat.run().await?;
    Ok(chat)
}

/// The deltas of one reply.
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
