//! A flow on a real model over HTTP: structure and plumbing, never prose.
//!
//! `tests/local-model run cargo test -p columnar-tests --features genai --test local_model`

use std::env;

use columnar::cache::{Pace, Provider};
use columnar::model::{BASE_URL, Chunk, End, Genai, Model, Request, Usage};
use columnar::prelude::*;
use columnar::{BoxError, model};
use futures::stream::BoxStream;
use std::sync::{Arc, Mutex};

/// Where the model is, or a loud word that there is none.
fn address(test: &str) -> Option<String> {
    let url = env::var(BASE_URL).ok();
    if url.is_none() {
        eprintln!("SKIPPED {test}: {BASE_URL} is not set; `tests/local-model run` sets it");
    }
    url
}

/// A model that remembers how its replies ended.
#[derive(Clone)]
struct Watched {
    model: Arc<dyn Model>,
    ends: Arc<Mutex<Vec<End>>>,
}

impl Watched {
    fn new(name: &str, url: &str) -> Self {
        let model = Genai::new(name).expect("the provider is known").with_base_url(url);
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
    match address("a_flow_of_three_columns_over_the_openai_wire") {
        Some(url) => converse("openai/smollm2", &url).await,
        None => Ok(()),
    }
}

#[tokio::test]
async fn a_flow_of_three_columns_over_the_anthropic_wire() -> Result<()> {
    match address("a_flow_of_three_columns_over_the_anthropic_wire") {
        Some(url) => converse("anthropic/smollm2", &url).await,
        None => Ok(()),
    }
}

#[tokio::test]
async fn the_environment_chooses_the_model() -> Result<()> {
    if address("the_environment_chooses_the_model").is_none() {
        return Ok(());
    }
    let chosen = model::default().expect("the model is there");
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
async fn a_marked_request_is_taken_and_begins_as_the_one_before() -> Result<()> {
    let Some(url) = address("a_marked_request_is_taken_and_begins_as_the_one_before") else { return Ok(()) };
    // A name whose cache takes prefixes from 512 tokens on.
    let model = Watched::new("anthropic/claude-opus-5", &url);
    let chat = flow! {
        source user;
        column assistant(user, self) = prompt("Answer briefly.").with(model.clone()).max_tokens(8).retry(2);
    };
    chat.user.push("All is well on board. ".repeat(120)).await?;
    chat.user.push("Who is on board?").await?;
    chat.run().await?;
    let plan = chat.assistant.cache_plan(0, Provider::of("anthropic/claude-opus-5"), Pace::batch())?;
    assert_eq!(plan.marks.len(), 1, "what was said first is long enough to be marked");
    let usages = model.usages();
    let mut last = usages.iter().rev();
    let (second, first) = (last.next().expect("a second reply"), last.next().expect("a first reply"));
    println!("marked: {first:?}, {second:?}");
    assert!(second.cache_read >= first.input / 2, "{first:?}, {second:?}");
    Ok(())
}
