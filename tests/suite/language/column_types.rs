//! Columns whose values are JSON of a type.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::compute::{SchemaMismatch, Step};
use columnar::flow::ColumnId;
use columnar::model::Offline;
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::testing::ScriptedModel;
use columnar::{BoxError, Json};
use futures::stream;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct Score {
    /// From 1 to 5.
    stars: u8,
    why: String,
}

fn score(stars: u8, why: &str) -> Score {
    Score { stars, why: why.to_owned() }
}

const GOOD: &str = r#"{"stars": 4, "why": "It is kind."}"#;
/// A reply that no error may quote.
const BAD: &str = r#"{"stars": "a secret", "why": "It is kind."}"#;

flow! {
    struct Rated(model: ScriptedModel) {
        source user;
        column score(user.latest): Score = prompt("Rate it.").model(model.clone());
    }
}

/// A model with one reply for first attempts and one for repairs.
fn model(first: &str, then: &str) -> ScriptedModel {
    let (first, then) = (first.to_owned(), then.to_owned());
    ScriptedModel::new(move |request| if request.follow_up.is_empty() { first.clone() } else { then.clone() })
}

/// The events of a run of one step: its deltas joined, the failed attempts with their reasons, and the error.
#[derive(Debug, Default)]
struct Outcome {
    deltas: String,
    retries: Vec<(usize, String)>,
    error: Option<Error>,
}

async fn run(flow: &Rated) -> Result<Outcome> {
    flow.user.push("It was fine.").await?;
    outcome_of(flow.run()).await
}

async fn outcome_of<I: ColumnId>(mut run: columnar::Run<'_, I>) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    while let Some(event) = run.next().await {
        match event {
            Ok(Event::Delta { text, .. }) => outcome.deltas += &text,
            Ok(Event::Retry { attempt, error, .. }) => {
                outcome.deltas.clear();
                outcome.retries.push((attempt, error));
            }
            Ok(Event::Value { value, .. }) => assert_eq!(outcome.deltas, *value, "the deltas are the value"),
            Ok(other) => unreachable!("no other event comes at step {}", other.step()),
            Err(error) => outcome.error = Some(error),
        }
    }
    Ok(outcome)
}

#[tokio::test]
async fn a_reply_is_stored_as_it_is_and_read_as_the_type() -> Result<()> {
    let model = model(GOOD, "");
    let flow = Rated::new(model.clone());
    let outcome = run(&flow).await?;
    assert!(outcome.error.is_none() && outcome.retries.is_empty(), "{outcome:?}");
    assert_eq!(flow.score.get(0).as_deref(), Some(GOOD));
    assert_eq!(flow.score.read(0)?, Some(score(4, "It is kind.")));
    assert_eq!(flow.score.read(1)?, None);
    assert_eq!(flow.read::<Score>("score", 0)?, flow.score.read(0)?);
    assert!(matches!(flow.read::<Score>("scor", 0), Err(Error::UnknownColumn { .. })));
    Ok(())
}

#[tokio::test]
async fn the_output_spec_is_the_same_text_at_each_step() -> Result<()> {
    let model = model(GOOD, "");
    let flow = Rated::new(model.clone());
    run(&flow).await?;
    run(&flow).await?;
    let [first, second] = model.requests().try_into().expect("two requests");
    let schema = first.schema.expect("a schema");
    assert_eq!(schema.name, "Score");
    assert_eq!(schema.json["required"], serde_json::json!(["stars", "why"]));
    assert_eq!(schema.json["properties"]["stars"]["description"], "From 1 to 5.");
    let (instruction, spec) = first.system.split_once("\n\n").expect("the instruction, then the schema");
    assert_eq!(instruction, "Rate it.");
    assert!(spec.ends_with(&schema.json.to_string()), "{spec}");
    assert_eq!(first.system, second.system);
    Ok(())
}

#[tokio::test]
async fn fields_keep_their_order_in_the_instruction_and_the_schema() -> Result<()> {
    // They were sorted by name, so the model wrote the verdict before its reasons, and reasoned for the verdict.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "the schema alone is read")]
    struct Verdict {
        reasons: Vec<String>,
        answer: bool,
    }
    let model = ScriptedModel::new(|_| r#"{"reasons": [], "answer": true}"#.to_owned());
    let flow = flow! {
        source user;
        column verdict(user.latest): Verdict = prompt("Is it kind?").model(model.clone());
    };
    flow.user.push("It was fine.").await?;
    flow.run().await?;
    let request = model.requests().remove(0);
    let schema = request.schema.as_ref().expect("a schema").json.to_string();
    for text in [&*schema, &*request.system] {
        assert!(text.find("\"reasons\":") < text.find("\"answer\":"), "{text}");
        assert!(text.contains(r#""required":["reasons","answer"]"#), "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn a_word_of_an_enum_is_stored_as_json() -> Result<()> {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    enum Mood {
        Positive,
        Negative,
    }
    let flow = flow! {
        source user;
        column mood(user.latest): Mood  = prompt("How is it?").model(model("Positive", ""));
        column other(user.latest): Mood = |_: Context| async { "Negative" };
    };
    flow.user.push("It was fine.").await?;
    flow.run().await?;
    assert_eq!(
        (flow.mood.get(0).as_deref(), flow.mood.read(0)?),
        (Some("\"Positive\""), Some(Mood::Positive))
    );
    assert_eq!(flow.other.read(0)?, Some(Mood::Negative));
    Ok(())
}

#[tokio::test]
async fn what_was_emitted_is_never_replaced_by_other_json() -> Result<()> {
    // The first object is emitted as it arrives, and only the second one matches.
    let flow = Rated::new(model(&format!("{{\"a\": 1}} is no score, but {GOOD}"), GOOD));
    let outcome = run(&flow).await?;
    assert_eq!(outcome.retries, [(1, "there is more than one JSON value; expected one `Score`".to_owned())]);
    assert_eq!(outcome.deltas, GOOD);
    Ok(())
}

#[tokio::test]
async fn the_schema_is_counted_with_the_instruction() -> Result<()> {
    let plain = flow! {
        source user;
        column score(user.latest) = prompt("Rate it.");
    };
    let typed = flow! {
        source user;
        column score(user.latest): Score = prompt("Rate it.");
    };
    plain.user.push("It was fine.").await?;
    typed.user.push("It was fine.").await?;
    let (plain, typed) = (plain.forecast(), typed.forecast());
    assert!(typed.input_tokens > plain.input_tokens + 20, "{plain:?} {typed:?}");
    Ok(())
}

#[tokio::test]
async fn text_around_the_json_is_neither_emitted_nor_stored() -> Result<()> {
    for reply in [
        format!("```json\n{GOOD}\n```"),
        format!("Here it is:\n\n{GOOD}\n\nI hope that helps."),
        format!("  {GOOD}\n"),
        // These were refused: the brackets around the JSON were taken for JSON.
        format!("{GOOD}\n\nNote [1]: see {{x}}"),
        format!("As [1] says: {GOOD}"),
        format!("See {{x}}:\n```json\n{GOOD}\n```\nBut [2] differs."),
        format!("<think>{{\"stars\": 1}} or [2]?</think>\n\n{GOOD}"),
    ] {
        let flow = Rated::new(model(&reply, ""));
        let outcome = run(&flow).await?;
        assert!(outcome.error.is_none() && outcome.retries.is_empty(), "{outcome:?}");
        assert_eq!(flow.score.get(0).as_deref(), Some(GOOD), "{reply}");
    }
    Ok(())
}

#[tokio::test]
async fn an_invalid_reply_is_repaired_once_with_the_error() -> Result<()> {
    let model = model(BAD, GOOD);
    let flow = Rated::new(model.clone());
    let outcome = run(&flow).await?;
    assert!(outcome.error.is_none(), "{outcome:?}");
    assert_eq!(outcome.retries, [(1, "the JSON does not match `Score` (line 1, column 20)".to_owned())]);
    assert_eq!(flow.score.read(0)?, Some(score(4, "It is kind.")));

    let [first, second] = model.requests().try_into().expect("two requests");
    assert!(first.follow_up.is_empty());
    assert_eq!((&first.system, &first.schema), (&second.system, &second.schema));
    let [(Role::Assistant, reply), (Role::User, correction)] = second.follow_up.as_slice() else {
        panic!("{:?}", second.follow_up)
    };
    assert_eq!(&**reply, BAD);
    assert!(correction.contains("invalid type: string \"a secret\", expected u8"), "{correction}");
    assert!(correction.contains(&first.schema.expect("a schema").json.to_string()), "{correction}");
    Ok(())
}

#[tokio::test]
async fn a_second_invalid_reply_is_an_error_with_its_position_and_no_content() -> Result<()> {
    let flow = Rated::new(model(BAD, BAD));
    let outcome = run(&flow).await?;
    let error = outcome.error.expect("an error");
    assert!(matches!(&error, Error::Compute { step: 0, attempt: 2, .. }), "{error:?}");
    assert!(error.to_string().contains("the JSON does not match `Score` (line 1, column 20)"), "{error}");
    assert!(!format!("{error} {error:?} {error:#?} {:?}", outcome.retries).contains("secret"), "{error:?}");
    // A program had no way to the reply that it had paid for.
    assert_eq!(error.reply(), Some(BAD));
    assert_eq!(SchemaMismatch::of(&error).map(SchemaMismatch::reply), Some(BAD));
    assert!(!format!("{:?}", SchemaMismatch::of(&error)).contains("secret"));
    assert_eq!(flow.score.get(0), None);
    Ok(())
}

#[tokio::test]
async fn each_kind_of_invalid_reply_has_its_message() -> Result<()> {
    for (reply, expected) in [
        ("", "there is no JSON; expected a `Score`"),
        ("I would rather not.", "there is no JSON; expected a `Score`"),
        ("{} or {}", "there is more than one JSON value; expected one `Score`"),
        ("{stars: 4}", "the JSON is invalid; expected a `Score` (line 1, column 2)"),
        ("{\"stars\": 4,\n \"why\": \"", "the JSON is incomplete; expected a `Score` (line 2, column 9)"),
        ("{\"stars\": 4}", "the JSON does not match `Score` (line 1, column 12)"),
    ] {
        let outcome = run(&Rated::new(model(reply, GOOD))).await?;
        assert_eq!(outcome.retries, [(1, expected.to_owned())], "{reply}");
    }
    Ok(())
}

#[tokio::test]
async fn a_reply_without_text_is_not_sent_back() -> Result<()> {
    let model = model("", GOOD);
    run(&Rated::new(model.clone())).await?;
    let requests = model.requests();
    assert!(matches!(requests[1].follow_up.as_slice(), [(Role::User, _)]), "{:?}", requests[1].follow_up);
    Ok(())
}

#[tokio::test]
async fn the_number_of_repairs_is_configurable() -> Result<()> {
    for (repairs, attempts) in [(0, 1), (1, 2), (3, 4)] {
        let model = model(BAD, BAD);
        let flow = flow! {
            source user;
            column score(user.latest): Score = prompt("Rate it.").model(model.clone()).repairs(repairs);
        };
        flow.user.push("It was fine.").await?;
        let outcome = outcome_of(flow.run()).await?;
        assert_eq!(
            outcome.retries.iter().map(|(attempt, _)| *attempt).collect::<Vec<_>>(),
            (1..attempts).collect::<Vec<_>>()
        );
        assert!(
            outcome
                .error
                .is_some_and(|error| matches!(error, Error::Compute { attempt, .. } if attempt == attempts))
        );
        let requests = model.requests();
        assert_eq!(requests.len(), attempts);
        assert_eq!(requests.last().map(|request| request.follow_up.len()), Some(2 * repairs));
    }
    Ok(())
}

/// Fails first, then returns an invalid value, then a valid one.
fn moody() -> Step<'static> {
    let calls = Arc::new(AtomicUsize::new(0));
    let moody = move |_: Context| {
        let answer: Result<String, BoxError> = match calls.fetch_add(1, Ordering::Relaxed) {
            0 => Err("no answer".into()),
            1 => Ok(BAD.to_owned()),
            _ => Ok(GOOD.to_owned()),
        };
        deltas(stream::iter([answer]))
    };
    moody.limit(1)
}

#[tokio::test(start_paused = true)]
async fn repairs_and_retries_share_one_count_of_attempts() -> Result<()> {
    for step in [moody().retry(1).repairs(1).typed::<Score>(), moody().repairs(1).typed::<Score>().retry(1)] {
        let flow = flow([column("score", source("user").latest(), step)])?;
        flow.push("user", "It was fine.").await?;
        let outcome = outcome_of(flow.run()).await?;
        assert!(outcome.error.is_none(), "{outcome:?}");
        assert_eq!(outcome.retries.iter().map(|(attempt, _)| *attempt).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(flow.get("score", 0).as_deref(), Some(GOOD));
    }
    Ok(())
}

#[tokio::test]
async fn functions_must_return_the_type_and_are_not_repaired() -> Result<()> {
    let calls = AtomicUsize::new(0);
    let flow = flow! {
        source user;
        column text(user.latest): Score    = |_: Context| async { GOOD };
        column json(user.latest): Score    = |_: Context| async { Json(score(3, "so so")) };
        column perhaps(user.latest): Score = |_: Context| async { Ok::<_, BoxError>(Json(score(5, "!"))) };
        column never(user.latest): Score   = (|_: Context| async { Json(score(5, "!")) }).when(|_| false);
        column wrong(user.latest): Vec<Score> = |_: Context| {
            calls.fetch_add(1, Ordering::Relaxed);
            async { Json(score(3, "a secret")) }
        };
    };
    flow.user.push("It was fine.").await?;
    let error = flow.run().await.expect_err("one is wrong");
    assert!(matches!(&error, Error::Compute { column, attempt: 1, .. } if *column == "wrong"), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(flow.text.read(0)?, Some(score(4, "It is kind.")));
    assert_eq!(flow.json.get(0).as_deref(), Some(r#"{"stars":3,"why":"so so"}"#));
    assert_eq!(flow.json.read(0)?, Some(score(3, "so so")));
    assert_eq!(flow.perhaps.read(0)?, Some(score(5, "!")));
    assert_eq!(flow.never.read(0)?, None);
    Ok(())
}

#[tokio::test]
async fn a_custom_compute_step_sees_the_output_spec() -> Result<()> {
    let flow = flow! {
        source user;
        column plain(user.latest) = |cx: Context| async move { cx.schema().is_none().to_string() };
        column name(user.latest): Option<Score> = (|cx: Context| async move {
            let name = cx.schema().map(|schema| schema.name.clone());
            if cx.follow_up().is_empty() { name.unwrap_or_default() } else { "null".to_owned() }
        })
        .repairs(1);
    };
    flow.user.push("It was fine.").await?;
    flow.run().await?;
    assert_eq!(flow.plain.get(0).as_deref(), Some("true"));
    assert_eq!(flow.name.read(0)?, Some(None));
    Ok(())
}

#[tokio::test]
async fn an_invalid_value_and_a_missing_value_are_different_errors() -> Result<()> {
    flow! {
        struct Before {
            source user;
            column score(user.latest) = |_: Context| async { "four, a secret" };
        }
    }
    flow! {
        struct Now {
            source user;
            column score(user.latest): Score = |_: Context| async { GOOD };
        }
    }
    let store = MemoryStore::new();
    let before = Before::open(store.clone()).await?;
    before.user.push("It was fine.").await?;
    before.run().await?;
    drop(before);

    let now = Now::open(store).await?;
    now.user.push("It was better.").await?;
    now.run().await?;
    assert_eq!(now.score.get(0).as_deref(), Some("four, a secret"));
    let error = now.score.read(0).expect_err("it is no score");
    assert_eq!(
        error.to_string(),
        "`score` at step 0 does not match the type of its column: the JSON is invalid; expected a `Score` \
         (line 1, column 2)"
    );
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    assert_eq!(SchemaMismatch::of(&error).map(SchemaMismatch::reply), Some("four, a secret"));
    assert_eq!(now.score.read(1)?, Some(score(4, "It is kind.")));
    assert_eq!(now.score.read(2)?, None);
    Ok(())
}

flow! {
    struct Chat<T: DeserializeOwned + JsonSchema + 'static>(model: ScriptedModel) {
        source user;
        /// How good it was.
        column score(user.latest): Score was "rating"           = prompt("Rate it.").model(model.clone());
        column others(score.latest, user.window(1 + 1)): Vec<T> = prompt("Go on.").model(model.clone());
    }
}

flow! {
    struct Felt: Chat<u8> {
        column mood(others.latest): Option<Score> = |_: Context| async { Json(None::<u8>) };
    }
}

flow! {
    struct Uses<T: DeserializeOwned + JsonSchema + 'static>(model: ScriptedModel) {
        source review;
        use Chat<T>(model.clone()) { user: review } as chat;
        column mood(chat.score.latest): Option<T> = |_: Context| async { Json(None::<u8>) };
    }
}

/// A model that replies according to the schema.
fn any() -> ScriptedModel {
    ScriptedModel::new(|request| {
        let schema = request.schema.as_ref().expect("a schema");
        if schema.name == "Score" { GOOD.to_owned() } else { "[1, 2]".to_owned() }
    })
}

#[tokio::test]
async fn extensions_and_modules_have_typed_columns() -> Result<()> {
    let chat: Chat<u8> = Chat::new(any());
    let felt = Felt::extend(&chat).await?;
    chat.user.push("It was fine.").await?;
    felt.run().await?;
    assert_eq!(felt.score.read(0)?, Some(score(4, "It is kind.")));
    assert_eq!(felt.others.read(0)?, Some(vec![1, 2]));
    assert_eq!(felt.mood.read(0)?, Some(None));

    let uses: Uses<u64> = Uses::new(any());
    uses.review.push("It was fine.").await?;
    uses.run().await?;
    assert_eq!(uses.chat.score.read(0)?, Some(score(4, "It is kind.")));
    assert_eq!(uses.chat.others.read(0)?, Some(vec![1_u64, 2]));
    assert_eq!(uses.mood.read(0)?, Some(None));
    let inline = flow! {
        source review;
        use Chat<u16>(any()) { user: review } as chat;
        column mood(chat.score.latest): Option<u8> = |_: Context| async { "7" };
    };
    inline.review.push("It was fine.").await?;
    inline.run().await?;
    assert_eq!((inline.chat.others.read(0)?, inline.mood.read(0)?), (Some(vec![1_u16, 2]), Some(Some(7))));
    Ok(())
}

proptest! {
    /// With any text around it and in any pieces, the JSON is stored, and it is read as the value that was written.
    #[test]
    fn json_in_any_text_is_found_as_a_whole(
        stars: u8,
        why in any_text(),
        is_pretty: bool,
        (before, after) in prop::sample::select(vec![
            ("", ""), ("\n ", "\n"), ("```json\n", "\n```"), ("```\n", "\n```\n"),
            ("Here it is: ", ""), ("That is so:\n\n```json\n", "\n```\n\nIs it?"), ("nothing but ", " \"!\""),
        ]),
        cuts in prop::collection::vec(0_usize..200, 0..6),
    ) {
        let value = Score { stars, why };
        let json = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let json = json.expect("it is JSON");
        let reply = format!("{before}{json}{after}");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(reply.len())).collect();
        cuts.retain(|&cut| reply.is_char_boundary(cut));
        cuts.extend([0, reply.len()]);
        cuts.sort_unstable();
        let pieces: Vec<String> = cuts.windows(2).map(|cut| reply[cut[0]..cut[1]].to_owned()).collect();
        let step = move |_: Context| deltas(stream::iter(pieces.clone()));
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let flow = flow([column("score", source("user").latest(), step.typed::<Score>())]).expect("a flow");
            flow.push("user", "It was fine.").await.expect("pushed");
            let outcome = outcome_of(flow.run()).await.expect("a run");
            assert!(outcome.error.is_none() && outcome.retries.is_empty(), "{outcome:?}");
            assert_eq!(flow.get("score", 0).as_deref(), Some(json.as_str()));
            assert_eq!(flow.read("score", 0).expect("of the type"), Some(value));
        });
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["a", "{", "}", "[", "]", "\"", "\\", "`", "```", "\n", "ü", " "]),
        0..12,
    )
    .prop_map(|parts| parts.concat())
}

/// All kinds of types that serde and schemars support.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Everything {
    text: String,
    maybe: Option<String>,
    small: u8,
    signed: i64,
    share: f32,
    is_urgent: bool,
    tags: Vec<String>,
    pair: (String, bool),
    scores: Vec<Score>,
    kind: Kind,
    #[serde(default)]
    next: Option<Box<Everything>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Kind {
    Praise,
    Complaint { about: String },
}

#[tokio::test]
async fn the_offline_model_returns_a_value_of_every_type() -> Result<()> {
    let desk = flow! {
        source review;
        column all(review.latest): Everything     = prompt("Read it.");
        column topics(review.latest): Vec<String> = prompt("List the topics.");
        column score(review.latest): Score        = prompt("Rate it.");
        column count(review.latest): usize        = prompt("Count it.");
    };
    desk.set_model(Offline::new());
    desk.review.push("The lamp came late, \"again\", but the light is good.").await?;
    desk.run().await?;
    assert!(desk.all.read(0)?.is_some_and(|all| all.text.contains("late")));
    assert!(desk.topics.read(0)?.is_some_and(|topics| topics.len() > 1));
    assert_eq!((desk.score.read(0)?.map(|score| score.stars), desk.count.read(0)?), (Some(1), Some(1)));
    Ok(())
}
