//! The contenders in this program: columnar, and a loop by hand.

use columnar::model::{Adaptive, Provider};
use columnar::prelude::*;
use columnar_tests::load::Load;
use memchr::memmem;
use reqwest::Client;
use serde::Deserialize;
use serde_json::json;

flow! {
    struct Talk {
        source user;
        column assistant(user.latest) = prompt("You are a helpful assistant.");
    }
}

/// A flow for each worker, as in a service. All share a model.
pub(crate) async fn columnar(url: &str, load: Load) -> String {
    let model = Adaptive::new(Provider::new(&format!("openai/gpt-4o@{url}")).expect("a provider"));
    let talks: Vec<Talk> = (0..load.workers).map(|_| Talk::new()).collect();
    talks.iter().for_each(|talk| talk.set_model(model.clone()));
    load.run(async |worker, question, reply| {
        let talk = talks.get(worker).expect("each worker has a flow");
        talk.user.push(question).await.expect("memory takes it");
        let mut run = talk.run();
        while let Some(event) = run.try_next().await.expect("the server answers") {
            if let Event::Delta { text, .. } = event {
                reply.hear(&text);
            }
        }
    })
    .await
}

#[derive(Deserialize)]
struct BareEvent<'e> {
    #[serde(borrow)]
    choices: Vec<BareChoice<'e>>,
}

#[derive(Deserialize)]
struct BareChoice<'e> {
    #[serde(borrow)]
    delta: BareDelta<'e>,
}

#[derive(Deserialize)]
struct BareDelta<'e> {
    content: Option<&'e str>,
}

/// The least that a client can do: no limits, no errors, no other members, no escapes.
pub(crate) async fn by_hand(url: &str, load: Load) -> String {
    let client = Client::new();
    let url = format!("{url}/chat/completions");
    load.run(async |_, question, reply| {
        let body = json!({
            "model": "gpt-4o",
            "messages": [
                { "role": "system", "content": "You are a helpful assistant." },
                { "role": "user", "content": question },
            ],
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        let mut response = client.post(&url).body(body.to_string()).send().await.expect("an answer");
        let mut received = Vec::new();
        let mut text = String::new();
        while let Some(bytes) = response.chunk().await.expect("the server answers") {
            received.extend_from_slice(&bytes);
            let mut read = 0;
            while let Some(end) = memmem::find(received.get(read..).unwrap_or_default(), b"\n\n") {
                let data = received.get(read + b"data: ".len()..read + end).unwrap_or_default();
                read += end + 2;
                let Ok(event) = serde_json::from_slice::<BareEvent<'_>>(data) else { continue };
                let Some(word) = event.choices.first().and_then(|choice| choice.delta.content) else {
                    continue;
                };
                reply.hear(word);
                text.push_str(word);
            }
            received.drain(..read);
        }
    })
    .await
}
