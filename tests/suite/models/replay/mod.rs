//! Recorded replies, and contexts under review.

mod chat;
mod file;
mod media;
mod misses;
mod real;

use std::env;
use std::fs;

use columnar::model::{Chunk, End, Finish, Model, Usage};
use columnar::prelude::*;
use columnar::testing::{Cassette, Record, ScriptedModel};
use columnar_tests::models::{ChunkModel, chunks};
use columnar_tests::process::test_alone;

use chat::{Small, cassette_path, cause, pieces, run_chat};

#[tokio::test]
async fn a_recording_is_replayed_in_its_pieces_without_a_call() -> Result<()> {
    let (_folder, path) = cassette_path();
    let model = ChunkModel::new("talker", |_, _| chunks(&["Hi", "! ", "", "How\n", "are you?\n"]));
    let live = pieces(Cassette::open(&path, Record::All).recording(model.clone())).await?;
    let replayed = pieces(Cassette::open(&path, Record::Nothing).recording(model.clone())).await?;
    let by_name = pieces(Cassette::open(&path, Record::Nothing).by_name("talker")).await?;
    let alone = pieces(Cassette::open(&path, Record::Nothing)).await?;
    assert!(live.len() > 3, "{live:?}");
    assert_eq!([&replayed, &by_name, &alone], [&live; 3]);
    assert_eq!(model.calls(), 1);
    Ok(())
}

/// Ends are not values, so the test reads them from the model itself.
#[tokio::test]
async fn finish_usage_and_id_are_replayed() -> Result<()> {
    let ends = [
        End::new(Finish::Stop).with_usage(Usage::new(u64::MAX, 2).cached(3, 4)).with_id("é\"\n"),
        End::new(Finish::Refused),
        End::new(Finish::Other("stop".into())).with_usage(Usage::default()),
    ];
    let (_folder, path) = cassette_path();
    let talker = ScriptedModel::new(|_| "yes".to_owned());
    run_chat(talker.clone(), &["Hello"]).await?;
    let request = talker.requests().remove(0);

    let replies = ends.clone();
    let model = ChunkModel::new("talker", move |call, _| vec![Ok(Chunk::End(replies[call].clone()))]);
    let recorder = Cassette::open(&path, Record::All).recording(model);
    for _ in &ends {
        recorder.reply(request.clone()).map(|chunk| chunk.expect("a chunk")).collect::<Vec<_>>().await;
    }
    let player = Cassette::open(&path, Record::Nothing).by_name("talker");
    for end in [&ends[0], &ends[1], &ends[2], &ends[2]] {
        let chunks: Vec<_> =
            player.reply(request.clone()).map(|chunk| chunk.expect("a chunk")).collect().await;
        assert_eq!(chunks, [Chunk::End(end.clone())], "in turn, and the last one again");
    }
    Ok(())
}

#[tokio::test]
async fn only_missing_recordings_are_recorded() -> Result<()> {
    let (_folder, path) = cassette_path();
    let model = ScriptedModel::new(|request| format!("{} messages", request.messages.len()));
    run_chat(Cassette::open(&path, Record::Missing).recording(model.clone()), &["a", "b"]).await?;
    let longer = Cassette::open(&path, Record::Missing);
    run_chat(longer.recording(model.clone()), &["a", "b", "c"]).await?;
    assert_eq!(model.requests().len(), 3);
    assert_eq!(longer.unused(), [""; 0]);

    let other = Cassette::open(&path, Record::Missing);
    run_chat(other.recording(model.clone()), &["other"]).await?;
    assert_eq!(other.unused().len(), 3, "they stay");
    assert_eq!(run_chat(Cassette::open(&path, Record::Nothing), &["a", "b", "c"]).await?.steps(), 3);

    run_chat(Cassette::open(&path, Record::All).recording(model.clone()), &["a"]).await?;
    assert_eq!(model.requests().len(), 5);
    let error = cause(run_chat(Cassette::open(&path, Record::Nothing), &["a", "b"]).await.map(drop));
    assert!(error.contains("no reply for `assistant` at step 1"), "{error}");
    Ok(())
}

/// Three columns with the same request.
async fn thrice(model: Cassette) -> Result<[Option<Value>; 3]> {
    let same = || prompt("Throw a die.").model(model.clone());
    let chat = flow! {
        source user;
        column one(user)   = same();
        column two(user)   = same();
        column three(user) = same();
    };
    chat.user.push("Go!").await?;
    chat.run().await?;
    Ok([chat.one.get(0), chat.two.get(0), chat.three.get(0)])
}

#[tokio::test(start_paused = true)]
async fn replies_to_the_same_request_are_replayed_in_order() -> Result<()> {
    let (_folder, path) = cassette_path();
    let model = ChunkModel::new("talker", |call, _| chunks(&[["four", "two", "six"][call]])).paced(1);
    let live = thrice(Cassette::open(&path, Record::All).recording(model)).await?;
    assert_eq!(live.each_ref().map(Option::as_deref), [Some("four"), Some("two"), Some("six")]);
    let player = Cassette::open(&path, Record::Nothing);
    assert_eq!(player.unused(), ["`one` at step 0, by talker"]);
    assert_eq!(thrice(player.clone()).await?, live);
    assert_eq!(player.unused(), [""; 0]);
    let again = thrice(player).await?;
    assert_eq!(again, [live[2].clone(), live[2].clone(), live[2].clone()], "the last reply is repeated");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn failed_and_interrupted_replies_are_not_recorded_and_unusual_ends_are() -> Result<()> {
    let (_folder, path) = cassette_path();
    let model = ChunkModel::new("talker", |call, _| match call {
        0 => vec![Ok(Chunk::Text("no".into())), Err("down".into())],
        1 => vec![Ok(Chunk::Text("no".into()))],
        2 => vec![Ok(Chunk::End(End::new(Finish::Other("pause_turn".to_owned()))))],
        _ => chunks(&["yes"]),
    });
    let flow = |model: Cassette| {
        flow! {
            source user;
            column assistant(user, self) = prompt("Answer.").model(model.clone()).retry(3);
        }
    };
    let chat = flow(Cassette::open(&path, Record::All).recording(model.clone()));
    chat.user.push("Hello").await?;
    chat.run().await?;
    assert_eq!((chat.assistant.get(0).as_deref(), model.calls()), (Some("yes"), 4));

    let player = Cassette::open(&path, Record::Nothing);
    let chat = flow(player.clone());
    chat.user.push("Hello").await?;
    let mut retried = 0;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        retried += usize::from(matches!(event, Event::Retry { .. }));
    }
    assert_eq!((chat.assistant.get(0).as_deref(), retried), (Some("yes"), 1), "an unusual end, then a retry");
    assert_eq!(player.unused(), [""; 0]);
    Ok(())
}

#[tokio::test]
async fn a_reply_that_is_dropped_leaves_no_file() -> Result<()> {
    let (folder, path) = cassette_path();
    let model = ChunkModel::new("talker", |_, _| chunks(&["a ", "b ", "c"]));
    let chat = Small::new(Cassette::open(&path, Record::All).recording(model));
    chat.user.push("Hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        if matches!(event, Event::Delta { .. }) {
            break;
        }
    }
    drop(run);
    drop(chat);
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
    Ok(())
}

/// The file of sixteen concurrent columns, and the number of calls.
async fn recorded_at(pace: u64) -> Result<(String, usize)> {
    let (folder, path) = cassette_path();
    let model =
        ChunkModel::new("talker", |_, request| chunks(&["you wrote ", &request.messages.last_text()]))
            .paced(pace);
    let recorder = Cassette::open(&path, Record::All).recording(model.clone());
    let user = source("user");
    let step = |at| prompt(format!("Be number {at}.")).model(recorder.clone());
    let columns = (0..16).map(|at| column(format!("column_{at}"), [user.all(), this()], step(at)));
    let chat = flow(columns.collect::<Vec<_>>())?;
    for at in 0..4 {
        chat.push("user", "x".repeat(at * at + 1)).await?;
    }
    chat.run().await?;
    let files = fs::read_dir(folder.path()).expect("it is there").count();
    assert_eq!(files, 1, "no temporary file is left");
    Ok((fs::read_to_string(&path).expect("it was written"), model.calls()))
}

#[tokio::test(start_paused = true)]
async fn concurrent_columns_are_recorded_in_a_deterministic_order() -> Result<()> {
    let (first, calls) = recorded_at(1).await?;
    assert_eq!(calls, 64);
    assert_eq!(first.matches("\"replies\"").count(), 64);
    for pace in [0, 2, 7] {
        assert_eq!(recorded_at(pace).await?.0, first);
    }
    Ok(())
}

#[tokio::test]
async fn two_cassettes_that_record_into_one_file_are_an_error() -> Result<()> {
    let (_folder, path) = cassette_path();
    let model = ScriptedModel::new(|_| "yes".to_owned());
    let one = Cassette::open(&path, Record::Missing).recording(model.clone());
    let other = Cassette::open(&path, Record::Missing).recording(model.clone());
    run_chat(one, &["a"]).await?;
    let error = cause(run_chat(other, &["b"]).await.map(drop));
    assert!(error.contains("was changed by another writer while it was recorded"), "{error}");
    assert_eq!(
        run_chat(Cassette::open(&path, Record::Nothing), &["a"]).await?.steps(),
        1,
        "the first recording stays"
    );
    Ok(())
}

#[tokio::test]
async fn models_are_distinguished_by_their_names() -> Result<()> {
    let (_folder, path) = cassette_path();
    let recorder = Cassette::open(&path, Record::All);
    let scripted = ScriptedModel::new(|_| "scripted".to_owned());
    run_chat(recorder.recording(scripted), &["Hello"]).await?;
    run_chat(recorder.recording(ChunkModel::new("talker", |_, _| chunks(&["chunks"]))), &["Hello"]).await?;

    let player = Cassette::open(&path, Record::Nothing);
    assert_eq!(
        run_chat(player.by_name("talker"), &["Hello"]).await?.assistant.get(0).as_deref(),
        Some("chunks")
    );
    assert_eq!(
        run_chat(player.by_name("scripted"), &["Hello"]).await?.assistant.get(0).as_deref(),
        Some("scripted")
    );
    let error = cause(run_chat(player.clone(), &["Hello"]).await.map(drop));
    assert!(error.contains("holds recordings of `scripted`, `talker`: choose one of them"), "{error}");
    assert_eq!(player.ready().map_err(|error| error.to_string()), Err(error));
    let error = cause(run_chat(player.by_name("other"), &["Hello"]).await.map(drop));
    assert!(error.contains("differs first in `model`"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_missing_file_or_model_is_an_error_with_a_remedy() -> Result<()> {
    let (_folder, path) = cassette_path();
    let error = cause(run_chat(Cassette::open(&path, Record::Nothing), &["Hello"]).await.map(drop));
    assert!(
        error.contains("there is no cassette `") && error.contains("`COLUMNAR_RECORD=missing`"),
        "{error}"
    );
    let error = cause(run_chat(Cassette::open(&path, Record::Missing), &["Hello"]).await.map(drop));
    assert!(error.contains("give one with `Cassette::by_name` or `Cassette::recording`"), "{error}");
    let nonesuch = Cassette::open(&path, Record::All).by_name("nonesuch");
    let error = cause(run_chat(nonesuch.clone(), &["Hello"]).await.map(drop));
    assert!(error.contains("no model is named `nonesuch`"), "{error}");
    assert!(nonesuch.ready().is_err());
    Ok(())
}

/// The child process of the next test, which sets the environment.
#[tokio::test]
async fn child_that_reads_the_environment() -> Result<()> {
    let Some(path) = env::var_os("COLUMNAR_TEST_CASSETTE") else { return Ok(()) };
    let model = ScriptedModel::new(|_| "yes".to_owned());
    match run_chat(Cassette::new(path).recording(model.clone()), &["Hello"]).await {
        Ok(_) => println!("{} requests", model.requests().len()),
        Err(error) => println!("{}", cause(Err(error))),
    }
    Ok(())
}

#[test]
fn the_environment_sets_the_mode_of_recording() {
    let (_folder, path) = cassette_path();
    let output = |record: &str| {
        let mut test = test_alone(module_path!(), "child_that_reads_the_environment");
        test.env("COLUMNAR_TEST_CASSETTE", &path);
        test.env(Cassette::VARIABLE, record);
        String::from_utf8(test.output().expect("it runs").stdout).expect("text")
    };
    for (record, expected) in [
        ("", "there is no cassette `"),
        ("missing", "1 requests"),
        ("missing", "0 requests"),
        ("all", "1 requests"),
        ("", "0 requests"),
        ("yes", "`COLUMNAR_RECORD` is \"yes\"; possible are `missing` and `all`"),
    ] {
        let output = output(record);
        assert!(output.contains(expected), "{record}: {output}");
    }
}
