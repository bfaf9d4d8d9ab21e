//! The content of calls for spans, if captured, in the JSON of the conventions.

use std::env;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::context::Messages;

/// The environment variable that enables the content of calls in the spans of calls. The values are `true`, `span_only`
/// and `span_and_event`, as in other programs with OpenTelemetry. The variable is read once, at the first run.
///
/// ```
/// assert_eq!(columnar::trace::CAPTURE_CONTENT, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
/// ```
pub const CAPTURE_CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Whether content is captured.
pub(super) fn is_captured() -> bool {
    static IS_CAPTURED: OnceLock<bool> = OnceLock::new();
    *IS_CAPTURED.get_or_init(|| env::var(CAPTURE_CONTENT).is_ok_and(|value| is_yes(&value)))
}

fn is_yes(value: &str) -> bool {
    // Any other value, such as `event_only`, must not expose a conversation.
    ["true", "span_only", "span_and_event"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

pub(super) fn system(text: &str) -> String {
    json!([part(text)]).to_string()
}

pub(super) fn input(messages: &Messages) -> String {
    let messages = messages.iter().map(|(role, text)| json!({ "role": role, "parts": [part(&text)] }));
    Value::Array(messages.collect()).to_string()
}

pub(super) fn output(text: &str, finish: &str) -> String {
    json!([{ "role": "assistant", "parts": [part(text)], "finish_reason": finish }]).to_string()
}

fn part(text: &str) -> Value {
    json!({ "type": "text", "content": text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_captured_for_three_values_alone() {
        assert!(["true", "TRUE", "SPAN_ONLY", "span_and_event"].iter().all(|value| is_yes(value)));
        assert!(!["", "false", "1", "no_content", "event_only", "true "].iter().any(|value| is_yes(value)));
    }

    #[test]
    fn content_has_the_form_of_the_conventions() {
        let expected = r#"[{"role": "assistant", "parts": [{"type": "text", "content": "c"}], "finish_reason": "stop"}]"#;
        for (json, expected) in [
            (system("a \"b\""), r#"[{"type": "text", "content": "a \"b\""}]"#),
            (output("c", "stop"), expected),
        ] {
            let [json, expected] = [&*json, expected].map(|text| text.parse::<Value>().expect("it is JSON"));
            assert_eq!(json, expected);
        }
    }
}
