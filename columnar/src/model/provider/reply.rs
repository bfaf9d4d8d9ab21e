//! A reply that is being read, in the terms that all formats share, and its end.

use serde_json::Value as Json;

use super::redaction::{Form, Sent};
use crate::model::{End, Finish};
use crate::registry::ProviderFacts;
use crate::usage::Usage;

/// The paths of ids: in chat completions, Anthropic's messages, OpenAI's responses and Gemini.
const IDS: &[&str] = &["/id", "/message/id", "/response/id", "/responseId"];

/// The reasons of an ordinary end.
const STOP: &[&str] =
    &["stop", "end_turn", "STOP", "COMPLETE", "completed", "stop_sequence", "STOP_SEQUENCE"];

const LENGTH: &[&str] = &["length", "max_tokens", "MAX_TOKENS", "incomplete"];

/// Anthropic and Mistral: a larger `max_tokens` would not help.
const CONTEXT_WINDOW: &[&str] = &["model_context_window_exceeded", "model_length"];

const REFUSED: &[&str] = &[
    "content_filter",
    "refusal",
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "LANGUAGE",
    "ERROR_TOXIC",
];

/// A reply whose events are being read.
pub(super) struct Reply {
    pub(super) provider: &'static ProviderFacts,
    /// The text of the last event.
    pub(super) text: String,
    /// The reason of its end, in the words of the provider.
    pub(super) finish: Option<String>,
    pub(super) tokens: Tokens,
    /// The model explains why it does not answer, which is not text of the reply.
    pub(super) is_refused: bool,
    /// There are no tools, so a tool call cannot be answered.
    pub(super) has_tool_call: bool,
    /// Its last event was read. Without a reason it broke off nevertheless.
    pub(super) is_ended: bool,
    /// As it was sent.
    id: Option<String>,
}

/// The tokens of a call.
#[derive(Clone, Copy, Default)]
pub(super) struct Tokens {
    /// Those of the whole request. A usage without this count remains unreported: with 0 the call would look free.
    pub(super) input: Option<u64>,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
}

impl Reply {
    pub(super) fn new(provider: &'static ProviderFacts) -> Self {
        Self {
            provider,
            text: String::new(),
            finish: None,
            tokens: Tokens::default(),
            is_refused: false,
            has_tool_call: false,
            is_ended: false,
            id: None,
        }
    }

    /// Reads what events of all formats have in common.
    pub(super) fn identify(&mut self, event: &Json) {
        if self.id.is_none() {
            self.id = IDS.iter().find_map(|path| string(event, path)).map(str::to_owned);
        }
    }

    /// Adds the text at this path of an event.
    pub(super) fn add_text(&mut self, event: &Json, path: &str) {
        self.text.push_str(string(event, path).unwrap_or_default());
    }

    /// The end of a reply without text, which the provider blocked.
    pub(super) fn block(&mut self) {
        (self.finish, self.is_refused, self.is_ended) = (Some("stop".to_owned()), true, true);
    }

    /// The end, if the reply has one; `None` if it broke off.
    pub(super) fn end(&self, sent: &Sent) -> Option<End> {
        let (finish, usage) = if self.has_tool_call {
            (Finish::Other("tool_calls".to_owned()), None)
        } else {
            let Tokens { input, output, cache_read, cache_write } = self.tokens;
            let usage = input.map(|input| Usage::new(input, output).cached(cache_read, cache_write));
            (finish(self.finish.as_deref()?, self.is_refused, sent), usage)
        };
        let id = self.id.as_deref().and_then(|id| sent.shown(Form::Id, id));
        Some(End { finish, usage, id })
    }
}

fn finish(reason: &str, is_refused: bool, sent: &Sent) -> Finish {
    let is_one_of = |words: &[&str]| words.contains(&reason);
    let is_cut_off = is_one_of(LENGTH) || is_one_of(CONTEXT_WINDOW);
    match reason {
        // OpenAI sends a refusal in a field of its own and then stops as usual, and its Responses API reports filtered
        // content as an incomplete reply.
        _ if is_refused && (is_one_of(STOP) || is_cut_off) => Finish::Refused,
        _ if is_one_of(STOP) => Finish::Stop,
        _ if is_one_of(LENGTH) => Finish::Length,
        _ if is_one_of(CONTEXT_WINDOW) => Finish::ContextWindow,
        _ if is_one_of(REFUSED) => Finish::Refused,
        // The reason is shown in an error. A server could send a sentence that quotes the request.
        _ => {
            let reason = sent.shown(Form::Word, reason);
            Finish::Other(reason.unwrap_or_else(|| "for another reason".to_owned()))
        }
    }
}

/// The text at this path.
pub(super) fn string<'j>(json: &'j Json, path: &str) -> Option<&'j str> {
    json.pointer(path)?.as_str()
}

/// The number at this path.
pub(super) fn count(json: &Json, path: &str) -> Option<u64> {
    json.pointer(path)?.as_u64()
}

/// Whether there is a list with members at this path.
pub(super) fn has_members(json: &Json, path: &str) -> bool {
    json.pointer(path).and_then(Json::as_array).is_some_and(|members| !members.is_empty())
}
