//! Replies that were cut off, in the words of each provider.

use columnar::model::{Finish, Provider, Truncated};
use columnar_tests::server::{Server, WIRES, Wire, data, event, stream};

use super::{Outcome, compute_one};

/// The reply of a model to a request with two retries.
async fn reply_of(name: &str, body: &str) -> (Outcome, usize) {
    let server = Server::always(stream(body)).await;
    let model = Provider::new(&format!("{name}@{}/v1", server.url())).expect("a provider");
    (compute_one(model, 2).await, server.requests().len())
}

fn gemini(text: &str, usage: &str) -> String {
    let parts = if text.is_empty() { String::new() } else { format!(r#""parts":[{{"text":"{text}"}}]"#) };
    data(&format!(
        r#"{{"candidates":[{{"content":{{{parts}}},"finishReason":"MAX_TOKENS"}}],"usageMetadata":{{"promptTokenCount":9,{usage}}}}}"#
    ))
}

fn ollama(text: &str) -> String {
    let done = r#""done":true,"done_reason":"length","prompt_eval_count":9,"eval_count":1024"#;
    format!("{{\"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}},{done}}}\n")
}

fn responses(text: &str) -> String {
    let created = event(
        "response.created",
        r#""response":{"id":"resp_7","status":"in_progress","model":"test","output":[]}"#,
    );
    let delta = event(
        "response.output_text.delta",
        &format!(r#""output_index":0,"content_index":0,"delta":"{text}""#),
    );
    let usage = r#""usage":{"input_tokens":9,"output_tokens":1024,"total_tokens":1033}"#;
    let end = format!(
        r#""response":{{"id":"resp_7","status":"incomplete","model":"test","incomplete_details":{{"reason":"max_output_tokens"}},"output":[],{usage}}}"#
    );
    created + &(if text.is_empty() { String::new() } else { delta }) + &event("response.incomplete", &end)
}

/// The words of all providers for a reply that reached its limit, which is 1,024 tokens. They were stored as values.
#[tokio::test]
async fn p11_a_reply_that_reached_its_limit_is_an_error_with_the_limit() {
    let openai = |text: &str| {
        Wire::OpenAi
            .events(&[text], "length")
            .concat()
            .replace(r#""completion_tokens":2"#, r#""completion_tokens":1024"#)
    };
    let anthropic = |text: &str| {
        let whole = Wire::Anthropic.events(&[text], "max_tokens").concat();
        whole.replace(r#""usage":{"output_tokens":2}"#, r#""usage":{"output_tokens":1024}"#)
    };
    let texts = r#""candidatesTokenCount":24,"thoughtsTokenCount":1000"#;
    let thoughts = r#""thoughtsTokenCount":1024"#;
    for (name, body, has_text) in [
        ("openai/test", openai("Hel"), true),
        ("openai/test", openai(""), false),
        ("anthropic/test", anthropic("Hel"), true),
        ("anthropic/test", anthropic(""), false),
        ("gemini/test", gemini("Hel", texts), true),
        ("gemini/test", gemini("", thoughts), false),
        ("ollama/test", ollama("Hel"), true),
        ("ollama/test", ollama(""), false),
        ("openai_resp/test", responses("Hel"), true),
        ("openai_resp/test", responses(""), false),
    ] {
        let (outcome, requests) = reply_of(name, &body).await;
        let Some(Truncated::MaxTokens { max_tokens: 1024, has_text: has, .. }) = Truncated::of(outcome.why())
        else {
            panic!("{name}: {}", outcome.cause())
        };
        assert_eq!((*has, outcome.value.as_deref(), requests), (has_text, None, 1), "{name}: {body}");
        let end = &outcome.ends[0];
        assert_eq!(end.finish, Finish::Length, "{name}");
        let usage = end.usage.expect("the call is paid for");
        assert_eq!((usage.input, usage.output), (9, 1024), "{name}: thoughts count");
    }
}

#[tokio::test]
async fn p11_a_full_context_window_is_an_error_of_its_own() {
    for (wire, finish) in [(Wire::Anthropic, "model_context_window_exceeded"), (Wire::OpenAi, "model_length")]
    {
        let body = wire.events(&["Hel"], finish).concat();
        let (outcome, requests) = reply_of(wire.name(), &body).await;
        assert_eq!(Truncated::of(outcome.why()), Some(&Truncated::ContextWindow), "{}", outcome.cause());
        assert_eq!((outcome.value, requests), (None, 1));
        assert_eq!(outcome.ends[0].finish, Finish::ContextWindow);
    }
}

/// A reply that ends at a stop sequence is finished.
#[tokio::test]
async fn p11_a_stop_sequence_ends_a_reply() {
    for (wire, finish) in
        WIRES.map(|wire| (wire, wire.stop())).into_iter().chain([(Wire::Anthropic, "stop_sequence")])
    {
        let (outcome, _) = reply_of(wire.name(), &wire.events(&["Hel"], finish).concat()).await;
        assert_eq!(outcome.value.as_deref(), Some("Hel"), "{finish}");
        assert_eq!(outcome.ends[0].finish, Finish::Stop);
    }
}
