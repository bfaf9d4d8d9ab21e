//! Cohere's Chat, in its first version: the last message is apart from the others.
//!
//! Source: <https://docs.cohere.com/v1/reference/chat-stream>

use serde_json::{Value as Json, json};

use crate::context::Role;
use crate::model::provider::call::{Call, object};
use crate::model::provider::events::Framing;
use crate::model::provider::format::Format;
use crate::model::provider::reply::{Reply, Tokens, count, string};

pub(super) const FORMAT: Format = Format {
    key: ("authorization", "Bearer "),
    headers: &[],
    path: |_| "chat".to_owned(),
    body,
    framing: Framing::Lines,
    read,
    ends_with_done: false,
};

fn body(mut call: Call<'_>) -> Json {
    let last = call.blocks.pop_if(|block| block.role == Role::User);
    let history = call.blocks.into_iter().map(|block| {
        let role = if block.role == Role::Assistant { "CHATBOT" } else { "USER" };
        json!({ "role": role, "message": block.text })
    });
    let history: Vec<Json> = history.collect();
    object([
        ("model", Some(call.model.into())),
        ("preamble", call.system.map(|(system, _)| system.into())),
        ("chat_history", Some(history).filter(|history| !history.is_empty()).map(Json::Array)),
        ("message", Some(last.map(|block| block.text).unwrap_or_default().into())),
        ("stream", Some(true.into())),
        ("max_tokens", Some(call.max_tokens.into())),
        ("temperature", call.temperature.map(Json::from)),
        ("stop_sequences", call.stop),
    ])
}

fn read(_: &str, event: &Json, reply: &mut Reply) {
    match string(event, "/event_type") {
        Some("text-generation") => reply.add_text(event, "/text"),
        Some("stream-end") => {
            reply.finish = string(event, "/finish_reason").map(str::to_owned);
            reply.tokens = Tokens {
                input: count(event, "/response/meta/tokens/input_tokens"),
                output: count(event, "/response/meta/tokens/output_tokens").unwrap_or_default(),
                ..Tokens::default()
            };
            reply.is_ended = true;
        }
        _ => {}
    }
}
