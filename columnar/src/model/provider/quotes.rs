//! Finds long runs of a conversation in a text of a server, however it quotes them: in other case, escaped, wrapped, or with
//! other signs between the letters.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::leaks::runs;

/// The letters and digits of the shortest run. With the signs and spaces between them these are about 20 characters.
const WINDOW: usize = 16;

/// A run has this number of letters beside its longest word, or a part of a name would be found in another one.
const BESIDE: usize = 4;

/// The digits of a token, such as an id. Names have fewer, such as `messages[120].content`.
const DIGITS: usize = 6;

/// The signs in names, as in `messages[0].content` and `library/llama3.2`.
const SIGNS: &str = "_.-/[]";

/// A text of a server, to be compared with others.
pub(super) struct Quotes<'c> {
    chars: &'c [char],
    /// The letters and digits of the text, by their places.
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

    /// The parts that are in texts that were sent, without those in the library's own words.
    pub(super) fn found(
        &self,
        sent: impl Iterator<Item: AsRef<str>>,
        own: impl Iterator<Item: AsRef<str>>,
    ) -> Vec<Range<usize>> {
        if self.windows.is_empty() {
            return Vec::new();
        }
        let (sent, own) = (self.marks(sent), self.marks(own));
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

    /// The characters of a run with the rests of its words, unless it is a word or a name.
    fn text(&self, run: &[usize]) -> Option<Range<usize>> {
        let (first, last) = (*run.first()?, *run.last()?);
        let mut found = first..last + 1;
        for word in runs(self.chars, char::is_alphanumeric) {
            if word.start < found.end && found.start < word.end {
                found = found.start.min(word.start)..found.end.max(word.end);
            }
        }
        let of = |at: &Range<usize>| run.iter().filter(|letter| at.contains(letter)).count();
        let words = runs(self.chars, |c| c.is_alphanumeric() || SIGNS.contains(c));
        let longest = words.iter().map(of).max().unwrap_or_default();
        let text = self.chars.get(found.clone())?;
        // Writing without upper and lower case may be without spaces, too.
        let has_no_case = |c: &char| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase();
        let is_token = text.iter().filter(|c| c.is_ascii_digit()).count() >= DIGITS;
        (run.len() - longest >= BESIDE || is_token || text.iter().any(has_no_case)).then_some(found)
    }
}

/// Calls `each` with the letters and digits of a text by their places, each with the last ones, as a number.
fn read(chars: impl Iterator<Item = char>, mut each: impl FnMut(usize, u128)) {
    let (mut window, mut is_escaped) = (0, false);
    for (at, c) in chars.enumerate() {
        // The escape of a line end, in a text that may be escaped several times.
        let is_escape = is_escaped && "bfnrt".contains(c);
        is_escaped = c == '\\';
        if c.is_alphanumeric() && !is_escape {
            // Letters of other alphabets share numbers; all those of a window by chance do not.
            let letter = c.to_lowercase().fold(0, |all, c| all ^ u32::from(c)) % 251;
            window = window << 8 | u128::from(letter);
            each(at, window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::leaks::Leaks;

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
            // As it was sent, in other case, wrapped, escaped once and twice, in pieces.
            ("Invalid: 'The Moon is made of cheddar, says' he.", "Invalid: '…' he."),
            ("Invalid: 'the moon IS MADE OF CHEDDAR' he.", "Invalid: '…' he."),
            ("the moon is\n  made of ched\n-dar!", "…!"),
            (r#"{"content":"zoey.doe@example.com.\nShe has"}"#, r#"{"content":"…"}"#),
            (r#"{\"content\":\"zoey.doe@example.com.\\nShe has\"}"#, r#"{\"content\":\"…\"}"#),
            ("T-h-e M-o-o-n i.s m.a.d.e of ched", "…"),
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
