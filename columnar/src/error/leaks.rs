//! Finds parts of sent texts in a text of a server: words of the conversation, and any part of a secret, as they were sent
//! or encoded in base64, in hexadecimal digits or for a URL.
//!
//! Its limits: a server that wants to leak something can encode it in a way that is not known here. But it has received
//! the conversation and the key, and could send them elsewhere. The aim is that no error, log or store repeats them.

use std::collections::HashMap;
use std::ops::Range;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

/// Words up to this length are not redacted: they are too common to reveal anything.
pub(crate) const SHORT: usize = 3;

/// A part of a secret with this number of letters and digits is hidden.
const PART: usize = 5;

/// Letters and digits in a row of a conversation that are hidden also if a server writes other characters between them.
/// The eight digits of a date are not: ids begin with one.
const ROW: usize = 9;

/// The bits of a row as a number.
const ROW_BITS: u128 = (1 << (8 * ROW)) - 1;

/// The four letters by which texts are compared before they are compared as a whole.
const GRAM: usize = 4;

/// Base64 that may begin and end anywhere.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const BASE64_FOR_URLS: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// A text of a server, and its characters that must be hidden.
pub(crate) struct Leaks {
    chars: Vec<char>,
    hidden: Vec<bool>,
    readings: Vec<Reading>,
    grams: Grams,
    /// The letters and digits in a row, as numbers, with the characters to hide. Only signs are between them: the words of
    /// a sentence are no row.
    rows: HashMap<u128, Vec<Range<usize>>>,
    row_grams: Grams,
    /// Words up to this length are not redacted.
    short: usize,
}

/// Letters and digits that the text has or, decoded, may mean.
struct Reading {
    text: Vec<u8>,
    /// The characters to hide.
    at: Range<usize>,
}

impl Leaks {
    /// Invisible and control characters are dropped: they could hide a word, or change the terminal.
    pub(crate) fn new(text: &str, short: usize) -> Self {
        let words: Vec<String> =
            text.split_whitespace().map(|word| word.chars().filter(|c| is_visible(*c)).collect()).collect();
        let chars: Vec<char> = words.join(" ").chars().collect();
        let mut leaks = Self {
            hidden: vec![false; chars.len()],
            chars,
            readings: Vec::new(),
            grams: Grams::new(),
            rows: HashMap::new(),
            row_grams: Grams::new(),
            short,
        };
        for run in leaks.runs(|c| !c.is_whitespace()) {
            leaks.add_rows(run.clone());
            leaks.read_word(run);
        }
        for run in leaks.runs(char::is_alphanumeric) {
            let text: String = leaks.chars(&run).map(|c| c.to_ascii_lowercase()).collect();
            leaks.add(text.into_bytes(), run);
        }
        leaks
    }

    /// Hides the words with other letters than those of ASCII: they may be words of a conversation in other letters.
    #[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "a database gets no conversation"))]
    pub(crate) fn hide_foreign_words(&mut self) {
        for run in self.runs(char::is_alphanumeric) {
            if self.chars(&run).any(|c| !c.is_ascii()) {
                self.hide(run);
            }
        }
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

    /// Hides the words that are in a sent text, or are a part of one of its words, and its letters and digits in a row.
    #[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "a database gets no conversation"))]
    pub(crate) fn hide_words(&mut self, sent: &str) {
        if !self.rows.is_empty() {
            self.hide_rows(sent);
        }
        let sent = sent.to_ascii_lowercase();
        let words = sent.as_bytes().split(|byte| !byte.is_ascii_alphanumeric());
        // A conversation is long and this text is short, so nearly all words end at the second filter.
        for word in words.filter(|word| word.len() > self.short).filter(|word| self.grams.share(word)) {
            for Reading { text, at } in &self.readings {
                let is_part = text.len() > self.short && contains(word, text);
                if is_part || contains(text, word) {
                    hide(&mut self.hidden, at.clone());
                }
            }
        }
    }

    /// Hides letters and digits that the sent text has in a row, whatever other characters either side has between them.
    #[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "a database gets no conversation"))]
    fn hide_rows(&mut self, sent: &str) {
        let (mut row, mut found) = (0, Vec::new());
        for byte in sent.bytes().filter(u8::is_ascii_alphanumeric) {
            row = (row << 8 | u128::from(byte.to_ascii_lowercase())) & ROW_BITS;
            // A conversation is long and this text is short, so nearly all rows end at the first filter.
            if self.row_grams.has(last_gram(row)) {
                found.extend(self.rows.get(&row).into_iter().flatten().cloned());
            }
        }
        if !found.is_empty() {
            found.into_iter().for_each(|at| self.hide(at));
            self.hide_rests();
        }
    }

    /// Hides all parts of a secret, also if other characters are between its letters and digits.
    pub(crate) fn hide_secret(&mut self, secret: &str) {
        let (at, letters) = self.letters(0..self.chars.len());
        let mut hidden = Vec::new();
        for (form, part) in forms(secret) {
            // A shorter secret is found as a whole, unless it is no more than a short word.
            let part = part.min(form.len());
            if part <= SHORT {
                continue;
            }
            for (start, piece) in letters.as_bytes().windows(part).enumerate() {
                if contains(form.as_bytes(), piece) {
                    hidden.extend(at.get(start).copied().zip(at.get(start + part - 1).copied()));
                }
            }
        }
        for (first, last) in hidden {
            self.hide(first..last + 1);
        }
        self.hide_rests();
    }

    /// Hides the rest of each word that is hidden in part: it would show the end of a secret.
    fn hide_rests(&mut self) {
        for run in self.runs(char::is_alphanumeric) {
            if self.hidden.get(run.clone()).is_some_and(|hidden| hidden.contains(&true)) {
                self.hide(run);
            }
        }
    }

    /// Reads a text between spaces: what it may mean, if it is decoded.
    fn read_word(&mut self, at: Range<usize>) {
        let word: String = self.chars(&at).collect();
        // Providers quote a part of a key, as in `sk-ab*****yz`.
        if word.contains('*')
            || word.split(|c: char| !c.is_alphanumeric() && c != '-').any(|it| it.starts_with("sk-"))
        {
            self.hide(at.clone());
        }
        let mut decoded: Vec<Vec<u8>> = Vec::new();
        if word.contains('%') {
            decoded.push(percent_decode_str(&word).collect());
        }
        for digits in word.split(|c: char| !c.is_ascii_hexdigit()) {
            decoded.extend([digits, digits.get(1..).unwrap_or_default()].map(unhex));
        }
        for letters in word.split(|c: char| !c.is_ascii_alphanumeric() && !"+/-_".contains(c)) {
            // The encoded text may begin at any letter.
            let starts = (0..4).filter_map(|start| letters.get(start..)).map(|it| {
                // One letter beyond a group of four has less than a byte.
                it.get(..it.len() - usize::from(it.len() % 4 == 1)).unwrap_or_default()
            });
            decoded.extend(starts.flat_map(|it| [BASE64.decode(it), BASE64_FOR_URLS.decode(it)]).flatten());
        }
        for bytes in decoded {
            for text in bytes.split(|byte| !byte.is_ascii_alphanumeric()) {
                self.add(text.to_ascii_lowercase(), at.clone());
            }
        }
    }

    fn add(&mut self, text: Vec<u8>, at: Range<usize>) {
        if text.len() > self.short {
            self.grams.add(&text);
            self.readings.push(Reading { text, at });
        }
    }

    fn add_rows(&mut self, word: Range<usize>) {
        let (at, letters) = self.letters(word);
        for (row, at) in letters.as_bytes().windows(ROW).zip(at.windows(ROW)) {
            let row = row.iter().fold(0, |row, byte| row << 8 | u128::from(*byte));
            if let [first, .., last] = at {
                self.rows.entry(row).or_default().push(*first..last + 1);
                self.row_grams.insert(last_gram(row));
            }
        }
    }

    fn hide(&mut self, at: Range<usize>) {
        hide(&mut self.hidden, at);
    }

    /// The letters and digits of a part of the text in lower case, with their positions.
    fn letters(&self, part: Range<usize>) -> (Vec<usize>, String) {
        let chars = part.clone().zip(self.chars(&part));
        chars.filter(|(_, c)| c.is_ascii_alphanumeric()).map(|(at, c)| (at, c.to_ascii_lowercase())).unzip()
    }

    fn chars(&self, at: &Range<usize>) -> impl Iterator<Item = char> {
        self.chars.get(at.clone()).unwrap_or_default().iter().copied()
    }

    /// The longest runs of such characters.
    fn runs(&self, is_inside: impl Fn(char) -> bool) -> Vec<Range<usize>> {
        let mut at = 0;
        let groups = self.chars.chunk_by(|one, other| is_inside(*one) == is_inside(*other));
        let ranges = groups.map(|group| {
            let start = at;
            at += group.len();
            (group.first().copied().is_some_and(&is_inside), start..at)
        });
        ranges.filter_map(|(is_inside, range)| is_inside.then_some(range)).collect()
    }
}

fn hide(hidden: &mut [bool], at: Range<usize>) {
    hidden.get_mut(at).into_iter().flatten().for_each(|hidden| *hidden = true);
}

/// ASCII, letters, and the dashes, quotation marks and dots of the block General Punctuation. Its other characters, and
/// those of other blocks, may be invisible or turn the direction of the text.
fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || c.is_alphanumeric() || ('\u{2010}'..='\u{2026}').contains(&c)
}

fn contains(text: &[u8], piece: &[u8]) -> bool {
    text.windows(piece.len().max(1)).any(|window| window == piece)
}

/// The bytes of pairs of digits.
fn unhex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks_exact(2).filter_map(|pair| str::from_utf8(pair).ok());
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
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
        let encoded = BASE64.encode(format!("{before}{secret}"));
        let end = (before.len() + secret.len()) * 8 / 6;
        let start = (before.len() * 8).div_ceil(6);
        (plain(encoded.get(start..end).unwrap_or_default()), PART * 4 / 3 + 1)
    });
    [(plain(secret), PART), (hex, 2 * PART)].into_iter().chain(base64).collect()
}

/// A set of four letters each, which may have others as well: a Bloom filter.
struct Grams([u64; 256]);

impl Grams {
    fn new() -> Self {
        Self([0; 256])
    }

    fn add(&mut self, text: &[u8]) {
        text.windows(GRAM).for_each(|gram| self.insert(number(gram)));
    }

    fn insert(&mut self, gram: u32) {
        let (word, bit) = place(gram);
        self.0.get_mut(word).into_iter().for_each(|word| *word |= bit);
    }

    /// Whether these four letters may be in the set.
    fn has(&self, gram: u32) -> bool {
        let (word, bit) = place(gram);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Whether any four letters of the word may be in the set.
    fn share(&self, word: &[u8]) -> bool {
        word.windows(GRAM).any(|gram| self.has(number(gram)))
    }
}

/// Four letters as a number.
fn number(gram: &[u8]) -> u32 {
    gram.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The last four letters of a row, as a number.
fn last_gram(row: u128) -> u32 {
    let [.., a, b, c, d] = row.to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

/// The word and the bit of four letters.
fn place(gram: u32) -> (usize, u64) {
    // The high bits of a product with an odd number near the golden ratio are evenly distributed.
    let hash = gram.wrapping_mul(0x9E37_79B1) >> 18;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(message: &str) -> String {
        let mut leaks = Leaks::new(message, SHORT);
        leaks.hide_foreign_words();
        leaks.hide_words("The Moon is made of cheddar. It weighs 73476730.");
        leaks.hide_secret("me:Hunter+29xyzzy");
        leaks.redacted()
    }

    #[test]
    fn a_sentence_reveals_nothing_that_was_sent() {
        for (message, shown) in [
            ("Incorrect API key: sk-abc*****xyz. See `moon`.", "Incorrect API key: … See `…`."),
            ("Invalid value: 'the moon is MADE of cheddar'", "Invalid value: 'the … is … of …'"),
            ("input=\"xcheddary\" of task-12", "input=\"…\" of task-12"),
            ("chedd was refused\u{1b}[2J\n at once", "… was refused[2J at once"),
            ("the moon is made of cheddar", "the … is … of …"),
            ("", ""),
            ("pas de clé connue", "pas de … connue"),
            ("you can’t “do” this — or\u{202e} that…", "you can’t “do” this — or that…"),
            // In base64, in hexadecimal digits, and in a URL.
            ("got Y2hlZGRhcg== and Q2hlZGRhciE", "got … and …"),
            ("got 63686564646172, %63%68edd%61r", "got … …"),
            ("got NzM0NzY3MzA=", "got …"),
            // In pieces.
            ("got moo-nis-mad-eof, and 73.47.67.3x", "got …, and 73.47.67.3x"),
            // The secret: whole, in part, in pieces, and as a header has it.
            ("hunter+29XYZZY or unter2", "… or …"),
            ("h u n t e r 29 xy zzy.", "…."),
            ("Basic bWU6SHVudGVyKzI5eHl6enk=", "Basic …="),
            ("basic bwu6shvu dgvykzi5 ehl6enk", "basic …"),
            ("48756e746572 2b 3239", "…"),
        ] {
            assert_eq!(redacted(message), shown, "{message}");
        }
    }
}
