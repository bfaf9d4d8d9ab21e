//! Texts in a drawing.

use std::fmt::{Arguments, Write as _};

/// The most letters of a view in its box.
const MOST_LETTERS: usize = 40;

/// The beginning of a view that is long.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The text with characters that XML or Markdown would interpret as entities.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        // Markdown begins no emphasis inside of a word.
        let is_in_word =
            letter == '_' && escaped.ends_with(|before: char| before.is_alphanumeric() || before == '_');
        if is_in_word || letter.is_alphanumeric() || [' ', '.', ',', ':', '(', ')', '…'].contains(&letter) {
            escaped.push(letter);
        } else {
            put(&mut escaped, format_args!("&#{};", u32::from(letter)));
        }
    }
    escaped
}

pub(crate) fn put(text: &mut String, line: Arguments<'_>) {
    let written = text.write_fmt(line);
    debug_assert!(written.is_ok(), "a string takes everything");
}
