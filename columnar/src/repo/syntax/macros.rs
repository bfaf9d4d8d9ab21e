//! Definitions of C and C++ with macros around their names: `class LIB_EXPORT View : public Base {`, `LIB_API void show();`,
//! `void lock() ACQUIRE(mutex);`.
//!
//! The grammar does not know macros, and takes such a class for a function, or a macro for a type or a function. So it reads
//! spaces in their place, and all positions stay the same as in the text.

use std::borrow::Cow;
use std::ops::Range;

use super::line::is_word;

/// The words before the name of a type.
const KEYWORDS: [&str; 4] = ["class", "enum", "struct", "union"];
/// The last words of macros before a definition.
const SPECIFIERS: &str =
    "API CONSTEVAL CONSTEXPR DEPRECATED EXPORT EXPORTS EXTERN INLINE NAMESPACE NODISCARD NORETURN";
/// The last words of macros behind a definition: the annotations by which Clang checks locks, with their older names.
const ANNOTATIONS: &str = "\
    ACQUIRE ACQUIRED_AFTER ACQUIRED_BEFORE ACQUIRE_SHARED ASSERT_CAPABILITY ASSERT_EXCLUSIVE_LOCK \
    ASSERT_SHARED_LOCK EXCLUDES EXCLUSIVE_LOCKS_REQUIRED EXCLUSIVE_LOCK_FUNCTION EXCLUSIVE_TRYLOCK_FUNCTION \
    GUARDED_BY GUARDED_VAR LOCKS_EXCLUDED LOCK_RETURNED NO_THREAD_SAFETY_ANALYSIS PT_GUARDED_BY RELEASE \
    RELEASE_SHARED REQUIRES REQUIRES_SHARED RETURN_CAPABILITY SHARED_LOCKS_REQUIRED SHARED_LOCK_FUNCTION \
    TRY_ACQUIRE UNLOCK_FUNCTION";
/// The length of the longest arguments of a macro, in bytes.
const ARGUMENTS: usize = 100;

/// The text without the macros.
pub(super) fn without_macros(text: &str) -> Cow<'_, str> {
    let mut ranges: Vec<Range<usize>> = KEYWORDS.iter().flat_map(|keyword| macros(text, keyword)).collect();
    ranges.extend(marks(text));
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    ranges.sort_by_key(|range| range.start);
    let mut plain = String::with_capacity(text.len());
    let mut end = 0;
    for range in ranges {
        // A macro before the name of a class may be found in both ways.
        let start = range.start.max(end);
        plain.push_str(text.get(end..start).unwrap_or_default());
        plain.extend(std::iter::repeat_n(' ', range.end.saturating_sub(start)));
        end = range.end.max(start);
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

/// The places of the macros before and behind definitions. Macros in directives of the preprocessor stay.
fn marks(text: &str) -> Vec<Range<usize>> {
    let mut marks = Vec::new();
    let mut start = 0;
    let mut goes_on = false;
    for line in text.split_inclusive('\n') {
        let is_directive = goes_on || line.trim_start().starts_with('#');
        goes_on = is_directive && line.trim_end().ends_with('\\');
        let mut at = start;
        let words = line.split(|c| !is_word(c)).filter(|_| !is_directive);
        for word in words {
            let end = at + word.len();
            let rest = text.get(end..).unwrap_or_default();
            if word.starts_with(is_capital) {
                marks.extend(mark_len(word, rest).map(|len| at..end + len));
            }
            at = end + rest.chars().next().map_or(0, char::len_utf8);
        }
        start += line.len();
    }
    marks
}

/// The length of the arguments of a macro before or behind a definition, if the word is such a macro.
fn mark_len(word: &str, rest: &str) -> Option<usize> {
    if ends_with_one_of(word, ANNOTATIONS) {
        let after = without_arguments(rest)?;
        let len = rest.get(..rest.len() - after.len())?.trim_end().len();
        return (len > 0 || after.trim_start().starts_with([';', '{', ':', '='])).then_some(len);
    }
    // A name or a keyword goes on with the definition. `LIB_API;` or `(LIB_EXPORT)` is a value.
    let is_before =
        rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with(|c| is_word(c) || c == '~');
    (is_before && ends_with_one_of(word, SPECIFIERS)).then_some(0)
}

/// Whether a word ends with one of some others, and perhaps with digits.
fn ends_with_one_of(word: &str, others: &str) -> bool {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut leads = others.split(' ').filter_map(|last| word.strip_suffix(last));
    leads.any(|lead| lead.is_empty() || lead.ends_with('_'))
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
    text.starts_with('{')
        || text.starts_with(':') && !text.starts_with("::")
        || text.strip_prefix("final").is_some_and(|rest| !rest.starts_with(is_word))
}

fn is_capital(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::without_macros;

    /// `void Unlock() UNLOCK_FUNCTION();` was a function `UNLOCK_FUNCTION`, and a macro before a function its return type.
    #[test]
    fn macros_before_and_behind_a_definition_are_spaces() {
        for (text, plain) in [
            ("LIB_API void show();", "        void show();"),
            ("LIB_CONSTEXPR20 auto size() -> int;", "                auto size() -> int;"),
            ("LIB_EXPORT template <class T> class View {", "           template <class T> class View {"),
            (
                "#define LIB_API a \\\n  LIB_API b\nLIB_API ~View();",
                "#define LIB_API a \\\n  LIB_API b\n        ~View();",
            ),
            ("class LIB_API View {};", "class         View {};"),
            ("void Unlock() UNLOCK_FUNCTION();", "void Unlock()                  ;"),
            ("int é TS_GUARDED_BY(mu_) = 0;", "int é                    = 0;"),
            ("void f() NO_THREAD_SAFETY_ANALYSIS {", "void f()                           {"),
        ] {
            assert_eq!(without_macros(text), plain);
        }
        for text in
            ["f(LIB_API, x);", "x = LIB_EXPORT;", "MYAPI f();", "RELEASE_API", "#if LIB_API || X", "LIB_API"]
        {
            assert_eq!(without_macros(text), text);
        }
    }

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
            "subclass TABLE View {",
            "class API::View {",
            "class API(",
            "enum { A, B };",
            "template <class T, class U> int f() {",
        ] {
            assert_eq!(without_macros(text), text);
        }
    }
}
