//! What may go wrong between a flow and a provider: a scripted one on this machine does it.
//!
//! `cargo test -p columnar-tests --features genai,sqlite,tracing --test suite models::provider`

mod dependencies;
mod limits;
mod refusals;
mod secrets;
mod streams;

use std::iter;
use std::time::Duration;

use columnar::model::{Chunk, End, Genai, Model, Request};
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::{BoxError, Error, Value};
use columnar_tests::server::Wire;
use futures::stream::BoxStream;
use std::sync::{Arc, Mutex};
use tokio::time::advance;

flow! {
    pub(crate) struct Chat(model: Told, times: usize) {
        source user;
        column bot(user) = prompt("Be brief.").with(model.clone()).retry(*times);
    }
}

/// A model that remembers how its replies ended.
#[derive(Clone)]
pub(crate) struct Told {
    model: Genai,
    ends: Arc<Mutex<Vec<End>>>,
}

impl Told {
    fn new(model: Genai) -> Self {
        Self { model, ends: Arc::default() }
    }
}

impl Model for Told {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn ready(&self) -> Result<(), BoxError> {
        self.model.ready()
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

/// What became of one cell.
pub(crate) struct Outcome {
    pub(crate) value: Option<String>,
    /// The deltas of each attempt, joined.
    pub(crate) attempts: Vec<String>,
    /// Why each but the last attempt failed.
    pub(crate) retries: Vec<String>,
    pub(crate) error: Option<Error>,
    pub(crate) ends: Vec<End>,
    /// All events, as they look.
    pub(crate) events: Vec<String>,
}

impl Outcome {
    /// Why there is no value.
    pub(crate) fn why(&self) -> &Error {
        self.error.as_ref().expect("the run failed")
    }

    /// The last word of why there is no value: what the model said.
    pub(crate) fn cause(&self) -> String {
        let why: &(dyn std::error::Error + 'static) = self.why();
        let told = iter::successors(Some(why), |&error| error.source()).map(ToString::to_string);
        told.collect::<Vec<_>>().join(" | ")
    }
}

/// Asks the model for one value, in a flow that tries again so often.
pub(crate) async fn asked(model: Genai, times: usize) -> Outcome {
    asked_with(model, times, "Hello!").await
}

/// The same with something else to be answered.
pub(crate) async fn asked_with(model: Genai, times: usize, said: &str) -> Outcome {
    let (told, store) = (Told::new(model), MemoryStore::new());
    let chat = Chat::open(store.clone(), told.clone(), times).await.expect("the store is new");
    chat.user.push(said).await.expect("memory takes it");
    let (mut attempts, mut retries, mut events) = (vec![String::new()], Vec::new(), Vec::new());
    let mut run = chat.run();
    let error = loop {
        let event = match run.try_next().await {
            Ok(Some(event)) => event,
            Ok(None) => break None,
            Err(error) => break Some(error),
        };
        if !matches!(event, Event::Value { .. } | Event::Delta { .. }) {
            events.push(format!("{event:?}"));
        }
        match event {
            Event::Delta { text, .. } => attempts.last_mut().expect("one goes on").push_str(&text),
            Event::Retry { error, .. } => {
                retries.push(error.as_str().to_owned());
                attempts.push(String::new());
            }
            _ => {}
        }
    };
    let value = chat.bot.get(0).map(|value: Value| value.to_string());
    drop(run);
    drop(chat);
    let again = Chat::open(store, told.clone(), times).await.expect("nobody has it");
    assert_eq!(again.bot.get(0).as_deref(), value.as_deref(), "what is shown is stored, and nothing else");
    let ends = told.ends.lock().expect("nobody panics").clone();
    Outcome { value, attempts, retries, error, ends, events }
}

/// Lets time pass, this much at once, whenever everything that is on its way has had time to arrive. The clock has to
/// be stopped; without this it would leap ahead while bytes are on their way.
pub(crate) fn time_passes(by: Duration) {
    tokio::spawn(async move {
        loop {
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
            advance(by).await;
        }
    });
}

/// A name for a wire in messages.
pub(crate) fn said(wire: Wire) -> &'static str {
    wire.name()
}
