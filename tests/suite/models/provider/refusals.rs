//! Responses without a reply: statuses, redirects, refusals, tool calls.

use columnar::compute::secs;
use columnar::model::{Finish, Provider, Refused};
use columnar_tests::server::{Act, Server, WIRES, Wire, answer, data, event, stream};
use std::time::Duration;

use super::{advance_clock, compute_one, compute_reply_to};

#[tokio::test]
async fn p3_a_permanent_refusal_is_not_retried() {
    let openai = r#"{"error":{"message":"Incorrect API key provided: sk-ab*****yz. You can find yours online.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#;
    let anthropic = r#"{"type":"error","error":{"type":"not_found_error","message":"model: test-9"},"request_id":"req_1"}"#;
    let gemini =
        r#"[{"error":{"code":400,"message":"Please use a valid role.","status":"INVALID_ARGUMENT"}}]"#;
    for (status, body, expected) in [
        ("400 Bad Request", gemini, "400: INVALID_ARGUMENT, 400: Please use a valid role."),
        (
            "401 Unauthorized",
            openai,
            "401: invalid_request_error, invalid_api_key: Incorrect API key provided: … You can find yours online.",
        ),
        ("403 Forbidden", r#"{"detail":"Not allowed here"}"#, "403: Not allowed here"),
        ("404 Not Found", anthropic, "404: not_found_error: model: test-9"),
        ("404 Not Found", r#"{"error":"no such thing"}"#, "404: no such thing"),
        ("413 Too Long", "<html>far too long</html>", "413"),
        ("422 Unprocessable", r#"{"error":{"type":"two words","code":7,"message":3}}"#, "422: 7"),
        ("451 No", "", "451"),
    ] {
        for wire in WIRES {
            let server = Server::always(answer(status, body)).await;
            let outcome = compute_one(wire.model(&server), 3).await;
            assert!(Refused::of(outcome.why()).is_some());
            let expected = format!("`{}` answered with HTTP status {expected}", wire.name());
            assert!(outcome.cause().contains(&expected), "{} is not {expected}", outcome.cause());
            assert_eq!((server.requests().len(), outcome.retries.len(), outcome.value), (1, 0, None));
        }
    }
}

#[tokio::test]
async fn p3_a_long_message_of_a_provider_is_truncated_and_quotes_no_sentence_of_the_request() {
    let secret = "the plans for the harbour of Marseille";
    let long = format!("Rejected {} at once. {}", secret.to_uppercase(), "More of this. ".repeat(100));
    let lies =
        format!(r#"{{"error":{{"message":"{long}","type":"harbour","code":"Marseille","param":"ok"}}}}"#);
    for wire in WIRES {
        let server = Server::always(answer("400 Bad Request", &lies)).await;
        let outcome = compute_reply_to(wire.model(&server), 0, secret).await;
        let (cause, debug) = (outcome.cause(), format!("{:?}", outcome.why()));
        for words in ["the plans", "for the", "of marseille"] {
            assert!(!cause.to_lowercase().contains(words), "{cause}");
            assert!(!debug.to_lowercase().contains(words), "{debug}");
        }
        let expected = "400: harbour, Marseille, ok: Rejected … at once. More of this.";
        assert!(cause.contains(expected), "{cause}");
        let sentence = cause.rsplit("400: ").next().expect("there is one");
        assert!(sentence.chars().count() < 600, "{sentence}");
    }
}

#[tokio::test(start_paused = true)]
async fn p3_a_temporary_refusal_is_retried() {
    advance_clock(Duration::from_millis(100));
    for status in ["408 Request Timeout", "409 Conflict", "425 Too Early"] {
        let server = Server::start(move |n| match n {
            0 => answer(status, ""),
            _ => stream(Wire::OpenAi.reply(&["Hi"])),
        });
        let outcome = compute_one(Wire::OpenAi.model(&server.await), 1).await;
        assert_eq!(outcome.value.as_deref(), Some("Hi"), "{status}");
    }
}

/// Replies without text, and the outcome of each.
#[tokio::test]
async fn p8_a_reply_without_text_is_an_error() {
    let choice = |delta: &str, finish: &str| {
        data(&format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}"#))
    };
    let done = data("[DONE]");
    let tool = r#"{"content":null,"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let stop = choice("{}", "\"stop\"") + &done;
    let openai = [
        (choice(r#"{"role":"assistant","content":""}"#, "null") + &stop, "no text"),
        (choice(r#"{"role":"assistant","content":null}"#, "null") + &stop, "no text"),
        (stop.clone(), "no text"),
        // The refusal has its own field.
        (choice(r#"{"content":null,"refusal":"I will not."}"#, "null") + &stop, "refused"),
        (choice("{}", "\"content_filter\"") + &done, "refused"),
        // The request offered no tool.
        (choice(tool, "null") + &choice("{}", "\"tool_calls\"") + &done, "tool_calls"),
        (choice(r#"{"content":"Let me see."}"#, "null") + &choice(tool, "null") + &stop, "tool_calls"),
        (choice("{}", "\"my own words\"") + &done, "for another reason"),
        // The reply has no end.
        (choice(r#"{"content":"Hi"}"#, "null") + &done, "broke off"),
    ];
    let anthropic = |blocks: &str, stop: &str| {
        let whole = Wire::Anthropic.reply(&[]).replace("end_turn", stop);
        let (begin, end) = whole.split_once("event: content_block_start").expect("it is there");
        let (_, end) = end.split_once("event: message_delta").expect("it is there");
        format!("{begin}{blocks}event: message_delta{end}")
    };
    let call = event(
        "content_block_start",
        r#""index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}"#,
    ) + &event(
        "content_block_delta",
        r#""index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}"#,
    ) + &event("content_block_stop", r#""index":0"#);
    let anthropic = [
        (anthropic("", "end_turn"), "no text"),
        (anthropic("", "refusal"), "refused"),
        (anthropic(&call, "tool_use"), "tool_calls"),
        (anthropic(&call, "end_turn"), "tool_calls"),
        (anthropic("", "pause_turn"), "pause_turn"),
    ];
    for (wire, table) in [(Wire::OpenAi, &openai[..]), (Wire::Anthropic, &anthropic)] {
        for (body, expected) in table {
            let outcome = compute_one(wire.model(&Server::always(stream(body)).await), 0).await;
            assert!(outcome.cause().contains(expected), "{} is not {expected}: {body}", outcome.cause());
            assert!(!outcome.cause().contains("I will not") && outcome.value.is_none());
        }
    }
}

/// Gemini gives no end for a request that it blocks, and the client makes an error of that, which was retried.
#[tokio::test]
async fn p8_a_blocked_request_is_refused() {
    let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9}}"#;
    let server = Server::always(stream(data(blocked))).await;
    let model = Provider::new(&format!("gemini/test@{}/v1beta", server.url())).expect("a provider");
    let outcome = compute_one(model, 0).await;
    assert!(outcome.cause().contains("the reply ended early (refused)"), "{}", outcome.cause());
    assert_eq!(outcome.ends[0].finish, Finish::Refused);
}

#[tokio::test]
async fn p8_the_end_of_a_reply_has_its_id_and_usage() {
    for (wire, id) in [(Wire::OpenAi, "chatcmpl-7"), (Wire::Anthropic, "msg_7")] {
        let server = Server::always(stream(wire.reply(&["Hi"]))).await;
        let outcome = compute_one(wire.model(&server), 0).await;
        let [end] = &outcome.ends[..] else { panic!("one end") };
        assert_eq!((end.id.as_deref(), &end.finish), (Some(id), &Finish::Stop));
        let usage = end.usage.expect("a usage");
        assert_eq!((usage.input, usage.output), (9, 2), "{wire:?}");
    }
    // An invalid id is dropped.
    let odd = Wire::OpenAi.reply(&["Hi"]).replace("chatcmpl-7", "a sentence with spaces");
    let outcome = compute_one(Wire::OpenAi.model(&Server::always(stream(odd)).await), 0).await;
    assert_eq!(outcome.ends[0].id, None);
}

#[tokio::test]
async fn p9_no_redirect_is_followed() {
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        for wire in WIRES {
            let other = Server::always(stream(wire.reply(&["Hi"]))).await;
            let location = format!("{status}\r\nlocation: {}/v1/messages", other.url());
            let server = Server::always(answer(&location, "")).await;
            let outcome = compute_one(wire.model(&server), 2).await;
            assert!(outcome.cause().contains("HTTP status 30"), "{}", outcome.cause());
            assert_eq!((server.requests().len(), other.requests().len()), (1, 0), "{status}");
        }
    }
}

/// The connection stays open after the end of the reply.
#[tokio::test]
async fn p8_nothing_is_read_after_the_end_of_a_reply() {
    for wire in WIRES {
        let acts = [stream(wire.reply(&["Hi"])), vec![Act::Hold]].concat();
        let server = Server::always(acts).await;
        let outcome = tokio::time::timeout(secs(60), compute_one(wire.model(&server), 0)).await;
        assert_eq!(outcome.expect("it ends").value.as_deref(), Some("Hi"));
    }
}
