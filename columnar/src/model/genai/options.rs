//! How a request is to be answered, in the client's words.

use ::genai::adapter::AdapterKind;
use ::genai::chat::{ChatOptions, JsonSpec};

use super::schema::{Dialect, sent};
use crate::rendering::Request;

/// How the request is to be answered. What the provider does not take is not sent.
pub(super) fn chat_options(provider: AdapterKind, request: &Request) -> ChatOptions {
    let options = ChatOptions::default().with_max_tokens(request.max_tokens).with_capture_usage(true);
    let options = match request.temperature {
        Some(temperature) => options.with_temperature(round(temperature)),
        None => options,
    };
    let options = match &*request.stop {
        [] => options,
        stop => options.with_stop_sequences(stop.to_vec()),
    };
    let schema = request.schema.as_ref().zip(takes_schema(provider));
    match schema.and_then(|(schema, dialect)| Some((schema, sent(&schema.json, dialect)?))) {
        Some((schema, json)) => options.with_response_format(JsonSpec::new(schema.name.clone(), json)),
        None => options,
    }
}

/// The dialect of schemas that a provider can be held to, if any. A provider is left out that refuses a request for its
/// schema, be it for some of its models alone, and one to which the client sends none: such a reply is read
/// and, if need be, asked for again.
fn takes_schema(provider: AdapterKind) -> Option<Dialect> {
    match provider {
        AdapterKind::OpenAI
        | AdapterKind::OpenAIResp
        | AdapterKind::Fireworks
        | AdapterKind::Mistral
        | AdapterKind::Nebius
        | AdapterKind::OpenRouter
        | AdapterKind::Together
        | AdapterKind::Xai => Some(Dialect::OpenAi),
        AdapterKind::Anthropic => Some(Dialect::Anthropic),
        AdapterKind::Gemini => Some(Dialect::Whole),
        _ => None,
    }
}

/// The same number with as many digits as it was written with: 0.7, not `0.699_999_988`.
fn round(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_sent_as_it_was_written() {
        for (number, sent) in [(0.0, 0.0), (0.7, 0.7), (1.0, 1.0), (0.1, 0.1), (f32::MAX, 3.402_823_5e38)] {
            assert!((round(number) - sent).abs() < f64::EPSILON, "{number}");
        }
    }
}
