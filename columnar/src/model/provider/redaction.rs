//! The redaction of everything that a server writes, apart from the text of replies: no secret may be shown or stored,
//! and no long part of the conversation. Single words are shown, because a message is unreadable without them.
//!
//! [`Sent::shown`] is the only way for a server's words into errors, ends of replies and receipts. A number, such as a
//! status or the requested pause, is no word.

use std::fmt;

use serde_json::Value as Json;

use super::address::ServerAddress;
use super::quotes::Quotes;
use crate::declare::INTRODUCTION;
use crate::declare::error::leaks::Leaks;
use crate::model::rendering::{INVALID_REPLY, Request};

/// The key for a server that needs no key, but whose format has one. This key is no secret.
pub(super) const NO_KEY: &str = "none";

/// The longest sentence that is shown, in characters.
const LONGEST_SENTENCE: usize = 500;

/// The longest word for a kind of error, or the end of a reply.
const LONGEST_WORD: usize = 64;

/// The longest id of a reply.
const LONGEST_ID: usize = 200;

/// The length of short words: a sentence with no longer word says nothing.
const SHORT: usize = 3;

/// The sent texts, which must not come back.
#[derive(Clone)]
pub(super) struct Sent {
    /// `None` for a call about many requests: no sentence of its errors is shown.
    pub(super) request: Option<Request>,
    /// The model in the provider's spelling.
    pub(super) model: String,
    pub(super) key: Option<String>,
    /// The values of other headers.
    pub(super) secrets: Vec<String>,
    pub(super) address: Option<ServerAddress>,
}

/// The form of a server's text.
#[derive(Clone, Copy)]
pub(super) enum SentForm {
    /// The id of a reply, whole or not at all.
    Id,
    /// A word for a kind of error or the end of a reply, whole or not at all.
    Word,
    /// A sentence. `…` replaces the parts that must not be shown.
    Sentence,
}

impl Sent {
    /// A server's text as it may be shown and stored. `None` if the text does not have this form, or if nothing is
    /// left.
    pub(super) fn shown(&self, form: SentForm, text: &str) -> Option<String> {
        let has_form = match form {
            SentForm::Id => is_made_of(text, "_.-:/+=~", LONGEST_ID),
            SentForm::Word => is_made_of(text, "_.-[]", LONGEST_WORD),
            SentForm::Sentence if self.request.is_none() => return None,
            SentForm::Sentence => {
                let sentence: String = text.chars().take(LONGEST_SENTENCE).collect();
                let shown = self.leaks(&sentence).redacted();
                let mut words = shown.split(char::is_whitespace);
                let has_words =
                    words.any(|word| word.chars().filter(|c| c.is_alphanumeric()).count() > SHORT);
                return has_words.then_some(shown);
            }
        };
        (has_form && !self.leaks(text).any()).then(|| text.to_owned())
    }

    /// The redacted error in the body of a reply: the words for the kind, and a sentence. Empty if nothing is left.
    pub(super) fn redacted_error(&self, body: &Json) -> String {
        // Gemini sends a list with one error.
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let words = ["type", "status", "code", "param"].iter().filter_map(|name| match error.get(name)? {
            Json::String(word) => self.shown(SentForm::Word, word),
            Json::Number(number) => self.shown(SentForm::Word, &number.to_string()),
            _ => None,
        });
        let words = words.collect::<Vec<_>>().join(", ");
        let sentence = [Some(error), error.get("message"), body.get("message"), body.get("detail")];
        let sentence = sentence.into_iter().flatten().find_map(Json::as_str);
        let sentence = sentence.and_then(|it| self.shown(SentForm::Sentence, it)).unwrap_or_default();
        let all = [words, sentence].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": ");
        // Each field may have a part of a secret.
        let mut leaks = Leaks::new(&all);
        self.hide_secrets(&mut leaks);
        leaks.redacted()
    }

    fn leaks(&self, text: &str) -> Leaks {
        let mut leaks = Leaks::new(text);
        self.hide_secrets(&mut leaks);
        let Some(request) = &self.request else { return leaks };
        let Request { system, messages, follow_up, settings, schema, .. } = request;
        let messages: Vec<_> = messages.iter().map(|(_, message)| message).collect();
        let follow_up = follow_up.iter().map(|(_, text)| &**text);
        let sent = messages
            .iter()
            .map(|message| &**message)
            .chain(follow_up)
            .chain([&**system])
            .chain(settings.stop.iter().map(String::as_str))
            .chain(settings.cache_key.as_deref());
        // Names, and the sentences of this library, are no content.
        let schema = schema.as_ref().map(|it| [it.name.clone(), it.json.to_string(), it.instruction()]);
        let own =
            schema.iter().flatten().map(String::as_str).chain([&*self.model, INTRODUCTION, INVALID_REPLY]);
        let found = Quotes::new(leaks.chars()).found(sent, own);
        found.into_iter().for_each(|at| leaks.hide(at));
        leaks
    }

    fn hide_secrets(&self, leaks: &mut Leaks) {
        let keys = self.key.iter().chain(&self.secrets).filter(|key| *key != NO_KEY);
        keys.for_each(|key| leaks.hide_secret(key));
        if let Some(address) = &self.address {
            address.secrets().iter().for_each(|secret| leaks.hide_secret(secret));
            address.names().for_each(|name| leaks.hide_name(name));
        }
    }
}

/// Whether a text looks like an identifier: letters, digits and these signs alone, and no more than `longest`.
fn is_made_of(text: &str, signs: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || signs.contains(c))
}

/// The end of an error message: the provider's text, if there is any.
pub(super) struct ServerWords<'a>(pub(super) &'a str);

impl fmt::Display for ServerWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_errors_are_short_and_plain() {
        for word in ["invalid_request_error", "messages[0].content", "400", "a", &"a".repeat(64)] {
            assert!(is_made_of(word, "_.-[]", LONGEST_WORD), "{word}");
        }
        for word in ["", "two words", "é", "a\n", &"a".repeat(65)] {
            assert!(!is_made_of(word, "_.-[]", LONGEST_WORD), "{word}");
        }
    }
}
