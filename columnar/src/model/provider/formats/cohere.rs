//! Cohere's Chat, in its second version.
//!
//! Source: <https://docs.cohere.com/reference/chat-stream>

use serde_json::{Value as Json, json};

use crate::model::provider::call::ProviderCall;
use crate::model::provider::format::WireFormat;
use crate::model::provider::reply::{WireReply, WireTokens, at, string};
use crate::model::usage::object;

pub(super) const FORMAT: WireFormat = WireFormat::new(|_| "chat".to_owned(), body, read);

fn body(call: ProviderCall<'_>) -> Json {
    let messages = call.messages().collect();
    let settings = &call.settings;
    let thinking = settings.effort.zip(settings.form).and_then(|(effort, form)| form.budget(effort));
    let thinking = thinking.map(|tokens| match tokens {
        0 => json!({ "type": "disabled" }),
        _ => json!({ "type": "enabled", "token_budget": tokens }),
    });
    let format = call.schema.map(|(_, schema)| json!({ "type": "json_object", "json_schema": schema }));
    object([
        ("model", Some(call.target.model.into())),
        ("messages", Some(messages)),
        ("stream", Some(true.into())),
        ("max_tokens", Some(call.max_tokens.into())),
        ("temperature", settings.temperature.map(Json::from)),
        ("p", settings.top_p.map(Json::from)),
        ("seed", settings.seed.map(Json::from)),
        ("stop_sequences", settings.stop()),
        ("thinking", thinking),
        ("response_format", format),
    ])
}

fn read(kind: &str, event: &Json, reply: &mut WireReply) {
    match kind {
        "content-delta" => {
            reply.add_text(event, "/delta/message/content/text");
            reply.add_thought(event, "/delta/message/content/thinking");
        }
        "tool-call-start" => reply.has_tool_call = true,
        "message-end" => {
            reply.finish = string(event, "/delta/finish_reason").map(str::to_owned);
            let usage = at(event, "/delta/usage").unwrap_or(&Json::Null);
            let [input, output] = ["input_tokens", "output_tokens"].map(|name| {
                let [tokens, billed] =
                    ["tokens", "billed_units"].map(|part| count(usage.get(part)?.get(name)?));
                tokens.or(billed)
            });
            reply.tokens = WireTokens {
                input,
                output: output.unwrap_or_default(),
                cache_read: usage.get("cached_tokens").and_then(count).unwrap_or_default(),
                ..WireTokens::default()
            };
            reply.is_ended = true;
        }
        _ => {}
    }
}

/// A number of tokens. Some of the numbers are fractions, such as 12.0.
fn count(number: &Json) -> Option<u64> {
    number.as_u64().or_else(|| number.as_number()?.to_string().strip_suffix(".0")?.parse().ok())
}
