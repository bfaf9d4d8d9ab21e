//! A server that repeats secrets: in any field of any wire format, encoded in any usual way.
//!
//! An earlier redaction looked for whole words of the request alone. A server could put the key into the reason of an end
//! or into the id of a reply, and both are stored; or encode it, as a proxy does that repeats the header `authorization`.

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::iter;
use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use columnar::model::Provider;
use columnar_tests::models::EndRecorder;
use columnar_tests::server::{Act, Server, answer, stream};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};
use tokio::runtime::Builder;

use super::secrets::as_child_with_key;
use super::{Chat, compute_reply_to};

const KEY: &str = "sk-Cnry4711qWeRtZuIoP";
const PASSWORD: &str = "Hunter+29xyzzy";
const TOKEN: &str = "8f14e45fceea167a5a36";
const VALUE: &str = "The harbour of Marseille closes on 19471103, as 8f14e45fceea167a5a36 says.";

/// A streaming reply: the events with their names, and the fields that are its text.
struct Format {
    model: &'static str,
    kind: Kind,
    events: Vec<(&'static str, Json)>,
    text: &'static [&'static str],
}

/// The framing of events.
enum Kind {
    Sse,
    /// An event on each line.
    Lines,
    /// One list of all events.
    List,
}

static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(formats);

fn formats() -> Vec<Format> {
    let openai = |delta: Json, finish: Json| {
        json!({"id": "chatcmpl-9aXkT2", "object": "chat.completion.chunk", "model": "test", "system_fingerprint": "fp_1",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": null}], "usage": null})
    };
    let openai = vec![
        ("", openai(json!({"role": "assistant", "content": "Hi"}), Json::Null)),
        ("", openai(json!({}), json!("stop"))),
        (
            "",
            json!({"id": "chatcmpl-9aXkT2", "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}),
        ),
    ];
    let anthropic = [
        json!({"type": "message_start", "message": {"id": "msg_01Ab", "type": "message", "role": "assistant", "model": "test",
            "content": [], "stop_reason": null, "usage": {"input_tokens": 9, "output_tokens": 1, "service_tier": "standard"}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ];
    let anthropic_names = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    let gemini = vec![(
        "",
        json!({"candidates": [{"content": {"parts": [{"text": "Hi"}], "role": "model"}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11},
            "modelVersion": "test", "responseId": "mQ5daJ-4"}),
    )];
    let [responses, ollama] = later_formats();
    let text =
        ["/choices/0/delta/content", "/message/content", "/delta/text", "/content_block/text", "/delta"];
    let text: &[&str] = Box::leak(Box::new(text));
    let format = |model, kind, events, text| Format { model, kind, events, text };
    vec![
        format("openai/test", Kind::Sse, openai, text),
        format("anthropic/test", Kind::Sse, anthropic_names.into_iter().zip(anthropic).collect(), text),
        format("gemini/test", Kind::List, gemini.clone(), &["/candidates/0/content/parts/0/text"]),
        format("gemini/test", Kind::Sse, gemini, &["/candidates/0/content/parts/0/text"]),
        format("openai_resp/test", Kind::Sse, responses, text),
        format("ollama/test", Kind::Lines, ollama, text),
    ]
}

/// The events of OpenAI's Responses API, and those of Ollama.
fn later_formats() -> [Vec<(&'static str, Json)>; 2] {
    let response = |status: &str| {
        json!({"id": "resp_67cc", "object": "response", "model": "test", "status": status, "error": null,
            "incomplete_details": null, "output": [], "usage": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}})
    };
    let responses = vec![
        ("response.created", json!({"type": "response.created", "response": response("in_progress")})),
        (
            "response.output_text.delta",
            json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "Hi"}),
        ),
        ("response.completed", json!({"type": "response.completed", "response": response("completed")})),
    ];
    let ollama = vec![
        (
            "",
            json!({"model": "test", "created_at": "now", "message": {"role": "assistant", "content": "Hi"}, "done": false}),
        ),
        (
            "",
            json!({"model": "test", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
                "prompt_eval_count": 9, "eval_count": 2}),
        ),
    ];
    [responses, ollama]
}

impl Format {
    fn body(&self, events: &[(String, Json)]) -> String {
        match self.kind {
            Kind::Sse => {
                let event = |(name, json): &(String, Json)| match name.as_str() {
                    "" => format!("data: {json}\n\n"),
                    name => format!("event: {name}\ndata: {json}\n\n"),
                };
                events.iter().map(event).collect::<String>() + "data: [DONE]\n\n"
            }
            Kind::Lines => events.iter().map(|(_, json)| json.to_string() + "\n").collect(),
            Kind::List => {
                let events: Vec<String> = events.iter().map(|(_, json)| json.to_string()).collect();
                format!("[{}]", events.join(",\n"))
            }
        }
    }

    fn events(&self) -> Vec<(String, Json)> {
        self.events.iter().map(|(name, json)| ((*name).to_owned(), json.clone())).collect()
    }
}

/// The paths of all values in a JSON value that are neither lists nor objects.
fn leaves(json: &Json, path: &str) -> Vec<String> {
    match json {
        Json::Object(entries) => {
            entries.iter().flat_map(|(name, json)| leaves(json, &format!("{path}/{name}"))).collect()
        }
        Json::Array(items) => {
            items.iter().enumerate().flat_map(|(at, json)| leaves(json, &format!("{path}/{at}"))).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// A place for the words of a server.
#[derive(Clone, Debug)]
enum Place {
    /// A field of an event, by a number among all fields of all events; the reply then breaks off, or goes on.
    Field(Index, bool),
    /// A field that no format has, of an event.
    Unknown(Index, &'static str),
    /// The name of an event, or a comment.
    EventName(Index, bool),
    /// An error after the first event, by its field.
    Midway(&'static str),
    /// The body of an error with this status, by its field; some have two of them.
    Refusal(u16, &'static str, Option<&'static str>),
    /// A header of a response.
    Header(u16, &'static str),
    /// The status line, or bytes that are no response.
    Status(bool),
}

const ERROR_FIELDS: [&str; 10] =
    ["type", "status", "code", "param", "message", "detail", "error", "request_id", "metadata", "innererror"];

fn places() -> impl Strategy<Value = Place> {
    let any_field = || select(&ERROR_FIELDS[..]);
    let status = || select(&[302, 400, 401, 404, 429, 500, 503, 529][..]);
    let headers =
        ["retry-after", "location", "content-type", "content-length", "x-request-id", "content-encoding"];
    prop_oneof![
        6 => (any::<Index>(), any::<bool>()).prop_map(|(at, ends)| Place::Field(at, ends)),
        1 => (any::<Index>(), select(vec!["error", "refusal", "finish_reason", "id", "x"]))
            .prop_map(|(at, name)| Place::Unknown(at, name)),
        1 => (any::<Index>(), any::<bool>()).prop_map(|(at, comment)| Place::EventName(at, comment)),
        2 => any_field().prop_map(Place::Midway),
        4 => (status(), any_field(), proptest::option::of(any_field()))
            .prop_map(|(status, one, other)| Place::Refusal(status, one, other)),
        1 => (status(), select(headers.to_vec())).prop_map(|(status, name)| Place::Header(status, name)),
        1 => any::<bool>().prop_map(Place::Status),
    ]
}

fn error(field: &str, words: &str) -> Json {
    let mut error = json!({"error": {"message": "Something is wrong here", "type": "bad"}});
    if field == "error" {
        error["error"] = words.into();
    } else if ["detail", "request_id"].contains(&field) {
        error = json!({field: words});
    } else {
        error["error"][field] = words.into();
    }
    error
}

/// The response of a server with these words in this place.
fn response(format: &Format, place: &Place, words: &str) -> Vec<Act> {
    let mut events = format.events();
    match place {
        Place::Field(at, goes_on) => {
            let paths = |(event, (_, json)): (usize, &(String, Json))| {
                let is_text = |path: &String| !format.text.contains(&path.as_str());
                leaves(json, "").into_iter().filter(is_text).map(move |path| (event, path))
            };
            let fields: Vec<(usize, String)> = events.iter().enumerate().flat_map(paths).collect();
            let (event, path) = at.get(&fields);
            *events[*event].1.pointer_mut(path).expect("a field") = words.into();
            if !goes_on {
                events.truncate(event + 1);
            }
        }
        Place::Unknown(at, name) => {
            let event = at.index(events.len());
            events[event].1[*name] = words.into();
        }
        Place::EventName(at, comment) => {
            let event = at.index(events.len());
            events[event].0 = if *comment { format!("ping\n: {words}") } else { words.to_owned() };
        }
        Place::Midway(field) => {
            events.truncate(1);
            events.push(("error".to_owned(), error(field, words)));
        }
        Place::Refusal(status, field, other) => {
            let mut body = error(field, words);
            if let (Some(other), Some(error)) = (other, body.get_mut("error").and_then(Json::as_object_mut)) {
                error.insert((*other).to_owned(), words.into());
            }
            return answer(&format!("{status} No"), &body.to_string());
        }
        Place::Header(status, name) => {
            let body = error("message", "No.").to_string();
            return answer(&format!("{status} No\r\n{name}: {words}"), &body);
        }
        Place::Status(true) => return answer(&format!("400 {words}"), "{}"),
        Place::Status(false) => return vec![Act::Send(format!("{words}\r\n\r\n").into_bytes())],
    }
    stream(format.body(&events))
}

fn hex(text: &str, before: &str) -> String {
    text.bytes().fold(String::new(), |mut hex, byte| {
        write!(hex, "{before}{byte:02X}").expect("a text takes all");
        hex
    })
}

/// The text with something between each of these pieces.
fn split(text: &str, length: usize, between: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(length).map(String::from_iter).collect::<Vec<_>>().join(between)
}

/// The words around a secret.
const STYLES: [&str; 6] =
    ["{}", "msg_{}", "chatcmpl-{}", "{}_error", "Invalid value '{}', try another one", "x{}y"];

/// The same with the other case.
fn flip(text: &str) -> String {
    let flip = |c: char| if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    text.chars().map(flip).collect()
}

/// The secrets in all forms, and whether each is one of the key.
fn canaries() -> Vec<(String, bool)> {
    let basic = format!("me:{PASSWORD}");
    let mut all = Vec::new();
    for secret in [KEY, PASSWORD] {
        let part: String = secret.chars().take(9).collect();
        let end: String = secret.chars().skip(6).collect();
        let base64 = BASE64_STANDARD.encode(secret);
        let shown = [
            secret.to_owned(),
            flip(secret),
            base64.clone(),
            base64.to_lowercase(),
            base64.trim_end_matches('=').replace('+', "-"),
            BASE64_STANDARD.encode(format!("He said: {secret}")),
            hex(secret, ""),
            hex(secret, "%"),
            split(secret, 4, "\u{200b}"),
            split(secret, 3, "\u{202e}"),
            part,
            end,
            split(secret, 2, " "),
            split(secret, 3, "-"),
            split(secret, 1, "."),
        ];
        all.extend(shown.into_iter().map(|text| (text, secret == KEY)));
    }
    // As the header `authorization` has it, which a proxy may encode once more.
    let header = BASE64_STANDARD.encode(&basic);
    let encoded = ["", "Basic "].map(|before| BASE64_STANDARD.encode(format!("{before}{header}")));
    let shown = [hex(&basic, ""), split(&header, 5, " "), hex(&header, ""), split(&header, 3, "-")];
    all.extend([header].into_iter().chain(encoded).chain(shown).map(|text| (text, false)));
    all.extend(quotes().into_iter().map(|text| (text, false)));
    all
}

/// Long parts of the conversation, as a server may quote them.
fn quotes() -> Vec<String> {
    let mut all = Vec::new();
    for part in [VALUE, "harbour of Marseille closes", "Marseille closes on 19471103, as", TOKEN] {
        let escaped = json!(part.replace(' ', "\n")).to_string();
        let unicode: Vec<_> = part.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        all.extend([
            part.to_owned(),
            flip(part),
            json!(escaped).to_string(),
            escaped,
            unicode.concat(),
            part.replace(' ', "\n  "),
            part.replace(' ', " | "),
            split(part, 4, "\u{200b}"),
            split(part, 3, "\u{202e}"),
        ]);
    }
    all
}

/// The letters and digits of a text. Characters between them hide nothing from a reader.
fn canonical(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// All that a call leaves behind: errors with their sources, events, receipts, ends, and the log.
async fn traces(model: Provider) -> Vec<String> {
    #[cfg(feature = "tracing")]
    let (spans, _guard) = columnar_tests::spans::listen();
    let outcome = compute_reply_to(model, 0, VALUE).await;
    let mut traces = outcome.events.clone();
    traces.extend(outcome.ends.iter().map(|end| format!("{end:?}")));
    traces.extend(outcome.receipt.iter().map(|receipt| format!("{receipt} {receipt:?}")));
    if let Some(error) = &outcome.error {
        let all = iter::successors(Some(error as &(dyn Error + 'static)), |&error| error.source());
        traces.extend(all.map(|error| format!("{error} {error:?} {error:#?}")));
    }
    #[cfg(feature = "tracing")]
    traces.push(spans.words().join("\n"));
    traces
}

fn model(format: &Format, server: &Server) -> Provider {
    let url = server.url().replace("http://", "http://me:Hunter%2B29xyzzy@");
    Provider::new(&format!("{}@{url}/v1", format.model)).expect("a provider")
}

#[test]
fn x1_x2_no_word_of_a_server_repeats_a_secret() {
    as_child_with_key(module_path!(), "in_any_place", KEY, &[KEY, PASSWORD]);
}

#[test]
fn in_any_place() {
    if env::var_os(super::secrets::AS_CHILD).is_none() {
        return;
    }
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let formats = 0..FORMATS.len();
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(format in formats, place in places(), (words, is_key) in select(canaries()), style in select(&STYLES[..]))| {
        let format = &FORMATS[format];
        // No key is sent to Ollama, so its server cannot repeat one.
        prop_assume!(!(is_key && format.model == "ollama/test"));
        let traces = runtime.block_on(async {
            let server = Server::always(response(format, &place, &style.replace("{}", &words))).await;
            traces(model(format, &server)).await
        });
        for text in traces {
            prop_assert!(!canonical(&text).contains(&canonical(&words)), "{place:?}: {words} in {text}");
            let controls = text.chars().find(|c| c.is_control() && *c != '\n');
            prop_assert!(controls.is_none() && !text.contains(['\u{200b}', '\u{202e}']), "{place:?}: {text:?}");
        }
    });
}

/// The end of a reply with this id and this reason, after this message.
async fn end(id: &str, reason: &str, message: &str) -> (Option<String>, String) {
    let format = &FORMATS[0];
    let mut events = format.events();
    events.iter_mut().for_each(|(_, json)| json["id"] = id.into());
    events[1].1["choices"][0]["finish_reason"] = reason.into();
    let server = Server::always(stream(format.body(&events))).await;
    let outcome = compute_reply_to(model(format, &server), 0, message).await;
    let end = outcome.ends.first().expect("it ended");
    (end.id.as_deref().map(str::to_owned), end.finish.to_string())
}

/// The user and the password of an address are sent in base64, and a server that encoded the header once more had them
/// stored as the id of its reply.
#[tokio::test]
async fn x1_the_header_of_an_address_is_no_id() {
    let header = BASE64_STANDARD.encode(format!("me:{PASSWORD}"));
    let twice = BASE64_STANDARD.encode(format!("Basic {header}"));
    let once_more = BASE64_STANDARD.encode(&header);
    for id in [&header, &twice, &once_more, &hex(&header, ""), &format!("chatcmpl-{}", &twice[4..])] {
        let (id, reason) = end(id, id.trim_end_matches('='), VALUE).await;
        assert_eq!((id, &*reason), (None, "for another reason"));
    }
}

#[tokio::test]
async fn x2_tokens_and_numbers_of_a_conversation_are_no_id() {
    let message = "My account is 4111 2222 3333 4444 5555, and the word is Xylophone77Marmalade.";
    for id in [
        "4111-2222-3333-4444-5555",
        "chatcmpl-4111.2222.3333.4444.5555",
        "msg_Xylophone77Marmalade",
        "xylophone77marmalade",
    ] {
        let (id, reason) = end(id, id, message).await;
        assert_eq!((id, &*reason), (None, "for another reason"));
    }
}

#[tokio::test]
async fn x1_ids_and_reasons_of_honest_servers_are_kept() {
    let ids = [
        // It begins with the date.
        "20250211152435a1b2c3d4e5f60718",
        "chatcmpl-9aXkT2vQwLmNbRtYpZsDfGhJkLmQw",
        "msg_01XFDUDYJgAACzvnptvVoYEL",
        "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
        "gen-1730000000-AbCdEfGhIjKlMnOpQrSt",
        "550e8400-e29b-41d4-a716-446655440000",
        "mQ5daJ-4Gbqk7dcP8Y6V0Ao",
    ];
    for id in ids {
        for reason in ["stop", "tool_calls", "insufficient_system_resource"] {
            // The conversation is about such ids.
            let message = "Why is chatcmpl-7 so slow? It says insufficient_system_resource, and tool_calls stop. msg 01, \
                resp 67. Today is 2025-02-11.";
            assert_eq!(end(id, reason, message).await, (Some(id.to_owned()), reason.to_owned()));
        }
    }
}

/// Without this, the law would hold for a client that understands no reply.
#[tokio::test]
async fn x1_each_format_of_the_law_is_understood() {
    for name in ["openai/test", "anthropic/test", "gemini/test", "openai_resp/test", "ollama/test"] {
        let mut values = Vec::new();
        for format in FORMATS.iter().filter(|format| format.model == name) {
            let server = Server::always(stream(format.body(&format.events()))).await;
            let recorder = EndRecorder::new(model(format, &server));
            let chat = Chat::new(recorder, 0);
            chat.user.push(VALUE).await.expect("a store in memory");
            let _ = chat.run().await;
            values.extend(chat.bot.get(0).map(|value| value.to_string()));
        }
        // One framing of a format is enough.
        assert!(!values.is_empty() && values.iter().all(|value| value == "Hi"), "{name}: {values:?}");
    }
}

#[tokio::test]
async fn x2_a_message_of_a_provider_turns_no_text_around() {
    let format = &FORMATS[0];
    let message =
        "The model\u{202e}\u{2066} is \u{200b}\u{feff}over\u{ad}loaded\u{200f}\u{9b}31m \u{1b}[2Jnow\rx\u{7}";
    let server = Server::always(answer("400 No", &error("message", message).to_string())).await;
    let outcome = compute_reply_to(model(format, &server), 0, VALUE).await;
    assert!(
        outcome.cause().contains("400: bad: The model is overloaded31m [2Jnow x"),
        "{:?}",
        outcome.cause()
    );
}
