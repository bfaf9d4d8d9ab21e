//! The part of a URL, and of the words of a server, that errors show: no secret, and nothing that could control a terminal.

use std::fmt;

use crate::declare::error::Printable;

/// The longest part of a URL that an error shows, in characters.
const LONGEST_SHOWN: usize = 200;

/// A URL as errors show it: without user, query and fragment, which may be secrets.
pub(super) fn shown(url: &str) -> String {
    let (start, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (visible, hidden) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host_end = visible.find(['/', '\\']).unwrap_or(visible.len());
    let (host, path) = visible.split_at_checked(host_end).unwrap_or((visible, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let shown = Printable(format_args!("{start}://{host}{path}")).to_string();
    let mut shown: String = match shown.char_indices().nth(LONGEST_SHOWN) {
        Some((at, _)) => shown.get(..at).unwrap_or_default().to_owned() + "…",
        None => shown,
    };
    if !hidden.is_empty() {
        shown.push_str("?…");
    }
    shown
}

/// A word of a server in an error: short, and without control characters.
pub(super) struct Word<'t>(pub(super) &'t str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(word) = self;
        let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "/+-._".contains(c));
        if is_plain && (1..=80).contains(&word.len()) {
            return write!(f, "`{word}`");
        }
        f.write_str("of an unknown name")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w9_a_shown_url_has_no_user_no_query_and_no_fragment() {
        for (url, expected) in [
            ("https://a.org/b", "https://a.org/b"),
            ("https://a.org/b?key=secret#part", "https://a.org/b?…"),
            ("https://a.org#part", "https://a.org?…"),
            ("https://me:secret@a.org/b@c", "https://a.org/b@c"),
            ("https://me:sec@ret@a.org", "https://a.org"),
            ("https://a.org\\@b", "https://a.org\\@b"),
            ("secret", "://secret"),
            ("https://a.org/\u{1b}[2J", "https://a.org/\\u{1b}[2J"),
        ] {
            assert_eq!(shown(url), expected, "{url}");
        }
        assert!(shown(&format!("https://a.org/{}", "é".repeat(300))).ends_with("é…"));
    }
}
