//! Gemini's `streamGenerateContent`.
//!
//! Source: <https://ai.google.dev/api/generate-content>

use serde_json::{Value as Json, json};

use crate::context::Role;
use crate::model::provider::call::{Call, object};
use crate::model::provider::effort::Effort;
use crate::model::provider::events::Framing;
use crate::model::provider::format::Format;
use crate::model::provider::reply::{Reply, Tokens, string};

pub(super) const FORMAT: Format = Format {
    key: ("x-goog-api-key", ""),
    headers: &[],
    path,
    body,
    framing: Framing::Sse,
    read,
    ends_with_done: false,
};

/// The tokens for thoughts: of a low, a medium and a high effort.
const BUDGETS: [u32; 3] = [1000, 8000, 24_000];

/// Models that take a level instead of a number of tokens.
const WITH_LEVELS: &[&str] = &["gemini-3", "gemma-4"];

fn path(call: &Call<'_>) -> String {
    let (model, _) = Effort::split(call.model);
    format!("models/{model}:streamGenerateContent?alt=sse")
}

fn body(call: Call<'_>) -> Json {
    let (model, effort) = Effort::split(call.model);
    let contents = call.blocks.into_iter().map(|block| {
        let role = if block.role == Role::Assistant { "model" } else { "user" };
        json!({ "role": role, "parts": [{ "text": block.text }] })
    });
    let system = call.system.map(|(system, _)| json!({ "parts": [{ "text": system }] }));
    let (mime_type, schema) = call.schema.map(|(_, schema)| ("application/json".into(), schema)).unzip();
    let config = object([
        ("maxOutputTokens", Some(call.max_tokens.into())),
        ("temperature", call.temperature.map(Json::from)),
        ("stopSequences", call.stop),
        ("thinkingConfig", effort.and_then(|effort| thinking(model, effort))),
        ("responseMimeType", mime_type),
        ("responseJsonSchema", schema),
    ]);
    object([
        ("systemInstruction", system),
        ("contents", Some(contents.collect())),
        ("generationConfig", Some(config)),
    ])
}

fn thinking(model: &str, effort: Effort) -> Option<Json> {
    if !WITH_LEVELS.iter().any(|name| model.contains(name)) {
        return Some(json!({ "thinkingBudget": effort.budget(BUDGETS) }));
    }
    let level = match effort {
        Effort::None => return None,
        Effort::Minimal | Effort::Low => "LOW",
        Effort::Medium => "MEDIUM",
        Effort::High | Effort::ExtraHigh | Effort::Max => "HIGH",
    };
    Some(json!({ "thinkingLevel": level }))
}

fn read(_: &str, event: &Json, reply: &mut Reply) {
    // A blocked request has no reply.
    if event.pointer("/promptFeedback/blockReason").is_some() {
        return reply.block();
    }
    let parts = event.pointer("/candidates/0/content/parts").and_then(Json::as_array);
    for part in parts.into_iter().flatten() {
        if part.get("thought") != Some(&Json::Bool(true)) {
            reply.add_text(part, "/text");
        }
        reply.has_tool_call |= part.get("functionCall").is_some();
    }
    if let Some(usage) = event.get("usageMetadata") {
        let count = |name: &str| usage.get(name).and_then(Json::as_u64);
        let sum = |one, other| match (count(one), count(other)) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or_default().saturating_add(other.unwrap_or_default())),
        };
        reply.tokens = Tokens {
            input: sum("promptTokenCount", "toolUsePromptTokenCount"),
            output: sum("candidatesTokenCount", "thoughtsTokenCount").unwrap_or_default(),
            cache_read: count("cachedContentTokenCount").unwrap_or_default(),
            cache_write: 0,
        };
    }
    reply.finish = string(event, "/candidates/0/finishReason").map(str::to_owned);
    reply.is_ended = reply.finish.is_some();
}
