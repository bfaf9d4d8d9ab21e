//! A flow on a real model over HTTP: structure and plumbing, never prose.
//!
//! `tests/local-model run cargo test -p columnar-tests --features providers --test suite models::local_model`

mod history;
mod tiers;

use std::env;

use columnar::cache::{CachePolicy, Pace};
use columnar::model::{self, BASE_URL, Model, Provider, Truncated, Usage};
use columnar::prelude::*;
use columnar_tests::models::EndRecorder;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::MutexGuard;

/// The address of the model, for one test at a time, since tests would share its cache. Without one, the test is skipped
/// with a message.
async fn address(test: &str) -> Option<(String, MutexGuard<'static, ()>)> {
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let Ok(url) = env::var(BASE_URL) else {
        eprintln!("SKIPPED {test}: {BASE_URL} is not set; `tests/local-model run` sets it");
        return None;
    };
    Some((url, ALONE.lock().await))
}

/// The model at this address, under this name.
fn model_at(name: &str, url: &str) -> EndRecorder {
    EndRecorder::new(Provider::new(&format!("{name}@{url}")).expect("the provider is known"))
}

fn usages_of(model: &EndRecorder) -> Vec<Usage> {
    model.ends().iter().filter_map(|end| end.usage).collect()
}

flow! {
    struct Chat(model: EndRecorder) {
        source user;
        column topics(user.latest) =
            prompt("List the topics.").model(model.clone()).max_tokens(24).allow_truncated();
        column summary(user, self.latest) =
            prompt("Summarise.").model(model.clone()).max_tokens(24).allow_truncated();
        column assistant(user, topics.latest, self) =
            prompt("Answer briefly.").model(model.clone()).max_tokens(24).allow_truncated();
    }
}

/// The events of a run.
#[derive(Default)]
struct Shown {
    values: usize,
    deltas: usize,
}

async fn converse(name: &str, url: &str) -> Result<()> {
    let model = model_at(name, url);
    let chat = Chat::new(model.clone());
    let mut shown = Shown::default();
    for text in ["My name is Ada.", "What is the capital of France?", "And of Italy?"] {
        chat.user.push(text).await?;
        // The server drops a reply now and then, so a second run follows.
        if let Err(error) = run(&chat, &mut shown).await {
            eprintln!("{name}: {error}");
            run(&chat, &mut shown).await?;
        }
    }
    assert_eq!((shown.values, chat.steps()), (9, 3), "each cell has one value");
    assert!(shown.deltas > shown.values, "{} deltas: it streams", shown.deltas);
    let usages = usages_of(&model);
    assert_eq!(usages.len(), 9, "each reply has an end with its usage");
    assert!(usages.iter().all(|usage| usage.input > 0 && (1..=25).contains(&usage.output)), "{usages:?}");
    assert!(model.ends().iter().all(|end| end.id.is_some()), "each reply has an id");
    println!("{name}: {} deltas, {usages:?}", shown.deltas);
    Ok(())
}

async fn run(chat: &Chat, shown: &mut Shown) -> Result<()> {
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event {
            Event::Delta { .. } => shown.deltas += 1,
            Event::Value { .. } => shown.values += 1,
            _ => {}
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_flow_of_three_columns_over_the_openai_wire() -> Result<()> {
    match address("a_flow_of_three_columns_over_the_openai_wire").await {
        Some((url, _alone)) => converse("openai/smollm2", &url).await,
        None => Ok(()),
    }
}

#[tokio::test]
async fn a_flow_of_three_columns_over_the_anthropic_wire() -> Result<()> {
    match address("a_flow_of_three_columns_over_the_anthropic_wire").await {
        Some((url, _alone)) => converse("anthropic/smollm2", &url).await,
        None => Ok(()),
    }
}

#[tokio::test]
async fn the_environment_chooses_the_model() -> Result<()> {
    let Some(_alone) = address("the_environment_chooses_the_model").await else { return Ok(()) };
    let chosen = model::from_env().expect("the model is there");
    assert_eq!(Some(chosen.name()), env::var(model::VARIABLE).ok().as_deref());
    let chat = flow! {
        source user;
        column assistant(user, self) = prompt("Answer briefly.").max_tokens(16).allow_truncated();
    };
    chat.user.push("Hello!").await?;
    chat.run().await?;
    assert!(chat.assistant.get(0).is_some());
    Ok(())
}

#[tokio::test]
async fn a_reply_that_the_model_cut_off_is_an_error_on_both_wires() -> Result<()> {
    let test = "a_reply_that_the_model_cut_off_is_an_error_on_both_wires";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    for name in ["openai/smollm2", "anthropic/smollm2"] {
        let model = model_at(name, &url);
        let chat = flow! {
            source user;
            column assistant(user, self) = prompt("Tell a long story.").model(model.clone()).max_tokens(4);
        };
        chat.user.push("Go on!").await?;
        let error = chat.run().await.expect_err("the story is longer");
        println!("{name}: {error}");
        assert!(matches!(Truncated::of(&error), Some(Truncated::MaxTokens { max_tokens: 4, .. })), "{error}");
        assert_eq!(chat.assistant.get(0), None);
    }
    Ok(())
}

/// Requests to models with explicit caching are marked. This server ignores marks and caches prefixes by itself, so the
/// test shows that it accepts marked requests, and that the planned prefix is repeated.
#[tokio::test]
async fn a_marked_request_is_accepted_and_begins_like_the_previous_one() -> Result<()> {
    let test = "a_marked_request_is_accepted_and_begins_like_the_previous_one";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    // The minimum of this model is 512 tokens.
    let model = model_at("anthropic/claude-opus-5", &url);
    let chat = flow! {
        source user;
        column assistant(user, self) =
            prompt("Answer briefly.").model(model.clone()).max_tokens(8).allow_truncated().retry(2);
    };
    chat.user.push("All is well on board. ".repeat(120)).await?;
    chat.user.push("Who is on board?").await?;
    chat.run().await?;
    let plan =
        chat.assistant.cache_plan(0, CachePolicy::by_model("anthropic/claude-opus-5"), Pace::batch())?;
    assert_eq!(plan.marks.len(), 1, "the first message is long enough for a mark");
    let usages = usages_of(&model);
    let mut last = usages.iter().rev();
    let (second, first) = (last.next().expect("a second reply"), last.next().expect("a first reply"));
    println!("marked: {first:?}, {second:?}");
    assert!(second.cache_read >= first.input / 2, "{first:?}, {second:?}");
    Ok(())
}

/// A judgement of a message.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the test only checks that it can be read")]
struct Judgement {
    kind: Kind,
    is_polite: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Greeting,
    Question,
    Statement,
}

/// In this wire format the server enforces the schema; an instruction alone would not suffice for a model of this size.
#[tokio::test]
async fn a_typed_column_gets_a_valid_value_over_the_openai_wire() -> Result<()> {
    let test = "a_typed_column_gets_a_valid_value_over_the_openai_wire";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    let model = model_at("openai/smollm2", &url);
    let chat = flow! {
        source user;
        column judgement(user.latest): Judgement =
            prompt("Judge.").model(model.clone()).max_tokens(64).temperature(0.0).retry(2);
    };
    for text in ["Hello there!", "What is the capital of France?"] {
        chat.user.push(text).await?;
    }
    chat.run().await?;
    for step in 0..2 {
        let judgement = chat.judgement.read(step)?.expect("it is stored");
        let receipt = chat.judgement.receipt(step).expect("a model was called");
        println!("{judgement:?}: {receipt}");
        assert_eq!(
            (receipt.attempts, receipt.unreported),
            (receipt.calls, 0),
            "each call reported its usage"
        );
    }
    Ok(())
}

/// The tolerance at the end of the repeated prefix: the words of the server's template around the next message, and one
/// token that crosses the end.
const TOLERANCE: u64 = 16;

/// Asserts that the repeated prefix comes from the cache. Each item has the usage of the previous request, the share of it
/// that is repeated, and the usage of the request.
fn assert_repeated(steps: impl IntoIterator<Item = (Usage, f64, Usage)>) {
    for (before, share, now) in steps {
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let repeated = (before.input as f64 * share) as u64;
        println!(
            "of {} tokens {repeated} are repeated, {} of {} were cached",
            before.input, now.cache_read, now.input
        );
        assert!(now.cache_read + TOLERANCE >= repeated, "{before:?}, {share}, {now:?}");
        assert!(now.cache_read <= now.input);
    }
}

#[tokio::test]
async fn the_repeated_prefix_is_read_from_the_cache() -> Result<()> {
    let test = "the_repeated_prefix_is_read_from_the_cache";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    let message = |n: usize| format!("This is what happened on day {n}. ").repeat(20);
    #[expect(clippy::cast_precision_loss)]
    let share = |bytes: usize, of_bytes: usize| bytes as f64 / of_bytes as f64;
    for name in ["openai/smollm2", "anthropic/smollm2"] {
        let model = model_at(name, &url);
        let chat = flow! {
            source user;
            column all(user, self) =
                prompt("Answer briefly.").model(model.clone()).max_tokens(8).allow_truncated().retry(2);
        };
        for n in 0..4 {
            chat.user.push(message(n)).await?;
            chat.run().await?;
        }
        let all = (0..3).map(|n| chat.all.explain_cache(n)).collect::<Result<Vec<_>>>()?;
        assert!(all.iter().all(|prefix| prefix.bytes == prefix.total_bytes), "all of it");
        let usages = usages_of(&model);
        assert_eq!(usages.len(), 4);
        assert_repeated(
            usages
                .windows(2)
                .zip(&all)
                .map(|(two, prefix)| (two[0], share(prefix.bytes, prefix.total_bytes), two[1])),
        );

        let model = model_at(name, &url);
        let chat = flow! {
            source user;
            column last(user, self.latest) =
                prompt("Summarise.").model(model.clone()).max_tokens(8).allow_truncated().retry(2);
        };
        for n in 0..4 {
            chat.user.push(message(n)).await?;
            chat.run().await?;
        }
        let last = (0..3).map(|n| chat.last.explain_cache(n)).collect::<Result<Vec<_>>>()?;
        assert!(last[1].bytes > 0 && last[1].bytes < last[1].total_bytes, "a part of it");
        let usages = usages_of(&model);
        assert_eq!(usages.len(), 4);
        assert_repeated(
            usages
                .windows(2)
                .zip(&last)
                .map(|(two, prefix)| (two[0], share(prefix.bytes, prefix.total_bytes), two[1])),
        );
    }
    Ok(())
}
