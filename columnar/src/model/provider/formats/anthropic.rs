//! Anthropic's Messages.
//!
//! Source: <https://platform.claude.com/docs/en/api/messages>

use serde_json::{Value as Json, json};

use crate::model::cache::Lifetime;
use crate::model::provider::call::ProviderCall;
use crate::model::provider::format::WireFormat;
use crate::model::provider::reply::{WireReply, at, count, string};
use crate::model::provider::settings::SentSettings;
use crate::model::registry::{Effort, EffortForm};
use crate::model::rendering::cache_control;
use crate::model::usage::object;

pub(super) const FORMAT: WireFormat = WireFormat {
    key: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    read_whole,
    ..WireFormat::new(|_| "messages".to_owned(), body, read)
};

fn body(call: ProviderCall<'_>) -> Json {
    let settings = &call.settings;
    let messages = call.turns(|block| Some(("cache_control", cache_control(block.mark?)))).collect();
    let format = call.schema.map(|(_, schema)| json!({ "type": "json_schema", "schema": schema }));
    let output = object([("effort", effort(settings)), ("format", format)]);
    object([
        ("model", Some(call.target.model.into())),
        ("system", call.system.map(|(system, mark)| content(system.into(), mark))),
        ("messages", Some(messages)),
        ("stream", Some(true.into())),
        ("max_tokens", Some(call.max_tokens.into())),
        ("temperature", settings.temperature.map(Json::from)),
        ("top_p", settings.top_p.map(Json::from)),
        ("stop_sequences", settings.stop()),
        ("thinking", thinking(settings)),
        ("output_config", Some(output).filter(|output| *output != json!({}))),
    ])
}

fn content(text: Json, mark: Option<Lifetime>) -> Json {
    match mark.map(cache_control) {
        Some(mark) => json!([{ "type": "text", "text": text, "cache_control": mark }]),
        None => text,
    }
}

/// The word for the effort, of models that have words.
fn effort(settings: &SentSettings<'_>) -> Option<Json> {
    let has_words = !matches!(settings.form, Some(EffortForm::Budget(_)));
    settings.effort_word().filter(|word| has_words && word != "none")
}

fn thinking(settings: &SentSettings<'_>) -> Option<Json> {
    match (settings.effort?, settings.form?) {
        (Effort::None, EffortForm::Adaptive) => Some(json!({ "type": "disabled" })),
        // These models do not think unless told to.
        (Effort::None, _) | (_, EffortForm::Word | EffortForm::Switch) => None,
        (_, EffortForm::Adaptive) => Some(json!({ "type": "adaptive" })),
        (effort, form) => {
            form.budget(effort).map(|tokens| json!({ "type": "enabled", "budget_tokens": tokens }))
        }
    }
}

fn read(kind: &str, event: &Json, reply: &mut WireReply) {
    match kind {
        "message_start" => {
            add_tokens(at(event, "/message/usage"), reply);
            // Source: <https://platform.claude.com/docs/en/build-with-claude/cache-diagnostics>
            let reason = "/message/diagnostics/cache_miss_reason";
            let [kind, missed] = ["type", "cache_missed_input_tokens"].map(|name| format!("{reason}/{name}"));
            reply.diagnose(event, &kind, &missed);
        }
        "content_block_start" => {
            reply.has_tool_call |= string(event, "/content_block/type") == Some("tool_use");
        }
        "content_block_delta" => {
            reply.add_text(event, "/delta/text");
            reply.add_thought(event, "/delta/thinking");
        }
        "message_delta" => {
            add_tokens(at(event, "/usage"), reply);
            let finish = string(event, "/delta/stop_reason");
            reply.finish = finish.map(str::to_owned).or_else(|| reply.finish.take());
        }
        "message_stop" => reply.is_ended = true,
        _ => {}
    }
}

/// Reads a message as the events of a stream would bring it.
fn read_whole(message: &Json, reply: &mut WireReply) {
    read("message_start", &json!({ "message": message }), reply);
    for block in message.get("content").and_then(Json::as_array).into_iter().flatten() {
        read("content_block_start", &json!({ "content_block": block }), reply);
        reply.add_text(block, "/text");
        reply.add_thought(block, "/thinking");
    }
    read("message_delta", &json!({ "delta": { "stop_reason": message.get("stop_reason") } }), reply);
}

/// Replaces earlier counts by the counts of an event. A count that is missing or null leaves the earlier count.
fn add_tokens(usage: Option<&Json>, reply: &mut WireReply) {
    let Some(usage) = usage else { return };
    let tokens = &mut reply.tokens;
    // Here the input counts only tokens that no cache had.
    tokens.is_input_uncached = true;
    tokens.input = count(usage, "/input_tokens").or(tokens.input);
    tokens.output = count(usage, "/output_tokens").unwrap_or(tokens.output);
    tokens.cache_read = count(usage, "/cache_read_input_tokens").unwrap_or(tokens.cache_read);
    tokens.cache_write = count(usage, "/cache_creation_input_tokens").unwrap_or(tokens.cache_write);
    let long = count(usage, "/cache_creation/ephemeral_1h_input_tokens");
    tokens.cache_write_long = long.or(tokens.cache_write_long);
}
