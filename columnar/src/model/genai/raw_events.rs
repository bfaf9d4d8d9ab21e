//! What a provider sends beside the text: looked at as it comes by, since the client passes over some of it.

use std::sync::{Arc, Mutex, PoisonError};

use ::genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value as Json;
use tokio::time::Instant;

use crate::registry::Provider;

/// No provider calls a reply by a longer name.
const LONGEST_ID: usize = 200;

/// What has come by of one reply.
pub(super) struct RawEvents {
    /// Whether each event has to say its name: the client passes over those that do not.
    named: bool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
pub(super) struct Seen {
    /// When something came last.
    pub(super) last: Option<Instant>,
    /// Whether the reply has begun: a server that makes somebody wait may send signs of life before.
    pub(super) begun: bool,
    /// What the provider calls the reply.
    pub(super) id: Option<String>,
    /// The model says why it does not answer, which is no text of the reply.
    pub(super) refused: bool,
    pub(super) fault: Option<Fault>,
}

/// What must not be passed over.
#[derive(Clone)]
pub(super) enum Fault {
    /// The provider reports an error in the middle of its reply.
    Error(Json),
    /// Something was sent that cannot be understood, and may have been text.
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
        // The mark of the end that some send is no JSON.
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
            let inner = json.pointer("/response/error").filter(|error| !error.is_null());
            seen.fault = Some(Fault::Error(inner.unwrap_or(&json).clone()));
        } else if self.named && frame.event.is_none() {
            seen.fault = Some(Fault::Garbled);
        }
        seen.refused |= refuses(&json, kind);
        if seen.id.is_none() {
            let id = ["/id", "/message/id", "/response/id", "/responseId"];
            let id = id.iter().find_map(|place| json.pointer(place)?.as_str());
            seen.id = id.filter(|id| is_id(id)).map(str::to_owned);
        }
    }
}

impl ChatFrameSink for RawEvents {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        self.see(&frame, &mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn refuses(json: &Json, kind: &str) -> bool {
    let text = |place| json.pointer(place).and_then(Json::as_str);
    kind == "response.refusal.delta"
        || text("/choices/0/delta/refusal").is_some_and(|refusal| !refusal.is_empty())
        || text("/response/incomplete_details/reason") == Some("content_filter")
}

fn is_id(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len()) && id.chars().all(|c| c.is_ascii_graphic())
}
