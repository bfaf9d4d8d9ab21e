//! A text of a server, and its parts that must not be shown: any part of a secret, as it was sent or encoded in base64, in
//! hexadecimal digits or for a URL.
//!
//! Its limits: a server that wants to leak a secret can encode it in a way that is not known here. But it has received the
//! secret, and could send it elsewhere. The aim is that no error, log or store repeats it.

use std::ops::Range;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// A part of a secret with this number of letters and digits is hidden.
const PART: usize = 5;

/// A secret up to this length is a common word.
const SHORT: usize = 3;

/// A text of a server, and its characters that must be hidden.
pub(crate) struct Leaks {
    chars: Vec<char>,
    hidden: Vec<bool>,
}

impl Leaks {
    /// Invisible and control characters are dropped: they could hide a word, or change the terminal. Keys that the server
    /// has shortened are hidden.
    pub(crate) fn new(text: &str) -> Self {
        let words: Vec<String> =
            text.split_whitespace().map(|word| word.chars().filter(|c| is_visible(*c)).collect()).collect();
        let chars: Vec<char> = words.join(" ").chars().collect();
        let mut leaks = Self { hidden: vec![false; chars.len()], chars };
        for word in runs(&leaks.chars, |c| !c.is_whitespace()) {
            if leaks.is_shortened_key(&word) {
                leaks.hide(word);
            }
        }
        leaks
    }

    /// The text without the characters that were dropped.
    #[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "a database gets no conversation"))]
    pub(crate) fn chars(&self) -> &[char] {
        &self.chars
    }

    /// Whether something must be hidden.
    #[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "a database gets no conversation"))]
    pub(crate) fn any(&self) -> bool {
        self.hidden.contains(&true)
    }

    /// The text with `…` for each part that must be hidden.
    pub(crate) fn redacted(&self) -> String {
        let mut redacted = String::new();
        let mut was_hidden = false;
        for (c, is_hidden) in self.chars.iter().zip(&self.hidden) {
            if !is_hidden {
                redacted.push(*c);
            } else if !was_hidden {
                redacted.push('…');
            }
            was_hidden = *is_hidden;
        }
        redacted
    }

    /// Hides a part of the text.
    pub(crate) fn hide(&mut self, at: Range<usize>) {
        self.hidden.get_mut(at).into_iter().flatten().for_each(|hidden| *hidden = true);
    }

    /// Hides a name, such as the name of a host, where the text has it as a whole.
    #[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "the address of a database is shown"))]
    pub(crate) fn hide_name(&mut self, name: &str) {
        let name: Vec<char> = name.chars().collect();
        let parts = self.chars.windows(name.len().max(1)).enumerate();
        let found = parts.filter(|(_, part)| part.iter().zip(&name).all(|(a, b)| a.eq_ignore_ascii_case(b)));
        let found: Vec<usize> = found.map(|(at, _)| at).collect();
        found.into_iter().for_each(|at| self.hide(at..at + name.len()));
    }

    /// Hides all parts of a secret, also if other characters are between its letters and digits.
    pub(crate) fn hide_secret(&mut self, secret: &str) {
        let (at, letters) = self.letters();
        let mut hidden = Vec::new();
        for (form, part) in forms(secret) {
            // A shorter secret is found as a whole, unless it is no more than a short word.
            let part = part.min(form.len());
            if part <= SHORT {
                continue;
            }
            for (start, piece) in letters.as_bytes().windows(part).enumerate() {
                if form.as_bytes().windows(part).any(|it| it == piece) {
                    hidden.extend(at.get(start).copied().zip(at.get(start + part - 1).copied()));
                }
            }
        }
        for (first, last) in hidden {
            self.hide(first..last + 1);
        }
        // The rest of a word would show the end of the secret.
        for word in runs(&self.chars, char::is_alphanumeric) {
            if self.hidden.get(word.clone()).is_some_and(|hidden| hidden.contains(&true)) {
                self.hide(word);
            }
        }
    }

    /// Whether a text between spaces has a part of a key, as providers quote it: `sk-ab*****yz`.
    fn is_shortened_key(&self, word: &Range<usize>) -> bool {
        let word: String = self.chars.get(word.clone()).unwrap_or_default().iter().collect();
        let mut parts = word.split(|c: char| !c.is_alphanumeric() && c != '-');
        word.contains('*') || parts.any(|it| it.starts_with("sk-"))
    }

    /// The letters and digits of the text in lower case, with their positions.
    fn letters(&self) -> (Vec<usize>, String) {
        let chars = self.chars.iter().enumerate().filter(|(_, c)| c.is_ascii_alphanumeric());
        chars.map(|(at, c)| (at, c.to_ascii_lowercase())).unzip()
    }
}

/// The longest runs of such characters.
pub(crate) fn runs(chars: &[char], is_inside: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut at = 0;
    let groups = chars.chunk_by(|one, other| is_inside(*one) == is_inside(*other));
    let ranges = groups.map(|group| {
        let start = at;
        at += group.len();
        (group.first().copied().is_some_and(&is_inside), start..at)
    });
    ranges.filter_map(|(is_inside, range)| is_inside.then_some(range)).collect()
}

/// ASCII, letters, and the dashes, quotation marks and dots of the block General Punctuation. Its other characters, and
/// characters of other blocks, may be invisible or turn the direction of the text.
fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || c.is_alphanumeric() || ('\u{2010}'..='\u{2026}').contains(&c)
}

/// The letters and digits of a secret and of its encoded forms, each with the length of a part that is hidden. Signs and
/// case are left out, so the forms for URLs are among them.
fn forms(secret: &str) -> Vec<(String, usize)> {
    let plain = |text: &str| {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let digits = secret.bytes().flat_map(|byte| [byte >> 4, byte & 15]);
    let hex = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
    // The letters of a group of three bytes depend on its beginning. Those at both ends depend on the text around the
    // secret, so they are left out.
    let base64 = ["", "-", "--"].map(|before| {
        let encoded = BASE64_STANDARD.encode(format!("{before}{secret}"));
        let end = (before.len() + secret.len()) * 8 / 6;
        let start = (before.len() * 8).div_ceil(6);
        (plain(encoded.get(start..end).unwrap_or_default()), PART * 4 / 3 + 1)
    });
    [(plain(secret), PART), (hex, 2 * PART)].into_iter().chain(base64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(message: &str) -> String {
        let mut leaks = Leaks::new(message);
        leaks.hide_secret("me:Hunter+29xyzzy");
        leaks.hide_name("Proxy.example.com");
        leaks.redacted()
    }

    #[test]
    fn a_sentence_reveals_no_part_of_a_secret() {
        for (message, shown) in [
            ("Incorrect API key: sk-abc*****xyz. See `moon`.", "Incorrect API key: … See `moon`."),
            ("chedd was refused\u{1b}[2J\n at once", "chedd was refused[2J at once"),
            ("", ""),
            ("you can’t “do” this — or\u{202e} that…", "you can’t “do” this — or that…"),
            // Whole, in part, in pieces, and as a header has it.
            ("hunter+29XYZZY or unter2", "… or …"),
            ("h u n t e r 29 xy zzy.", "…."),
            ("Basic bWU6SHVudGVyKzI5eHl6enk=", "Basic …="),
            ("basic bwu6shvu dgvykzi5 ehl6enk", "basic …"),
            // In hexadecimal digits, and in a URL.
            ("48756e746572 2b 3239", "…"),
            ("%48%75%6E%74%65%72%2B29", "%…"),
            // Other words that begin in the same way, and the name of a host.
            ("hunt the xyz", "hunt the xyz"),
            ("no route to http://PROXY.example.com:80/", "no route to http://…:80/"),
            ("proxy.example.org is an example", "proxy.example.org is an example"),
        ] {
            assert_eq!(redacted(message), shown, "{message}");
        }
    }
}
