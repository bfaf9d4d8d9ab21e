//! The formats of providers, one file each.

mod anthropic;
mod chat_completions;
mod cohere;
mod gemini;
mod ollama;
mod responses;

use super::format::WireFormat;
use crate::model::registry::Api;

/// The format of an interface.
pub(super) fn format(api: Api) -> &'static WireFormat {
    match api {
        Api::Anthropic => &anthropic::FORMAT,
        Api::ChatCompletions => &chat_completions::FORMAT,
        Api::Cohere => &cohere::FORMAT,
        Api::Gemini => &gemini::FORMAT,
        Api::Ollama => &ollama::FORMAT,
        Api::Responses => &responses::FORMAT,
    }
}
