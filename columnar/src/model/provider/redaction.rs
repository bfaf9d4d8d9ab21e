//! The redaction of everything that a server writes, apart from the text of its replies: nothing that was sent may be
//! shown or stored.
//!
//! [`Sent::shown`] is the only way for a server's words into errors, ends of replies and receipts. A number, such as a
//! status or the requested pause, is no word.

use std::fmt;

use serde_json::Value as Json;

use super::address::Address;
use crate::error::leaks::{Leaks, SHORT};
use crate::rendering::Request;

/// The key for a server that needs none, but whose format has one. It is no secret.
pub(super) const NO_KEY: &str = "none";

/// The longest sentence that is shown, in characters.
const LONGEST_SENTENCE: usize = 500;

/// The longest word for a kind of error, or the end of a reply.
const LONGEST_WORD: usize = 64;

/// The longest id of a reply.
const LONGEST_ID: usize = 200;

/// Conversations must repeat this number of letters before an id is taken for a part of them: shorter words are in random
/// ids by chance.
const SHORT_IN_ID: usize = 4;

/// The beginnings of ids that are no random letters.
const ID_PREFIXES: [&str; 6] = ["chatcmpl-", "cmpl-", "gen-", "msg_", "req_", "resp_"];

/// The words that providers document. They are shown even if the conversation has them, too.
const DOCUMENTED: [&str; 26] = [
    "api_error",
    "authentication_error",
    "billing_error",
    "context_length_exceeded",
    "function_call",
    "insufficient_quota",
    "insufficient_system_resource",
    "invalid_api_key",
    "INVALID_ARGUMENT",
    "invalid_request_error",
    "MALFORMED_FUNCTION_CALL",
    "model_not_found",
    "NOT_FOUND",
    "not_found_error",
    "overloaded_error",
    "pause_turn",
    "PERMISSION_DENIED",
    "permission_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "request_too_large",
    "RESOURCE_EXHAUSTED",
    "server_error",
    "tool_calls",
    "tool_use",
    "UNAVAILABLE",
];

/// The content that was sent, and must not come back.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) request: Request,
    pub(super) key: Option<String>,
    /// The values of other headers.
    pub(super) secrets: Vec<String>,
    pub(super) address: Option<Address>,
}

/// The form of a server's text.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// The id of a reply, whole or not at all.
    Id,
    /// A word for a kind of error or the end of a reply, whole or not at all.
    Word,
    /// A sentence. `…` replaces its parts that must not be shown.
    Sentence,
}

impl Sent {
    /// A server's text as it may be shown and stored. `None` if it does not have this form, or if nothing is left.
    pub(super) fn shown(&self, form: Form, text: &str) -> Option<String> {
        match form {
            Form::Id => {
                let prefix = ID_PREFIXES.iter().find(|prefix| text.starts_with(**prefix));
                let random = prefix.and_then(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
                (is_id(text) && !self.leaks(random, SHORT_IN_ID).any()).then(|| text.to_owned())
            }
            Form::Word => {
                let is_harmless = || is_word(text) && !self.leaks(text, SHORT).any();
                (DOCUMENTED.contains(&text) || is_harmless()).then(|| text.to_owned())
            }
            Form::Sentence => {
                let sentence: String = text.chars().take(LONGEST_SENTENCE).collect();
                let shown = self.leaks(&sentence, SHORT).redacted();
                let letters = |word: &str| word.chars().filter(|c| c.is_alphanumeric()).count();
                shown.split_whitespace().any(|word| letters(word) > SHORT).then_some(shown)
            }
        }
    }

    /// The redacted error in the body of a reply: the words for its kind, and a sentence. Empty if nothing is left.
    pub(super) fn redacted_error(&self, body: &Json) -> String {
        // Gemini sends a list with one error.
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let words = ["type", "status", "code", "param"].iter().filter_map(|name| match error.get(name)? {
            Json::String(word) => self.shown(Form::Word, word),
            Json::Number(number) => self.shown(Form::Word, &number.to_string()),
            _ => None,
        });
        let words = words.collect::<Vec<_>>().join(", ");
        let sentence = [Some(error), error.get("message"), body.get("message"), body.get("detail")];
        let sentence = sentence.into_iter().flatten().find_map(Json::as_str);
        let sentence = sentence.and_then(|it| self.shown(Form::Sentence, it)).unwrap_or_default();
        let all = [words, sentence].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": ");
        // Each field may have a part of a secret.
        let mut leaks = Leaks::new(&all, SHORT);
        self.hide_secrets(&mut leaks);
        leaks.redacted()
    }

    fn leaks(&self, text: &str, short: usize) -> Leaks {
        let mut leaks = Leaks::new(text, short);
        leaks.hide_foreign_words();
        let Request { system, messages, follow_up, settings, schema, .. } = &self.request;
        leaks.hide_words(system);
        messages.iter().for_each(|(_, message)| leaks.hide_words(&message));
        follow_up.iter().for_each(|(_, message)| leaks.hide_words(message));
        settings.stop.iter().for_each(|stop| leaks.hide_words(stop));
        if let Some(schema) = schema {
            leaks.hide_words(&schema.json.to_string());
        }
        if let Some(address) = &self.address {
            leaks.hide_words(address.as_str());
        }
        self.hide_secrets(&mut leaks);
        leaks
    }

    fn hide_secrets(&self, leaks: &mut Leaks) {
        let keys = self.key.iter().chain(&self.secrets).filter(|key| *key != NO_KEY);
        keys.for_each(|key| leaks.hide_secret(key));
        self.address.iter().flat_map(Address::secrets).for_each(|secret| leaks.hide_secret(&secret));
    }
}

/// Whether the text looks like a provider's identifier for a kind of error or the end of a reply.
fn is_word(word: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || "_.-[]".contains(c);
    (1..=LONGEST_WORD).contains(&word.len()) && word.chars().all(known)
}

fn is_id(id: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || "_.-:/+=~".contains(c);
    (1..=LONGEST_ID).contains(&id.len()) && id.chars().all(known)
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

    #[test]
    fn words_for_errors_are_short_and_plain() {
        for word in ["invalid_request_error", "messages[0].content", "400", "a", &"a".repeat(64)] {
            assert!(is_word(word), "{word}");
        }
        for word in ["", "two words", "é", "a\n", &"a".repeat(65)] {
            assert!(!is_word(word), "{word}");
        }
    }
}
