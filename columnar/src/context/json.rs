//! The messages array as JSON, written fast: what needs no escaping is known of most values and copied,
//! the rest is looked at in blocks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::escape::escape;
use super::part::Role;
use super::parts::{LEAD, Stop, Walk};
use super::shown::Shown;
use crate::history::needs_json_escape;

/// About how many bytes stand around a value.
const FRAME: usize = 64;

/// What stands around the values of a view, inside a JSON string.
struct Frame {
    opening: String,
    closing: String,
}

/// The whole array.
pub(super) fn write(shown: &Shown) -> String {
    let frame = |tag: &str| Frame { opening: format!("<{tag}>\\n"), closing: format!("\\n</{tag}>") };
    let frames: Vec<Frame> = shown.tags().map(|tag| frame(tag)).collect();
    // What escaping adds is not known yet, so the string may still grow.
    let length = |stop: Stop<'_>| stop.text.value.len() + FRAME;
    let mut json = String::with_capacity(FRAME + Walk::new(shown).map(length).sum::<usize>());
    let mut last = None;
    for Stop { view, role, text, .. } in Walk::new(shown) {
        match last.replace(role) {
            Some(before) if before == role => json.push_str("\\n\\n"),
            Some(_) => begin(&mut json, "\"},", role),
            None if role == Role::Assistant => {
                begin(&mut json, "[", Role::User);
                json.push_str(LEAD);
                begin(&mut json, "\"},", role);
            }
            None => begin(&mut json, "[", role),
        }
        let frame = frames.get(view);
        json.push_str(frame.map_or("", |frame| &frame.opening));
        if frame.is_some() && !text.is_untagged {
            push_escaped(&mut json, &escape(text.value, &shown.tags()));
        } else if text.is_plain_json {
            json.push_str(text.value);
        } else {
            push_escaped(&mut json, text.value);
        }
        json.push_str(frame.map_or("", |frame| &frame.closing));
    }
    json.push_str(if last.is_some() { "\"}]" } else { "[]" });
    json
}

/// Begins a message.
fn begin(json: &mut String, after: &str, role: Role) {
    json.push_str(after);
    json.push_str(match role {
        Role::User => "{\"role\":\"user\",\"content\":\"",
        Role::Assistant => "{\"role\":\"assistant\",\"content\":\"",
    });
}

/// So many bytes are looked at together; a compiler makes one comparison of it.
const BLOCK: usize = 32;

/// Appends a text as it stands inside a JSON string.
fn push_escaped(json: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = find(bytes, from) {
        json.push_str(text.get(copied..at).unwrap_or_default());
        push_escape(json, bytes.get(at).copied().unwrap_or_default());
        (copied, from) = (at + 1, at + 1);
    }
    json.push_str(text.get(copied..).unwrap_or_default());
}

/// The next byte that cannot stand in a JSON string as it is.
fn find(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    for block in bytes.get(from..)?.chunks(BLOCK) {
        if block.iter().fold(false, |found, &byte| found | needs_json_escape(byte)) {
            return block.iter().position(|&byte| needs_json_escape(byte)).map(|inside| at + inside);
        }
        at += block.len();
    }
    None
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
        let long = alloc::format!("{}\n{}\"", "x".repeat(100), "é".repeat(100));
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
