//! The stream of a reply, within limits of time and length.
//!
//! ```text
//! response ──▶ bytes ──▶ events ──▶ reply ──▶ chunks
//!              limits     limits              limits
//! ```

use std::mem;
use std::time::Duration;

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response};
use serde_json::Value as Json;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, timeout_at};

use super::error::{GARBLED, ProviderError, ProviderRefusal};
use super::events::{Events, Framing, ServerEvent};
use super::format::WireFormat;
use super::formats::format;
use super::redaction::Sent;
use super::reply::{self, WireReply};
use super::stop::StopFilter;
use crate::declare::default_limits::{BETWEEN_EVENTS, FIRST_TOKEN, REPLY_BYTES};
use crate::model::http::without_logs;
use crate::model::registry::ProviderFacts;
use crate::model::{Chunk, deadline};

/// The most bytes that are read of the body of an error.
const ERROR_BODY: usize = 64 << 10;

/// The most bytes of an event, beside the bytes that it may repeat, unless the limit of text is higher. An event with
/// one word of text has some hundred bytes. A whole reply of the longest kind in one event, 400,000 tokens, is about 2
/// MB.
const EVENT: usize = 8 << 20;

/// The most values of an event: a parsed value takes up to some hundred bytes, even if it is short in JSON. An event
/// of a provider has less than a hundred values, and a last event has some for each part of the reply and of the
/// schema.
const VALUES: usize = 1 << 16;

/// The most time between the reason of an end and the end: servers keep connections open, and the usage may follow.
const AFTER_FINISH: Duration = Duration::from_secs(10);

/// The data at the end of a reply in some formats, which is not JSON.
const DONE: &[u8] = b"[DONE]";

#[derive(Clone, Copy)]
pub(super) struct StreamLimits {
    /// The most time until a reply begins.
    pub(super) first: Duration,
    /// The most time between two events.
    pub(super) idle: Duration,
    /// The most bytes of text.
    pub(super) text: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { first: FIRST_TOKEN, idle: BETWEEN_EVENTS, text: REPLY_BYTES }
    }
}

impl StreamLimits {
    /// The most bytes of a body. An event with one word of text has some hundred bytes, and thoughts are events, too.
    fn body(&self, request: usize) -> usize {
        self.text.saturating_mul(4).saturating_add(request).saturating_add(16 << 20).saturating_mul(16)
    }
}

/// The facts about a request that are needed while the reply is read.
pub(super) struct Exchange {
    /// The name of the model.
    pub(super) name: String,
    pub(super) facts: &'static ProviderFacts,
    pub(super) limits: StreamLimits,
    pub(super) sent: Sent,
    /// The bytes of the request's body.
    pub(super) request_bytes: usize,
    /// Whether a mark asked for the longer lifetime.
    pub(super) asked_long: bool,
}

pub(super) struct ReplyStream {
    exchange: Exchange,
    format: &'static WireFormat,
    response: Response,
    /// The bytes of the reply's body so far.
    received: usize,
    events: Events,
    reply: WireReply,
    /// The bytes of text so far, with thoughts.
    text: usize,
    stop: StopFilter,
    /// The time of the request.
    since: Instant,
    /// Whether the reply has begun. Keep-alives are no beginning: a server may send nothing else for ever.
    has_begun: bool,
}

impl ReplyStream {
    /// Sends a request.
    pub(super) async fn open(
        exchange: Exchange,
        request: RequestBuilder,
        stop: StopFilter,
    ) -> Result<Self, ProviderError> {
        let Exchange { name, facts, limits, sent, .. } = &exchange;
        let format = format(facts.api);
        let since = Instant::now();
        let timeout = deadline(since, limits.first);
        let response = timeout_at(timeout, without_logs(request.send())).await;
        let response = response.map_err(|_| timed_out(name, limits.first, false))?;
        let mut response = response.map_err(|error| ProviderError::connection(name, &error, sent))?;
        // No encoding was asked for, and a few bytes could unpack to fill the memory.
        let encoding = response.headers().get(CONTENT_ENCODING).map(|it| it.as_bytes().trim_ascii());
        let is_plain = encoding.is_none_or(|it| it.is_empty() || it.eq_ignore_ascii_case(b"identity"));
        if !response.status().is_success() {
            let mut body = Vec::new();
            if is_plain {
                // The status says more than a body that does not end.
                let _ = timeout_at(timeout, without_logs(read_error(&mut response, &mut body))).await;
            }
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let refusal = ProviderRefusal::new(response.status().as_u16(), response.headers(), &body, sent);
            return Err(refusal.into_error(name.clone()));
        }
        if !is_plain {
            return Err(ProviderError::failed(name, format!("{GARBLED}, as it is compressed")));
        }
        let mut events = Events::new(format.framing);
        if let Some(kind) = whole(&response, format.framing) {
            let first = timeout_at(timeout, without_logs(response.chunk())).await;
            let first = first.map_err(|_| timed_out(name, limits.first, false))?;
            let first = first.map_err(|error| ProviderError::connection(name, &error, sent))?;
            let mut body = first.unwrap_or_default().to_vec();
            // Some servers send events under another name.
            if body.trim_ascii_start().first().is_some_and(|byte| b"{[<".contains(byte)) {
                let _ = timeout_at(timeout, without_logs(read_error(&mut response, &mut body))).await;
                return Err(ProviderError::whole(name, kind, &body, sent));
            }
            events.feed(&body);
        }
        let reply = WireReply::new(facts.counts_thoughts_apart);
        let received = 0;
        let text = 0;
        let has_begun = false;
        Ok(Self { exchange, format, response, received, events, reply, text, stop, since, has_begun })
    }

    /// The next chunk, with the stream of all later chunks. A reply that breaks off gets no [`Chunk::End`].
    /// The stream is boxed, as each chunk would move all of it.
    pub(super) async fn next(
        stream: Option<Box<Self>>,
    ) -> Result<Option<(Chunk, Option<Box<Self>>)>, ProviderError> {
        let Some(mut stream) = stream else {
            return Ok(None);
        };
        loop {
            if let Some(chunk) = stream.chunk()? {
                return Ok(Some((chunk, Some(stream))));
            }
            // Nothing is read after the end: a server may keep the connection open.
            let event = if stream.reply.is_ended { None } else { stream.event().await? };
            match event {
                Some(event) => stream.read(&event)?,
                None => match stream.stop.finish() {
                    text if text.is_empty() => return Ok(stream.end().map(|end| (end, None))),
                    // The text was held back, and is no stop sequence.
                    text => {
                        stream.reply.is_ended = true;
                        return Ok(Some((Chunk::Text(text), Some(stream))));
                    }
                },
            }
        }
    }

    /// The text or the thoughts of the last event.
    fn chunk(&mut self) -> Result<Option<Chunk>, ProviderError> {
        let text = mem::take(&mut self.reply.text);
        let thought = mem::take(&mut self.reply.thought);
        self.text = self.text.saturating_add(text.len() + thought.len());
        // The limit is checked before the text is returned, so the reader never has more.
        self.check(self.text, self.exchange.limits.text)?;
        if !thought.is_empty() {
            // An event with both is an exception, and the text comes next.
            self.text -= text.len();
            self.reply.text = text;
            return Ok(Some(Chunk::Thought(thought)));
        }
        let text = self.stop.pass(text);
        Ok((!text.is_empty()).then_some(Chunk::Text(text)))
    }

    /// The end of the reply, if there is one.
    fn end(&self) -> Option<Chunk> {
        let Exchange { sent, asked_long, .. } = &self.exchange;
        self.reply.end_after(&self.stop, sent, *asked_long).map(Chunk::End)
    }

    /// The next event with data; `None` after the last one.
    async fn event(&mut self) -> Result<Option<ServerEvent>, ProviderError> {
        // The time before this poll does not count against a server whose reply has begun.
        let mut since = Instant::now();
        loop {
            let is_finished = self.reply.finish.is_some();
            let (begin, limit) = match self.has_begun {
                true if is_finished => (since, self.exchange.limits.idle.min(AFTER_FINISH)),
                true => (since, self.exchange.limits.idle),
                false => (self.since, self.exchange.limits.first),
            };
            match timeout_at(deadline(begin, limit), without_logs(self.received())).await {
                Ok(Ok(Some(event))) if event.data.is_empty() => since = Instant::now(),
                Ok(event) => return event,
                Err(_) if is_finished => return Ok(None),
                Err(_) => return Err(timed_out(&self.exchange.name, limit, self.has_begun)),
            }
        }
    }

    /// Reads until there is an event, or a keep-alive.
    async fn received(&mut self) -> Result<Option<ServerEvent>, ProviderError> {
        loop {
            // Bytes that are always there must not keep the timers of this task from being polled.
            consume_budget().await;
            if let Some(event) = self.events.next() {
                return Ok(Some(event));
            }
            self.check(self.events.pending(), self.event_limit())?;
            let bytes = self.response.chunk().await;
            let Some(bytes) = bytes.map_err(|error| {
                ProviderError::connection(&self.exchange.name, &error, &self.exchange.sent)
            })?
            else {
                // Some servers end without a line end. What is no JSON is a part of an event that broke off.
                let end = self.events.end().filter(|event| !has_too_many_values(&event.data));
                return Ok(end.filter(|event| is_done(event) || reply::json(&event.data).is_some()));
            };
            self.received = self.received.saturating_add(bytes.len());
            self.check(self.received, self.exchange.limits.body(self.exchange.request_bytes))?;
            self.events.feed(&bytes);
        }
    }

    /// The most bytes of the next event. The last event may repeat the request, and the text so far with escapes.
    fn event_limit(&self) -> usize {
        let own = EVENT.max(self.exchange.limits.text / 2);
        self.text.saturating_mul(4).saturating_add(self.exchange.request_bytes).saturating_add(own)
    }

    fn check(&self, bytes: usize, limit: usize) -> Result<(), ProviderError> {
        if bytes > limit {
            return Err(ProviderError::TooLong { model: self.exchange.name.clone(), limit });
        }
        Ok(())
    }

    /// Adds an event to the reply.
    fn read(&mut self, event: &ServerEvent) -> Result<(), ProviderError> {
        if is_done(event) {
            self.reply.is_ended = true;
            return Ok(());
        }
        if has_too_many_values(&event.data) {
            return Err(ProviderError::failed(
                &self.exchange.name,
                format!("{GARBLED}: one of its events has more than {VALUES} values"),
            ));
        }
        // An event that is no JSON may have been text, so it is not passed over.
        let json = reply::json(&event.data);
        let (json, has_halves) = json.ok_or_else(|| ProviderError::failed(&self.exchange.name, GARBLED))?;
        let kind = json.get("type").and_then(Json::as_str).unwrap_or(&event.name);
        // Anthropic's keep-alive has data.
        self.has_begun |= kind != "ping";
        let is_error = event.name == "error"
            || ["error", "response.failed"].contains(&kind)
            || json.get("error").is_some_and(|error| !error.is_null());
        if is_error {
            // OpenAI's Responses API has the error inside the response, where the member is null if nothing failed.
            let inner = json.pointer("/response/error").filter(|error| !error.is_null());
            return Err(ProviderError::fault(
                &self.exchange.name,
                inner.unwrap_or(&json),
                &self.exchange.sent,
            ));
        }
        self.reply.begin_event(&json, has_halves);
        (self.format.read)(kind, &json, &mut self.reply);
        Ok(())
    }
}

/// Reads the beginning of an error's body. The rest is dropped with the connection.
pub(super) async fn read_error(response: &mut Response, body: &mut Vec<u8>) {
    while let Ok(Some(bytes)) = response.chunk().await {
        consume_budget().await;
        let rest = ERROR_BODY.saturating_sub(body.len());
        body.extend(bytes.iter().take(rest));
        if bytes.len() >= rest {
            return;
        }
    }
}

pub(super) fn timed_out(name: &str, limit: Duration, begun: bool) -> ProviderError {
    ProviderError::TimedOut { model: name.to_owned(), limit, begun }
}

fn is_done(event: &ServerEvent) -> bool {
    event.data.trim_ascii() == DONE
}

/// The kind of a body that is no stream of events.
fn whole(response: &Response, framing: Framing) -> Option<&'static str> {
    let kind =
        response.headers().get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim().to_ascii_lowercase();
    match &*kind {
        "text/html" => Some("a page"),
        // Some servers use this type for the lines of Ollama.
        "application/json" if framing == Framing::Sse => Some("a whole reply"),
        _ => None,
    }
}

/// Whether parsed JSON would take far more memory than the bytes do.
pub(super) fn has_too_many_values(data: &[u8]) -> bool {
    let mut values = 0;
    let mut is_in_text = false;
    let mut is_escaped = false;
    // Each value follows one of these signs, so a shorter text has fewer values.
    data.len() > VALUES
        && data.iter().any(|byte| {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = is_in_text,
                b'"' => is_in_text = !is_in_text,
                b',' | b':' | b'[' | b'{' if !is_in_text => values += 1,
                _ => {}
            }
            values > VALUES
        })
}
