//! Escapes tags in values, so that content cannot open or close a tag of the context.
//!
//! Where a value contains a tag of the context, as `<user`, `</user`, `< / USER` or an escaped form of these, the first
//! character of that spelling becomes an entity. Nothing else changes, and the change can be undone: the number of
//! `amp;` is the number of times that the value was escaped.
//!
//! ```text
//! spelling = ("<" | "&" "amp;"* "lt;")  space*  "/"?  space*  NAME  word-boundary      all ASCII
//! ```

use std::borrow::Cow;

use crate::declare::Name;

/// The tag of the constant message before an array that would begin with the assistant. It counts as a tag of every
/// context.
pub(crate) const ELIDED: &str = "elided";

/// Escapes every spelling of one of `tags` in `value`.
pub(crate) fn escape<'v, 't, T>(value: &'v str, tags: &T) -> Cow<'v, str>
where
    T: Iterator<Item = &'t Name> + Clone,
{
    respelled(value, tags, |at| {
        if value.as_bytes().get(at) == Some(&b'<') {
            return Some(Respelling { opening: at + 1, first: 1, by: "&lt;" });
        }
        // Escaped once more, because undoing the escapes must not turn the `&lt;` of a value into `<`.
        Some(Respelling { opening: after_entity(value, at)?, first: 1, by: "&amp;" })
    })
}

/// Undoes [`escape`] with the same tags.
pub(crate) fn unescape<'v, 't, T>(shown: &'v str, tags: &T) -> Cow<'v, str>
where
    T: Iterator<Item = &'t Name> + Clone,
{
    respelled(shown, tags, |at| {
        let opening = after_entity(shown, at)?;
        // `&lt;` was `<`, and any other entity has one `amp;` too many.
        let (by, entity) = if at + "&lt;".len() == opening { ("<", "&lt;") } else { ("&", "&amp;") };
        Some(Respelling { opening, first: entity.len(), by })
    })
}

/// The replacement of the first character of a spelling.
struct Respelling {
    /// The end of the opening bracket, after which the name of a tag may follow.
    opening: usize,
    /// The length of the first character or entity, in bytes.
    first: usize,
    by: &'static str,
}

/// Replaces the first characters of all spellings of tags.
fn respelled<'v, 't, T>(
    text: &'v str,
    tags: &T,
    respelling: impl Fn(usize) -> Option<Respelling>,
) -> Cow<'v, str>
where
    T: Iterator<Item = &'t Name> + Clone,
{
    let mut result = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(at) = text.as_bytes().get(from..).and_then(|rest| memchr::memchr2(b'<', b'&', rest)) {
        let at = from + at;
        // Only one character is passed, because a spelling may begin inside another: `<<user`.
        from = at + 1;
        if let Some(Respelling { opening, first, by }) = respelling(at)
            && spells_tag(text, opening, tags.clone())
        {
            result.push_str(text.get(copied..at).unwrap_or_default());
            result.push_str(by);
            copied = at + first;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(result)
}

/// The end of an escaped `<` at `at`: `&lt;`, `&amp;lt;`, …; `None` if there is none.
fn after_entity(value: &str, at: usize) -> Option<usize> {
    let mut rest = value.get(at..)?.strip_prefix('&')?;
    while let Some(shorter) = rest.strip_prefix("amp;") {
        rest = shorter;
    }
    rest.strip_prefix("lt;").map(|rest| value.len() - rest.len())
}

/// Whether the text at `at`, after an opening bracket, is the name of a tag, with or without a slash.
fn spells_tag<'t>(value: &str, at: usize, tags: impl Iterator<Item = &'t Name>) -> bool {
    let rest = value.as_bytes().get(at..).unwrap_or_default();
    let rest = skip_space(rest);
    let rest = skip_space(rest.strip_prefix(b"/").unwrap_or(rest));
    // One byte more than the longest tag, so that a longer word does not match by the beginning.
    let longest = rest.get(..=Name::MAX_LEN).unwrap_or(rest);
    // Names are ASCII, so any other letter ends a word: `<useré>` is escaped rather than missed.
    let word = longest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let Some(word) = rest.get(..word) else { return false };
    tags.map(Name::as_str).chain([ELIDED]).any(|tag| tag.as_bytes().eq_ignore_ascii_case(word))
}

fn skip_space(bytes: &[u8]) -> &[u8] {
    // Unlike `u8::is_ascii_whitespace`, with the vertical tab.
    let end = bytes.iter().position(|byte| !matches!(byte, b'\t'..=b'\r' | b' ')).unwrap_or(bytes.len());
    bytes.get(end..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(value: &str) -> String {
        let tags = [Name::new("user").expect("a name"), Name::new("topics").expect("a name")];
        escape(value, &tags.iter()).into_owned()
    }

    /// The value that is shown as a text.
    fn unescaped(shown: &str) -> String {
        let tags = [Name::new("user").expect("a name"), Name::new("topics").expect("a name")];
        unescape(shown, &tags.iter()).into_owned()
    }

    #[test]
    fn escaping_can_be_undone() {
        const PIECES: [&str; 9] = ["<", "&", "amp;", "lt;", "/", " ", "user", "topics", "é"];
        // All texts of five pieces.
        for text in 0..9_usize.pow(5) {
            let pieces = (0..5).map(|at| PIECES[text / 9_usize.pow(at) % 9]);
            let value: String = pieces.collect();
            assert_eq!(unescaped(&escaped(&value)), value);
        }
        assert_eq!(
            unescaped("&lt;/User>, &amp;amp;lt; user and &lt;b>"),
            "</User>, &amp;lt; user and &lt;b>"
        );
    }

    #[test]
    fn every_spelling_of_a_tag_is_escaped() {
        for (value, expected) in [
            ("<user>", "&lt;user>"),
            ("</user>", "&lt;/user>"),
            ("</USER >", "&lt;/USER >"),
            ("<\u{b}/\r\n\t user", "&lt;\u{b}/\r\n\t user"),
            ("< / Topics/>", "&lt; / Topics/>"),
            ("<user-name>", "&lt;user-name>"),
            ("<elided/>", "&lt;elided/>"),
            ("&lt;/user>", "&amp;lt;/user>"),
            ("&amp;lt;user", "&amp;amp;lt;user"),
            ("<<user", "<&lt;user"),
            ("<user><user>", "&lt;user>&lt;user>"),
            ("é<user", "é&lt;user"),
        ] {
            assert_eq!(escaped(value), expected, "{value:?}");
        }
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        for value in [
            "",
            "a < b && c > d",
            "<users>",
            "<user_>",
            "<user1",
            "<b>bold</b>",
            "&lt;b&gt;",
            "&LT;user>",
            "&amp;user",
            "&amp;amp;",
            "<//user>",
            "<\u{a0}user>",
            "<ＵＳＥＲ>",
            "]]>",
            "<",
            "&",
            "&amp;lt",
            "a\0b\r\n\u{2028}🦀",
        ] {
            assert_eq!(escaped(value), value);
        }
    }

    #[test]
    fn a_letter_beyond_ascii_ends_a_word() {
        assert_eq!(escaped("<useré>"), "&lt;useré>");
    }
}
