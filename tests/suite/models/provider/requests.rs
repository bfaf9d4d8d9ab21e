//! What is sent: settings, documents and their marks, windows, headers and members of the program.

use std::collections::BTreeSet;

use columnar::documents::Update;
use columnar::model::{Model, Provider, ProviderError, Request};
use columnar::prelude::*;
use columnar::testing::ScriptedModel;
use columnar::tiers::Tier;
use columnar_tests::server::{Act, Server, Wire, answer, stream};
use serde_json::{Value as Json, json};

/// The head and the body of the request that a model sends for a flow with this message.
async fn sent(model: impl FnOnce(&str) -> Provider, message: &str) -> (String, Json) {
    let server = Server::always(answer("400 Bad Request", "{}")).await;
    let model = model(&server.url().replace("127.0.0.1", "localhost"));
    let chat = flow! {
        source user;
        column bot(user, self) = prompt("Be brief.").model(model.clone());
    };
    chat.user.push(message).await.expect("a store in memory");
    chat.run().await.expect_err("the server refuses");
    whole(&server.requests()[0])
}

fn whole(request: &str) -> (String, Json) {
    let (head, body) = request.split_once("\r\n\r\n").expect("a body");
    (head.to_lowercase(), serde_json::from_str(body).expect("JSON"))
}

fn provider(name: &str, url: &str) -> Provider {
    Provider::new(&format!("{name}@{url}/v1")).expect("a provider")
}

/// The error of a run of a column with these settings, and the number of requests.
async fn refused(
    step: impl FnOnce(Provider) -> columnar::Prompt,
    name: &str,
) -> (Option<Error>, Vec<String>) {
    let server = Server::always(stream(Wire::OpenAi.reply(&["Hi"]))).await;
    let step = step(provider(name, server.url()));
    let chat = flow! {
        source user;
        column bot(user) = step.clone();
    };
    chat.user.push("Hello!").await.expect("a store in memory");
    let error = chat.run().await.err();
    (error, server.requests())
}

/// Settings that a model does not take were sent, and each call was refused by the provider.
#[tokio::test]
async fn p12_a_setting_that_a_model_does_not_take_is_an_error_before_the_run() {
    let (error, requests) =
        refused(|model| prompt("Judge.").model(model).temperature(0.2), "openai/gpt-5-mini").await;
    let message = error.expect("an error").to_string();
    for word in ["`bot`", "`temperature`", "`openai/gpt-5-mini`", ".lenient()"] {
        assert!(message.contains(word), "{message}");
    }
    assert_eq!(requests.len(), 0);

    let (error, requests) =
        refused(|model| prompt("Judge.").model(model).temperature(0.2).lenient(), "openai/gpt-5-mini").await;
    assert!(error.is_none());
    assert_eq!(whole(&requests[0]).1.get("temperature"), None);
}

/// `-high` and `-max` were cut off the names of models, so that another model was called.
#[tokio::test]
async fn p12_a_name_is_sent_as_it_was_written_and_an_effort_is_a_setting() {
    for name in ["openai/gpt-5.1-codex-max", "aliyun/qwen3-max", "mistral/mistral-medium"] {
        let effort = |model| prompt("Judge.").model(model).effort(Effort::High).top_p(0.5);
        let (error, requests) = refused(|model| effort(model).lenient(), name).await;
        assert!(error.is_none(), "{error:?}");
        let (_, body) = whole(&requests[0]);
        let (_, model) = name.split_once('/').expect("a provider");
        assert_eq!((&body["model"], &body["reasoning_effort"]), (&json!(model), &json!("high")));
        assert_eq!(body.get("stream_options").is_some(), !name.starts_with("mistral/"), "it refuses that");
    }
    let (_, requests) =
        refused(|model| prompt("Judge.").model(model).seed(7), "mistral/mistral-large-4").await;
    assert_eq!(whole(&requests[0]).1["random_seed"], 7);
}

#[tokio::test]
async fn p12_the_program_adds_a_key_headers_and_members() {
    let model = |url: &str| {
        let model = provider("openai/test", url).key(|| "sk-mine").header("X-Title", "My chat");
        model.body(json!({ "logit_bias": { "7": 1 }, "stream_options": null, "max_tokens": 7 }))
    };
    let (head, body) = sent(model, "Hello!").await;
    for header in ["authorization: bearer sk-mine", "x-title: my chat", "user-agent: columnar/"] {
        assert!(head.contains(header), "{head}");
    }
    assert_eq!((&body["logit_bias"], &body["max_tokens"]), (&json!({ "7": 1 }), &json!(7)));
    assert_eq!(body.get("stream_options"), None);

    let bad = Provider::new("openai/test").expect("a provider").key(|| "sk").header("bad\nname", "x");
    let error = bad.ready().expect_err("no header can have that name").to_string();
    assert!(error.contains(r"bad\nname"), "{error}");
}

/// A context that was longer than the default window of Ollama was cut without a word, and the answer was stored.
#[tokio::test]
async fn p12_ollama_gets_room_for_the_context() {
    let local = |url: &str| Provider::new(&format!("ollama/llama3.2@{url}")).expect("a provider");
    let (_, body) = sent(local, "Hello!").await;
    assert_eq!((&body["truncate"], &body["shift"]), (&json!(false), &json!(false)));
    assert_eq!(body["options"]["num_ctx"], 16_384, "8,192 tokens are for the reply");
    let long = "All of it. ".repeat(6000);
    assert_eq!(sent(local, &long).await.1["options"]["num_ctx"], 65_536);

    let server = Server::always(vec![Act::Reset]).await;
    let small = local(server.url()).max_context(8192);
    let chat = flow! {
        source user;
        column bot(user) = prompt("Be brief.").model(small.clone()).retry(3);
    };
    chat.user.push(&*long).await.expect("a store in memory");
    let error = chat.run().await.expect_err("there is no room");
    let error: &(dyn std::error::Error + 'static) = &error;
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    let window = causes.find_map(|cause| cause.downcast_ref());
    assert!(matches!(window, Some(ProviderError::Window { most: 8192, tokens: 15_000.., .. })), "{window:?}");
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn p12_requests_go_to_the_path_of_their_format_behind_the_address() {
    for (name, target) in [
        ("openai/test", "/v1/chat/completions?key=7"),
        ("openai_resp/test", "/v1/responses?key=7"),
        ("anthropic/test", "/v1/messages?key=7"),
        ("gemini/test", "/v1/models/test:streamgeneratecontent?alt=sse&key=7"),
        ("ollama/test", "/v1/api/chat?key=7"),
        ("cohere/test", "/v1/chat?key=7"),
    ] {
        let model = |url: &str| Provider::new(&format!("{name}@{url}/v1?key=7")).expect("a provider");
        let (head, _) = sent(model, "Hello!").await;
        assert!(head.starts_with(&format!("post {target} http/1.1")), "{head}");
    }
}

/// The request of a column with documents in L0, L3 and the active tier, long enough for a mark after each cached one.
async fn tiered() -> Request {
    let model = ScriptedModel::new(|_| "Done.".to_owned());
    let coder = flow! {
        source files: Documents;
        source user;
        column coder(files.tiered().target(0), user, self) = prompt("Be brief.").model(model.clone());
    };
    for step in 0..5 {
        coder
            .files
            .push(match step {
                0 => Update::new()
                    .legend("f function ".repeat(500))
                    .file("a.rs", "fn a() {}")
                    .file("b.rs", "fn b() {}"),
                4 => Update::new().file("b.rs", "fn b(b: u8) {}"),
                _ => Update::new(),
            })
            .await
            .expect("a store in memory");
        coder.user.push("Go on.").await.expect("a store in memory");
    }
    coder.run().await.expect("the model replies");
    let messages = coder.coder.messages(4).expect("it was sent");
    let tiers = messages.parts().filter_map(|part| part.tier()).collect::<BTreeSet<_>>();
    assert_eq!(tiers.into_iter().collect::<Vec<_>>(), [Tier::L3, Tier::Active]);
    model.requests().pop().expect("five requests")
}

/// The documents are in the body as the rendering has them, with a mark after L0 and one after L3. A mark after a reply of
/// the model, which ends a tier, was lost in the Responses API.
#[tokio::test]
async fn t23_tiers_and_their_marks_are_in_the_requests_of_each_wire() {
    let request = tiered().await;
    let l0 = format!("Be brief.\n\n# Repository Structure\n\n```\n{}\n```", "f function ".repeat(500));
    let texts = [
        "# Reference Files (L3)\n\na.rs\n```\nfn a() {}\n```",
        "# Working Files\n\nb.rs\n```\nfn b(b: u8) {}\n```",
    ];
    for (name, marks) in [
        ("anthropic/claude-opus-5", "\"cache_control\""),
        ("openai/gpt-5.6", "\"prompt_cache_breakpoint\""),
        ("openai_resp/gpt-5.6", "\"prompt_cache_breakpoint\""),
        ("openai_resp/gpt-6.1-sol", "\"prompt_cache_breakpoint\""),
        ("openai/gpt-4o", ""),
        ("gemini/gemini-3-pro", ""),
        ("ollama/test", ""),
    ] {
        let server = Server::always(answer("400 Bad Request", "{}")).await;
        let model = provider(name, server.url());
        let _ = model.reply(request.clone()).collect::<Vec<_>>().await;
        let body = whole(&server.requests()[0]).1.to_string();
        let at = |text: &str| {
            let quoted = Json::from(text).to_string();
            body.find(quoted.trim_matches('"')).unwrap_or_else(|| panic!("{name}: {text} in {body}"))
        };
        at(&l0);
        let [first, second] = texts.map(at);
        assert!(first < second, "{name}: {body}");
        if !marks.is_empty() {
            assert_eq!(body.matches(marks).count(), 2, "{name}: {body}");
            let last = body.rfind(marks).expect("a mark");
            assert!(first < last && last < second, "{name}: none in active: {body}");
        }
    }
}
