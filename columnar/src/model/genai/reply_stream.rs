//! The stream of a reply, within limits of time and length.

use std::sync::Arc;
use std::time::Duration;

use ::genai::chat::{ChatStream, ChatStreamEvent, StopReason, StreamEnd};
use futures::TryStreamExt;
use tokio::time::{Instant, timeout_at};

use super::client::without_logs;
use super::error::GenaiError;
use super::raw_events::RawEvents;
use super::redaction::{Form, Sent};
use crate::model::{Chunk, End, Finish, deadline};
use crate::usage::Usage;

#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The most time until a reply begins.
    pub(super) first: Duration,
    /// The most time between two events.
    pub(super) idle: Duration,
    /// The most bytes of text.
    pub(super) text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { first: Duration::from_mins(5), idle: Duration::from_mins(2), text: 16 << 20 }
    }
}

pub(super) struct ReplyStream {
    name: String,
    events: ChatStream,
    raw_events: Arc<RawEvents>,
    sent: Sent,
    limits: Limits,
    /// The bytes of text so far.
    text: usize,
}

impl ReplyStream {
    pub(super) fn new(
        name: String,
        events: ChatStream,
        raw_events: Arc<RawEvents>,
        sent: Sent,
        limits: Limits,
    ) -> Self {
        Self { name, events, raw_events, sent, limits, text: 0 }
    }

    /// The next chunk, with the stream of the others. A reply that breaks off gets no [`Chunk::End`].
    pub(super) async fn next(reply: Option<Self>) -> Result<Option<(Chunk, Option<Self>)>, GenaiError> {
        let Some(mut reply) = reply else {
            return Ok(None);
        };
        loop {
            let event = reply.event().await;
            // The raw event describes the error better than the client, which may have ignored it.
            if let Some(fault) = reply.raw_events.look(|seen| seen.fault.clone()) {
                return Err(GenaiError::fault(&reply.name, &fault, &reply.sent));
            }
            // For the client a blocked request of Gemini is an error, as it has no reply.
            if event.is_err() && reply.raw_events.look(|seen| seen.blocked) {
                return Ok(Some((reply.end(Finish::Refused, None), None)));
            }
            match event? {
                None => return Ok(None),
                Some(ChatStreamEvent::Chunk(text)) if !text.content.is_empty() => {
                    reply.text = reply.text.saturating_add(text.content.len());
                    // The limit is checked before the text is returned, so the reader never has more.
                    if reply.text > reply.limits.text {
                        return Err(GenaiError::TooLong { model: reply.name, limit: reply.limits.text });
                    }
                    return Ok(Some((Chunk::Text(text.content), Some(reply))));
                }
                // There are no tools, so a tool call cannot be answered.
                Some(ChatStreamEvent::ToolCallChunk(_)) => {
                    return Ok(Some((reply.end(Finish::Other("tool_calls".to_owned()), None), None)));
                }
                Some(ChatStreamEvent::End(end)) => {
                    // Nothing is polled after the end: a server may keep its connection open.
                    return Ok(reply.finished(end).map(|end| (end, None)));
                }
                Some(_) => {}
            }
        }
    }

    /// The client's next event. Raw events that the client ignores still show that the server is alive.
    async fn event(&mut self) -> Result<Option<ChatStreamEvent>, GenaiError> {
        // The time before this poll does not count against the server.
        let mut since = Instant::now();
        loop {
            let begun = self.raw_events.look(|seen| seen.begun);
            let limit = if begun { self.limits.idle } else { self.limits.first };
            let next = timeout_at(deadline(since, limit), without_logs(self.events.try_next()));
            if let Ok(event) = next.await {
                return event.map_err(|error| GenaiError::new(&self.name, &error, &self.sent));
            }
            match self.raw_events.look(|seen| seen.last).filter(|last| *last > since) {
                Some(last) => since = last,
                None => return Err(GenaiError::TimedOut { model: self.name.clone(), limit, begun }),
            }
        }
    }

    fn finished(&self, end: StreamEnd) -> Option<Chunk> {
        // OpenAI sends a refusal in a field of its own and then stops as usual, and its Responses API reports filtered
        // content as an incomplete reply.
        let is_refused = self.raw_events.look(|seen| seen.refused);
        // After `[DONE]` alone the client reports an end, too. Without a reason the reply broke off.
        let finish = match end.captured_stop_reason? {
            StopReason::Completed(_) | StopReason::StopSequence(_) | StopReason::MaxTokens(_)
                if is_refused =>
            {
                Finish::Refused
            }
            StopReason::Completed(_) | StopReason::StopSequence(_) => Finish::Stop,
            // Anthropic and Mistral: a larger `max_tokens` would not help.
            StopReason::MaxTokens(reason)
                if ["model_context_window_exceeded", "model_length"].contains(&&*reason) =>
            {
                Finish::ContextWindow
            }
            StopReason::MaxTokens(_) => Finish::Length,
            StopReason::ContentFilter(_) => Finish::Refused,
            // The reason is shown in an error. A server could send a sentence that quotes the request.
            StopReason::ToolCall(reason) | StopReason::Other(reason) => {
                let reason = self.sent.shown(Form::Word, &reason);
                Finish::Other(reason.unwrap_or_else(|| "for another reason".to_owned()))
            }
        };
        let count = |tokens: Option<i32>| tokens.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        // A usage without this count must remain unreported: with zeros the call would look free.
        let usage = end.captured_usage.filter(|usage| usage.prompt_tokens.is_some()).map(|usage| {
            let details = usage.prompt_tokens_details.unwrap_or_default();
            // The client has no sum for a reply of Gemini that was cut off before its text.
            let thoughts = usage.completion_tokens_details.and_then(|details| details.reasoning_tokens);
            Usage::new(count(usage.prompt_tokens), count(usage.completion_tokens.or(thoughts)))
                .cached(count(details.cached_tokens), count(details.cache_creation_tokens))
        });
        Some(self.end(finish, usage))
    }

    fn end(&self, finish: Finish, usage: Option<Usage>) -> Chunk {
        // Receipts store the id, and a server may send anything instead, such as text of the request.
        let id = self.raw_events.look(|seen| seen.id.clone());
        let id = id.and_then(|id| self.sent.shown(Form::Id, &id));
        Chunk::End(End { finish, usage, id })
    }
}
