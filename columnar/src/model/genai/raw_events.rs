//! The raw events of a stream. They are inspected as they arrive, because the client ignores some of them.

use std::sync::{Arc, Mutex, PoisonError};

use ::genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value as Json;
use tokio::time::Instant;

use crate::registry::Provider;

/// The facts from the events of one reply.
pub(super) struct RawEvents {
    /// Whether each event must have a name: the client ignores events without one.
    named: bool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
pub(super) struct Seen {
    /// The time of the last event.
    pub(super) last: Option<Instant>,
    /// Whether the reply has begun: a busy server may send keep-alives before.
    pub(super) begun: bool,
    /// The provider's id of the reply, as it was sent.
    pub(super) id: Option<String>,
    /// The model explains why it does not answer, which is not text of the reply.
    pub(super) refused: bool,
    /// Gemini blocked the request, so there is no reply.
    pub(super) blocked: bool,
    pub(super) fault: Option<Fault>,
}

/// An event that must not be ignored.
#[derive(Clone)]
pub(super) enum Fault {
    /// The provider reports an error in the middle of its reply.
    Error(Json),
    /// An event that cannot be parsed, and may have been text.
    Garbled,
}

impl RawEvents {
    pub(super) fn new(provider: &Provider) -> Arc<Self> {
        Arc::new(Self { named: provider.has_named_events, seen: Mutex::default() })
    }

    pub(super) fn look<T>(&self, at: impl FnOnce(&Seen) -> T) -> T {
        at(&self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn see(&self, frame: &RawFrameRef<'_>, seen: &mut Seen) {
        seen.last = Some(Instant::now());
        // The end marker of some providers is not JSON.
        // The first fault is kept: later events may only follow from it.
        if frame.data.is_empty() || frame.data == "[DONE]" || seen.fault.is_some() {
            return;
        }
        seen.begun = true;
        let Ok(json) = serde_json::from_str::<Json>(frame.data) else {
            seen.fault = Some(Fault::Garbled);
            return;
        };
        let kind = json.get("type").and_then(Json::as_str).unwrap_or_default();
        let is_error = frame.event == Some("error")
            || ["error", "response.failed"].contains(&kind)
            || json.get("error").is_some_and(|error| !error.is_null());
        if is_error {
            // OpenAI's Responses API has the error inside the response, where it is null without one.
            let inner = json.pointer("/response/error").filter(|error| !error.is_null());
            seen.fault = Some(Fault::Error(inner.unwrap_or(&json).clone()));
        } else if self.named && frame.event.is_none() {
            // The client drops an event without its name, and its text with it. An event loses its name
            // if the network splits a CR LF, which the client then reads as two line ends.
            seen.fault = Some(Fault::Garbled);
        }
        seen.refused |= refuses(&json, kind);
        seen.blocked |= json.pointer("/promptFeedback/blockReason").is_some();
        if seen.id.is_none() {
            // The paths of chat completions, Anthropic, OpenAI's Responses API and Gemini.
            let id = ["/id", "/message/id", "/response/id", "/responseId"];
            let id = id.iter().find_map(|path| json.pointer(path)?.as_str());
            seen.id = id.map(str::to_owned);
        }
    }
}

impl ChatFrameSink for RawEvents {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        self.see(&frame, &mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn refuses(json: &Json, kind: &str) -> bool {
    let text = |path| json.pointer(path).and_then(Json::as_str);
    kind == "response.refusal.delta"
        || text("/choices/0/delta/refusal").is_some_and(|refusal| !refusal.is_empty())
        || text("/response/incomplete_details/reason") == Some("content_filter")
}
