//! Faults between a flow and a provider, which a scripted server on this machine injects.
//!
//! `cargo test -p columnar-tests --features providers,sqlite,tracing --test suite models::provider`

mod attachments;
mod backups;
mod canaries;
mod dependencies;
mod floods;
mod limits;
mod messages;
mod open_files;
mod refusals;
mod replies;
mod requests;
mod secrets;
mod streams;
mod truncated;

use std::iter;
use std::sync::Arc;
use std::time::Duration;

use columnar::model::{End, Provider};
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::usage::Receipt;
use columnar::{Error, Value};
use columnar_tests::models::EndRecorder;
use tokio::time::advance;

flow! {
    pub(crate) struct Chat(model: EndRecorder, times: usize) {
        source user;
        column bot(user) = prompt("Be brief.").model(model.clone()).max_tokens(1024).retry(*times);
    }
}

/// The outcome of one cell.
pub(crate) struct Outcome {
    pub(crate) value: Option<String>,
    /// The deltas of each attempt, joined.
    pub(crate) attempts: Vec<String>,
    /// The error of each attempt but the last.
    pub(crate) retries: Vec<String>,
    pub(crate) error: Option<Error>,
    pub(crate) ends: Vec<End>,
    pub(crate) receipt: Option<Arc<Receipt>>,
    /// The `Debug` texts of all events but deltas and values.
    pub(crate) events: Vec<String>,
}

impl Outcome {
    /// The error of the run.
    pub(crate) fn why(&self) -> &Error {
        self.error.as_ref().expect("the run failed")
    }

    /// The error of the run with its sources.
    pub(crate) fn cause(&self) -> String {
        let why: &(dyn std::error::Error + 'static) = self.why();
        let causes = iter::successors(Some(why), |&error| error.source()).map(ToString::to_string);
        causes.collect::<Vec<_>>().join(" | ")
    }
}

/// Computes one value with the model, in a flow with this number of retries.
pub(crate) async fn compute_one(model: Provider, retries: usize) -> Outcome {
    compute_reply_to(model, retries, "Hello!").await
}

/// The same with another message of the user.
pub(crate) async fn compute_reply_to(model: Provider, retries: usize, message: &str) -> Outcome {
    let (model, store) = (EndRecorder::new(model), MemoryStore::new());
    let chat = Chat::open(store.clone(), model.clone(), retries).await.expect("the store is new");
    chat.user.push(message).await.expect("a store in memory");
    let (mut attempts, mut reasons, mut events) = (vec![String::new()], Vec::new(), Vec::new());
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
            Event::Delta { text, .. } => attempts.last_mut().expect("an attempt").push_str(&text),
            Event::Retry { error, .. } => {
                reasons.push(error.as_str().to_owned());
                attempts.push(String::new());
            }
            _ => {}
        }
    };
    let value = chat.bot.get(0).map(|value: Value| value.to_string());
    let receipt = chat.bot.receipt(0);
    drop(run);
    drop(chat);
    let reopened = Chat::open(store, model.clone(), retries).await.expect("the store is free");
    assert_eq!(reopened.bot.get(0).as_deref(), value.as_deref(), "exactly the emitted value is stored");
    Outcome { value, attempts, retries: reasons, error, ends: model.ends(), receipt, events }
}

/// Advances a paused clock in steps of this length, and lets bytes in transit arrive between two steps. Otherwise the
/// clock would jump to the next timeout while bytes are in transit.
pub(crate) fn advance_clock(by: Duration) {
    tokio::spawn(async move {
        loop {
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
            // Other threads have a part in a connection. On a machine with other work they get no turn while this one runs.
            std::thread::sleep(Duration::from_millis(1));
            advance(by).await;
        }
    });
}
