//! Classes of C and C++ with a macro before their names: `class LIB_EXPORT View : public Base {`.
//!
//! The grammar does not know macros, and takes such a class for a function. So it reads spaces in their place, and all
//! positions stay those of the text.

use std::borrow::Cow;
use std::ops::Range;

/// The words before the name of a type.
const KEYWORDS: [&str; 4] = ["class", "enum", "struct", "union"];
/// The length of the longest arguments of a macro, in bytes.
const ARGUMENTS: usize = 100;

/// The text without the macros.
pub(super) fn without_macros(text: &str) -> Cow<'_, str> {
    let mut ranges: Vec<Range<usize>> = KEYWORDS.iter().flat_map(|keyword| macros(text, keyword)).collect();
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    ranges.sort_by_key(|range| range.start);
    let (mut plain, mut end) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        plain.push_str(text.get(end..range.start).unwrap_or_default());
        plain.extend(std::iter::repeat_n(' ', range.len()));
        end = range.end;
    }
    plain.push_str(text.get(end..).unwrap_or_default());
    Cow::Owned(plain)
}

/// The places of the macros after a keyword.
fn macros<'t>(text: &'t str, keyword: &'static str) -> impl Iterator<Item = Range<usize>> + 't {
    text.match_indices(keyword).filter_map(move |(at, _)| {
        let is_whole = !text.get(..at)?.ends_with(is_word);
        let start = at + keyword.len();
        let after = text.get(start..)?;
        let found =
            macros_before_name(after).filter(|_| is_whole && after.starts_with(char::is_whitespace))?;
        Some(start + found.start..start + found.end)
    })
}

/// The macros at the beginning of a text that goes on with the name and the body of a type, or with its bases. `struct
/// STATE state;` is a variable.
fn macros_before_name(text: &str) -> Option<Range<usize>> {
    let mut rest = text.trim_start();
    let start = text.len() - rest.len();
    let mut end = start;
    loop {
        let word = rest.get(..rest.find(|c| !is_word(c))?).filter(|word| !word.is_empty())?;
        let after = rest.get(word.len()..)?.trim_start();
        let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let is_macro = word.len() > 1 && word.chars().all(is_capital) && !after.starts_with("::");
        let after = if is_macro { without_arguments(after)? } else { after };
        if begins_body(after) {
            // The last word is the name, also if it looks like a macro.
            return (end > start).then_some(start..end);
        }
        if !is_macro {
            // A name may have parts: `View::Inner`.
            let tail = after.strip_prefix("::")?.trim_start_matches(|c| is_word(c) || c == ':').trim_start();
            return (end > start && begins_body(tail)).then_some(start..end);
        }
        end = text.len() - after.len();
        end = text.get(..end)?.trim_end().len();
        rest = after;
    }
}

/// A text after the arguments at its beginning, if it has some.
fn without_arguments(text: &str) -> Option<&str> {
    if !text.starts_with('(') {
        return Some(text);
    }
    let end = text.bytes().take(ARGUMENTS).position(|byte| byte == b')')?;
    let arguments = text.get(1..end)?;
    (!arguments.contains(['(', '\n'])).then(|| text.get(end + 1..).unwrap_or_default().trim_start())
}

fn begins_body(text: &str) -> bool {
    let is_final = || text.strip_prefix("final").is_some_and(|rest| !rest.starts_with(is_word));
    text.starts_with('{') || text.starts_with(':') && !text.starts_with("::") || is_final()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::without_macros;

    #[test]
    fn macros_before_the_name_of_a_type_are_spaces() {
        for (text, plain) in [
            ("class LIB_API View {", "class         View {"),
            ("struct A_B C_D2 View : public Base {", "struct          View : public Base {"),
            ("enum class LIB_API Kind : int {", "enum class         Kind : int {"),
            ("union LIB_ALIGN(16)\n  Box final {", "union              \n  Box final {"),
            ("class LIB_API View::Inner {", "class         View::Inner {"),
            ("struct é; class API É {", "struct é; class     É {"),
        ] {
            assert_eq!(without_macros(text), plain);
        }
        for text in [
            "",
            "class",
            "class ",
            "class View {",
            "class VIEW {",
            "struct STATE state;",
            "struct STATE *make(void) {",
            "struct STATE state = { 0 };",
            "subclass API View {",
            "class API::View {",
            "class API(",
            "enum { A, B };",
            "template <class T, class U> int f() {",
        ] {
            assert_eq!(without_macros(text), text);
        }
    }
}
