//! JSON strings, written fast: text is looked at in blocks, and copied in runs.

use alloc::format;
use alloc::string::String;

/// So many bytes are looked at together; a compiler makes one comparison of it.
const BLOCK: usize = 32;

/// Appends a text as it stands inside a JSON string.
pub(super) fn push_escaped(json: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = find(bytes, from) {
        json.push_str(text.get(copied..at).unwrap_or_default());
        push_escape(json, bytes.get(at).copied().unwrap_or_default());
        (copied, from) = (at + 1, at + 1);
    }
    json.push_str(text.get(copied..).unwrap_or_default());
}

/// The next byte that cannot stand in a JSON string as it is. All of those are ASCII.
fn find(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    for block in bytes.get(from..)?.chunks(BLOCK) {
        if block.iter().fold(false, |found, &byte| found | needs_escape(byte)) {
            return block.iter().position(|&byte| needs_escape(byte)).map(|inside| at + inside);
        }
        at += block.len();
    }
    None
}

fn needs_escape(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
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
        _ => json.push_str(&format!("\\u{byte:04x}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_serde_json_writes() {
        let all: String = (0..=0x17f_u32).filter_map(char::from_u32).collect();
        let long = format!("{}\n{}\"", "x".repeat(100), "é".repeat(100));
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
