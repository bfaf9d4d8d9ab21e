//! OpenAI's chat completions, which most providers and servers have.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat>

use serde_json::{Value as Json, json};

use crate::model::provider::call::{CallTarget, ProviderCall};
use crate::model::provider::format::WireFormat;
use crate::model::provider::reply::{WireReply, WireTokens, at, count, has_members, string};
use crate::model::registry::{self, Effort, EffortForm};
use crate::model::rendering::message;
use crate::model::usage::object;

pub(super) const FORMAT: WireFormat = WireFormat {
    read_whole: |reply, read_so_far| read("", reply, read_so_far),
    ..WireFormat::new(|_| "chat/completions".to_owned(), body, read)
};

fn body(call: ProviderCall<'_>) -> Json {
    let ProviderCall { target: CallTarget { provider, name, model, .. }, settings, .. } = &call;
    let accepts = registry::accepts(name);
    let limit = if accepts.has_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    let folder = if model.contains('/') { "" } else { provider.model_folder };
    let has_switch = provider.has_thinking_switch;
    let thinking = settings
        .effort
        .filter(|_| has_switch)
        .map(|effort| json!({ "type": if effort == Effort::None { "disabled" } else { "enabled" } }));
    let is_switch = settings.form == Some(EffortForm::Switch);
    let effort = settings.effort_word().filter(|word| !is_switch && (!has_switch || word != "none"));
    let options = call.cache_options();
    let mark = json!({ "mode": "explicit" });
    let takes_marks = call.takes_marks;
    let system = call.system.map(|(text, lifetime)| match lifetime.filter(|_| takes_marks) {
        Some(_) => {
            let part = json!({ "type": "text", "text": text, "prompt_cache_breakpoint": mark });
            json!({ "role": "system", "content": [part] })
        }
        None => message("system", text),
    });
    let turns = call
        .turns(|block| block.mark.filter(|_| takes_marks).map(|_| ("prompt_cache_breakpoint", mark.clone())));
    let messages = system.into_iter().chain(turns);
    let messages: Json = messages.collect();
    let format = call.schema.as_ref().map(|(name, schema)| {
        json!({ "type": "json_schema", "json_schema": { "name": name, "strict": true, "schema": schema } })
    });
    object([
        ("model", Some(format!("{folder}{model}").into())),
        ("messages", Some(messages)),
        ("stream", Some(true.into())),
        ("stream_options", provider.has_stream_options.then(|| json!({ "include_usage": true }))),
        (limit, Some(call.max_tokens.into())),
        ("temperature", settings.temperature.map(Json::from)),
        ("top_p", settings.top_p.map(Json::from)),
        (provider.seed, settings.seed.map(Json::from)),
        ("stop", settings.stop()),
        ("reasoning_effort", effort),
        ("thinking", thinking),
        ("prompt_cache_key", call.cache_key.map(Json::from)),
        ("prompt_cache_options", options),
        ("response_format", format),
    ])
}

fn read(_: &str, event: &Json, reply: &mut WireReply) {
    let choices = event.get("choices").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    // Behind some gateways an event has further replies, which do not belong to this one.
    let choice = choices.iter().find(|choice| count(choice, "/index").unwrap_or_default() == 0);
    if let Some(choice) = choice {
        // A reply that is not streamed has a message in place of pieces.
        let delta = choice.get("delta").or_else(|| choice.get("message"));
        read_delta(delta.unwrap_or(&Json::Null), reply);
        let finish = string(choice, "/finish_reason");
        reply.finish = finish.map(str::to_owned).or_else(|| reply.finish.take());
    }
    // Before the end of the reply, an event with a choice has the usage of a part. Servers have the usage in different
    // places.
    if reply.finish.is_some() || choices.is_empty() {
        let places = ["/usage", "/x_groq/usage", "/choices/0/usage"];
        let usage = places.iter().find_map(|path| at(event, path).filter(|usage| usage.is_object()));
        let tokens = usage.and_then(|usage| tokens(usage, reply.counts_thoughts_apart));
        reply.tokens = tokens.unwrap_or(reply.tokens);
    }
}

fn read_delta(delta: &Json, reply: &mut WireReply) {
    match delta.get("content") {
        // The models of Mistral that think send a list of texts and thoughts.
        Some(Json::Array(parts)) => {
            for part in parts {
                reply.add_text(part, "/text");
                let thoughts = part.get("thinking").and_then(Json::as_array);
                thoughts.into_iter().flatten().for_each(|thought| reply.add_thought(thought, "/text"));
            }
        }
        _ => reply.add_text(delta, "/content"),
    }
    for name in ["/reasoning_content", "/reasoning"] {
        reply.add_thought(delta, name);
    }
    reply.is_refused |= string(delta, "/refusal").is_some_and(|refusal| !refusal.is_empty());
    reply.has_tool_call |= has_members(delta, "/tool_calls");
}

fn tokens(usage: &Json, counts_thoughts_apart: bool) -> Option<WireTokens> {
    let thoughts = count(usage, "/completion_tokens_details/reasoning_tokens");
    let apart = thoughts.filter(|_| counts_thoughts_apart).unwrap_or_default();
    Some(WireTokens {
        input: Some(count(usage, "/prompt_tokens")?),
        output: first_count(usage, &["/completion_tokens"]).saturating_add(apart),
        // The names of DeepSeek and of Moonshot come after OpenAI's.
        cache_read: first_count(
            usage,
            &["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"],
        ),
        cache_write: first_count(
            usage,
            &["/prompt_tokens_details/cache_write_tokens", "/prompt_tokens_details/cache_creation_tokens"],
        ),
        ..WireTokens::default()
    })
}

fn first_count(usage: &Json, paths: &[&str]) -> u64 {
    paths.iter().find_map(|path| count(usage, path)).unwrap_or_default()
}
