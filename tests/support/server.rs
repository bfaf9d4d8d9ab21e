//! A provider on this machine with fault injection, which truncates, delays and splits replies, and sends wrong ones.

use columnar::model::Provider;

pub use crate::scripted::{Act, Server};

/// A response with a length.
pub fn answer(status: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n");
    vec![Act::Send(format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes())]
}

/// The head of a response that ends with the connection.
pub fn head() -> Act {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Act::Send(head.as_bytes().to_vec())
}

/// A response that ends with the connection.
pub fn stream(body: impl AsRef<[u8]>) -> Vec<Act> {
    vec![head(), Act::Send(body.as_ref().to_vec())]
}

/// A response in these chunks, which the client reads one by one.
pub fn pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut bytes = head.as_bytes().to_vec();
    // An empty chunk would end the body (RFC 9112, section 7.1).
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    vec![Act::Send(bytes)]
}

/// The wire formats of streams that most providers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Chat completions: events without names.
    OpenAi,
    /// Messages: each event has a name.
    Anthropic,
}

/// Both formats.
pub const WIRES: [Wire; 2] = [Wire::OpenAi, Wire::Anthropic];

impl Wire {
    /// A model with this format, at the server.
    pub fn model(self, server: &Server) -> Provider {
        self.model_at(&format!("{}/v1", server.url()))
    }

    /// A model with this format, at an address.
    ///
    /// # Panics
    ///
    /// Where HTTPS is not available.
    pub fn model_at(self, url: &str) -> Provider {
        Provider::new(&format!("{}@{url}", self.name())).expect("a provider")
    }

    /// The name of the model.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai/test",
            Self::Anthropic => "anthropic/test",
        }
    }

    /// The events of a reply, each with a blank line behind.
    pub fn events(self, texts: &[&str], finish: &str) -> Vec<String> {
        let text = |text: &&str| {
            let text = serde_json::Value::from(*text);
            match self {
                Self::OpenAi => data(&format!(
                    r#"{{"id":"chatcmpl-7","choices":[{{"index":0,"delta":{{"content":{text}}},"finish_reason":null}}]}}"#
                )),
                Self::Anthropic => event(
                    "content_block_delta",
                    &format!(r#""index":0,"delta":{{"type":"text_delta","text":{text}}}"#),
                ),
            }
        };
        let texts = texts.iter().map(text);
        match self {
            Self::OpenAi => {
                let first = r#"{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
                let last = format!(
                    r#"{{"id":"chatcmpl-7","choices":[{{"index":0,"delta":{{}},"finish_reason":"{finish}"}}]}}"#
                );
                let usage = r#"{"id":"chatcmpl-7","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}"#;
                let end = [data(&last), data(usage), data("[DONE]")];
                [data(first)].into_iter().chain(texts).chain(end).collect()
            }
            Self::Anthropic => {
                let first = [
                    event(
                        "message_start",
                        r#""message":{"id":"msg_7","type":"message","role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}"#,
                    ),
                    event("content_block_start", r#""index":0,"content_block":{"type":"text","text":""}"#),
                    event("ping", r#""n":0"#),
                ];
                let delta = format!(r#""delta":{{"stop_reason":"{finish}"}},"usage":{{"output_tokens":2}}"#);
                let end = [
                    event("content_block_stop", r#""index":0"#),
                    event("message_delta", &delta),
                    event("message_stop", r#""n":0"#),
                ];
                first.into_iter().chain(texts).chain(end).collect()
            }
        }
    }

    /// A complete reply with these texts.
    pub fn reply(self, texts: &[&str]) -> String {
        self.events(texts, self.stop()).concat()
    }

    /// The finish reason of a complete reply.
    pub fn stop(self) -> &'static str {
        match self {
            Self::OpenAi => "stop",
            Self::Anthropic => "end_turn",
        }
    }
}

/// An event without a name.
pub fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

/// An event with a name, which is repeated in the data.
pub fn event(name: &str, rest: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\",{rest}}}\n\n")
}
