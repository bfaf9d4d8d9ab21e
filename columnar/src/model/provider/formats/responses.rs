//! OpenAI's Responses.
//!
//! Source: <https://platform.openai.com/docs/api-reference/responses>

use serde_json::{Value as Json, json};

use crate::context::Role;
use crate::model::provider::call::{Call, object};
use crate::model::provider::effort::Effort;
use crate::model::provider::events::Framing;
use crate::model::provider::format::Format;
use crate::model::provider::reply::{Reply, Tokens, count, string};

pub(super) const FORMAT: Format = Format {
    key: ("authorization", "Bearer "),
    headers: &[],
    path: |_| "responses".to_owned(),
    body,
    framing: Framing::Sse,
    read,
    ends_with_done: false,
};

/// The servers that accept cache marks. Others with this format may refuse them.
const WITH_MARKS: &[&str] = &["https://api.openai.com/", "http://api.openai.com/"];

fn body(call: Call<'_>) -> Json {
    let (model, effort) = Effort::split(call.model);
    let has_marks = WITH_MARKS.iter().any(|server| call.base_url.starts_with(server));
    let options = call.cache_options.filter(|_| has_marks);
    // The field for the instruction takes no mark, so a marked one is a message.
    let (instructions, system) = match call.system {
        Some((system, Some(_))) => (None, Some(message("system", system.into(), options.is_some()))),
        Some((system, None)) => (Some(system), None),
        None => (None, None),
    };
    let input = call.blocks.into_iter().map(|block| match block.role {
        Role::Assistant => json!({
            "type": "message",
            "role": "assistant",
            "content": [{ "type": "output_text", "text": block.text }],
        }),
        Role::User => message("user", block.text.into(), options.is_some() && block.mark.is_some()),
    });
    let format = call.schema.map(|(name, schema)| {
        json!({ "format": { "type": "json_schema", "name": name, "strict": true, "schema": schema } })
    });
    object([
        ("model", Some(model.into())),
        ("instructions", instructions.map(Json::from)),
        ("input", Some(system.into_iter().chain(input).collect())),
        ("stream", Some(true.into())),
        ("store", Some(false.into())),
        ("max_output_tokens", Some(call.max_tokens.into())),
        ("temperature", call.temperature.map(Json::from)),
        ("stop", call.stop),
        ("reasoning", effort.map(|effort| json!({ "effort": effort.keyword() }))),
        ("prompt_cache_options", options),
        ("text", format),
    ])
}

fn message(role: &str, text: Json, is_marked: bool) -> Json {
    let content = if is_marked {
        json!([{ "type": "input_text", "text": text, "prompt_cache_breakpoint": { "mode": "explicit" } }])
    } else {
        text
    };
    json!({ "role": role, "content": content })
}

fn read(kind: &str, event: &Json, reply: &mut Reply) {
    match kind {
        "response.output_text.delta" => reply.add_text(event, "/delta"),
        "response.refusal.delta" => reply.is_refused = true,
        "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
            reply.has_tool_call = true;
        }
        "response.completed" | "response.incomplete" => {
            reply.is_refused |=
                string(event, "/response/incomplete_details/reason") == Some("content_filter");
            reply.finish = string(event, "/response/status").map(str::to_owned);
            let count = |path: &str| count(event, &format!("/response/usage/{path}"));
            reply.tokens = Tokens {
                input: count("input_tokens"),
                output: count("output_tokens").unwrap_or_default(),
                cache_read: count("input_tokens_details/cached_tokens").unwrap_or_default(),
                cache_write: count("input_tokens_details/cache_write_tokens").unwrap_or_default(),
            };
            reply.is_ended = true;
        }
        _ => {}
    }
}
