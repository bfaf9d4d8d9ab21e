//! Texts that a terminal shows as they are, and their widths.

use std::fmt::Display;

use console::{Term, measure_text_width};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::declare::error::is_invisible;

/// The text for a terminal: characters that could control the terminal or turn the direction of the text are escaped, as in
/// `\u{1b}`. Line breaks, tabs, and the joiners inside of words and emoji stay.
///
/// ```
/// use columnar::terminal::printable;
///
/// assert_eq!(printable("\u{1b}[2Jgone\r\n"), "\\u{1b}[2Jgone\n");
/// assert_eq!(printable("👩\u{200d}🚀 \u{202e}txt"), "👩\u{200d}🚀 \\u{202e}txt");
/// ```
pub fn printable(text: impl Display) -> String {
    // Without the first character an escape sequence is text. Libraries that strip escape sequences leave marks of direction.
    let text = text.to_string().replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' | '\u{200c}' | '\u{200d}' => out.push(c),
            c if is_invisible(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// The number of columns of the terminal on standard output. `None` if the output goes to a file or another program.
///
/// ```
/// use columnar::terminal;
///
/// match terminal::width() {
///     Some(width) => println!("{}", "─".repeat(width)),
///     None => println!("no terminal"),
/// }
/// ```
pub fn width() -> Option<usize> {
    let terminal = Term::stdout();
    terminal.is_term().then(|| usize::from(terminal.size().1))
}

/// The columns of a text. Each character as people see it counts alone, because a terminal shows two letters that a font
/// would join.
pub(super) fn columns(text: &str) -> usize {
    if text.is_ascii() {
        measure_text_width(text)
    } else {
        text.graphemes(true).map(measure_text_width).sum()
    }
}

/// The longest beginning of whole characters with at most this number of columns.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let mut used = 0;
    let mut end = 0;
    for character in text.graphemes(true) {
        used += measure_text_width(character);
        if used > most {
            break;
        }
        end += character.len();
    }
    text.get(..end).unwrap_or_default()
}

/// The text, or the beginning with `…` if the text has more columns.
pub(super) fn cut(text: String, most: usize) -> String {
    if columns(&text) <= most { text } else { format!("{}…", beginning(&text, most.saturating_sub(1))) }
}
