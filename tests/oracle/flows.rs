//! The flows whose requests are compared, and the settings of their prompts.

use std::sync::{Arc, Mutex, PoisonError};

use columnar::BoxError;
use columnar::Prompt;
use columnar::cache::Pace;
use columnar::compute::secs;
use columnar::documents::Update;
use columnar::model::{Chunk, Model, Provider, ReplySettings, Request};
use columnar::prelude::*;
use columnar_tests::models::chunks;
use futures::stream::{self, BoxStream};
use schemars::JsonSchema;
use serde::Deserialize;

/// A model that records the requests for a provider, and replies by itself.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    provider: Provider,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Capture {
    pub(crate) fn new(provider: Provider) -> Self {
        Self { provider, requests: Arc::default() }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Model for Capture {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn ready(&self) -> Result<(), BoxError> {
        self.provider.ready()
    }

    fn accepts(&self, settings: &ReplySettings, max_tokens: u32) -> Result<(), BoxError> {
        self.provider.accepts(settings, max_tokens)
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let text = if request.schema.is_some() {
            r#"{"reason":"It is short.","stars":4,"next":null}"#
        } else {
            "Done."
        };
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        stream::iter(chunks(&[text])).boxed()
    }
}

/// A flow that runs with a model.
pub(crate) const FLOWS: [&str; 7] = ["plain", "talk", "marks", "slow", "tiers", "typed", "recursive"];

/// Runs a flow. Its requests are in the model.
pub(crate) async fn run(flow: &str, model: &Capture) -> Result<()> {
    match flow {
        "plain" => said(prompt("Be brief.").model(model.clone())).await,
        "talk" => talk(prompt("Be brief.").model(model.clone()), "Go on.").await,
        "marks" => talk(long().model(model.clone()), &"word ".repeat(1000)).await,
        // Which is worth the longer lifetime of a cache entry.
        "slow" => talk(long().model(model.clone()).pace(Pace::every(secs(600))), &"word ".repeat(1000)).await,
        "tiers" => tiers(model).await,
        "typed" => typed(model).await,
        "recursive" => recursive(model).await,
        _ => unreachable!("one of `FLOWS`"),
    }
}

/// A change of a prompt.
type Setting = (&'static str, fn(Prompt) -> Prompt);

/// The settings of a prompt, one at a time. A setting that a model does not take may be an error before anything is sent.
pub(crate) const SETTINGS: [Setting; 16] = [
    ("temperature", |prompt| prompt.temperature(0.7)),
    ("temperature 1", |prompt| prompt.temperature(1.0)),
    ("stop", |prompt| prompt.stop(["END", "\n\nUser:"])),
    ("stop at a line", |prompt| prompt.stop(["\n"])),
    ("a short reply", |prompt| prompt.max_tokens(77)),
    ("top_p", |prompt| prompt.top_p(0.9)),
    ("seed", |prompt| prompt.seed(7)),
    ("the key of a cache", |prompt| prompt.cache_key("chat-17")),
    ("no effort", |prompt| prompt.effort(Effort::None)),
    ("minimal effort", |prompt| prompt.effort(Effort::Minimal)),
    ("low effort", |prompt| prompt.effort(Effort::Low)),
    ("medium effort", |prompt| prompt.effort(Effort::Medium)),
    ("high effort", |prompt| prompt.effort(Effort::High).max_tokens(30_000)),
    ("extra high effort", |prompt| prompt.effort(Effort::XHigh)),
    ("max effort", |prompt| prompt.effort(Effort::Max)),
    // All that a model takes of these.
    ("everything", |prompt| {
        let prompt = prompt.effort(Effort::High).temperature(0.7).top_p(0.9).seed(7).stop(["\n", "END"]);
        prompt.lenient()
    }),
];

/// Runs a flow of one column with a changed prompt.
pub(crate) async fn run_with(setting: fn(Prompt) -> Prompt, model: &Capture) -> Result<()> {
    said(setting(prompt("Be brief.").model(model.clone()))).await
}

fn long() -> Prompt {
    prompt("Be brief. ".repeat(2000))
}

async fn said(step: Prompt) -> Result<()> {
    let chat = flow! {
        source user;
        column bot(user) = step;
    };
    chat.user.push("Hello!").await?;
    chat.run().await
}

/// Four turns with the replies of the column itself.
async fn talk(step: Prompt, text: &str) -> Result<()> {
    let chat = flow! {
        source user;
        column bot(user, self) = step;
    };
    for turn in 0..4 {
        chat.user.push(format!("{turn} {text}")).await?;
    }
    chat.run().await
}

/// Documents in L0, L3 and the active tier.
async fn tiers(model: &Capture) -> Result<()> {
    let coder = flow! {
        source files: Documents;
        source user;
        column coder(files.tiered().target(0), user, self) = prompt("Be brief.").model(model.clone());
    };
    for step in 0..5 {
        let update = match step {
            0 => Update::new()
                .legend("f function ".repeat(5000))
                .file("a.rs", "fn a() {}".repeat(1000))
                .file("b.rs", "fn b() {}"),
            4 => Update::new().file("b.rs", "fn b(b: u8) {}"),
            _ => Update::new(),
        };
        coder.files.push(update).await?;
        coder.user.push("Go on.").await?;
    }
    coder.run().await
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is sent")]
struct Review {
    /// Why, in a sentence.
    reason: String,
    #[schemars(range(min = 1, max = 5))]
    stars: u8,
    next: Option<Next>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Next {
    Ask,
    Stop,
}

/// A type that contains itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is sent")]
struct Thread {
    reason: String,
    next: Option<Box<Thread>>,
}

async fn typed(model: &Capture) -> Result<()> {
    let chat = flow! {
        source user;
        column review(user): Review = prompt("Review it.").model(model.clone());
    };
    chat.user.push("It is good.").await?;
    chat.run().await
}

async fn recursive(model: &Capture) -> Result<()> {
    let chat = flow! {
        source user;
        column thread(user): Thread = prompt("Sum it up.").model(model.clone());
    };
    chat.user.push("It is good.").await?;
    chat.run().await
}
