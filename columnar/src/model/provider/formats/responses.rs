//! OpenAI's Responses.
//!
//! Source: <https://platform.openai.com/docs/api-reference/responses>

use serde_json::{Value as Json, json};

use crate::context::Role;
use crate::model::cache::Lifetime;
use crate::model::provider::call::ProviderCall;
use crate::model::provider::format::WireFormat;
use crate::model::provider::reply::{WireReply, WireTokens, at, count, string};
use crate::model::rendering::message;
use crate::model::usage::object;

pub(super) const FORMAT: WireFormat = WireFormat {
    read_whole: |response, reply| end(&json!({ "response": response }), reply),
    ..WireFormat::new(|_| "responses".to_owned(), body, read)
};

fn body(mut call: ProviderCall<'_>) -> Json {
    // An earlier reply is text without marks.
    call.move_marks_from_replies();
    let options = call.cache_options();
    // The field for the instruction takes no mark, so a marked one is a message.
    let (instructions, system) = match call.system {
        Some((text, Some(mark))) => (None, Some((text, Some(mark)))),
        Some((text, None)) => (Some(text), None),
        None => (None, None),
    };
    let takes_marks = call.takes_marks;
    let turns = call.turns(|block| block.mark.filter(|_| takes_marks && block.role == Role::User).map(mark));
    let system = system.map(|(text, lifetime)| match lifetime.filter(|_| takes_marks).map(mark) {
        Some((key, mark)) => {
            json!({ "role": "system", "content": [{ "type": "input_text", "text": text, key: mark }] })
        }
        None => message("system", text),
    });
    let input = system.into_iter().chain(turns);
    let input = input.collect();
    let format = call.schema.map(|(name, schema)| {
        json!({ "format": { "type": "json_schema", "name": name, "strict": true, "schema": schema } })
    });
    object([
        ("model", Some(call.target.model.into())),
        ("instructions", instructions.map(Json::from)),
        ("input", Some(input)),
        ("stream", Some(true.into())),
        ("store", Some(false.into())),
        ("max_output_tokens", Some(call.max_tokens.into())),
        ("temperature", call.settings.temperature.map(Json::from)),
        ("top_p", call.settings.top_p.map(Json::from)),
        ("reasoning", call.settings.effort_word().map(|effort| json!({ "effort": effort }))),
        ("prompt_cache_key", call.cache_key.map(Json::from)),
        ("prompt_cache_options", options),
        ("text", format),
    ])
}

/// The member of a part that is a mark.
fn mark(lifetime: Lifetime) -> (&'static str, Json) {
    let mark = match lifetime {
        Lifetime::Short => json!({ "mode": "explicit" }),
        Lifetime::Long => json!({ "mode": "explicit", "ttl": "12h" }),
    };
    ("prompt_cache_breakpoint", mark)
}

fn read(kind: &str, event: &Json, reply: &mut WireReply) {
    match kind {
        "response.output_text.delta" => reply.add_text(event, "/delta"),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            reply.add_thought(event, "/delta");
        }
        "response.refusal.delta" => reply.is_refused = true,
        "response.output_item.added" | "response.output_item.done" => {
            let kind = string(event, "/item/type").unwrap_or_default();
            reply.has_tool_call |= kind.ends_with("_call");
        }
        "response.completed" | "response.incomplete" => end(event, reply),
        _ => {}
    }
}

fn end(event: &Json, reply: &mut WireReply) {
    // Some servers send the whole text only in this event.
    if !reply.has_text {
        let items = at(event, "/response/output").and_then(Json::as_array);
        for part in items.into_iter().flatten().filter_map(|item| item.get("content")?.as_array()).flatten() {
            if string(part, "/type") == Some("output_text") {
                reply.add_text(part, "/text");
            }
            reply.is_refused |= string(part, "/type") == Some("refusal");
        }
    }
    reply.is_refused |= string(event, "/response/incomplete_details/reason") == Some("content_filter");
    reply.finish = string(event, "/response/status").map(str::to_owned);
    let usage = at(event, "/response/usage").unwrap_or(&Json::Null);
    reply.tokens = WireTokens {
        input: count(usage, "/input_tokens"),
        output: count(usage, "/output_tokens").unwrap_or_default(),
        cache_read: count(usage, "/input_tokens_details/cached_tokens").unwrap_or_default(),
        cache_write: count(usage, "/input_tokens_details/cache_write_tokens").unwrap_or_default(),
        cache_write_long: count(usage, "/input_tokens_details/cache_write_tokens_details/ttl_12h_tokens"),
        ..WireTokens::default()
    };
    // Source: <https://developers.openai.com/api/docs/guides/prompt-caching/diagnostics>. Without a miss there is no reason.
    let found = "/response/prompt_cache_diagnostics";
    let [reason, missed] = ["reason", "cache_missed_tokens"].map(|name| format!("{found}/{name}"));
    reply.diagnose(event, &reason, &missed);
    reply.is_ended = true;
}
