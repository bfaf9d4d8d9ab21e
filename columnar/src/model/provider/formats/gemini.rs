//! Gemini's `streamGenerateContent`.
//!
//! Source: <https://ai.google.dev/api/generate-content>

use serde_json::{Value as Json, json};

use crate::context::Role;
use crate::model::provider::call::ProviderCall;
use crate::model::provider::format::WireFormat;
use crate::model::provider::reply::{WireReply, WireTokens, at, count, string};
use crate::model::provider::settings::SentSettings;
use crate::model::usage::object;

pub(super) const FORMAT: WireFormat =
    WireFormat { key: ("x-goog-api-key", ""), ..WireFormat::new(path, body, read) };

fn path(call: &ProviderCall<'_>) -> String {
    format!("models/{}:streamGenerateContent?alt=sse", call.target.model)
}

fn body(call: ProviderCall<'_>) -> Json {
    let contents = call.blocks.chunk_by(|one, other| one.role == other.role).filter_map(|blocks| {
        let role = if blocks.first()?.role == Role::Assistant { "model" } else { "user" };
        let parts: Vec<Json> = blocks.iter().flat_map(|block| call.form.parts(block, None)).collect();
        Some(json!({ "role": role, "parts": parts }))
    });
    let system = call.system.map(|(system, _)| json!({ "parts": [{ "text": system }] }));
    let settings = &call.settings;
    let contents = contents.collect();
    let (mime_type, schema) = call.schema.map(|(_, schema)| ("application/json".into(), schema)).unzip();
    let config = object([
        ("maxOutputTokens", Some(call.max_tokens.into())),
        ("temperature", settings.temperature.map(Json::from)),
        ("topP", settings.top_p.map(Json::from)),
        ("seed", settings.seed.map(Json::from)),
        ("stopSequences", settings.stop()),
        ("thinkingConfig", thinking(settings)),
        ("responseMimeType", mime_type),
        ("responseJsonSchema", schema),
    ]);
    object([("systemInstruction", system), ("contents", Some(contents)), ("generationConfig", Some(config))])
}

fn thinking(settings: &SentSettings<'_>) -> Option<Json> {
    let effort = settings.effort?;
    Some(match settings.form.and_then(|form| form.budget(effort)) {
        Some(tokens) => json!({ "thinkingBudget": tokens }),
        None => json!({ "thinkingLevel": effort.as_str().to_uppercase() }),
    })
}

fn read(_: &str, event: &Json, reply: &mut WireReply) {
    // A blocked request has no reply, and may be paid for.
    if at(event, "/promptFeedback/blockReason").is_some() {
        reply.block();
    }
    let parts = at(event, "/candidates/0/content/parts").and_then(Json::as_array);
    for part in parts.into_iter().flatten() {
        if part.get("thought") == Some(&Json::Bool(true)) {
            reply.add_thought(part, "/text");
        } else {
            reply.add_text(part, "/text");
        }
        reply.has_tool_call |= part.get("functionCall").is_some();
    }
    if let Some(usage) = event.get("usageMetadata") {
        reply.tokens = WireTokens {
            input: sum(usage, ["/promptTokenCount", "/toolUsePromptTokenCount"]),
            output: sum(usage, ["/candidatesTokenCount", "/thoughtsTokenCount"]).unwrap_or_default(),
            cache_read: count(usage, "/cachedContentTokenCount").unwrap_or_default(),
            ..WireTokens::default()
        };
    }
    // Text and usage may follow: some models send a reason with each part.
    let finish = string(event, "/candidates/0/finishReason");
    reply.finish = finish.map(str::to_owned).or_else(|| reply.finish.take());
}

fn sum(usage: &Json, paths: [&str; 2]) -> Option<u64> {
    paths.iter().filter_map(|path| count(usage, path)).reduce(u64::saturating_add)
}
