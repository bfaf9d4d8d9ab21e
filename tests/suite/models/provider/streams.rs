//! Streams that are truncated, split and written in other ways.

use columnar::model::Provider;
use columnar_tests::server::{Act, Server, WIRES, Wire, data, pieces, stream};
use fastrand::Rng;
use std::sync::{Arc, Mutex};

use super::compute_one;

/// A text with letters, characters of two and four bytes, and lines.
const TEXTS: [&str; 4] = ["Hel", "lo, wörld ", "🦀 and\n", "so on"];

/// A reply of at least this number of bytes, and its text.
fn long(wire: Wire, bytes: usize) -> (String, String) {
    let mut texts = TEXTS.to_vec();
    while wire.reply(&texts).len() < bytes {
        texts.extend(TEXTS);
    }
    (wire.reply(&texts), texts.concat())
}

/// A server whose connections serve these scripts in order.
async fn each(acts: Vec<Vec<Act>>) -> Server {
    let acts = Arc::new(Mutex::new(acts.into_iter()));
    Server::start(move |_| acts.lock().expect("no test panics").next().unwrap_or_default()).await
}

#[tokio::test]
async fn p5_a_truncated_reply_is_an_error_at_any_byte() {
    for wire in WIRES {
        let (reply, text) = long(wire, 2 << 10);
        // With the reason of its end a reply is complete, whatever may follow.
        let finish = format!("\"{}\"", wire.stop());
        let finished = reply.find(&finish).expect("it has one");
        let whole = finished + reply[finished..].find("\n\n").expect("the end of the event");
        let server = each((0..=reply.len()).map(|end| stream(&reply.as_bytes()[..end])).collect()).await;
        let model = wire.model(&server);
        for end in 0..=reply.len() {
            let outcome = compute_one(model.clone(), 0).await;
            let expected = (end >= whole).then_some(&*text);
            assert_eq!(outcome.value.as_deref(), expected, "{wire:?} after {end} of {whole} bytes");
        }
        assert_eq!(server.requests().len(), reply.len() + 1);
    }
}

#[tokio::test]
async fn p5_a_reset_connection_is_an_error_at_any_byte() {
    for wire in WIRES {
        let (reply, text) = long(wire, 1 << 10);
        let whole = reply.trim_end().len();
        let ends: Vec<usize> = (0..whole).step_by(7).collect();
        let broken = |end: usize| [stream(&reply.as_bytes()[..end]), vec![Act::Reset]].concat();
        // A body shorter than its declared length.
        let short = |end: usize| {
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", reply.len());
            vec![Act::Send([head.as_bytes(), &reply.as_bytes()[..end]].concat())]
        };
        let server = each(ends.iter().flat_map(|end| [broken(*end), short(*end)]).collect()).await;
        let model = wire.model(&server);
        for end in ends.iter().flat_map(|end| [end, end]) {
            let outcome = compute_one(model.clone(), 0).await;
            assert_eq!(outcome.value, None, "{wire:?} after {end} bytes");
            assert!(text.starts_with(&outcome.attempts[0]), "the deltas are a prefix of the reply");
        }
    }
}

/// The values of replies in these pieces, each from a connection of its own.
async fn values(wire: Wire, replies: Vec<Vec<Act>>) -> Vec<Result<String, String>> {
    let count = replies.len();
    let server = each(replies).await;
    let model = wire.model(&server);
    let mut values = Vec::new();
    for _ in 0..count {
        let outcome = compute_one(model.clone(), 0).await;
        values.push(outcome.value.clone().ok_or_else(|| outcome.cause()));
    }
    values
}

#[tokio::test]
async fn p6_a_reply_does_not_depend_on_how_it_is_split() {
    for wire in WIRES {
        let (lines, text) = (wire.reply(&TEXTS), TEXTS.concat());
        // CR LF was read as two line ends where its bytes arrived apart, and the event lost its name.
        for end_of_line in ["\n", "\r", "\r\n"] {
            let reply = lines.replace('\n', end_of_line);
            let bytes = reply.as_bytes();
            let twice = (0..=bytes.len()).map(|at| pieces([&bytes[..at], &bytes[at..]])).collect();
            let mut dice = Rng::with_seed(7);
            let often = (0..100).map(|_| {
                let mut ends: Vec<usize> = (0..20).map(|_| dice.usize(..=bytes.len())).collect();
                ends.extend([0, bytes.len()]);
                ends.sort_unstable();
                pieces(ends.windows(2).map(|pair| &bytes[pair[0]..pair[1]]))
            });
            let often = often.collect();
            let bytewise = vec![pieces(bytes.chunks(1))];
            for splits in [twice, often, bytewise] {
                for (at, value) in values(wire, splits).await.into_iter().enumerate() {
                    assert_eq!(value.as_deref(), Ok(&*text), "{wire:?}, {end_of_line:?}, split {at}");
                }
            }
        }
    }
}

#[tokio::test]
async fn p6_events_may_be_written_in_other_ways() {
    for wire in WIRES {
        let (reply, text) = (wire.reply(&TEXTS), TEXTS.concat());
        let lines = reply.replace("\",\"", "\",\ndata: \"").replace("},{", "},\ndata: {");
        assert_ne!(lines, reply);
        let ways = [
            ("no space", reply.replace("data: ", "data:").replace("event: ", "event:")),
            ("many lines of data", lines),
            ("comments", reply.replace("data: ", ": a word\ndata: ")),
            ("comments between", format!(": begin\n\n{}", reply.replace("\n\n", "\n\n: still here\n\n"))),
            ("numbers", reply.replace("data: ", "id: 7\nretry: 10\ndata: ")),
            ("many blank lines", format!("\n\n{}", reply.replace("\n\n", "\n\n\n\n\n"))),
            ("garbage after the end", format!("{reply}data: {{{{{{\n\nwhatever\n\n")),
            ("no last line", reply.trim_end().to_owned()),
            ("a byte order mark", format!("\u{feff}{reply}")),
            ("no names", reply.replace("event: ", "id: ")),
        ];
        for (way, reply) in ways {
            let value = values(wire, vec![stream(reply)]).await.remove(0);
            assert_eq!(value.as_deref(), Ok(&*text), "{wire:?}, {way}");
        }
    }
}

#[tokio::test]
async fn p6_an_error_event_in_the_middle_is_an_error() {
    let errors = [
        (data(r#"{"error":{"type":"server_error","message":"Our mistake"}}"#), "server_error: Our mistake"),
        (data(r#"{"error":"Our mistake"}"#), "Our mistake"),
        (data(r#"{"type":"error","error":{"type":"api_error"}}"#), "api_error"),
        (format!("event: error\n{}", data(r#"{"message":"Our mistake"}"#)), "Our mistake"),
        (format!("event: error\n{}", data(r#"{"type":"error","error":{"type":"overloaded_error"}}"#)), "529"),
        (data("{{{"), "could not be understood"),
        (data("nothing"), "could not be understood"),
    ];
    for wire in WIRES {
        let events = wire.events(&TEXTS, wire.stop());
        let text = events.iter().position(|event| event.contains("Hel")).expect("it is there");
        for (error, expected) in &errors {
            // The reply continues to its end, or ends there.
            for rest in [events[text + 1..].concat(), String::new()] {
                let reply = events[..=text].concat() + error + &rest;
                let value = values(wire, vec![stream(reply)]).await.remove(0);
                let why = value.expect_err(error);
                assert!(why.contains(expected), "{wire:?}: {why} is not {expected}");
            }
        }
        // Without the event with its finish the reply is incomplete.
        let finish = events.iter().position(|event| event.contains(&format!("\"{}\"", wire.stop())));
        let reply = events[..finish.expect("it has one")].concat();
        let why = values(wire, vec![stream(reply)]).await.remove(0).expect_err("it has no end");
        assert!(why.contains("broke off"), "{why}");
        // A page of a proxy.
        let why = values(wire, vec![stream("<html>\n\n</html>")]).await.remove(0).expect_err("no reply");
        assert!(why.contains("broke off"), "{why}");
    }
}

/// Truncated replies in the wire formats of other providers and models.
#[tokio::test]
async fn p5_other_wire_formats_need_their_end_marker() {
    let chat = r#"{"message":{"role":"assistant","content":"Hi"},"done":false}"#;
    let done = r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":1}"#;
    let ollama = format!("{chat}\n{done}\n");
    let gemini = data(
        r#"{"candidates":[{"content":{"parts":[{"text":"H"}],"role":"model"}}],"responseId":"r"}"#,
    ) + &data(
        r#"{"candidates":[{"content":{"parts":[{"text":"i"}],"role":"model"},"finishReason":"STOP"}],"responseId":"r"}"#,
    );
    let named = |kind: &str, rest: &str| {
        format!("event: {kind}\n{}", data(&format!(r#"{{"type":"{kind}",{rest}}}"#)))
    };
    let responses =
        named("response.created", r#""response":{"id":"resp_7","status":"in_progress","output":[]}"#)
            + &named(
                "response.output_text.delta",
                r#""item_id":"m","output_index":0,"content_index":0,"delta":"Hi""#,
            )
            + &named(
                "response.completed",
                r#""response":{"id":"resp_7","model":"test","status":"completed","output":[]}"#,
            );
    for (name, reply, id) in [
        ("ollama/test", &ollama, None),
        ("gemini/test", &gemini, Some("r")),
        ("openai_resp/test", &responses, Some("resp_7")),
    ] {
        let whole = reply.trim_end().len();
        let server = each((0..=reply.len()).map(|end| stream(&reply.as_bytes()[..end])).collect()).await;
        let model = Provider::new(&format!("{name}@{}/v1", server.url())).expect("a provider");
        for end in 0..=reply.len() {
            let outcome = compute_one(model.clone(), 0).await;
            let expected = (end >= whole).then_some("Hi");
            assert_eq!(outcome.value.as_deref(), expected, "{name} after {end} bytes: {:?}", outcome.error);
            if end >= whole {
                assert_eq!(outcome.ends[0].id.as_deref(), id, "{name}");
            }
        }
    }
}
