//! Finds long runs of a conversation in a text of a server, however it quotes them: in other case, escaped, wrapped, or with
//! other signs between the letters.
//!
//! A run has at least [`LONG`] characters, in more than one word on both sides; a single word says nothing, unless it mixes
//! letters and digits as a token does. The costs are linear in the conversation, which is read once: what the text of the
//! server does not have is passed over.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;
use std::ops::Range;

use crate::error::leaks::runs;

/// The characters of the shortest run. Signs and white space between two letters count as one.
const LONG: usize = 20;

/// The letters and digits that all runs have at least: every second character of one is a sign at most.
const WINDOW: usize = LONG / 2 + 1;

/// A name in code, such as `max_tokens`, counts as no more characters: it is no long run with another one or with a word.
const CODE: usize = 7;

/// The longest text without spaces that may be a word.
const LONGEST_WORD: usize = 64;

/// The most digits of a number in a name, as in `messages[120]`, and of all that are beside letters.
const NUMBER: usize = 3;

/// The longest part of a name with letters and digits, as in `library/llama3.2`.
const VERSION: usize = 6;

/// A word that a run has in part is hidden as a whole if the run has this number of its characters. Fewer are equal by chance.
const PART_OF_WORD: usize = 4;

/// The bits of a letter in a key.
const BITS: usize = 11;

/// The bits of a key.
const KEY: u128 = (1 << (BITS * WINDOW)) - 1;

/// A text of a server, to be compared with others.
pub(super) struct Quotes<'c> {
    chars: &'c [char],
    /// The letters and digits of the text, by their places.
    letters: Vec<Range<usize>>,
    /// For each place in `letters` where a window begins, the number of the window.
    windows: Vec<usize>,
    numbers: HashMap<u128, usize>,
    filter: Filter,
}

/// Texts that are compared, one after the other.
pub(super) struct Compared<'q> {
    quotes: &'q Quotes<'q>,
    /// Whether these texts have a window in a long run, by its number.
    found: Vec<bool>,
    /// The last letters.
    last: Last,
    run: Run,
}

/// The last letters of a text, as many as a window has.
#[derive(Default)]
struct Last {
    key: u128,
    letters: usize,
    /// A bit for each letter that does not follow the one before it directly.
    gaps: u32,
    /// A bit for each letter that is in another word than the one before it.
    words: u32,
    /// A bit for each digit, and for each letter without case.
    others: u32,
}

/// Windows of one text that follow each other in another one as well.
#[derive(Default)]
struct Run {
    /// The length in characters.
    length: usize,
    letters: usize,
    /// The letters of the last word, and of the longest one before it.
    word: usize,
    longest: usize,
    /// Whether there are digits, or letters without case.
    has_others: bool,
    /// The windows, by their numbers, while the run is no long one.
    windows: Vec<usize>,
}

/// What is between two letters.
#[derive(Clone, Copy, PartialEq)]
enum Gap {
    None,
    /// Signs that a name may have.
    Signs,
    Other,
}

impl<'c> Quotes<'c> {
    pub(super) fn new(chars: &'c [char]) -> Self {
        let (mut letters, mut keys, mut last) = (Vec::new(), Vec::new(), Last::default());
        read(chars.iter().copied(), |at, letter, gap| {
            letters.push(at);
            last.push(letter, gap);
            keys.extend(last.is_full().then_some(last.key));
        });
        let mut quotes =
            Self { chars, letters, windows: Vec::new(), numbers: HashMap::new(), filter: Filter::new() };
        // Most texts in fields of their own are words.
        if quotes.length(&(0..chars.len())) >= LONG {
            keys.into_iter().for_each(|key| quotes.add(key));
        }
        quotes
    }

    fn add(&mut self, key: u128) {
        let next = self.numbers.len();
        let number = match self.numbers.entry(key) {
            Entry::Occupied(number) => *number.get(),
            Entry::Vacant(place) => {
                self.filter.insert(key);
                *place.insert(next)
            }
        };
        self.windows.push(number);
    }

    /// Whether no text can have a long run of this one.
    pub(super) fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    pub(super) fn compare(&self) -> Compared<'_> {
        let found = vec![false; self.numbers.len()];
        Compared { quotes: self, found, last: Last::default(), run: Run::default() }
    }

    /// The characters in long runs of what was `sent`, without those in long runs of `own` words.
    pub(super) fn found(&self, sent: &Compared<'_>, own: &Compared<'_>) -> Vec<Range<usize>> {
        let (sent, own) = (self.marks(sent), self.marks(own));
        let marks: Vec<bool> = sent.iter().zip(own).map(|(sent, own)| *sent && !own).collect();
        let mut start = 0;
        let runs = marks.chunk_by(|one, other| one == other).filter_map(|run| {
            let at = start..start + run.len();
            start = at.end;
            run.contains(&true).then_some(at)
        });
        runs.filter_map(|run| self.whole_words(&run)).filter(|found| self.length(found) >= LONG).collect()
    }

    /// Whether each letter is in a long run of the compared texts.
    fn marks(&self, compared: &Compared<'_>) -> Vec<bool> {
        let mut marks = vec![false; self.letters.len()];
        for (start, number) in self.windows.iter().enumerate() {
            if compared.found.get(*number) == Some(&true) {
                marks.iter_mut().skip(start).take(WINDOW).for_each(|mark| *mark = true);
            }
        }
        marks
    }

    /// The length of a part of the text, in characters. A word counts as fewer than a long run has.
    fn length(&self, part: &Range<usize>) -> usize {
        let is_inside = |at: &&Range<usize>| part.start <= at.start && at.end <= part.end;
        let mut letters = self.letters.iter().filter(is_inside).peekable();
        let mut length = 0_usize;
        for word in runs(self.chars, |c| c.is_alphanumeric() || is_sign(c)) {
            let (mut in_word, mut end) = (0, None);
            while let Some(at) = letters.next_if(|at| at.start < word.end) {
                in_word += 1 + usize::from(end.is_some_and(|end| end < at.start));
                end = Some(at.end);
            }
            if in_word > 0 {
                let most = most(self.chars.get(word).unwrap_or_default());
                length += in_word.min(most) + usize::from(length > 0);
            }
        }
        length
    }

    /// The characters of a run of letters. A word that it has in part, at an end, is inside as a whole or not at all.
    fn whole_words(&self, run: &Range<usize>) -> Option<Range<usize>> {
        let letters = self.letters.get(run.clone())?;
        let mut found = letters.first()?.start..letters.last()?.end;
        for word in runs(self.chars, is_in_word) {
            let common = found.end.min(word.end).saturating_sub(found.start.max(word.start));
            if common == 0 || common == word.len() {
                continue;
            }
            if common >= PART_OF_WORD {
                found = found.start.min(word.start)..found.end.max(word.end);
            } else if word.start < found.start {
                found.start = letters.iter().find(|at| at.start >= word.end)?.start;
            } else {
                found.end = letters.iter().rfind(|at| at.end <= word.start)?.end;
            }
        }
        Some(found)
    }
}

impl Compared<'_> {
    /// Compares a text that continues the one before it.
    pub(super) fn read(&mut self, text: &str) {
        read(text.chars(), |_, letter, gap| self.push(letter, gap));
    }

    /// Ends a text: no run continues in the next one.
    pub(super) fn end(&mut self) {
        (self.last, self.run) = (Last::default(), Run::default());
    }

    fn push(&mut self, letter: char, gap: Gap) {
        let Self { quotes, found, last, run } = self;
        last.push(letter, gap);
        let is_known = last.is_full() && quotes.filter.has(last.key);
        let Some(number) = is_known.then(|| quotes.numbers.get(&last.key)).flatten() else {
            if run.length > 0 {
                *run = Run::default();
            }
            return;
        };
        let new = if run.length == 0 { WINDOW } else { 1 };
        (0..new).rev().for_each(|back| run.push(last, back));
        run.windows.push(*number);
        if run.length >= LONG && run.is_text() {
            for number in run.windows.drain(..) {
                found.get_mut(number).into_iter().for_each(|found| *found = true);
            }
        }
    }
}

impl Last {
    fn push(&mut self, letter: char, gap: Gap) {
        self.gaps = self.gaps << 1 | u32::from(gap != Gap::None);
        self.words = self.words << 1 | u32::from(gap == Gap::Other);
        self.others = self.others << 1 | u32::from(!letter.is_lowercase());
        // Letters of other alphabets lose bits. It is unlikely that all letters of two windows lose their differences.
        let letter = u32::from(letter);
        let letter = (letter ^ (letter >> BITS)) & ((1 << BITS) - 1);
        self.key = (self.key << BITS | u128::from(letter)) & KEY;
        self.letters = (self.letters + 1).min(WINDOW);
    }

    fn is_full(&self) -> bool {
        self.letters == WINDOW
    }
}

impl Run {
    /// Adds the letter that is this number of letters before the last one.
    fn push(&mut self, last: &Last, back: usize) {
        let is_in = |bits: u32| bits >> back & 1 == 1;
        // What is before the first letter is not inside.
        let has_gap = self.letters > 0 && is_in(last.gaps);
        if self.letters > 0 && is_in(last.words) {
            self.longest = self.longest.max(mem::take(&mut self.word));
        }
        self.length += 1 + usize::from(has_gap);
        self.letters += 1;
        self.word += 1;
        self.has_others |= is_in(last.others);
    }

    /// Whether this is no single word, with some letters of its neighbours.
    fn is_text(&self) -> bool {
        let others = self.letters - self.word.max(self.longest);
        self.has_others || others >= PART_OF_WORD || self.length > LONGEST_WORD
    }
}

/// Calls `each` with the letters and digits of a text, in lower case, their places, and what is before them. The escapes of
/// JSON are decoded. Letters beyond the first 65,536 characters are left out, because JSON escapes each of them as two.
fn read(mut chars: impl Iterator<Item = char> + Clone, mut each: impl FnMut(Range<usize>, char, Gap)) {
    let (mut at, mut escape, mut gap) = (0, None, Gap::Other);
    while let Some(mut c) = chars.next() {
        let mut start = at;
        at += 1;
        if c == '\\' {
            escape.get_or_insert(start);
            gap = Gap::Other;
            continue;
        }
        // A text may be escaped several times, so any number of signs is one.
        if let Some(before) = mem::take(&mut escape) {
            if "bfnrt".contains(c) {
                continue;
            }
            if let Some(code) = (c == 'u').then(|| unicode(chars.clone())).flatten() {
                chars.nth(3);
                (c, start, at) = (char::from_u32(code).unwrap_or(' '), before, at + 4);
            }
        }
        if c.is_ascii_alphanumeric() {
            each(start..at, c.to_ascii_lowercase(), mem::replace(&mut gap, Gap::None));
        } else if !c.is_ascii() && c <= '\u{ffff}' && c.is_alphanumeric() {
            let letters = c.to_lowercase().filter(|it| *it == c || it.is_alphanumeric());
            letters.for_each(|letter| each(start..at, letter, mem::replace(&mut gap, Gap::None)));
        } else {
            gap = if is_sign(c) && gap != Gap::Other { Gap::Signs } else { Gap::Other };
        }
    }
}

/// The number of the four hexadecimal digits that come next.
fn unicode(digits: impl Iterator<Item = char>) -> Option<u32> {
    let digits: Vec<u32> = digits.take(4).map_while(|digit| digit.to_digit(16)).collect();
    (digits.len() == 4).then(|| digits.iter().fold(0, |number, digit| number << 4 | digit))
}

/// The most characters that a text without spaces counts as.
fn most(text: &[char]) -> usize {
    let mut digits = 0;
    let mut is_part = |part: &[char]| {
        let in_part = part.iter().filter(|c| c.is_ascii_digit()).count();
        let is_number = in_part == part.len();
        digits += if is_number { 0 } else { in_part };
        let is_cased = part.iter().all(|c| c.is_ascii_digit() || is_cased(*c));
        is_cased && (in_part == 0 || part.len() <= if is_number { NUMBER } else { VERSION })
    };
    match text {
        _ if text.len() > LONGEST_WORD => usize::MAX,
        _ if !text.split(|c| is_sign(*c)).all(&mut is_part) || digits > NUMBER => usize::MAX,
        _ if text.contains(&'_') || text.contains(&'[') => CODE,
        _ => LONG - 1,
    }
}

/// The signs in names, as in `messages[0].content` and `library/llama3.2`.
fn is_sign(c: char) -> bool {
    "_.-/[]".contains(c)
}

fn is_in_word(c: char) -> bool {
    is_cased(c) || c.is_numeric()
}

/// Writing without upper and lower case may be without spaces, too, so that a sentence looks like a word.
fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase()
}

/// The bits of a key by which it is looked up: those of the last six letters.
const LAST: u128 = (1 << 64) - 1;

/// A set of keys, which may have others as well: a Bloom filter.
struct Filter([u64; 256]);

impl Filter {
    fn new() -> Self {
        Self([0; 256])
    }

    fn insert(&mut self, key: u128) {
        let (word, bit) = place(key);
        self.0.get_mut(word).into_iter().for_each(|word| *word |= bit);
    }

    fn has(&self, key: u128) -> bool {
        let (word, bit) = place(key);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// The word and the bit of a key.
fn place(key: u128) -> (usize, u64) {
    // The high bits of a product with an odd number near the golden ratio are evenly distributed.
    let hash = (key & LAST).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 50 & 0x3FFF;
    (usize::try_from(hash >> 6).unwrap_or_default(), 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::leaks::Leaks;

    const CONVERSATION: &str = "The Moon is made of cheddar, says Zoë. Her e-mail is zoey.doe@example.com.\n\
        She has the token 8f14e45fceea167a5a36dedd4bea2543 and the plans of the harbour.\n\
        Луна сделана из сыра, говорит она. 她说月亮是用奶酪做的而不是石头做的所以很好吃。\n\
        We set no_max_completion_tokens, may_we, max_completion_tokens, temperature and Rechtsschutzversicherungsgesellschaften. Now.\n\
        The key ab12-cd34-ef56-gh78-ij90 is for registry.ollama.ai/library/llama3.2 and messages[120].content[7].";

    fn redacted(message: &str, conversation: &str, own: &str) -> String {
        let mut leaks = Leaks::new(message);
        let quotes = Quotes::new(leaks.chars());
        let [sent, own] = [conversation, own].map(|text| {
            let mut compared = quotes.compare();
            compared.read(text);
            compared
        });
        quotes.found(&sent, &own).into_iter().for_each(|at| leaks.hide(at));
        leaks.redacted()
    }

    #[test]
    fn long_runs_of_a_conversation_are_hidden_and_words_are_not() {
        for (message, shown) in [
            // As it was sent, in other case, wrapped, escaped once and twice, in pieces.
            ("Invalid: 'The Moon is made of cheddar, says' he.", "Invalid: '…' he."),
            ("Invalid: 'the moon IS MADE OF CHEDDAR' he.", "Invalid: '…' he."),
            ("the moon is\n  made of ched\n-dar!", "…!"),
            (r#"{"content":"zoey.doe@example.com.\nShe has"}"#, r#"{"content":"…"}"#),
            (r#"{\"content\":\"zoey.doe@example.com.\\nShe has\"}"#, r#"{\"content\":\"…\"}"#),
            (r"ends in says Zo\u00eb. Her e-mail is", "ends in …"),
            ("T-h-e M-o-o-n i.s m.a.d.e of ched", "…"),
            // In other letters.
            ("Неверно: «ЛУНА СДЕЛАНА ИЗ СЫРА»", "Неверно: …"),
            (
                r"\u041b\u0443\u043d\u0430 \u0441\u0434\u0435\u043b\u0430\u043d\u0430 \u0438\u0437 \u0441\u044b\u0440\u0430",
                "…",
            ),
            ("内容「月亮是用奶酪做的而不是石头做的所以很好吃」不合规", "内容…不合规"),
            // A part that ends inside of a word, and a word that is only similar.
            ("The Moon is made of ched... is odd", "…... is odd"),
            ("the plans of the harbour are", "… are"),
            ("the plans of the harmony are", "the plans of the harmony are"),
            ("and the plans of the harmony are", "… harmony are"),
            // An address, and a token alone.
            ("unknown: zoey.doe@example.com", "unknown: …"),
            ("code=8f14e45fceea167a5a36dedd4bea2543&x", "code=…&x"),
            ("code=ab12-cd34-ef56-gh78-ij90", "code=…"),
            ("registry.ollama.ai/library/llama3.2 model", "registry.ollama.ai/library/llama3.2 model"),
            // Too short, or single words, or names in code.
            (
                "The Moon is made, she says: Moon, cheddar, harbour",
                "The Moon is made, she says: Moon, cheddar, harbour",
            ),
            ("set max_completion_tokens, max_tokens", "set max_completion_tokens, max_tokens"),
            ("'max_completion_tokens' temperature", "'max_completion_tokens' temperature"),
            ("Invalid_request_error.messages", "Invalid_request_error.messages"),
            ("no max completion tokens", "no max completion tokens"),
            ("no max completion tokens mad", "no max completion tokens mad"),
            ("Rechtsschutzversicherungsgesellschaften. No", "Rechtsschutzversicherungsgesellschaften. No"),
            ("Rechtsschutzversicherungsgesellschaften", "Rechtsschutzversicherungsgesellschaften"),
            ("Луна из сыра", "Луна из сыра"),
            ("at messages[120].content[7]: no", "at messages[120].content[7]: no"),
            ("token 8f14e45fceea1", "token 8f14e45fceea1"),
            ("", ""),
        ] {
            assert_eq!(redacted(message, CONVERSATION, ""), shown, "{message}");
        }
    }

    #[test]
    fn own_words_are_shown_beside_others() {
        let own = r#"{"type":"object","properties":{"stars":{"description":"From 1 to 5."}}}"#;
        let conversation = format!("Rate the pizza of this place. Use {own}");
        let message = format!("Bad text: Rate the pizza of this place. Use {own}.");
        assert_eq!(redacted(&message, &conversation, own), format!("Bad text: … {own}."));
        assert_eq!(redacted(&message, &conversation, ""), "Bad text: ….\"}}}.");
    }

    #[test]
    fn the_parts_of_a_text_are_one_text_until_it_ends() {
        let chars: Vec<char> = "the plans of the harbour".chars().collect();
        let quotes = Quotes::new(&chars);
        for (ends, found) in [(false, Some(0..24)), (true, None)] {
            let mut sent = quotes.compare();
            for part in ["the plans ", "of the har", "bour"] {
                sent.read(part);
                if ends {
                    sent.end();
                }
            }
            assert_eq!(quotes.found(&sent, &quotes.compare()), Vec::from_iter(found));
        }
    }
}
