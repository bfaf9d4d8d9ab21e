//! The errors of requests that are not recorded.

use std::path::Path;

use columnar::cache::Pace;
use columnar::compute::secs;
use columnar::prelude::*;
use columnar::testing::{Cassette, Record, ScriptedModel};

use super::chat::{Small, cassette_path, cause, run_chat};

#[tokio::test]
async fn an_unrecorded_request_is_an_error_with_the_nearest_recording_and_the_difference() -> Result<()> {
    let (_folder, path) = cassette_path();
    let model = ScriptedModel::new(|request| format!("reply {}", request.messages.len()));
    let before = ["My name is Ada.", "What is the capital of France?", "And of Italy?"];
    run_chat(Cassette::open(&path, Record::All).recording(model.clone()), &before).await?;
    assert_eq!(model.requests().len(), 3);

    let player = Cassette::open(&path, Record::Nothing).recording(model.clone());
    let now = ["My name is Ada.", "What is the capital of France?", "And of Spain?"];
    let chat = Small::new(player.clone());
    for text in now {
        chat.user.push(text).await?;
    }
    let text = cause(chat.run().await).replace(&path.display().to_string(), "chat.json");
    assert_eq!(
        text,
        "the cassette `chat.json` holds no reply for `assistant` at step 2
the nearest one is for `assistant` at step 2, and differs first in message 5; - is recorded, + is requested:
    reply 3
  user
    <user>
-   And of Italy?
+   And of Spain?
    </user>
`COLUMNAR_RECORD=missing` records missing replies"
    );
    assert_eq!(model.requests().len(), 3, "no model is called");
    assert_eq!(chat.assistant.len(), 2, "recorded replies are replayed");
    assert_eq!(player.unused(), ["`assistant` at step 2, by scripted"]);
    Ok(())
}

/// The first difference in the error about the nearest recording, for a request with another prompt.
async fn differs_in(path: &Path, step: columnar::Prompt) -> Result<String> {
    let player = Cassette::open(path, Record::Nothing).by_name("scripted");
    let chat = flow! {
        source user;
        column assistant(user, self) = step.clone().model(player.clone());
    };
    chat.user.push("Hello").await?;
    let error = match chat.run().await {
        Ok(()) => "nothing".to_owned(),
        failed => cause(failed),
    };
    let difference =
        error.split_once("differs first in ").map(|(_, rest)| rest.split(';').next().unwrap_or_default());
    Ok(difference.unwrap_or(&error).to_owned())
}

#[tokio::test]
async fn requests_are_compared_in_everything_but_their_pace() -> Result<()> {
    let (_folder, path) = cassette_path();
    let plain = || prompt("Answer.\nBe brief.").temperature(0.7).stop(["\n", "."]);
    let recorder = Cassette::open(&path, Record::All).recording(ScriptedModel::new(|_| "yes".to_owned()));
    let chat = flow! {
        source user;
        column assistant(user, self) = plain().model(recorder.clone());
    };
    chat.user.push("Hello").await?;
    chat.run().await?;

    assert_eq!(differs_in(&path, plain()).await?, "nothing");
    assert_eq!(differs_in(&path, plain().pace(Pace::think(secs(75)))).await?, "nothing");
    assert_eq!(differs_in(&path, plain().max_tokens(7)).await?, "`max_tokens`");
    assert_eq!(differs_in(&path, plain().temperature(0.0)).await?, "`temperature`");
    assert_eq!(differs_in(&path, plain().stop(["\n"])).await?, "`stop`");
    let other = prompt("Answer.\nBe long.").temperature(0.7).stop(["\n", "."]);
    assert_eq!(differs_in(&path, other).await?, "the instruction");
    Ok(())
}

#[tokio::test]
async fn a_long_difference_is_shown_around_its_start() -> Result<()> {
    let (_folder, path) = cassette_path();
    let model = ScriptedModel::new(|_| "yes".to_owned());
    let long = "a ".repeat(100) + "b " + &"c ".repeat(100);
    run_chat(Cassette::open(&path, Record::All).recording(model), &[&long]).await?;
    let chat = Small::new(Cassette::open(&path, Record::Nothing));
    chat.user.push(long.replace('b', "x") + &"\nmore".repeat(8)).await?;
    let error = cause(chat.run().await);
    let lines: Vec<_> = error.lines().filter(|line| line.starts_with(['-', '+'])).collect();
    assert_eq!(
        lines,
        [
            format!("- …{}b {}…", "a ".repeat(25), "c ".repeat(24)),
            format!("+ …{}x {}…", "a ".repeat(25), "c ".repeat(24)),
            "+   more".to_owned(),
            "+   more".to_owned(),
            "+   more".to_owned(),
            "+   more".to_owned(),
            "+   … 4 more lines".to_owned(),
        ]
    );
    Ok(())
}
