//! Replayed replies of a real model, and reviewed snapshots of the contexts that follow from them.
//!
//! The replies are recorded again with
//! `COLUMNAR_RECORD=all tests/local-model run cargo test -p columnar-tests --features providers --test suite as_it_streamed`,
//! and the changed snapshots are reviewed with `cargo insta review`.

use columnar::assert_context_snapshot;
use columnar::model::Model;
use columnar::prelude::*;
use columnar::testing::{Cassette, Record};

flow! {
    /// The flow of the README, on one model. Small limits keep the recording small, so every reply is cut off.
    struct Chat<M: Model + Clone>(model: M) {
        source user;
        column topics(user.latest) = prompt("Extract the main topics as a comma-separated list.")
            .model(model.clone())
            .max_tokens(32)
            .allow_truncated();
        column summary(user, self.latest) = prompt("Update the running summary with the latest message.")
            .model(model.clone())
            .max_tokens(48)
            .allow_truncated();
        column critique(summary.latest.as("digest"), user.latest) =
            prompt("Identify weak reasoning.").model(model.clone()).max_tokens(48).allow_truncated();
        column assistant(user, self) =
            prompt("You are a helpful assistant.").model(model.clone()).max_tokens(48).allow_truncated();
    }
}

const MESSAGES: [&str; 4] = [
    "I think we should rewrite the backend in Rust.",
    "The Python one is always slow.",
    "Nobody on the team knows Rust, though.",
    "Let's do it over the weekend.",
];

/// The chat as it was recorded.
async fn replayed(cassette: &Cassette) -> Result<Chat<Cassette>> {
    let chat = Chat::new(cassette.by_name("openai/smollm2"));
    for text in MESSAGES {
        chat.user.push(text).await?;
    }
    Ok(chat)
}

#[tokio::test]
async fn a_chat_with_a_real_model_is_replayed_as_it_streamed() -> Result<()> {
    let cassette = Cassette::new("cassettes/chat.json");
    let chat = replayed(&cassette).await?;
    let (mut deltas, mut values) = (0, 0);
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event {
            Event::Delta { .. } => deltas += 1,
            Event::Value { .. } => values += 1,
            _ => {}
        }
    }
    assert_eq!(values, 16);
    assert!(deltas > 3 * values, "{deltas} deltas: it streams");
    assert_eq!(cassette.unused(), [""; 0]);
    Ok(())
}

/// Always replays: with `COLUMNAR_RECORD`, two tests must not write the same file.
#[tokio::test]
async fn contexts_equal_the_reviewed_snapshots() -> Result<()> {
    let chat = replayed(&Cassette::open("cassettes/chat.json", Record::Nothing)).await?;
    chat.run().await?;
    assert_context_snapshot!(chat.critique.messages(3)?);
    assert_context_snapshot!("assistant_at_step_2", chat.assistant.messages(2)?);
    assert_context_snapshot!(chat.topics.messages(3)?, @"
    topics at step 3: 1 message

    [user]
    user 3
    │ <user>
    │ Let's do it over the weekend.
    │ </user>
    ");
    Ok(())
}
