//! The depth of brackets in a text.

use memchr::memrchr;

/// The number of brackets that may be open at once.
///
/// The parser forgets alternatives on the stack of its thread, a call for each bracket that is open in two of them. A stack
/// of 256 KiB has room for four times as many, and code that people write does not come near.
const MAX_OPEN: usize = 500;

/// Whether brackets are nested deeper than the parser may follow.
///
/// Strings and comments are not told apart: a bracket in one is closed with the next one around it.
pub(super) fn is_too_deep(text: &str) -> bool {
    let mut open = Vec::new();
    for byte in text.bytes() {
        let opening = match byte {
            b'(' | b'[' | b'{' => {
                open.push(byte);
                if open.len() > MAX_OPEN {
                    return true;
                }
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => continue,
        };
        if let Some(index) = memrchr(opening, &open) {
            open.truncate(index);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{MAX_OPEN, is_too_deep};

    #[test]
    fn only_open_brackets_count() {
        let deep = "(".repeat(MAX_OPEN);
        assert!(!is_too_deep(&deep));
        assert!(is_too_deep(&format!("{deep}[")));
        assert!(is_too_deep(&"{[(".repeat(MAX_OPEN)));
        assert!(!is_too_deep(&"{ '(' }".repeat(MAX_OPEN * 2)));
        assert!(!is_too_deep(&"f(a[0]) }".repeat(MAX_OPEN * 2)));
    }
}
