//! A flow on a real model over HTTP: structure and plumbing, never prose.
//!
//! `tests/local-model run cargo test -p columnar-tests --features genai --test suite models::local_model`

use std::env;

use columnar::cache::{CachePolicy, Pace};
use columnar::model::{BASE_URL, Chunk, End, Genai, Model, Request, Usage};
use columnar::prelude::*;
use columnar::{BoxError, model};
use futures::stream::BoxStream;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::{Arc, Mutex};
use tokio::sync::MutexGuard;

/// Where the model is, for one test at a time, since all of them would share what it keeps of requests; or a loud word
/// that there is none.
async fn address(test: &str) -> Option<(String, MutexGuard<'static, ()>)> {
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let Ok(url) = env::var(BASE_URL) else {
        eprintln!("SKIPPED {test}: {BASE_URL} is not set; `tests/local-model run` sets it");
        return None;
    };
    Some((url, ALONE.lock().await))
}

/// A model that remembers how its replies ended.
#[derive(Clone)]
struct Watched {
    model: Arc<dyn Model>,
    ends: Arc<Mutex<Vec<End>>>,
}

impl Watched {
    fn new(name: &str, url: &str) -> Self {
        let model = Genai::new(&format!("{name}@{url}")).expect("the provider is known");
        Self { model: Arc::new(model), ends: Arc::default() }
    }

    fn usages(&self) -> Vec<Usage> {
        self.ends.lock().expect("nobody panics").iter().filter_map(|end| end.usage).collect()
    }
}

impl Model for Watched {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let ends = Arc::clone(&self.ends);
        let watch = move |chunk: &Result<Chunk, BoxError>| {
            if let Ok(Chunk::End(end)) = chunk {
                ends.lock().expect("nobody panics").push(end.clone());
            }
        };
        self.model.reply(request).inspect(watch).boxed()
    }
}

flow! {
    struct Chat(model: Watched) {
        source user;
        column topics(user.latest) = prompt("List the topics.").with(model.clone()).max_tokens(24);
        column summary(user, self.latest) = prompt("Summarise.").with(model.clone()).max_tokens(24);
        column assistant(user, topics.latest, self) = prompt("Answer briefly.").with(model.clone()).max_tokens(24);
    }
}

/// What a run showed.
#[derive(Default)]
struct Shown {
    values: usize,
    deltas: usize,
}

async fn converse(name: &str, url: &str) -> Result<()> {
    let model = Watched::new(name, url);
    let chat = Chat::new(model.clone());
    let mut shown = Shown::default();
    for text in ["My name is Ada.", "What is the capital of France?", "And of Italy?"] {
        chat.user.push(text).await?;
        // The server drops a reply now and then. That is what the next run is for.
        if let Err(error) = run(&chat, &mut shown).await {
            eprintln!("{name}: {error}");
            run(&chat, &mut shown).await?;
        }
    }
    assert_eq!((shown.values, chat.steps()), (9, 3), "each cell was shown once");
    assert!(shown.deltas > shown.values, "{} deltas: it streams", shown.deltas);
    let usages = model.usages();
    assert_eq!(usages.len(), 9, "each reply came to an end and was counted");
    assert!(usages.iter().all(|usage| usage.input > 0 && (1..=25).contains(&usage.output)), "{usages:?}");
    assert!(model.ends.lock().expect("nobody panics").iter().all(|end| end.id.is_some()), "each has a name");
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
        column assistant(user, self) = prompt("Answer briefly.").max_tokens(16);
    };
    chat.user.push("Hello!").await?;
    chat.run().await?;
    assert!(chat.assistant.get(0).is_some());
    Ok(())
}

/// Over the wire of Anthropic a request is marked where its model has a cache. This server knows no marks and
/// keeps prefixes by itself; it shows that such requests are taken, and that what the plan says is repeated is.
#[tokio::test]
async fn a_marked_request_is_accepted_and_begins_like_the_previous_one() -> Result<()> {
    let test = "a_marked_request_is_accepted_and_begins_like_the_previous_one";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    // A name whose cache takes prefixes from 512 tokens on.
    let model = Watched::new("anthropic/claude-opus-5", &url);
    let chat = flow! {
        source user;
        column assistant(user, self) = prompt("Answer briefly.").with(model.clone()).max_tokens(8).retry(2);
    };
    chat.user.push("All is well on board. ".repeat(120)).await?;
    chat.user.push("Who is on board?").await?;
    chat.run().await?;
    let plan = chat.assistant.cache_plan(0, CachePolicy::of("anthropic/claude-opus-5"), Pace::batch())?;
    assert_eq!(plan.marks.len(), 1, "what was said first is long enough to be marked");
    let usages = model.usages();
    let mut last = usages.iter().rev();
    let (second, first) = (last.next().expect("a second reply"), last.next().expect("a first reply"));
    println!("marked: {first:?}, {second:?}");
    assert!(second.cache_read >= first.input / 2, "{first:?}, {second:?}");
    Ok(())
}

/// How something was said.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "that it can be read is all there is to see")]
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

/// Over this wire the server holds the model to the schema; a model as small as this one could not be talked into it.
#[tokio::test]
async fn a_typed_column_gets_a_valid_value_over_the_openai_wire() -> Result<()> {
    let test = "a_typed_column_gets_a_valid_value_over_the_openai_wire";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    let model = Watched::new("openai/smollm2", &url);
    let chat = flow! {
        source user;
        column judgement(user.latest): Judgement = prompt("Judge.").with(model.clone()).max_tokens(64).temperature(0.0).retry(2);
    };
    for text in ["Hello there!", "What is the capital of France?"] {
        chat.user.push(text).await?;
    }
    chat.run().await?;
    for step in 0..2 {
        let judgement = chat.judgement.read(step)?.expect("it is stored");
        let receipt = chat.judgement.receipt(step).expect("a model was asked");
        println!("{judgement:?}: {receipt}");
        assert_eq!((receipt.attempts, receipt.unreported), (receipt.calls, 0), "each call told what it cost");
    }
    Ok(())
}

/// What the server may count otherwise at the border of what is repeated: the words of its template around the next
/// thing that is said, and one token that goes over the border.
const BORDER: u64 = 16;

/// What was said to repeat what was sent before, step by step: the tokens of the request before, as the server counted
/// them, the share of it that is to be repeated, and what came from the cache.
fn is_repeated(steps: impl IntoIterator<Item = (Usage, f64, Usage)>) {
    for (before, share, now) in steps {
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let repeated = (before.input as f64 * share) as u64;
        println!(
            "of {} tokens {repeated} are repeated, {} of {} were kept",
            before.input, now.cache_read, now.input
        );
        assert!(now.cache_read + BORDER >= repeated, "{before:?}, {share}, {now:?}");
        assert!(now.cache_read <= now.input);
    }
}

#[tokio::test]
async fn the_repeated_prefix_is_read_from_the_cache() -> Result<()> {
    let test = "the_repeated_prefix_is_read_from_the_cache";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    let said = |n: usize| format!("This is what happened on day {n}. ").repeat(20);
    #[expect(clippy::cast_precision_loss)]
    let share = |bytes: usize, of_bytes: usize| bytes as f64 / of_bytes as f64;
    for name in ["openai/smollm2", "anthropic/smollm2"] {
        let model = Watched::new(name, &url);
        let chat = flow! {
            source user;
            column all(user, self) = prompt("Answer briefly.").with(model.clone()).max_tokens(8).retry(2);
        };
        for n in 0..4 {
            chat.user.push(said(n)).await?;
            chat.run().await?;
        }
        let all = (0..3).map(|n| chat.all.explain_cache(n)).collect::<Result<Vec<_>>>()?;
        assert!(all.iter().all(|prefix| prefix.bytes == prefix.total_bytes), "all of it");
        let usages = model.usages();
        assert_eq!(usages.len(), 4);
        is_repeated(
            usages
                .windows(2)
                .zip(&all)
                .map(|(two, prefix)| (two[0], share(prefix.bytes, prefix.total_bytes), two[1])),
        );

        let model = Watched::new(name, &url);
        let chat = flow! {
            source user;
            column last(user, self.latest) = prompt("Summarise.").with(model.clone()).max_tokens(8).retry(2);
        };
        for n in 0..4 {
            chat.user.push(said(n)).await?;
            chat.run().await?;
        }
        let last = (0..3).map(|n| chat.last.explain_cache(n)).collect::<Result<Vec<_>>>()?;
        assert!(last[1].bytes > 0 && last[1].bytes < last[1].total_bytes, "a part of it");
        let usages = model.usages();
        assert_eq!(usages.len(), 4);
        is_repeated(
            usages
                .windows(2)
                .zip(&last)
                .map(|(two, prefix)| (two[0], share(prefix.bytes, prefix.total_bytes), two[1])),
        );
    }
    Ok(())
}
