//! The span of a call of a model, from the request to the end of the reply.

use std::error::Error as StdError;

use tokio::time::Instant;
use tracing::field::{Empty, debug};
use tracing::info_span;
use tracing::instrument::{Instrument, Instrumented};
use tracing::span::EnteredSpan;

use super::run::OpenSpan;
use super::{content, names};
use crate::compute::error_class;
use crate::model::registry;
use crate::model::rendering::Request;
use crate::model::{End, Finish};

pub(crate) struct CallSpan {
    open: OpenSpan,
    /// The time of the request, until the first chunk arrives.
    sent_at: Option<Instant>,
    /// The text of the reply, if content is captured.
    captured: Option<String>,
}

impl CallSpan {
    /// A child of the current span, which is the span of the cell.
    pub(crate) fn of_request(model: &str, request: &Request) -> Self {
        let (provider, model) = split_name(model);
        let span = info_span!(
            target: names::TARGET,
            names::CHAT,
            { names::OTEL_NAME } = format!("{} {model}", names::CHAT),
            { names::OTEL_KIND } = "client",
            { names::OPERATION } = names::CHAT,
            { names::PROVIDER } = provider,
            { names::MODEL } = model,
            { names::MAX_TOKENS } = request.max_tokens,
            { names::STREAM } = true,
            // `tracing` drops what is recorded in a field that was not declared with the span.
            { names::FIRST_CHUNK } = Empty,
            { names::FINISH } = Empty,
            { names::INPUT_TOKENS } = Empty,
            { names::OUTPUT_TOKENS } = Empty,
            { names::CACHE_READ } = Empty,
            { names::CACHE_WRITE } = Empty,
            { names::SYSTEM } = Empty,
            { names::INPUT } = Empty,
            { names::OUTPUT } = Empty,
            { names::OUTCOME } = Empty,
            { names::ERROR_TYPE } = Empty,
            { names::ERROR_TEXT } = Empty,
            { names::OTEL_STATUS } = Empty,
        );
        let is_seen = !span.is_disabled();
        // The JSON of a whole context is long, so only a subscriber gets it.
        let captured = (is_seen && content::is_captured()).then(|| {
            span.record(names::SYSTEM, content::system(&request.system));
            span.record(names::INPUT, content::input(&request.messages));
            String::new()
        });
        Self { open: OpenSpan::new(span), sent_at: is_seen.then(Instant::now), captured }
    }

    pub(crate) fn enter(&self) -> EnteredSpan {
        self.open.enter()
    }

    /// The future, polled in this span.
    pub(crate) fn within<F: Future>(&self, future: F) -> Instrumented<F> {
        future.instrument(self.open.span.clone())
    }

    /// A piece of text arrived.
    pub(crate) fn text(&mut self, text: &str) {
        if let Some(sent_at) = self.sent_at.take() {
            self.open.span.record(names::FIRST_CHUNK, sent_at.elapsed().as_secs_f64());
        }
        if let Some(captured) = &mut self.captured {
            captured.push_str(text);
        }
    }

    /// The reply ended, perhaps with a refusal.
    pub(crate) fn end(&mut self, end: &End) {
        self.open.outcome = Some(names::OK);
        let finish = match &end.finish {
            Finish::Other(reason) if self.captured.is_some() => reason.as_str(),
            finish => error_class::finish(finish),
        };
        // The form of the debug output: `tracing` has no lists, and a list of plain words is JSON.
        let span = &self.open.span;
        span.record(names::FINISH, debug([finish]));
        if let Some(usage) = end.usage {
            span.record(names::INPUT_TOKENS, usage.input);
            span.record(names::OUTPUT_TOKENS, usage.output);
            span.record(names::CACHE_READ, usage.cache_read);
            span.record(names::CACHE_WRITE, usage.cache_write);
        }
        if let Some(text) = &self.captured {
            span.record(names::OUTPUT, content::output(text, finish));
        }
    }

    /// The reply is discarded.
    pub(crate) fn failed(&mut self, error: &(dyn StdError + 'static), class: Option<&'static str>) {
        self.open.failed(error, class);
    }
}

/// Splits a name such as `openai/gpt-4o-mini` into the provider, as the conventions spell it, and the model. A name
/// without a provider, such as the name of a user's model, is both.
fn split_name(name: &str) -> (&str, &str) {
    let (provider, model) = name.split_once('/').unwrap_or((name, name));
    (registry::provider(provider).map_or(provider, |provider| provider.telemetry_name), model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_provider_and_its_model() {
        assert_eq!(split_name("openai/gpt-4o-mini"), ("openai", "gpt-4o-mini"));
        assert_eq!(split_name("open_router/qwen/qwen3-32b"), ("open_router", "qwen/qwen3-32b"));
        assert_eq!(split_name("gemini/gemini-2.5-flash"), ("gcp.gemini", "gemini-2.5-flash"));
        assert_eq!(split_name("offline"), ("offline", "offline"));
    }
}
