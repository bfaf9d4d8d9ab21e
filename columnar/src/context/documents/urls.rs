//! The URLs in a text.

use super::key::{Key, Kind};

/// The largest number of pages that a step shows.
pub(super) const MOST_URLS: usize = 3;

/// The marks that end a sentence or an emphasis after a URL.
const PUNCTUATION: [char; 12] = ['.', ',', ';', ':', '!', '?', '\'', '*', '_', '~', '(', '['];

/// The first three different URLs of http or https in a text, for example in what a person typed.
///
/// A URL ends at white space, a quotation mark, an angle bracket, a backtick, the punctuation of Chinese and Japanese, and
/// at a bracket that it does not open. Punctuation at its end belongs to the sentence.
///
/// ```
/// use columnar::documents::urls;
///
/// let text = "Compare [the book](https://doc.rust-lang.org/book/) with https://en.wikipedia.org/wiki/Rust_(fungus), please.";
/// assert_eq!(urls(text), ["https://doc.rust-lang.org/book/", "https://en.wikipedia.org/wiki/Rust_(fungus)"]);
/// ```
pub fn urls(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut end = 0;
    for (at, _) in text.match_indices("://") {
        // A URL may contain another one.
        let Some(start) = scheme(text, at).filter(|start| *start >= end) else { continue };
        let url = extent(text.get(start..).unwrap_or_default()).trim_end_matches(PUNCTUATION);
        if url.len() > Key::MAX_LEN {
            // What it contains is no URL of its own. To look through that again would take the square of its length.
            end = start + url.len();
            continue;
        }
        if Key::new(Kind::Url, url).is_err() {
            continue;
        }
        end = start + url.len();
        if !found.contains(&url) {
            found.push(url);
        }
        if found.len() == MOST_URLS {
            break;
        }
    }
    found
}

/// The start of the scheme that ends at a position, if it is a word of its own.
fn scheme(text: &str, end: usize) -> Option<usize> {
    let before = text.get(..end)?;
    let start =
        before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')).len();
    let is_known = before
        .get(start..)
        .is_some_and(|word| ["http", "https"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme)));
    let is_word = !before.get(..start)?.ends_with(char::is_alphanumeric);
    (is_known && is_word).then_some(start)
}

/// The beginning of a text that may be a URL.
fn extent(text: &str) -> &str {
    let mut open = Vec::new();
    let end = text.find(|c: char| match c {
        '(' | '[' => {
            open.push(c);
            false
        }
        ')' => open.pop() != Some('('),
        ']' => open.pop() != Some('['),
        c => ends_url(c),
    });
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

fn ends_url(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '"' | '<' | '>' | '`' | '{' | '}' | '|' | '\\' | '^')
        || matches!(c, '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '…')
        // The punctuation of Chinese and Japanese, and its full-width forms.
        || matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}')
        || matches!(c, '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1f}' | '\u{ff3b}'..='\u{ff3d}' | '\u{ff5b}'..='\u{ff65}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_ends_where_the_sentence_goes_on() {
        for (text, url) in [
            ("See https://a.org.", "https://a.org"),
            ("https://a.org/b?c=d&e=f#g!", "https://a.org/b?c=d&e=f#g"),
            ("(https://a.org/b)", "https://a.org/b"),
            ("(https://a.org/b).", "https://a.org/b"),
            ("https://a.org/b_(c)", "https://a.org/b_(c)"),
            ("(see https://a.org/b_(c))", "https://a.org/b_(c)"),
            ("[text](https://a.org/b_(c) \"title\")", "https://a.org/b_(c)"),
            ("![x](https://a.org/b.png)!", "https://a.org/b.png"),
            ("<https://a.org/b>", "https://a.org/b"),
            ("**https://a.org/b**", "https://a.org/b"),
            ("`https://a.org/b`", "https://a.org/b"),
            ("'https://a.org/b'", "https://a.org/b"),
            ("“https://a.org/b”", "https://a.org/b"),
            ("https://a.org/b。次", "https://a.org/b"),
            ("（https://a.org/b）", "https://a.org/b"),
            ("{\"url\":\"https://a.org/b\"}", "https://a.org/b"),
            ("https://a.org/b\nnext", "https://a.org/b"),
            ("https://a.org/b...", "https://a.org/b"),
            ("https://a.org/b,https", "https://a.org/b,https"),
            ("url=https://a.org/b", "https://a.org/b"),
            ("HTTPS://A.org", "HTTPS://A.org"),
            ("https://[::1]:80/b]", "https://[::1]:80/b"),
            ("https://é.org/ü", "https://é.org/ü"),
            ("https://web.archive.org/web/https://a.org", "https://web.archive.org/web/https://a.org"),
            ("https://a.org/(b", "https://a.org/(b"),
            ("https://a.org/b(", "https://a.org/b"),
        ] {
            assert_eq!(urls(text), [url], "{text:?}");
        }
    }

    #[test]
    fn other_texts_are_no_urls() {
        for text in [
            "",
            "://",
            "http://",
            "https:// a.org",
            "http:///a",
            "ftp://a.org",
            "xhttp://a",
            "éhttp://a",
            "git+https://a",
            "a.org",
            "http:/a",
            "https://).",
            "http",
        ] {
            assert_eq!(urls(text), Vec::<&str>::new(), "{text:?}");
        }
    }

    /// 28 kB of a prompt took a third of a second, since each part of a URL that is too long was looked through to the end.
    #[test]
    fn the_parts_of_a_url_that_is_too_long_are_no_urls() {
        let long = "http://a".repeat(Key::MAX_LEN);
        assert_eq!(urls(&format!("{long} https://b")), ["https://b"]);
    }

    #[test]
    fn three_different_urls_are_found() {
        assert_eq!(
            urls("[https://a](https://a) https://b, https://c; https://d"),
            ["https://a", "https://b", "https://c"]
        );
        assert_eq!(urls("https://a https://a. https://a/"), ["https://a", "https://a/"]);
        assert_eq!(urls("http:// https://a").len(), 1);
    }
}
