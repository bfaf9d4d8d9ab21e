//! Anthropic's Messages.
//!
//! Source: <https://platform.claude.com/docs/en/api/messages>

use serde_json::{Map, Value as Json, json};

use crate::cache::Lifetime;
use crate::model::provider::call::{Call, object};
use crate::model::provider::effort::Effort;
use crate::model::provider::events::Framing;
use crate::model::provider::format::Format;
use crate::model::provider::reply::{Reply, count, string};

pub(super) const FORMAT: Format = Format {
    key: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    path: |_| "messages".to_owned(),
    body,
    framing: Framing::Sse,
    read,
    ends_with_done: false,
};

/// The tokens for the thoughts of models that know no effort: of a low, a medium and a high one.
const BUDGETS: [u32; 3] = [1024, 8000, 24_000];

/// The first versions of Claude that know a setting, by
/// <https://platform.claude.com/docs/en/build-with-claude/effort>.
#[derive(Clone, Copy)]
struct Since {
    opus: (u32, u32),
    sonnet: (u32, u32),
    haiku: (u32, u32),
    /// Whether the families that began after these know it.
    newer: bool,
}

const EFFORT: Since = Since { opus: (4, 5), sonnet: (4, 6), haiku: (5, 0), newer: true };
/// Thinking without a budget, and the effort `max`.
const ADAPTIVE: Since = Since { opus: (4, 6), ..EFFORT };
const EXTRA_HIGH: Since = Since { opus: (4, 7), sonnet: (5, 0), ..EFFORT };
/// Thinking unless it is disabled.
const THINKS: Since = Since { opus: (5, 0), sonnet: (5, 0), haiku: (5, 0), newer: false };

fn body(call: Call<'_>) -> Json {
    let (model, effort) = Effort::split(call.model);
    let mut output = Map::new();
    let thinking = effort.and_then(|effort| {
        output.extend(effort_word(model, effort).map(|word| ("effort".to_owned(), word.into())));
        thinking(model, effort)
    });
    let format = call.schema.map(|(_, schema)| json!({ "type": "json_schema", "schema": schema }));
    output.extend(format.map(|format| ("format".to_owned(), format)));
    let messages = call.blocks.into_iter();
    let messages = messages.map(
        |block| json!({ "role": block.role.as_str(), "content": content(block.text.into(), block.mark) }),
    );
    object([
        ("model", Some(model.into())),
        ("system", call.system.map(|(system, mark)| content(system.into(), mark))),
        ("messages", Some(messages.collect())),
        ("stream", Some(true.into())),
        ("max_tokens", Some(call.max_tokens.into())),
        ("temperature", call.temperature.map(Json::from)),
        ("stop_sequences", call.stop),
        ("thinking", thinking),
        ("output_config", Some(output).filter(|output| !output.is_empty()).map(Json::Object)),
    ])
}

fn content(text: Json, mark: Option<Lifetime>) -> Json {
    let mark = match mark {
        Some(Lifetime::Short) => json!({ "type": "ephemeral" }),
        Some(Lifetime::Long) => json!({ "type": "ephemeral", "ttl": "1h" }),
        None => return text,
    };
    json!([{ "type": "text", "text": text, "cache_control": mark }])
}

fn effort_word(model: &str, effort: Effort) -> Option<&'static str> {
    let word = match effort {
        Effort::None => return None,
        Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::ExtraHigh if is_since(model, EXTRA_HIGH) => "xhigh",
        Effort::Max if is_since(model, ADAPTIVE) => "max",
        Effort::High | Effort::ExtraHigh | Effort::Max => "high",
    };
    is_since(model, EFFORT).then_some(word)
}

fn thinking(model: &str, effort: Effort) -> Option<Json> {
    if effort == Effort::None {
        return is_since(model, THINKS).then(|| json!({ "type": "disabled" }));
    }
    if is_since(model, ADAPTIVE) {
        return Some(json!({ "type": "adaptive" }));
    }
    let budget = json!({ "type": "enabled", "budget_tokens": effort.budget(BUDGETS) });
    (!is_since(model, EFFORT)).then_some(budget)
}

/// Whether the model is of such a version or a later one. A model without a version knows no settings.
fn is_since(model: &str, since: Since) -> bool {
    if ["fable", "mythos"].iter().any(|name| model.contains(name)) {
        return since.newer;
    }
    let name = model.split_once("claude-").map_or("", |(_, name)| name);
    let (family, version) = name.split_once('-').unwrap_or((name, ""));
    // A date may follow the version.
    let mut numbers = version.split('-').map_while(|part| part.parse().ok().filter(|_| part.len() <= 2));
    let Some(major) = numbers.next() else { return false };
    let version = (major, numbers.next().unwrap_or_default());
    match family {
        "opus" => version >= since.opus,
        "sonnet" => version >= since.sonnet,
        "haiku" => version >= since.haiku,
        _ => false,
    }
}

fn read(kind: &str, event: &Json, reply: &mut Reply) {
    match kind {
        "message_start" => add_tokens(event.pointer("/message/usage"), reply),
        "content_block_start" => {
            reply.has_tool_call |= string(event, "/content_block/type") == Some("tool_use");
        }
        "content_block_delta" => reply.add_text(event, "/delta/text"),
        "message_delta" => {
            add_tokens(event.pointer("/usage"), reply);
            let finish = string(event, "/delta/stop_reason");
            reply.finish = finish.map(str::to_owned).or_else(|| reply.finish.take());
        }
        "message_stop" => reply.is_ended = true,
        _ => {}
    }
}

/// The counts of an event replace those of earlier ones.
fn add_tokens(usage: Option<&Json>, reply: &mut Reply) {
    let Some(usage) = usage else { return };
    let read = count(usage, "/cache_read_input_tokens").unwrap_or_default();
    let written = count(usage, "/cache_creation_input_tokens").unwrap_or_default();
    let tokens = &mut reply.tokens;
    // Here the tokens of the input are those that no cache had.
    let input = count(usage, "/input_tokens");
    tokens.input = input.map(|new| new.saturating_add(read).saturating_add(written)).or(tokens.input);
    tokens.output = count(usage, "/output_tokens").unwrap_or(tokens.output);
    if read > 0 || written > 0 {
        (tokens.cache_read, tokens.cache_write) = (read, written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_model_decides_its_settings() {
        let settings = |model| [EFFORT, ADAPTIVE, EXTRA_HIGH, THINKS].map(|since| is_since(model, since));
        for (model, expected) in [
            ("claude-opus-4-20250514", [false; 4]),
            ("claude-opus-4-1-20250805", [false; 4]),
            ("claude-opus-4-5-20251101", [true, false, false, false]),
            ("claude-opus-4-6", [true, true, false, false]),
            ("claude-opus-4-10", [true, true, true, false]),
            ("anthropic/claude-sonnet-4-6", [true, true, false, false]),
            ("claude-sonnet-4-5", [false; 4]),
            ("claude-sonnet-5", [true; 4]),
            ("claude-haiku-4-5", [false; 4]),
            ("claude-haiku-5", [true; 4]),
            ("claude-3-7-sonnet-20250219", [false; 4]),
            ("claude-fable-1", [true, true, true, false]),
            ("MiniMax-M2", [false; 4]),
        ] {
            assert_eq!(settings(model), expected, "{model}");
        }
    }
}
