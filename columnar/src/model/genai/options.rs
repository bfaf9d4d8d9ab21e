//! The options of a request for the client.

use ::genai::chat::{ChatOptions, JsonSpec};

use super::schema::sent;
use crate::registry::Provider;
use crate::rendering::Request;

/// The options of a request. A schema that the provider does not accept is left out.
pub(super) fn chat_options(provider: &Provider, request: &Request) -> ChatOptions {
    let options = ChatOptions::default().with_max_tokens(request.max_tokens).with_capture_usage(true);
    let options = match request.temperature {
        Some(temperature) => options.with_temperature(round(temperature)),
        None => options,
    };
    let options = match &*request.stop {
        [] => options,
        stop => options.with_stop_sequences(stop.to_vec()),
    };
    let schema = request.schema.as_ref().zip(provider.schema);
    match schema.and_then(|(schema, dialect)| Some((schema, sent(&schema.json, dialect)?))) {
        Some((schema, json)) => options.with_response_format(JsonSpec::new(schema.name.clone(), json)),
        None => options,
    }
}

/// The number with the digits that the user wrote: 0.7, not `0.699_999_988`.
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
