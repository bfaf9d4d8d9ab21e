//! Ollama's own format: each line of a reply is an event.
//!
//! Source: <https://docs.ollama.com/api/chat>

use serde_json::{Value as Json, json};

use crate::model::provider::call::{Call, object};
use crate::model::provider::events::Framing;
use crate::model::provider::format::Format;
use crate::model::provider::reply::{Reply, Tokens, count, has_members, string};

pub(super) const FORMAT: Format = Format {
    key: ("authorization", "Bearer "),
    headers: &[],
    path: |_| "api/chat".to_owned(),
    body,
    framing: Framing::Lines,
    read,
    ends_with_done: false,
};

fn body(call: Call<'_>) -> Json {
    let message = |role: &str, text: Json| json!({ "role": role, "content": text });
    let system = call.system.map(|(system, _)| message("system", system.into()));
    let messages = call.blocks.into_iter().map(|block| message(block.role.as_str(), block.text.into()));
    let options = object([
        ("num_predict", Some(call.max_tokens.into())),
        ("temperature", call.temperature.map(Json::from)),
        ("stop", call.stop),
    ]);
    object([
        ("model", Some(call.model.into())),
        ("messages", Some(system.into_iter().chain(messages).collect())),
        ("stream", Some(true.into())),
        ("options", Some(options)),
    ])
}

fn read(_: &str, event: &Json, reply: &mut Reply) {
    reply.add_text(event, "/message/content");
    reply.has_tool_call |= has_members(event, "/message/tool_calls");
    if event.get("done") == Some(&Json::Bool(true)) {
        reply.finish = string(event, "/done_reason").map(str::to_owned);
        reply.tokens = Tokens {
            input: count(event, "/prompt_eval_count"),
            output: count(event, "/eval_count").unwrap_or_default(),
            cache_read: count(event, "/prompt_eval_cached_count").unwrap_or_default(),
            cache_write: 0,
        };
        reply.is_ended = true;
    }
}
