//! The file of a cassette, and the errors of damaged ones.

use std::fs;
use std::sync::Mutex;

use columnar::model::{Chunk, End, Finish, Model, Usage};
use columnar::prelude::*;
use columnar::testing::{Cassette, Record, ScriptedModel};
use columnar_tests::models::{ChunkModel, chunks};
use proptest::prelude::*;

use super::chat::{cassette_path, cause, run_chat};

#[tokio::test]
async fn a_cassette_is_readable_json() -> Result<()> {
    let (_folder, path) = cassette_path();
    let model = ChunkModel::new("talker", |call, _| {
        let end = End::new(Finish::Length)
            .with_usage(Usage::new(31, 4).cached(16, 0))
            .with_id(format!("reply-{call}"));
        vec![Ok(Chunk::Text("Hi!\n".into())), Ok(Chunk::Text("It is \"me\".".into())), Ok(Chunk::End(end))]
    });
    run_chat(Cassette::open(&path, Record::All).recording(model), &["Hello"]).await?;
    let file = fs::read_to_string(&path).expect("it was written");
    assert_eq!(
        file,
        r#"{
  "cassette": 2,
  "recordings": [
    {
      "column": "assistant",
      "step": 0,
      "request": {
        "model": "talker",
        "max_tokens": 512,
        "system": [
          "You are helpful.",
          "Answer."
        ],
        "messages": [
          {
            "role": "user",
            "content": [
              "<user>",
              "Hello",
              "</user>"
            ]
          }
        ]
      },
      "replies": [
        {
          "text": [
            "Hi!",
            "It is \"me\"."
          ],
          "pieces": "4 11",
          "finish": "length",
          "usage": { "input": 31, "output": 4, "cache_read": 16 },
          "id": "reply-0"
        }
      ]
    }
  ]
}
"#
    );
    Ok(())
}

/// The error of a cassette with this file.
async fn error_of(text: &str) -> String {
    let (_folder, path) = cassette_path();
    fs::write(&path, text).expect("it can be written");
    let cassette = Cassette::open(&path, Record::Nothing);
    let error = cause(run_chat(cassette.clone(), &["Hello"]).await.map(drop));
    assert_eq!(
        cassette.ready().map_err(|error| error.to_string()),
        Err(error.clone()),
        "`ready` returns the same error"
    );
    let missing = Cassette::open(&path, Record::Missing).recording(ScriptedModel::new(|_| "yes".to_owned()));
    assert_eq!(cause(run_chat(missing, &["Hello"]).await.map(drop)), error, "the file is not overwritten");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
    let all = Cassette::open(&path, Record::All).recording(ScriptedModel::new(|_| "yes".to_owned()));
    assert!(run_chat(all, &["Hello"]).await.is_ok(), "unless everything is recorded again");
    error.replace(&path.display().to_string(), "chat.json")
}

#[tokio::test]
async fn a_damaged_file_is_an_error() -> Result<()> {
    let (_folder, path) = cassette_path();
    let model = ChunkModel::new("talker", |_, _| chunks(&["Hi ", "there"]));
    run_chat(Cassette::open(&path, Record::All).recording(model), &["Hello"]).await?;
    let sound = fs::read_to_string(&path).expect("it was written");

    let damages = [
        (sound.len() - 20..sound.len(), "", "it is no JSON from line "),
        (0..sound.len(), "[]", "`the whole` is no object"),
        (0..sound.len(), "{}", "`the whole` has no `cassette`"),
    ];
    for (range, text, expected) in damages {
        let mut broken = sound.clone();
        broken.replace_range(range, text);
        let error = error_of(&broken).await;
        assert!(
            error.starts_with("the cassette `chat.json` is damaged: ") && error.contains(expected),
            "{error}"
        );
    }
    let edits = [
        ("\"talker\"", "7", "`recordings[0].request.model` is no text and no list of lines"),
        ("512", "\"512\"", "`recordings[0].request.max_tokens` is no whole number"),
        ("512", "4294967296", "`recordings[0].request.max_tokens` is too large"),
        ("\"max_tokens\"", "\"max_token\"", "`recordings[0].request` has an entry that is none of `model`, "),
        ("\"role\": \"user\"", "\"role\": \"u\"", "`recordings[0].request.messages[0].role` is neither"),
        ("\"3 5\"", "\"3 4\"", "`recordings[0].replies[0].pieces` does not add up to the text"),
        ("\"finish\": \"stop\"", "\"finish\": 1", "`recordings[0].replies[0].finish` is no text"),
        ("\"finish\": \"stop\"", "\"finish\": \"s\"", "`recordings[0].replies[0].finish` is none of `stop`"),
    ];
    for (old, new, expected) in edits {
        assert!(sound.contains(old), "{old}");
        let error = error_of(&sound.replacen(old, new, 1)).await;
        assert!(error.contains(expected), "{error}");
    }
    let (head, tail) = sound.split_once("    {\n").expect("a recording");
    let (one, end) = tail.rsplit_once("\n  ]\n}").expect("the end");
    let error = error_of(&format!("{head}    {{\n{one},\n    {{\n{one}\n  ]\n}}{end}")).await;
    assert!(error.contains("two recordings of the same request"), "{error}");
    let error = error_of(&sound.replacen("\"cassette\": 2", "\"cassette\": 4", 1)).await;
    let version = "the cassette `chat.json` is of version 4, and this library reads versions up to 3: record it again with \
                   `COLUMNAR_RECORD=all`";
    assert_eq!(error, version);
    Ok(())
}

#[tokio::test]
async fn an_edited_reply_is_replayed_as_edited() -> Result<()> {
    let (_folder, path) = cassette_path();
    run_chat(
        Cassette::open(&path, Record::All).recording(ChunkModel::new("talker", |_, _| chunks(&["Hi"]))),
        &["Hello"],
    )
    .await?;
    let edited = fs::read_to_string(&path).expect("it was written").replace("\"Hi\"", "[\"Bye\", \"now\"]");
    fs::write(&path, edited).expect("it can be written");
    let chat = run_chat(Cassette::open(&path, Record::Nothing), &["Hello"]).await?;
    assert_eq!(chat.assistant.get(0).as_deref(), Some("Bye\nnow"));
    Ok(())
}

/// The default limit of replies was 1,024 for all models. A recording from then is found by a prompt without a limit,
/// whatever the default of its model is now.
#[tokio::test]
async fn a_recording_with_the_earlier_default_limit_is_replayed() -> Result<()> {
    let (_folder, path) = cassette_path();
    let ask = async |record: Record, step: columnar::Prompt| {
        let model = ScriptedModel::new(|_| "yes".to_owned());
        let step = step.model(Cassette::open(&path, record).recording(model.clone()));
        let f = flow([column("answer", source("user").latest(), step)])?;
        f.push("user", "Hello").await?;
        f.run().await?;
        Ok::<_, Error>(model.requests().len())
    };
    let plain = || prompt("Answer.");
    ask(Record::All, plain().max_tokens(1024)).await?;
    let file = fs::read_to_string(&path).expect("it was written");
    fs::write(&path, file.replace("\"cassette\": 2", "\"cassette\": 1")).expect("it can be written");
    for step in [plain(), plain().max_tokens(1024)] {
        assert_eq!(ask(Record::Nothing, step.clone()).await?, 0, "{step:?}");
        assert_eq!(ask(Record::Missing, step.clone()).await?, 0, "{step:?}");
    }
    assert!(ask(Record::Nothing, plain().max_tokens(7)).await.is_err());

    ask(Record::All, plain()).await?;
    let file = fs::read_to_string(&path).expect("it was written");
    assert!(!file.contains("max_tokens"), "{file}");
    assert_eq!(ask(Record::Nothing, plain()).await?, 0);
    assert!(ask(Record::Nothing, plain().max_tokens(1024)).await.is_err());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_request_and_reply_can_be_recorded_and_replayed(
        texts in prop::collection::vec("(?s).{0,12}|[a\n \"\\\\│]{0,8}", 1..4),
        replies in prop::collection::vec(prop::collection::vec("(?s).{0,4}|[\n ]{0,3}", 0..4), 4),
        temperature in prop::option::of(prop::num::f32::NORMAL | prop::num::f32::ZERO),
        stop in prop::collection::vec("(?s).{1,3}", 0..3),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let (_folder, path) = cassette_path();
        let events = Mutex::new(Vec::new());
        let live = |model: Cassette| {
            let step = prompt("Answer.").model(model).stop(stop.clone()).allow_empty();
            let step = temperature.into_iter().fold(step, columnar::Prompt::temperature);
            let (texts, events) = (&texts, &events);
            async move {
                let chat = flow! {
                    source user;
                    column assistant(user, self) = step.clone();
                };
                for text in texts {
                    chat.user.push(text.as_str()).await?;
                }
                let mut run = chat.run();
                while let Some(event) = run.try_next().await? {
                    events.lock().expect("no test panics").push(format!("{event:?}"));
                }
                Ok::<_, Error>(std::mem::take(&mut *events.lock().expect("no test panics")))
            }
        };
        let model = ChunkModel::new("talker", move |call, _| {
            let pieces: Vec<_> = replies[call].iter().map(String::as_str).collect();
            chunks(&pieces)
        });
        let recorder = Cassette::open(&path, Record::All).recording(model);
        let first = runtime.block_on(live(recorder)).expect("it is recorded");
        let player = Cassette::open(&path, Record::Nothing).by_name("talker");
        let second = runtime.block_on(live(player.clone())).expect("it is replayed");
        prop_assert_eq!(first, second);
        prop_assert_eq!(player.unused(), [""; 0]);
    }
}
