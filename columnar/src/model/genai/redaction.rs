//! The redaction of providers' error messages: nothing that was sent may be shown.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value as Json;

use super::address::Address;
use crate::rendering::Request;

/// The longest sentence that is shown, in characters.
const LONGEST_SENTENCE: usize = 500;

/// The longest word for a kind of error.
const LONGEST_WORD: usize = 64;

/// Words up to this length are not redacted: they are too common to reveal anything.
const SHORT: usize = 3;

/// The content that was sent, and must not come back in an error.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) request: Request,
    pub(super) key: Option<String>,
    pub(super) address: Option<Address>,
}

impl Sent {
    /// The redacted error in the body of a reply: the words for its kind, and a sentence. Empty if nothing is left.
    pub(super) fn redacted_body(&self, body: &str) -> String {
        serde_json::from_str(body).map_or_else(|_| String::new(), |body| self.redacted_error(&body))
    }

    /// The same for a parsed body.
    pub(super) fn redacted_error(&self, body: &Json) -> String {
        // Gemini sends a list with one error.
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let redactor = Redactor::of(self);
        let words = ["type", "status", "code", "param"].iter().filter_map(|name| match error.get(name)? {
            Json::String(word) => Some(word.clone()),
            Json::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let words: Vec<String> = words.filter(|word| is_word(word) && !redactor.has(word)).collect();
        let sentence = [Some(error), error.get("message"), body.get("message"), body.get("detail")];
        let sentence =
            sentence.into_iter().flatten().find_map(Json::as_str).and_then(|it| redactor.redact(it));
        [Some(words.join(", ")).filter(|words| !words.is_empty()), sentence]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(": ")
    }
}

/// Whether the text looks like a provider's identifier for a kind of error or the end of a reply.
pub(super) fn is_word(word: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || "_.-[]".contains(c);
    (1..=LONGEST_WORD).contains(&word.len()) && word.chars().all(known)
}

/// The words that must be redacted.
struct Redactor {
    text: String,
    words: BTreeSet<String>,
}

impl Redactor {
    fn of(sent: &Sent) -> Self {
        let Request { system, messages, follow_up, stop, schema, .. } = &sent.request;
        let mut text = system.to_string();
        let mut add = |more: &str| {
            // The line break keeps the end of one text and the beginning of the next apart.
            text.push('\n');
            text.push_str(more);
        };
        messages.iter().for_each(|(_, message)| add(&message));
        follow_up.iter().for_each(|(_, message)| add(message));
        stop.iter().for_each(|stop| add(stop));
        if let Some(schema) = schema {
            add(&schema.json.to_string());
        }
        sent.key.iter().for_each(|key| add(key));
        sent.address.iter().for_each(|address| add(address.as_str()));
        // Providers may quote the request in another case.
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > SHORT);
        Self { words: words.map(str::to_owned).collect(), text }
    }

    /// Whether the word is a piece of the sent text, or contains one. A word that is not ASCII is assumed to be one.
    fn has(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        // Providers quote a part of the key, as in `sk-ab*****yz`, which is no piece of the sent text.
        let is_key = word.contains("sk-") || word.contains('*');
        is_key
            || !word.is_ascii()
            || (word.len() > SHORT && self.text.contains(&word))
            // All pieces of the word are looked up. A word has at most `LONGEST_SENTENCE` characters, and
            // here all of them are ASCII.
            || (0..word.len()).any(|start| self.has_word_at(&word, start))
    }

    /// Whether a sent word is in this one at `start`.
    fn has_word_at(&self, word: &str, start: usize) -> bool {
        let tail = word.get(start..).unwrap_or_default();
        let ends = (SHORT + 1)..=tail.len();
        ends.filter_map(|end| tail.get(..end)).any(|piece| self.words.contains(piece))
    }

    /// The redacted sentence; `None` if nothing readable is left.
    fn redact(&self, sentence: &str) -> Option<String> {
        let sentence: String = sentence.chars().take(LONGEST_SENTENCE).collect();
        let words: Vec<String> = sentence.split_whitespace().map(|word| self.shown(word)).collect();
        let is_readable =
            words.iter().any(|word| word.chars().filter(|c| c.is_alphanumeric()).count() > SHORT);
        is_readable.then(|| words.join(" "))
    }

    fn shown(&self, word: &str) -> String {
        if word.contains("sk-") || word.contains('*') {
            return "…".to_owned();
        }
        let runs = word.split_inclusive(|c: char| !c.is_alphanumeric());
        let shown = runs.map(|run| {
            let letters = run.trim_end_matches(|c: char| !c.is_alphanumeric());
            if self.has(letters) { run.replacen(letters, "…", 1) } else { run.to_owned() }
        });
        // Control characters could change the terminal.
        shown.collect::<String>().chars().filter(|c| !c.is_control()).collect()
    }
}

/// The end of an error message: the provider's text, if there is any.
pub(super) struct Suffix<'a>(pub(super) &'a str);

impl fmt::Display for Suffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let text = "the moon is made of cheddar".to_owned();
        Redactor { words: ["moon", "made", "cheddar"].map(str::to_owned).into(), text }
    }

    #[test]
    fn a_sentence_reveals_nothing_that_was_sent() {
        for (message, shown) in [
            ("Incorrect API key: sk-abc*****xyz. See `moon`.", Some("Incorrect API key: … See `…`.")),
            ("Invalid value: 'the moon is MADE of cheddar'", Some("Invalid value: 'the … is … of …'")),
            ("input=\"xcheddary\"", Some("input=\"…\"")),
            ("chedd was refused\u{1b}[2J\n at once", Some("… was refused[2J at once")),
            ("the moon is made of cheddar", None),
            ("", None),
            ("pas de clé connue", Some("pas de … connue")),
        ] {
            assert_eq!(redactor().redact(message).as_deref(), shown, "{message}");
        }
        let long = redactor().redact(&"word ".repeat(200)).expect("it says something");
        assert_eq!(long.chars().count(), 499);
    }

    #[test]
    fn words_for_errors_are_short_and_plain() {
        for word in ["invalid_request_error", "messages[0].content", "400", "a", &"a".repeat(64)] {
            assert!(is_word(word), "{word}");
        }
        for word in ["", "two words", "é", "a\n", &"a".repeat(65)] {
            assert!(!is_word(word), "{word}");
        }
        assert!(
            redactor().has("cheddar")
                && redactor().has("about_cheddar")
                && !redactor().has("model_not_found")
        );
    }
}
