//! Ollama's own format: each line of a reply is an event.
//!
//! Source: <https://docs.ollama.com/api/chat>

use serde_json::Value as Json;

use crate::model::provider::call::ProviderCall;
use crate::model::provider::events::Framing;
use crate::model::provider::format::WireFormat;
use crate::model::provider::reply::{WireReply, WireTokens, count, has_members, string};
use crate::model::registry::{Effort, EffortForm};
use crate::model::usage::object;

pub(super) const FORMAT: WireFormat =
    WireFormat { framing: Framing::Lines, ..WireFormat::new(|_| "api/chat".to_owned(), body, read) };

fn body(call: ProviderCall<'_>) -> Json {
    let messages = call.messages().collect();
    let settings = &call.settings;
    let options = object([
        // By default the server has room for few tokens, and leaves out the beginning of a longer context.
        ("num_ctx", call.context.map(Json::from)),
        ("num_predict", Some(call.max_tokens.into())),
        ("temperature", settings.temperature.map(Json::from)),
        ("top_p", settings.top_p.map(Json::from)),
        ("seed", settings.seed.map(Json::from)),
        ("stop", settings.stop()),
    ]);
    let think = match settings.form {
        Some(EffortForm::Switch) => settings.effort.map(|effort| (effort != Effort::None).into()),
        _ => settings.effort_word(),
    };
    object([
        ("model", Some(call.target.model.into())),
        ("messages", Some(messages)),
        ("stream", Some(true.into())),
        // A context without room is an error. Servers that do not know these members ignore them.
        ("truncate", Some(false.into())),
        ("shift", Some(false.into())),
        ("think", think),
        ("format", call.schema.map(|(_, schema)| schema)),
        ("options", Some(options)),
    ])
}

fn read(_: &str, event: &Json, reply: &mut WireReply) {
    reply.add_text(event, "/message/content");
    reply.add_thought(event, "/message/thinking");
    reply.has_tool_call |= has_members(event, "/message/tool_calls");
    if event.get("done") == Some(&Json::Bool(true)) {
        // The reason is optional.
        reply.finish = Some(string(event, "/done_reason").unwrap_or("stop").to_owned());
        reply.tokens = WireTokens {
            input: count(event, "/prompt_eval_count"),
            output: count(event, "/eval_count").unwrap_or_default(),
            cache_read: count(event, "/prompt_eval_cached_count").unwrap_or_default(),
            ..WireTokens::default()
        };
        reply.is_ended = true;
    }
}
