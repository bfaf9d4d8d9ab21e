//! What is read: the end of a reply, its usage, thoughts, stop sequences, contexts that were cut.

use columnar::model::{Finish, Overloaded, Provider, ProviderError, Refused, Truncated};
use columnar::prelude::*;
use columnar::usage::{SpendLimit, Usage};
use columnar_tests::server::{Act, Server, Wire, answer, data, event, head, stream};

use super::{Outcome, compute_one, compute_reply_to};

fn model(name: &str, server: &Server) -> Provider {
    Provider::new(&format!("{name}@{}/v1", server.url())).expect("a provider")
}

async fn reply_of(name: &str, body: impl AsRef<[u8]>) -> Outcome {
    compute_one(model(name, &Server::always(stream(body)).await), 0).await
}

/// LiteLLM's proxy sends the usage after the finish, in a chunk with a choice. Each call looked free, and a limit of
/// spending booked its whole reservation.
#[tokio::test]
async fn p13_a_late_usage_is_billed() {
    let body =
        Wire::OpenAi.reply(&["Hi"]).replace("\"choices\":[]", "\"choices\":[{\"index\":0,\"delta\":{}}]");
    let server = Server::always(stream(body)).await;
    let chat = flow! {
        source user;
        column bot(user.latest) = prompt("Be brief.").model(model("openai/gpt-4o-mini", &server));
    };
    chat.set_spend_limit(SpendLimit::dollars(0.01));
    for _ in 0..50 {
        chat.user.push("Hello!").await.expect("a store in memory");
    }
    chat.run().await.expect("50 calls cost less than a cent");
    let total = chat.bill().total();
    assert_eq!(
        (total.unreported, total.usage.input, total.cost.to_string()),
        (0, 450, "$0.000128".to_owned())
    );
}

/// Gemini sends a reason with each part of some replies, and the usage last: the text was cut off at the first reason.
#[tokio::test]
async fn p13_a_reply_of_gemini_is_read_to_its_end() {
    let part = |text: &str, more: &str| {
        data(&format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}},"finishReason":"STOP"}}]{more}}}"#
        ))
    };
    let usage = r#","usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}"#;
    let outcome = reply_of("gemini/test", part("Hel", "") + &part("lo", "") + &part("", usage)).await;
    assert_eq!(outcome.value.as_deref(), Some("Hello"));
    assert_eq!(outcome.ends[0].usage, Some(Usage::new(9, 2)));
}

/// Anthropic and OpenAI say why a prefix was not read, where the program asks for a comparison.
#[tokio::test]
async fn p15_the_reason_of_a_provider_for_a_miss_is_in_the_receipt() {
    let anthropic = |reason: &str| {
        let diagnostics = format!(r#""usage":{{"input_tokens":9}},"diagnostics":{reason}}}"#);
        let body = Wire::Anthropic.reply(&["Hi"]);
        body.replace(r#""usage":{"input_tokens":9,"output_tokens":1}}"#, &diagnostics)
    };
    let responses = |found: &str| {
        let response = format!(
            r#""response":{{"id":"resp_7","status":"completed","usage":{{"input_tokens":9}},"prompt_cache_diagnostics":{found}}}"#
        );
        event("response.output_text.delta", r#""delta":"Hi""#) + &event("response.completed", &response)
    };
    let said = r#"{"cache_miss_reason":{"type":"Be brief.","cache_missed_input_tokens":7}}"#;
    for (name, body, found) in [
        (
            "anthropic/x",
            anthropic(r#"{"cache_miss_reason":{"type":"system_changed","cache_missed_input_tokens":1200}}"#),
            Some("system_changed, 1200 tokens"),
        ),
        ("anthropic/x", anthropic(r#"{"cache_miss_reason":{"type":"unavailable"}}"#), Some("unavailable")),
        ("anthropic/x", anthropic(r#"{"cache_miss_reason":null}"#), None),
        ("anthropic/x", anthropic("null"), None),
        // A server could quote the request.
        ("anthropic/x", anthropic(said), None),
        (
            "openai_resp/x",
            responses(r#"{"type":"cache_miss","reason":"tools_changed","cache_missed_tokens":2048}"#),
            Some("tools_changed, 2048 tokens"),
        ),
        ("openai_resp/x", responses(r#"{"type":"cache_hit"}"#), None),
        ("openai_resp/x", responses("null"), None),
    ] {
        let outcome = reply_of(name, &body).await;
        assert_eq!(outcome.value.as_deref(), Some("Hi"), "{body}");
        let diagnosis = outcome.receipt.and_then(|receipt| receipt.diagnosis.clone());
        assert_eq!(diagnosis.map(|diagnosis| diagnosis.to_string()).as_deref(), found, "{body}");
    }
}

/// A server that keeps its connection open after the finish, and sends no `[DONE]`, kept the reply for two minutes.
#[tokio::test(start_paused = true)]
async fn p13_a_finished_reply_does_not_wait_for_the_end_of_its_connection() {
    super::advance_clock(secs(1));
    let begin = Wire::OpenAi.events(&["Hi"], "stop");
    let body = begin[..begin.len() - 2].concat();
    let server = Server::always(vec![head(), Act::Send(body.into_bytes()), Act::Hold]).await;
    let started = tokio::time::Instant::now();
    let outcome = compute_one(model("openai/test", &server), 0).await;
    assert_eq!(outcome.value.as_deref(), Some("Hi"));
    assert!(started.elapsed() < secs(60), "{:?}", started.elapsed());
}

/// The words of all official enums, and one that nobody knows: a reply that was paid for is not lost.
#[tokio::test]
async fn p13_the_word_of_an_end_decides_about_the_reply() {
    for (word, finish, is_stored) in [
        ("eos", Finish::Stop, true),
        ("eos_token", Finish::Stop, true),
        ("sensitive", Finish::Refused, false),
        ("content_filtered", Finish::Refused, false),
        ("ERROR_LIMIT", Finish::ContextWindow, false),
        ("a_new_word", Finish::Other("a_new_word".to_owned()), true),
        ("network_error", Finish::Other("network_error".to_owned()), false),
    ] {
        let server = Server::always(stream(Wire::OpenAi.events(&["Hi"], word).concat())).await;
        let outcome = compute_one(model("openai/test", &server), 0).await;
        assert_eq!(outcome.value.is_some(), is_stored, "{word}: {:?}", outcome.error);
        assert_eq!(outcome.ends[0].finish, finish, "{word}");
        let receipt = outcome.receipt.filter(|_| is_stored);
        assert!(receipt.is_none_or(|receipt| receipt.finish == Some(finish)), "{word}");
    }
}

/// A refusal was repeated by `retry(2)`, and a quota that is used up was waited for: 13 calls in 93 seconds.
#[tokio::test]
async fn p13_what_would_be_refused_again_is_not_repeated() {
    let quota = r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let billing = r#"{"error":{"type":"billing_error","message":"Your credit balance is too low."}}"#;
    let retry = "429 Too Many\r\nx-should-retry: false";
    let long = data(r#"{"error":{"code":"context_length_exceeded","message":"It is too long."}}"#);
    for acts in [
        answer("429 Too Many", quota),
        answer("429 Too Many", billing),
        answer(retry, "{}"),
        stream(long),
        answer("200 OK", quota),
        answer("200 OK", r#"{"choices":[]}"#),
        stream(Wire::OpenAi.events(&["Hi"], "content_filter").concat()),
    ] {
        let server = Server::always(acts.clone()).await;
        let outcome = compute_one(model("openai/test", &server), 3).await;
        assert!(Refused::of(outcome.why()).is_some(), "{}", outcome.cause());
        assert_eq!(server.requests().len(), 1, "{acts:?}");
    }
}

/// An overload in the middle of a stream did not slow down the calls, in other words than Anthropic's.
#[tokio::test]
async fn p13_an_overload_in_a_stream_is_an_overload() {
    let failed = r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Slow down."}}}"#;
    for (name, error) in [
        ("openai_resp/test", failed),
        ("openai/test", r#"{"error":{"code":503,"message":"No instances."}}"#),
        ("openai/test", r#"{"error":{"code":429,"message":"Slow down."}}"#),
        ("gemini/test", r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#),
        ("anthropic/test", r#"{"type":"error","error":{"type":"overloaded_error"}}"#),
    ] {
        let outcome = reply_of(name, data(error)).await;
        assert!(Overloaded::of(outcome.why()).is_some(), "{name}: {}", outcome.cause());
    }
    for (acts, pause) in [
        (answer("429 No\r\nretry-after-ms: 250", "{}"), 250),
        (answer("429 No\r\nretry-after: 1.5", "{}"), 1500),
        (
            answer("429 No", r#"[{"error":{"code":429,"details":[{"@type":"x"},{"retryDelay":"34.5s"}]}}]"#),
            34_500,
        ),
    ] {
        let outcome = compute_one(model("gemini/test", &Server::always(acts).await), 0).await;
        let asked = Overloaded::of(outcome.why()).and_then(|overloaded| overloaded.retry_after);
        assert_eq!(asked.map(|pause| pause.as_millis()), Some(pause));
    }
}

/// A login page with a status of 200 was a reply that broke off.
#[tokio::test]
async fn p13_a_page_and_a_whole_reply_are_named() {
    let page = |kind: &str, body: &str| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
        vec![Act::Send((head + body).into_bytes())]
    };
    for (acts, expected) in [
        (page("text/html; charset=utf-8", "<html>Sign in</html>"), "a page in place of a stream"),
        (page("application/json", r#"{"id":"c","choices":[]}"#), "a whole reply in place of a stream"),
    ] {
        let outcome = compute_one(model("openai/test", &Server::always(acts).await), 2).await;
        assert!(outcome.cause().contains(expected), "{}", outcome.cause());
        assert_eq!(outcome.retries.len(), 0);
    }
}

/// The text of thoughts is no text of the reply, wherever it comes from, and its receipt has it if it is asked for.
#[tokio::test]
async fn p13_thoughts_are_in_the_receipt_alone() {
    let chat = |delta: &str| data(&format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#));
    let end = data(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#) + &data("[DONE]");
    let anthropic = Wire::Anthropic.reply(&["Hi"]).replace(
        "event: content_block_start",
        &format!(
            "{}event: content_block_start",
            event("content_block_delta", r#""index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}"#)
        ),
    );
    for (name, body) in [
        ("deepseek/test", chat(r#"{"reasoning_content":"Hm."}"#) + &chat(r#"{"content":"Hi"}"#) + &end),
        (
            "open_router/test",
            chat(r#"{"reasoning":"Hm.","content":""}"#) + &chat(r#"{"content":"Hi"}"#) + &end,
        ),
        (
            "openai/test",
            chat(r#"{"content":"<think>Hm."}"#) + &chat(r#"{"content":"</think>\n\nHi"}"#) + &end,
        ),
        ("anthropic/test", anthropic),
        (
            "gemini/test",
            data(
                r#"{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true},{"text":"Hi"}]},"finishReason":"STOP"}]}"#,
            ),
        ),
        (
            "ollama/test",
            r#"{"message":{"thinking":"Hm.","content":""},"done":false}"#.to_owned()
                + "\n"
                + r#"{"message":{"content":"Hi"},"done":true,"done_reason":"stop"}"#,
        ),
    ] {
        let server = Server::always(stream(body)).await;
        let model = model(name, &server);
        let chat = flow! {
            source user;
            column kept(user)    = prompt("Think.").model(model.clone()).strip_thoughts().keep_thoughts();
            column dropped(user) = prompt("Think.").model(model.clone()).strip_thoughts();
        };
        chat.user.push("Hello!").await.expect("a store in memory");
        chat.run().await.expect(name);
        assert_eq!(
            (chat.kept.get(0).as_deref(), chat.dropped.get(0).as_deref()),
            (Some("Hi"), Some("Hi")),
            "{name}"
        );
        let thoughts =
            [&chat.kept, &chat.dropped].map(|column| column.receipt(0).expect("a call").thoughts.clone());
        assert_eq!(thoughts.each_ref().map(Option::as_deref), [Some("Hm."), None], "{name}");
    }
}

/// Stop sequences that a provider does not take are applied to the text as it arrives.
#[tokio::test]
async fn p13_a_stop_sequence_that_is_not_sent_ends_the_text() {
    let server = Server::always(stream(Wire::Anthropic.reply(&["one", "\n", "two"]))).await;
    let model = model("anthropic/claude-haiku-5-5", &server);
    let chat = flow! {
        source user;
        column bot(user) = prompt("A line.").model(model.clone()).stop(["\n"]);
    };
    chat.user.push("Hello!").await.expect("a store in memory");
    let mut run = chat.run();
    let mut deltas = String::new();
    while let Some(event) = run.try_next().await.expect("it replies") {
        if let Event::Delta { text, .. } = event {
            deltas += &text;
        }
    }
    drop(run);
    assert_eq!((chat.bot.get(0).as_deref(), &*deltas), (Some("one"), "one"));
    assert_eq!(chat.bot.receipt(0).map(|receipt| receipt.usage.output), Some(2), "the rest is paid for");
    assert!(!server.requests()[0].contains("stop_sequences"));
}

/// Text beside a thought in one event was searched twice, and lost the order of its letters where a stop sequence may begin.
#[tokio::test]
async fn p13_text_beside_a_thought_is_searched_once() {
    let both = data(r#"{"choices":[{"index":0,"delta":{"reasoning":"Hm.","content":"a E"}}]}"#);
    let end = data(r#"{"choices":[{"index":0,"delta":{"content":"ND"},"finish_reason":"stop"}]}"#)
        + &data("[DONE]");
    for (stop, expected) in [("END", "a "), ("EX", "a END")] {
        let server = Server::always(stream(both.clone() + &end)).await;
        let model = model("openai/gpt-5.4-mini", &server);
        let chat = flow! {
            source user;
            column bot(user) = prompt("A line.").model(model.clone()).stop([stop]);
        };
        chat.user.push("Hello!").await.expect("a store in memory");
        chat.run().await.expect("it replies");
        assert_eq!(chat.bot.get(0).as_deref(), Some(expected));
    }
}

/// Ollama answers a context that it cut with a status of 200: the answer was stored.
#[tokio::test]
async fn p13_a_reply_to_a_context_that_was_cut_is_an_error() {
    let ollama = |read: u64| {
        format!(
            r#"{{"message":{{"content":"Hi"}},"done":true,"done_reason":"stop","prompt_eval_count":{read},"eval_count":1}}"#
        )
    };
    let chat = |read: u64| {
        Wire::OpenAi.reply(&["Hi"]).replace("\"prompt_tokens\":9", &format!("\"prompt_tokens\":{read}"))
    };
    let long = "All of it is needed here. ".repeat(1500);
    for (name, body, is_cut) in [
        ("ollama/test", ollama(2050), true),
        ("ollama/test", ollama(9000), false),
        ("openai/test", chat(2050), true),
        ("openai/test", chat(9000), false),
    ] {
        let server = Server::always(stream(body)).await;
        let outcome = compute_reply_to(model(name, &server), 3, &long).await;
        assert_eq!(outcome.value.is_none(), is_cut, "{name}");
        if is_cut {
            assert_eq!(Truncated::of(outcome.why()), Some(&Truncated::Context));
            assert_eq!(
                (server.requests().len(), outcome.ends[0].usage.map(|usage| usage.input)),
                (1, Some(2050))
            );
        }
    }
}

/// The lifetime of written tokens was not read, and each counted as the cheaper one.
#[tokio::test]
async fn p13_tokens_that_are_kept_for_long_are_billed_at_their_price() {
    let usage = |more: &str| {
        let tokens = format!(
            r#""usage":{{"input_tokens":9,"cache_creation_input_tokens":1000{more},"output_tokens":1}}"#
        );
        Wire::Anthropic.reply(&["Hi"]).replace(r#""usage":{"input_tokens":9,"output_tokens":1}"#, &tokens)
    };
    let split = r#","cache_creation":{"ephemeral_5m_input_tokens":400,"ephemeral_1h_input_tokens":600}"#;
    for (body, long, cost) in [(usage(split), 600, "$0.003438"), (usage(""), 0, "$0.002538")] {
        let server = Server::always(stream(body)).await;
        let outcome = compute_one(model("anthropic/claude-sonnet-5", &server), 0).await;
        let usage = outcome.ends[0].usage.expect("a usage");
        assert_eq!((usage.input, usage.cache_write, usage.cache_write_long), (1009, 1000, long));
        let receipt = outcome.receipt.expect("a receipt");
        assert_eq!(receipt.cost().expect("a price").to_string(), cost);
        assert_eq!(receipt.to_string().parse(), Ok((*receipt).clone()));
    }
}

/// A tool call ended reading at once, and the tokens of the call were not billed.
#[tokio::test]
async fn p13_a_tool_call_is_an_error_with_its_usage() {
    let call = data(r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t"}]}}]}"#);
    let outcome = reply_of("openai/test", call + &Wire::OpenAi.events(&[], "tool_calls").concat()).await;
    assert!(outcome.cause().contains("tool_calls"), "{}", outcome.cause());
    assert_eq!(outcome.ends[0].usage, Some(Usage::new(9, 2)));
    let item = event("response.output_item.added", r#""item":{"type":"function_call"}"#);
    let done = event("response.completed", r#""response":{"status":"completed","output":[]}"#);
    let outcome = reply_of("openai_resp/test", item + &done).await;
    assert!(outcome.cause().contains("tool_calls"), "{}", outcome.cause());
}

/// The error of a run names its cause for programs.
#[tokio::test]
async fn p13_a_server_that_does_not_stream_is_an_error_of_its_own() {
    let server = Server::always(answer("200 OK", r#"{"choices":[]}"#)).await;
    let outcome = compute_one(model("openai/test", &server), 0).await;
    let why: &(dyn std::error::Error + 'static) = outcome.why();
    let found =
        std::iter::successors(Some(why), |error| error.source()).find_map(|error| error.downcast_ref());
    assert!(matches!(found, Some(ProviderError::NoStream { kind: "a whole reply", .. })), "{found:?}");
}
