//! A reply that is being read, in the terms that all formats share, and its end.

use serde_json::Value as Json;

use super::redaction::{Sent, SentForm};
use super::stop::StopFilter;
use super::window::was_cut;
use super::words::{CONTEXT_WINDOW, LENGTH, REFUSED, STOP, has};
use crate::model::usage::{CacheDiagnosis, Usage};
use crate::model::{End, Finish};

/// The paths of ids: in chat completions, Anthropic's messages, OpenAI's responses and Gemini.
const IDS: &[&str] = &["/id", "/message/id", "/response/id", "/responseId"];

/// A reply whose events are being read.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "a reply may be any of these, in any order")]
pub(super) struct WireReply {
    /// Whether the tokens of a reply are reported without its thoughts.
    pub(super) counts_thoughts_apart: bool,
    /// The text and the thoughts of the last event.
    pub(super) text: String,
    pub(super) thought: String,
    /// Whether there was text.
    pub(super) has_text: bool,
    /// The reason of the end, in the words of the provider. Text and usage may follow.
    pub(super) finish: Option<String>,
    pub(super) tokens: WireTokens,
    /// Whether the model explains why it does not answer. The explanation is no text of the reply.
    pub(super) is_refused: bool,
    /// Whether the model calls a tool. There are no tools, so the call cannot be answered.
    pub(super) has_tool_call: bool,
    /// Whether the last event was read. Without a reason of the end, the reply broke off nevertheless.
    pub(super) is_ended: bool,
    /// The id of the reply, as received.
    id: Option<String>,
    /// The reason for a miss of the cache, as received, and the tokens.
    diagnosis: Option<(String, Option<u64>)>,
    halves: Halves,
}

/// The tokens of a call. The sum is made at the end, because an event may have only some counts.
#[derive(Clone, Copy, Default)]
pub(super) struct WireTokens {
    /// The tokens of the request. A usage without this count remains unreported: with 0 the call would look free.
    pub(super) input: Option<u64>,
    /// Whether `input` is without the tokens of the cache.
    pub(super) is_input_uncached: bool,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    /// The written tokens that are kept for the longer lifetime, if the provider tells.
    pub(super) cache_write_long: Option<u64>,
}

impl WireTokens {
    /// The usage of a call. If the provider does not tell for how long tokens are kept, and some marks asked for the
    /// longer lifetime, all written tokens count as kept longer, which costs more.
    pub(super) fn usage(self, asked_long: bool) -> Option<Usage> {
        let Self { input, is_input_uncached, output, cache_read, cache_write, cache_write_long } = self;
        let cached = if is_input_uncached { cache_read.saturating_add(cache_write) } else { 0 };
        let long = cache_write_long.unwrap_or(if asked_long { cache_write } else { 0 });
        let usage = Usage::new(input?.saturating_add(cached), output).cached(cache_read, cache_write);
        Some(usage.kept_long(long.min(cache_write)))
    }
}

impl WireReply {
    pub(super) fn new(counts_thoughts_apart: bool) -> Self {
        Self { counts_thoughts_apart, ..Self::default() }
    }

    /// Reads the members that events of all formats have in common.
    pub(super) fn begin_event(&mut self, event: &Json, has_halves: bool) {
        self.halves.are_in_event = has_halves;
        if self.id.is_none() {
            self.id = IDS.iter().find_map(|path| string(event, path)).map(str::to_owned);
        }
    }

    /// Adds the text at this path of an event.
    pub(super) fn add_text(&mut self, event: &Json, path: &str) {
        let text = string(event, path).unwrap_or_default();
        self.has_text |= !text.is_empty();
        self.halves.push(&mut self.text, text);
    }

    /// Adds the thought at this path of an event.
    pub(super) fn add_thought(&mut self, event: &Json, path: &str) {
        self.thought.push_str(string(event, path).unwrap_or_default());
    }

    /// Takes the reason for a miss of the cache at the first path of an event, and the tokens at the other one.
    pub(super) fn diagnose(&mut self, event: &Json, reason: &str, tokens: &str) {
        let found = string(event, reason).map(|reason| (reason.to_owned(), count(event, tokens)));
        self.diagnosis = found.or_else(|| self.diagnosis.take());
    }

    /// Notes that the provider blocked the request.
    pub(super) fn block(&mut self) {
        (self.finish, self.is_refused) = (Some("stop".to_owned()), true);
    }

    /// The end, if the reply has one, with the stop sequences that the client applies.
    pub(super) fn end_after(&self, stop: &StopFilter, sent: &Sent, asked_long: bool) -> Option<End> {
        let mut end = self.end(sent, asked_long)?;
        if stop.has_stopped && matches!(end.finish, Finish::Length | Finish::ContextWindow) {
            end.finish = Finish::Stop;
        }
        let read = end.usage.map(|usage| usage.input);
        if sent.request.as_ref().zip(read).is_some_and(|(request, read)| was_cut(request, read)) {
            end.finish = Finish::ContextCut;
        }
        Some(end)
    }

    /// The end, if the reply has one; `None` if the reply broke off.
    fn end(&self, sent: &Sent, asked_long: bool) -> Option<End> {
        let finish = match self.finish.as_deref() {
            _ if self.has_tool_call => Finish::Other("tool_calls".to_owned()),
            reason => finish(reason?, self.is_refused, sent),
        };
        let id = self.id.as_deref().and_then(|id| sent.shown(SentForm::Id, id));
        let diagnosis = self.diagnosis.as_ref().and_then(|(reason, tokens)| {
            Some(CacheDiagnosis::new(sent.shown(SentForm::Word, reason)?, *tokens))
        });
        Some(End { usage: self.tokens.usage(asked_long), id, diagnosis, ..End::new(finish) })
    }
}

fn finish(reason: &str, is_refused: bool, sent: &Sent) -> Finish {
    match reason {
        // OpenAI sends a refusal in a separate field and then stops as usual, and the Responses API reports filtered
        // content as an incomplete reply.
        _ if is_refused && [STOP, LENGTH, CONTEXT_WINDOW].iter().any(|ends| has(ends, reason)) => {
            Finish::Refused
        }
        _ if has(STOP, reason) => Finish::Stop,
        _ if has(LENGTH, reason) => Finish::Length,
        _ if has(CONTEXT_WINDOW, reason) => Finish::ContextWindow,
        _ if has(REFUSED, reason) => Finish::Refused,
        // The reason is shown in an error. A server could send a sentence that quotes the request.
        _ => {
            let reason = sent.shown(SentForm::Word, reason);
            Finish::Other(reason.unwrap_or_else(|| "for another reason".to_owned()))
        }
    }
}

/// A character beyond 16 bits whose halves arrive in two events. JSON writes such a character as two escapes, and a
/// server that splits text there sends each alone. An event with such an escape is read with private characters in
/// place of the escapes.
#[derive(Default)]
struct Halves {
    /// Whether the event has such characters. In all other events, private characters come from the model.
    are_in_event: bool,
    /// The first half, from the end of the last text.
    first: Option<u32>,
}

/// The private characters of the halves of both kinds: 1,024 each.
const FIRST: u32 = 0xF_0000;
const SECOND: u32 = FIRST + 0x400;
const LAST: u32 = SECOND + 0x3ff;

impl Halves {
    fn push(&mut self, text: &mut String, piece: &str) {
        if !self.are_in_event && !piece.is_empty() {
            text.extend(self.first.take().map(|_| char::REPLACEMENT_CHARACTER));
            text.push_str(piece);
            return;
        }
        for c in piece.chars() {
            let c = u32::from(c);
            match (self.first.take(), c) {
                (Some(first), SECOND..=LAST) => {
                    let whole = 0x1_0000 + ((first - FIRST) << 10) + (c - SECOND);
                    text.extend(char::from_u32(whole));
                }
                (first, c) => {
                    // A half came without the other half.
                    text.extend(first.map(|_| char::REPLACEMENT_CHARACTER));
                    match c {
                        FIRST..SECOND => self.first = Some(c),
                        SECOND..=LAST => text.push(char::REPLACEMENT_CHARACTER),
                        _ => text.extend(char::from_u32(c)),
                    }
                }
            }
        }
    }
}

/// The JSON of an event, and whether it has private characters for halves of characters.
pub(super) fn json(data: &[u8]) -> Option<(Json, bool)> {
    let plain = serde_json::from_slice(data).ok().map(|json| (json, false));
    plain.or_else(|| {
        Some((serde_json::from_str(&with_private_halves(str::from_utf8(data).ok()?)).ok()?, true))
    })
}

/// The half of a character at the begin of an escape, after the backslash.
fn half(escape: &str) -> Option<u32> {
    u32::from_str_radix(escape.strip_prefix('u')?.get(..4)?, 16).ok().filter(|code| *code >> 11 == 0x1b)
}

fn with_private_halves(json: &str) -> String {
    let mut rest = json;
    let mut replaced = String::new();
    while let Some((before, after)) = rest.split_once('\\') {
        replaced.push_str(before);
        let next = after.get(5..).and_then(|next| half(next.strip_prefix('\\')?));
        let (written, length) = match (half(after), next) {
            // Both halves are there, as JSON allows.
            (Some(0xd800..0xdc00), Some(0xdc00..)) => (after.get(..11).map(|pair| format!("\\{pair}")), 11),
            (Some(half), _) => (char::from_u32(FIRST + half - 0xd800).map(String::from), 5),
            // The escaped character may be a backslash.
            _ => {
                let length = after.chars().next().map_or(0, char::len_utf8);
                (after.get(..length).map(|escaped| format!("\\{escaped}")), length)
            }
        };
        replaced.push_str(&written.unwrap_or_default());
        rest = after.get(length..).unwrap_or_default();
    }
    replaced + rest
}

/// The value at this path, with a slash before each name or index. [`Json::pointer`] copies each name twice for its escapes,
/// which no name here has, and formats read several paths for each word of a reply.
pub(super) fn at<'j>(json: &'j Json, path: &str) -> Option<&'j Json> {
    path.split('/').skip(1).try_fold(json, |value, key| match value {
        Json::Array(values) => values.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    })
}

/// The text at this path.
pub(super) fn string<'j>(json: &'j Json, path: &str) -> Option<&'j str> {
    at(json, path)?.as_str()
}

/// The number at this path.
pub(super) fn count(json: &Json, path: &str) -> Option<u64> {
    at(json, path)?.as_u64()
}

/// Whether there is a list with members at this path.
pub(super) fn has_members(json: &Json, path: &str) -> bool {
    at(json, path).and_then(Json::as_array).is_some_and(|members| !members.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An emoji that a server had split over two deltas made the reply unreadable.
    #[test]
    fn halves_of_a_character_join_over_events() {
        for (events, text) in [
            (&[r#"{"t":"a\ud83e"}"#, r#"{"t":"\udd80b"}"#][..], "a🦀b"),
            (&[r#"{"t":"\ud83e\udd80"}"#], "🦀"),
            (&["{\"t\":\"\u{f0001}\"}"], "\u{f0001}"),
            (&[r#"{"t":"\ud83e"}"#, r#"{"t":"\ud83e\udd80\udd80"}"#], "\u{fffd}🦀\u{fffd}"),
            (&[r#"{"t":"\\ud83e"}"#, r#"{"t":"\udd80"}"#], "\\ud83e\u{fffd}"),
            (&[r#"{"t":"\"\\\ud83e"}"#, r#"{"t":"\udd80é\u00e9"}"#], "\"\\🦀éé"),
        ] {
            let mut reply = WireReply::default();
            for event in events {
                let (event, has_halves) = json(event.as_bytes()).expect(event);
                reply.begin_event(&event, has_halves);
                reply.add_text(&event, "/t");
            }
            assert_eq!(reply.text, text);
        }
        assert_eq!(json(br#"{"t":"\u12"}"#), None);
    }
}
