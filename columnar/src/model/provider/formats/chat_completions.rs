//! OpenAI's chat completions, which most providers and servers have.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat>

use serde_json::{Value as Json, json};

use crate::model::provider::call::{Call, object};
use crate::model::provider::effort::Effort;
use crate::model::provider::events::Framing;
use crate::model::provider::format::Format;
use crate::model::provider::reply::{Reply, Tokens, count, has_members, string};

pub(super) const FORMAT: Format = Format {
    key: ("authorization", "Bearer "),
    headers: &[],
    path: |_| "chat/completions".to_owned(),
    body,
    framing: Framing::Sse,
    read,
    ends_with_done: true,
};

/// Prefixes of models that call the limit of a reply `max_completion_tokens`.
const COMPLETION_TOKENS: &[&str] = &["gpt-5", "gpt-6", "o1", "o3", "o4"];

fn body(call: Call<'_>) -> Json {
    let (model, effort) = Effort::split(call.model);
    let is_new = COMPLETION_TOKENS.iter().any(|prefix| model.starts_with(prefix));
    let limit = if is_new { "max_completion_tokens" } else { "max_tokens" };
    let folder = if model.contains('/') { "" } else { call.provider.model_folder };
    let has_switch = call.provider.has_thinking_switch;
    let thinking = effort
        .filter(|_| has_switch)
        .map(|effort| json!({ "type": if effort == Effort::None { "disabled" } else { "enabled" } }));
    let effort = effort.filter(|effort| !has_switch || *effort != Effort::None);
    let has_marks = call.cache_options.is_some();
    let system = call.system;
    let system = system.map(|(text, mark)| message("system", text.into(), has_marks && mark.is_some()));
    let messages = call
        .blocks
        .into_iter()
        .map(|block| message(block.role.as_str(), block.text.into(), has_marks && block.mark.is_some()));
    let messages: Json = system.into_iter().chain(messages).collect();
    object([
        ("model", Some(format!("{folder}{model}").into())),
        ("messages", Some(messages)),
        ("stream", Some(true.into())),
        ("stream_options", Some(json!({ "include_usage": true }))),
        (limit, Some(call.max_tokens.into())),
        ("temperature", call.temperature.map(Json::from)),
        ("stop", call.stop),
        ("reasoning_effort", effort.map(|effort| effort.keyword().into())),
        ("thinking", thinking),
        ("prompt_cache_options", call.cache_options),
        ("response_format", call.schema.map(response_format)),
    ])
}

fn message(role: &str, text: Json, is_marked: bool) -> Json {
    let content = if is_marked {
        json!([{ "type": "text", "text": text, "prompt_cache_breakpoint": { "mode": "explicit" } }])
    } else {
        text
    };
    json!({ "role": role, "content": content })
}

fn response_format((name, schema): (&str, Json)) -> Json {
    let schema = json!({ "name": name, "strict": true, "schema": schema });
    json!({ "type": "json_schema", "json_schema": schema })
}

fn read(_: &str, event: &Json, reply: &mut Reply) {
    let choice = event.pointer("/choices/0");
    if let Some(choice) = choice {
        match choice.pointer("/delta/content") {
            // The models of Mistral that think send a list of texts and thoughts.
            Some(Json::Array(parts)) => parts.iter().for_each(|part| reply.add_text(part, "/text")),
            _ => reply.add_text(choice, "/delta/content"),
        }
        reply.is_refused |= string(choice, "/delta/refusal").is_some_and(|refusal| !refusal.is_empty());
        reply.has_tool_call |= has_members(choice, "/delta/tool_calls");
    }
    let finish = choice.and_then(|choice| string(choice, "/finish_reason"));
    // The usage is in the last event with a choice, or after it. Other events may have one as well, of a part.
    if finish.is_some() || (choice.is_none() && reply.tokens.input.is_none()) {
        // Groq has a place of its own.
        let usage = ["/usage", "/x_groq/usage"].iter().find_map(|path| event.pointer(path));
        let tokens = usage.and_then(|usage| tokens(usage, reply.provider.counts_thoughts_apart));
        reply.tokens = tokens.unwrap_or(reply.tokens);
    }
    reply.finish = finish.map(str::to_owned).or_else(|| reply.finish.take());
}

fn tokens(usage: &Json, counts_thoughts_apart: bool) -> Option<Tokens> {
    let thoughts = count(usage, "/completion_tokens_details/reasoning_tokens");
    let apart = thoughts.filter(|_| counts_thoughts_apart).unwrap_or_default();
    let written = ["cache_write_tokens", "cache_creation_tokens"];
    let written = written.iter().find_map(|name| count(usage, &format!("/prompt_tokens_details/{name}")));
    Some(Tokens {
        input: Some(count(usage, "/prompt_tokens")?),
        output: count(usage, "/completion_tokens").unwrap_or_default().saturating_add(apart),
        cache_read: count(usage, "/prompt_tokens_details/cached_tokens").unwrap_or_default(),
        cache_write: written.unwrap_or_default(),
    })
}
