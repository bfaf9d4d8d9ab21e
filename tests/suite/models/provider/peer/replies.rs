//! What both clients read.

use columnar::model::{Finish, Usage};
use columnar_tests::server::{Server, WIRES, data, event, stream};
use genai::Client;

use super::{Read, ours, peer, request};

/// A model, the body of its reply, and the reply that columnar reads where the other client reads another one.
type Row = (&'static str, String, Option<(Read, &'static str)>);

fn same(name: &'static str, body: impl Into<String>) -> Row {
    (name, body.into(), None)
}

fn read(text: &str, finish: Option<Finish>, usage: Option<Usage>) -> Read {
    Read { text: text.to_owned(), finish, usage, is_error: false }
}

/// A delta of chat completions.
fn delta(delta: &str) -> String {
    data(&format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#))
}

/// The last delta, with more members of its event.
fn last(finish: &str, more: &str) -> String {
    data(&format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{{}},"finish_reason":"{finish}"}}]{more}}}"#))
}

fn tail(usage: &str) -> String {
    data(&format!(r#"{{"id":"c","choices":[],"usage":{usage}}}"#)) + &data("[DONE]")
}

fn chat_completions() -> Vec<Row> {
    let hi = delta(r#"{"role":"assistant","content":""}"#) + &delta(r#"{"content":"Hi"}"#);
    let usage = r#"{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}"#;
    let cached = r#"{"prompt_tokens":90,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":8},"completion_tokens_details":{"reasoning_tokens":0}}"#;
    let thinking = r#"{"prompt_tokens":9,"completion_tokens":2,"total_tokens":111,"completion_tokens_details":{"reasoning_tokens":100}}"#;
    let done = data("[DONE]");
    let tool =
        r#"{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let thoughts = delta(r#"{"content":null,"reasoning_content":"Hm."}"#)
        + &delta(r#"{"reasoning":"Hm.","content":""}"#);
    let mistral = delta(r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}"#)
        + &delta(r#"{"content":[{"type":"text","text":"Hi"},{"type":"text","text":"!"}]}"#);
    let part = delta(r#"{"content":"Hi"}"#).replace("]}\n", &format!("],\"usage\":{usage}}}\n"));
    let interim = usage.replace(['9', '2'], "1");
    vec![
        same("openai/test", hi.clone() + &last("stop", "") + &tail(usage)),
        same("openai/test", hi.clone() + &last("stop", "") + &tail(cached)),
        same("openai/test", hi.clone() + &last("length", "") + &tail(usage)),
        same("openai/test", hi.clone() + &last("content_filter", "") + &done),
        same("openai/test", hi.clone() + &last("odd_word", "") + &tail(usage)),
        same("openai/test", hi.clone() + &tail(usage)),
        same("openai/test", hi.clone() + &last("stop", "")),
        same("openai/test", hi.clone() + &delta(tool) + &last("tool_calls", "") + &done),
        same("openai/test", hi.clone() + &data(r#"{"error":{"message":"no"}}"#) + &done),
        same("openai/test", part + &last("stop", "") + &tail(usage)),
        same("xai/test", hi.clone() + &last("stop", "") + &tail(thinking)),
        same("together/test", hi.clone() + &last("stop", "") + &tail(thinking)),
        same("deepseek/test", thoughts.clone() + &hi + &last("stop", ",\"usage\":null") + &tail(usage)),
        same("deepseek/test", thoughts + &hi + &last("stop", &format!(",\"usage\":{cached}")) + &done),
        same("kimi/test", hi.clone() + &last("stop", &format!(",\"usage\":{usage}")) + &tail(&interim)),
        same("groq/test", hi.clone() + &last("stop", &format!(",\"x_groq\":{{\"usage\":{usage}}}")) + &done),
        same("mistral/test", mistral + &last("stop", &format!(",\"usage\":{usage}")) + &done),
        same("mistral/test", hi.clone() + &last("model_length", "") + &tail(usage)),
        (
            "openai/test",
            delta(r#"{"refusal":"I will not."}"#) + &last("stop", "") + &tail(usage),
            Some((
                read("", Some(Finish::Refused), Some(Usage::new(9, 2))),
                "the other client passes over refusals",
            )),
        ),
        (
            "groq/test",
            hi + &last("stop", "") + &tail(usage),
            Some((
                read("Hi", Some(Finish::Stop), Some(Usage::new(9, 2))),
                "Groq also has the usage in the place of all others, which the other client does not read",
            )),
        ),
    ]
}

fn anthropic() -> Vec<Row> {
    let start = |usage: &str| {
        event(
            "message_start",
            &format!(
                r#""message":{{"id":"m","type":"message","role":"assistant","content":[],"usage":{usage}}}"#
            ),
        )
    };
    let block = |kind: &str, deltas: &[&str]| {
        let deltas: String = deltas
            .iter()
            .map(|it| event("content_block_delta", &format!(r#""index":0,"delta":{it}"#)))
            .collect();
        event("content_block_start", &format!(r#""index":0,"content_block":{kind}"#))
            + &deltas
            + &event("content_block_stop", r#""index":0"#)
    };
    let end = |reason: &str, usage: &str| {
        event("message_delta", &format!(r#""delta":{{"stop_reason":"{reason}"}},"usage":{usage}"#))
            + &event("message_stop", r#""n":0"#)
    };
    let plain = start(r#"{"input_tokens":9,"output_tokens":1}"#);
    let text = block(
        r#"{"type":"text","text":""}"#,
        &[r#"{"type":"text_delta","text":"H"}"#, r#"{"type":"text_delta","text":"i"}"#],
    );
    let thinking = block(
        r#"{"type":"thinking","thinking":"","signature":""}"#,
        &[r#"{"type":"thinking_delta","thinking":"Hm."}"#, r#"{"type":"signature_delta","signature":"s"}"#],
    );
    let redacted = block(r#"{"type":"redacted_thinking","data":"x"}"#, &[]);
    let tool = block(r#"{"type":"tool_use","id":"t","name":"f","input":{}}"#, &[]);
    let cached = r#"{"input_tokens":9,"cache_creation_input_tokens":30,"cache_read_input_tokens":500,"output_tokens":1}"#;
    let cumulative = r#"{"input_tokens":10,"cache_creation_input_tokens":31,"cache_read_input_tokens":501,"output_tokens":7}"#;
    let output = r#"{"output_tokens":2}"#;
    let mut rows = Vec::new();
    for name in ["anthropic/test", "minimax/test"] {
        rows.extend([
            same(name, plain.clone() + &text + &end("end_turn", output)),
            same(name, plain.clone() + &thinking + &redacted + &text + &end("end_turn", output)),
            same(name, start(cached) + &text + &end("end_turn", output)),
            same(name, start(cached) + &text + &end("end_turn", cumulative)),
            same(name, start("{}") + &text + &end("end_turn", output)),
            same(name, plain.clone() + &text + &end("max_tokens", output)),
            same(name, plain.clone() + &text + &end("model_context_window_exceeded", output)),
            same(name, plain.clone() + &text + &end("stop_sequence", output)),
            same(name, plain.clone() + &end("refusal", output)),
            same(name, plain.clone() + &text + &end("pause_turn", output)),
            same(name, plain.clone() + &text + &tool + &end("tool_use", output)),
            same(name, plain.clone() + &text + &event("error", r#""error":{"type":"api_error"}"#)),
            same(name, plain.clone() + &text),
        ]);
    }
    rows
}

fn gemini() -> Vec<Row> {
    let part = |parts: &str, more: &str| {
        data(&format!(
            r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}}{more}}}],"responseId":"r"}}"#
        ))
    };
    let with_usage = |finish: &str, usage: &str| {
        data(&format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"i"}}]}},"finishReason":"{finish}"}}],"usageMetadata":{usage}}}"#
        ))
    };
    let hi = part(r#"{"text":"H"}"#, "");
    let thoughts = part(r#"{"text":"Hm.","thought":true},{"text":"H"}"#, "");
    let plain = r#"{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11}"#;
    let cached = r#"{"promptTokenCount":90,"cachedContentTokenCount":64,"toolUsePromptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":30}"#;
    let no_text = data(
        r#"{"candidates":[{"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":9,"thoughtsTokenCount":64}}"#,
    );
    let tool = part(r#"{"functionCall":{"name":"f","args":{}}}"#, "");
    vec![
        same("gemini/test", hi.clone() + &with_usage("STOP", plain)),
        same("gemini/test", thoughts + &with_usage("STOP", cached)),
        same("gemini/test", hi.clone() + &part("", r#","finishReason":"SAFETY""#)),
        same("gemini/test", hi.clone() + &with_usage("MALFORMED_FUNCTION_CALL", plain)),
        same("gemini/test", no_text),
        same("gemini/test", hi.clone() + &tool),
        same("gemini/test", hi.clone()),
        same("gemini/test", hi + &data(r#"{"error":{"code":500,"message":"no"}}"#)),
        (
            "gemini/test",
            data(r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9}}"#),
            Some((read("", Some(Finish::Refused), None), "the other client makes an error of it")),
        ),
    ]
}

fn lines() -> Vec<Row> {
    let chat =
        |message: &str| format!("{{\"message\":{{\"role\":\"assistant\",{message}}},\"done\":false}}\n");
    let done = |more: &str| {
        format!("{{\"message\":{{\"role\":\"assistant\",\"content\":\"\"}},\"done\":true{more}}}\n")
    };
    let hi = chat("\"content\":\"H\"") + &chat("\"content\":\"i\"");
    let tool = chat(r#""content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]"#);
    let counts = r#","prompt_eval_count":9,"eval_count":2"#;
    let mut rows = Vec::new();
    for name in ["ollama/test", "ollama_cloud/test"] {
        rows.extend([
            same(name, hi.clone() + &done(&format!(",\"done_reason\":\"stop\"{counts}"))),
            same(name, hi.clone() + &done(&format!(",\"done_reason\":\"length\"{counts}"))),
            same(
                name,
                hi.clone()
                    + &done(&format!(",\"done_reason\":\"stop\"{counts},\"prompt_eval_cached_count\":7")),
            ),
            same(name, chat(r#""thinking":"Hm.","content":"""#) + &hi + &done(",\"done_reason\":\"stop\"")),
            same(name, done(",\"done_reason\":\"load\"")),
            same(name, hi.clone() + &done("")),
            same(name, hi.clone() + &tool),
            same(name, hi.clone()),
        ]);
    }
    let text = r#"{"is_finished":false,"event_type":"stream-start","generation_id":"g"}"#.to_owned()
        + "\n"
        + r#"{"is_finished":false,"event_type":"text-generation","text":"Hi"}"#
        + "\n";
    let end = |finish: &str, meta: &str| {
        format!(
            "{{\"is_finished\":true,\"event_type\":\"stream-end\",\"finish_reason\":\"{finish}\",\"response\":{{{meta}}}}}\n"
        )
    };
    let meta = r#""meta":{"tokens":{"input_tokens":9,"output_tokens":2}}"#;
    rows.extend([
        same("cohere/test", text.clone() + &end("COMPLETE", meta)),
        same("cohere/test", text.clone() + &end("MAX_TOKENS", meta)),
        same("cohere/test", text.clone() + &end("ERROR_TOXIC", "")),
        same("cohere/test", text),
    ]);
    rows
}

fn responses() -> Vec<Row> {
    let created = event("response.created", r#""response":{"id":"r","status":"in_progress","output":[]}"#);
    let text = event("response.output_text.delta", r#""output_index":0,"delta":"Hi""#)
        + &event("response.output_text.done", r#""output_index":0,"text":"Hi""#);
    let summary = event("response.reasoning_summary_text.delta", r#""output_index":0,"delta":"Hm.""#);
    let end = |status: &str, more: &str| {
        event(
            &format!("response.{status}"),
            &format!(
                r#""response":{{"id":"r","model":"test","status":"{status}","error":null,"output":[]{more}}}"#
            ),
        )
    };
    let usage = r#","usage":{"input_tokens":90,"input_tokens_details":{"cached_tokens":64,"cache_write_tokens":8},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":92}"#;
    let tool = event(
        "response.output_item.added",
        r#""output_index":0,"item":{"type":"function_call","call_id":"t","name":"f","arguments":""}"#,
    ) + &event("response.function_call_arguments.delta", r#""output_index":0,"delta":"{}""#);
    let filtered = r#","incomplete_details":{"reason":"content_filter"}"#;
    vec![
        same("openai_resp/test", created.clone() + &text + &end("completed", usage)),
        same("openai_resp/test", created.clone() + &summary + &text + &end("completed", usage)),
        same("openai_resp/test", created.clone() + &text + &end("incomplete", usage)),
        same("openai_resp/test", created.clone() + &text + &end("completed", "")),
        same("openai_resp/test", created.clone() + &text + &tool),
        same("openai_resp/test", created.clone() + &text),
        same("openai_resp/test", created.clone() + &text + &end("failed", "")),
        same("openai_resp/test", created.clone() + &text + &event("error", r#""message":"no""#)),
        (
            "openai_resp/test",
            created + &text + &end("incomplete", filtered),
            Some((read("Hi", Some(Finish::Refused), None), "the other client takes it for a limit")),
        ),
    ]
}

#[tokio::test]
async fn p6_replies_are_read_as_by_another_client() {
    let (client, request) = (Client::new().expect("HTTPS"), request("Be brief.", &["Hello!"]).await);
    let wires = WIRES.map(|wire| same(wire.name(), wire.reply(&["Hel", "lo, wörld 🦀\n"])));
    let rows = [chat_completions(), anthropic(), gemini(), lines(), responses(), wires.into()];
    for (name, body, difference) in rows.into_iter().flatten() {
        let server = Server::always(stream(&body)).await;
        let url = format!("{}/v1", server.url());
        let (ours, peer) =
            (ours(name, &url, request.clone()).await, peer(&client, name, &url, &request).await);
        match difference {
            None => assert_eq!(ours, peer, "{name}: {body}"),
            Some((expected, reason)) => {
                assert_eq!(ours, expected, "{name}: {body}");
                assert_ne!(peer, expected, "{reason}, or no longer: {body}");
            }
        }
    }
}
