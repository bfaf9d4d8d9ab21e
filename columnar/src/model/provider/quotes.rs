//! Finds long runs of a conversation in a text of a server, in all ways of quoting: in other case, escaped, wrapped,
//! or with other signs between the letters.

use std::collections::HashMap;
use std::ops::Range;

use crate::declare::error::leaks::runs;

/// The characters of the shortest run. Signs and spaces between two letters count as one.
const WINDOW: usize = 20;

/// The bits of a character in a window.
const BITS: usize = 6;

/// The number of letters that a run has beside its longest word: with fewer, a part of a name would be found in
/// another name.
const BESIDE: usize = 4;

/// The digits of a token, such as an id. Names have fewer, such as `messages[120].content`.
const DIGITS: usize = 6;

/// The longest part of a name with letters and digits, as in `library/llama3.2`.
const VERSION: usize = 6;

/// The signs in names, as in `messages[0].content` and `library/llama3.2`.
const SIGNS: &str = "_.-/[]";

/// A text of a server, to be compared with others.
pub(super) struct Quotes<'c> {
    chars: &'c [char],
    /// The characters of windows, by place.
    letters: Vec<usize>,
    /// The places in `letters` at which the windows begin.
    windows: HashMap<u128, Vec<usize>>,
}

impl<'c> Quotes<'c> {
    pub(super) fn new(chars: &'c [char]) -> Self {
        let mut letters = Vec::new();
        let mut windows = HashMap::<_, Vec<usize>>::new();
        read(chars.iter().copied(), |at, window| {
            letters.push(at);
            if let Some(start) = letters.len().checked_sub(WINDOW) {
                windows.entry(window).or_default().push(start);
            }
        });
        Self { chars, letters, windows }
    }

    /// The parts that occur in sent texts, but not in the library's own words.
    pub(super) fn found(
        &self,
        sent: impl Iterator<Item: AsRef<str>>,
        own: impl Iterator<Item: AsRef<str>>,
    ) -> Vec<Range<usize>> {
        if self.windows.is_empty() {
            return Vec::new();
        }
        let sent = self.marks(sent);
        let own = self.marks(own);
        let marks: Vec<bool> = sent.iter().zip(own).map(|(sent, own)| *sent && !own).collect();
        let mut end = 0;
        let runs = marks.chunk_by(|one, other| one == other).filter_map(|run| {
            let start = end;
            end += run.len();
            run.contains(&true).then(|| self.letters.get(start..end)).flatten()
        });
        runs.filter_map(|run| self.text(run)).collect()
    }

    /// Whether each letter is in a run of these texts.
    fn marks(&self, texts: impl Iterator<Item: AsRef<str>>) -> Vec<bool> {
        let mut marks = vec![false; self.letters.len()];
        for text in texts {
            read(text.as_ref().chars(), |_, window| {
                for start in self.windows.get(&window).into_iter().flatten() {
                    marks.iter_mut().skip(*start).take(WINDOW).for_each(|mark| *mark = true);
                }
            });
        }
        marks
    }

    /// The characters of a run with the rests of the words, unless it is a word or a name.
    fn text(&self, run: &[usize]) -> Option<Range<usize>> {
        let mut letters = run.iter().filter(|at| self.chars.get(**at).is_some_and(|c| c.is_alphanumeric()));
        let first = *letters.next()?;
        let last = *letters.next_back().unwrap_or(&first);
        let mut found = first..last + 1;
        for word in runs(self.chars, char::is_alphanumeric) {
            let is_word =
                self.chars.get(word.clone()).is_some_and(|word| word.iter().all(|c| !has_no_case(*c)));
            if is_word && word.start < found.end && found.start < word.end {
                found = found.start.min(word.start)..found.end.max(word.end);
            }
        }
        let mut longest = 0;
        let mut all = 0;
        for word in runs(self.chars, |c| c.is_alphanumeric() || SIGNS.contains(c)) {
            let letters = run.iter().filter(|letter| word.contains(letter)).count();
            longest = longest.max(letters);
            all += letters;
        }
        let text = self.chars.get(found.clone())?;
        let is_text = all - longest >= BESIDE || text.iter().any(|c| has_no_case(*c));
        (is_text || is_token(text)).then_some(found)
    }
}

/// Whether a letter is of a writing without upper and lower case, which may be without spaces, too.
fn has_no_case(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}

/// Whether a text without spaces is no name.
fn is_token(text: &[char]) -> bool {
    let mut parts = text.split(|c| !c.is_alphanumeric());
    digits(text) >= DIGITS
        || parts.any(|part| part.len() > VERSION && (1..part.len()).contains(&digits(part)))
}

fn digits(text: &[char]) -> usize {
    text.iter().filter(|c| c.is_ascii_digit()).count()
}

/// Calls `each` with the letters and digits of a text, and with one sign for everything between two of these, by
/// place. Each comes with the last characters, as a number. The escapes of JSON are decoded, also in a text that is
/// escaped several times.
fn read(chars: impl Iterator<Item = char> + Clone, mut each: impl FnMut(usize, u128)) {
    let mut window = 0;
    let mut is_escaped = false;
    let mut gap = None;
    let mut before_escape = None;
    let mut push = |at, symbol| {
        window = (window << BITS | u128::from(symbol)) & ((1 << (WINDOW * BITS)) - 1);
        each(at, window);
    };
    let mut chars = chars.enumerate();
    while let Some((at, mut c)) = chars.next() {
        if c == '\\' && !is_escaped {
            before_escape = gap;
        }
        if std::mem::replace(&mut is_escaped, c == '\\') {
            if "bfnrt".contains(c) {
                c = ' ';
            } else if c == 'u'
                && let digits = chars.clone().take(4).map(|(_, c)| c).collect::<String>()
                && let Ok(code) = u32::from_str_radix(&digits, 16)
                && let Some(decoded) = char::from_u32(code)
            {
                // The backslash of an escaped letter is no sign between two letters.
                (c, gap) = (decoded, before_escape);
                chars.nth(3);
            }
        }
        if c.is_alphanumeric() {
            // A name is distinguished from several words.
            if let Some((at, is_name)) = gap.take() {
                push(at, u32::from(is_name));
            }
            push(at, 2 + c.to_lowercase().fold(0, |all, c| all ^ u32::from(c)) % 61);
        } else {
            let is_line = c == '_';
            gap = gap.map_or(Some((at, is_line)), |(at, is_name)| Some((at, is_name && is_line)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::error::leaks::Leaks;

    const CONVERSATION: &str = "The Moon is made of cheddar, says Zoë. Her e-mail is zoey.doe@example.com.\n\
        She has the token 8f14e45fceea167a5a36dedd4bea2543 and the plans of the harbour.\n\
        Луна сделана из сыра, говорит она. 她说月亮是用奶酪做的而不是石头做的所以很好吃。\n\
        We set max_completion_tokens, temperature and Rechtsschutzversicherungsgesellschaften. Now.\n\
        The key ab12-cd34-ef56-gh78-ij90 is for registry.ollama.ai/library/llama3.2 and messages[120].content[7].";

    fn redacted(message: &str, conversation: &str, own: &str) -> String {
        let mut leaks = Leaks::new(message);
        let found = Quotes::new(leaks.chars()).found([conversation].into_iter(), [own].into_iter());
        found.into_iter().for_each(|at| leaks.hide(at));
        leaks.redacted()
    }

    #[test]
    fn long_runs_of_a_conversation_are_hidden_and_words_are_not() {
        for (message, shown) in [
            // As sent, in other case, wrapped, escaped once and twice, in pieces.
            ("Invalid: 'The Moon is made of cheddar, says' he.", "Invalid: '…' he."),
            ("Invalid: 'the moon IS MADE OF CHEDDAR' he.", "Invalid: '…' he."),
            ("the moon is\n  made of cheddar!", "…!"),
            (r"ends in says Zo\u00eb. Her e-mail is", "ends in …"),
            (r#"{"content":"zoey.doe@example.com.\nShe has"}"#, r#"{"content":"…"}"#),
            (r#"{\"content\":\"zoey.doe@example.com.\\nShe has\"}"#, r#"{\"content\":\"…\"}"#),
            // In other letters.
            ("Неверно: «ЛУНА СДЕЛАНА ИЗ СЫРА»", "Неверно: …"),
            ("内容「月亮是用奶酪做的而不是石头做的所以很好吃」不合规", "内容…不合规"),
            // A part that ends inside of a word.
            ("The Moon is made of ched... is odd", "…... is odd"),
            ("the plans of the harbour are", "… are"),
            // A token alone.
            ("code=8f14e45fceea167a5a36dedd4bea2543&x", "code=…&x"),
            ("code=ab12-cd34-ef56-gh78-ij90", "code=…"),
            // Too short, or single words, or names in code.
            (
                "The Moon is made, she says: Moon, cheddar, harbour",
                "The Moon is made, she says: Moon, cheddar, harbour",
            ),
            ("registry.ollama.ai/library/llama3.2 model", "registry.ollama.ai/library/llama3.2 model"),
            ("the max completion tokens of it", "the max completion tokens of it"),
            ("set max_completion_tokens, max_tokens", "set max_completion_tokens, max_tokens"),
            ("unknown: zoey.doe@example.com", "unknown: …"),
            ("Rechtsschutzversicherungsgesellschaften", "Rechtsschutzversicherungsgesellschaften"),
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
        let shown = redacted(&message, &conversation, own);
        assert!(shown.starts_with("Bad text: … {") && shown.ends_with(&format!("{own}.")), "{shown}");
    }
}
