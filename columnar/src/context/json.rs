//! The messages array as JSON, written fast: what needs no escaping is known of most values and copied,
//! the rest is looked at in blocks.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use super::frame::{JSON_END, OWN};
use super::parts::shown_value;
use super::shown::{Shown, View};
use super::walk::{Stop, Walk, What};
use crate::history::json_escape_from;

/// The whole array.
pub(super) fn write(shown: &Shown) -> String {
    let mut json = String::with_capacity(length(shown));
    let mut walk = Walk::new(shown);
    while let Some(stop) = walk.advance() {
        push(&mut json, stop, shown);
    }
    json.extend(walk.json_end());
    json
}

/// The last message, without the brackets of the array.
pub(super) fn write_last(shown: &Shown) -> String {
    let mut json = String::new();
    let mut walk = Walk::since(shown, shown.last_message());
    while let Some(stop) = walk.advance() {
        json.reserve(stop.text.value.len() + stop.frame.json_len() + JSON_END.len());
        push(&mut json, stop, shown);
    }
    json.extend(walk.json_end());
    json.pop();
    json.remove(0);
    json
}

#[expect(
    clippy::inline_always,
    reason = "a stop is large, and a third of the time goes into handing it over"
)]
#[inline(always)]
fn push(json: &mut String, stop: Stop<'_>, shown: &Shown) {
    let [closing, opening] = stop.json_opening();
    if !closing.is_empty() {
        json.push_str(closing);
    }
    json.push_str(opening);
    match plain(stop) {
        Some(value) => json.push_str(value),
        None => push_escaped(json, &shown_value(&stop, shown)),
    }
}

/// The value of a stop that is known to be the same in the JSON of its message.
pub(super) fn plain(stop: Stop<'_>) -> Option<&str> {
    let text = stop.text;
    (text.is_plain_json && (text.is_untagged || matches!(stop.what, What::Own))).then_some(text.value)
}

/// At most how long the array is if nothing has to be escaped.
fn length(shown: &Shown) -> usize {
    let frames = shown.reads.inputs.iter().map(|input| input.frames.json_len()).chain([OWN.json_len()]);
    let views = shown.views.iter().zip(frames);
    let elided = shown.fitted().map_or(0..0, |fitted| fitted.elided.start / 2..fitted.elided.end / 2);
    let kept = |steps: &Range<usize>| {
        let oldest = steps.start..steps.end.min(elided.start + 1).max(steps.start);
        [oldest, steps.start.max(elided.end)..steps.end]
    };
    let view = |(view, frame): (&View, usize)| {
        let bytes = |steps: Range<usize>| steps.len() * frame + view.bytes(steps);
        if elided.is_empty() { bytes(view.steps.clone()) } else { kept(&view.steps).map(bytes).iter().sum() }
    };
    let markers = 1 + shown.elisions().len();
    views.map(view).sum::<usize>() + OWN.json_first_len() + markers * MARKER_LEN + JSON_END.len()
}

/// A text as it stands inside a JSON string.
pub(super) fn escaped(text: Cow<'_, str>) -> Cow<'_, str> {
    if json_escape_from(text.as_bytes(), 0).is_none() {
        return text;
    }
    let mut json = String::with_capacity(text.len() + text.len() / 8);
    push_escaped(&mut json, &text);
    Cow::Owned(json)
}

/// About how long a marker is, with what stands around it.
const MARKER_LEN: usize = 128;

/// Appends a text as it stands inside a JSON string.
fn push_escaped(json: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = json_escape_from(bytes, from) {
        json.push_str(text.get(copied..at).unwrap_or_default());
        push_escape(json, bytes.get(at).copied().unwrap_or_default());
        (copied, from) = (at + 1, at + 1);
    }
    json.push_str(text.get(copied..).unwrap_or_default());
}

fn push_escape(json: &mut String, byte: u8) {
    match byte {
        b'"' => json.push_str("\\\""),
        b'\\' => json.push_str("\\\\"),
        b'\n' => json.push_str("\\n"),
        b'\r' => json.push_str("\\r"),
        b'\t' => json.push_str("\\t"),
        0x08 => json.push_str("\\b"),
        0x0c => json.push_str("\\f"),
        _ => {
            let written = write!(json, "\\u{byte:04x}");
            debug_assert!(written.is_ok(), "a string takes everything");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_serde_json_writes() {
        let all: String = (0..=0x17f_u32).filter_map(char::from_u32).collect();
        let long = std::format!("{}\n{}\"", "x".repeat(100), "é".repeat(100));
        for text in ["", "plain", "\n", "\"\\\"", "a\u{2028}b🦀", &all, &long] {
            for start in text.char_indices().map(|(at, _)| at).chain([text.len()]) {
                let text = &text[start..];
                let mut json = String::from("\"");
                push_escaped(&mut json, text);
                json.push('"');
                assert_eq!(json, serde_json::to_string(text).expect("strings serialise"));
            }
        }
    }
}
