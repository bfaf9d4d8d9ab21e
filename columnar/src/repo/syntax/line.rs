//! Parts of the text of a file: words, slices, and pieces on one line.

use std::ops::Range;

/// The length of the longest signature, in characters.
pub(super) const SIGNATURE: usize = 120;
/// The length of the longest import, in characters.
pub(super) const IMPORT: usize = 160;

pub(super) fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The pieces one after another on a line: white space collapsed, and the end cut off past a number of characters.
pub(super) fn joined<'t>(pieces: impl IntoIterator<Item = &'t str>, limit: usize) -> String {
    let mut line = String::new();
    let mut len = 0;
    let mut gap = None;
    for c in pieces.into_iter().flat_map(str::chars).filter(|c| !is_invisible(*c)) {
        if c.is_whitespace() || c.is_control() {
            gap = Some(gap.unwrap_or(false) || c == '\n');
            continue;
        }
        if let Some(is_break) = gap.take() {
            len += usize::from(add_space(&mut line, is_break, c));
        }
        if len >= limit {
            line.truncate(line.trim_end().len());
            line.push('…');
            break;
        }
        line.push(c);
        len += 1;
    }
    line
}

/// Separates a line from its next character. Lines are broken inside of brackets, where a space would look odd.
fn add_space(line: &mut String, is_break: bool, next: char) -> bool {
    let is_opened = line.ends_with(['(', '[', '<']);
    let closes = matches!(next, ')' | ']' | '>');
    if is_break && (closes || next == '}') && line.ends_with(',') {
        line.pop();
    }
    let is_kept = !(line.is_empty() || next == ',' || is_break && (is_opened || closes));
    if is_kept {
        line.push(' ');
    }
    is_kept
}

/// Whether a character shows nothing itself, but may change how the text around it is shown.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn a_line_has_single_spaces_and_an_end() {
        for (text, line) in [
            ("", ""),
            (" \n ", ""),
            ("(a:  A,\r\n\tb: B)", "(a: A, b: B)"),
            ("(\n    a: A,\n    b: B,\n) -> C<\n D\n>", "(a: A, b: B) -> C<D>"),
            ("{\n a,\n}", "{ a }"),
            ("(a\n , b)", "(a, b)"),
            ("a\0b\u{85}c\u{2028}d\u{202e}e\u{feff}", "a b c de"),
            ("äöüßé", "äöüßé"),
            ("äöüß éa", "äöüß…"),
            ("abcdef", "abcde…"),
        ] {
            let limit = if text.contains('\n') || text.contains('\0') { 100 } else { 5 };
            assert_eq!(joined([text], limit), line, "{text:?}");
        }
        assert_eq!(joined(["a ", " b"], 9), "a b");
    }
}
