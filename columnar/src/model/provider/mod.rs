//! [`Provider`]: the models of public providers, and of all servers with the same APIs.
//!
//! ```text
//! Request ──▶ call ──▶ format ──▶ client ──▶ bytes ──▶ events ──▶ format ──▶ reply ──▶ chunks
//! ```
//!
//! A format is a file of `formats`; all of them share `call` and `reply`. `stream` alone waits.

mod address;
mod call;
mod client;
mod effort;
mod error;
mod events;
mod format;
mod formats;
mod quotes;
mod redaction;
mod reply;
mod schema;
mod stream;

use std::{env, fmt, time::Duration};

use futures::stream::{BoxStream, try_unfold};
use futures::{StreamExt, TryFutureExt, TryStreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Client, RequestBuilder};

use self::address::Address;
use self::call::Call;
use self::error::BAD_ADDRESS;
pub use self::error::ProviderError;
use self::formats::format;
use self::redaction::{NO_KEY, Sent};
use self::stream::{Limits, ReplyStream};
use super::{Chunk, Model, Refused, Request};
use crate::error::BoxError;
use crate::registry::{self, ProviderFacts};

const BAD_KEY: &str = "the key has characters that no header can have, such as a line break";

/// A model of a public provider, or of any server with the same interface.
///
/// It is named `provider/model`, with the model spelled as the provider spells it:
///
/// | name | key |
/// |---|---|
/// | `anthropic/claude-sonnet-4-5` | `ANTHROPIC_API_KEY` |
/// | `gemini/gemini-2.5-flash` | `GEMINI_API_KEY` |
/// | `ollama/llama3.2` | none, it runs on this machine |
/// | `open_router/qwen/qwen3-32b` | `OPEN_ROUTER_API_KEY` |
/// | `openai/gpt-4o-mini`, also for servers with its chat completions | `OPENAI_API_KEY` |
/// | `openai_resp/gpt-5-codex`, with the newer Responses API | `OPENAI_API_KEY` |
///
/// The other providers follow the same pattern; the error for an unknown one lists them. The key is read from the
/// environment at each request. A name that ends in `-low`, `-medium` or `-high` requests that effort from a reasoning
/// model, and the ending is not sent as part of the name.
///
/// Requests go to the address after the name, if there is one, as in `openai/smollm2@http://127.0.0.1:8123/v1`; see
/// [`base_url`](Self::base_url). The address is not part of the model's name, and never shown.
///
/// A [schema](Request::schema) is sent to providers that enforce one, in their dialect and without the keywords that they
/// refuse. OpenAI's dialect requires all properties of an object and allows no others; Fireworks, Mistral, Nebius,
/// `OpenRouter`, Together and xAI share it. Anthropic and Gemini have their own dialects. Other providers get no schema.
///
/// The `input` tokens of a reply's usage are those of the whole request, tokens from the provider's cache included.
///
/// A reply must be polled inside a Tokio runtime. Nothing is sent before its first poll, and dropping it closes the
/// connection. Nothing is retried, and no redirect is followed. By default a reply must begin within five minutes, may
/// pause for two minutes, and may have 16 MiB of [text](Self::text_limit); [`timeout`](crate::compute::Policy::timeout)
/// limits the whole. Replies are never decompressed.
///
/// If the provider takes no more calls for now, the error is [`Overloaded`](super::Overloaded), which
/// [`Adaptive`](super::Adaptive) handles. If it would refuse the request again, the error is [`Refused`].
#[derive(Clone)]
pub struct Provider {
    name: String,
    provider: &'static ProviderFacts,
    /// The model as the provider spells it.
    model: String,
    address: Option<Address>,
    limits: Limits,
    client: Client,
}

impl Provider {
    /// The model with this name, for example `anthropic/claude-sonnet-4-5`.
    ///
    /// Whether the model exists and the key is right is known only after the first request.
    ///
    /// # Errors
    ///
    /// [`ProviderError::UnknownProvider`] if the name does not begin with a known provider and a
    /// slash, [`ProviderError::NoClient`] if the system has no root certificates.
    ///
    /// ```
    /// use columnar::model::{Provider, Model};
    ///
    /// let model = Provider::new("openai/smollm2@http://127.0.0.1:8123/v1")?;
    /// assert_eq!(model.name(), "openai/smollm2");
    /// # Ok::<(), columnar::model::ProviderError>(())
    /// ```
    pub fn new(name: &str) -> Result<Self, ProviderError> {
        let (name, address) = Address::split(name);
        let (provider_name, model) = name.split_once('/').unwrap_or((name, ""));
        let provider = registry::provider(provider_name).filter(|_| !model.is_empty());
        let provider = provider.ok_or_else(|| {
            let shown = if model.is_empty() { name } else { provider_name };
            ProviderError::UnknownProvider { name: shown.to_owned() }
        })?;
        let client = client::client().ok_or(ProviderError::NoClient)?;
        let (name, model) = (name.to_owned(), model.to_owned());
        Ok(Self { name, provider, model, address, limits: Limits::default(), client })
    }

    /// Sends the requests to this address instead of the provider's.
    ///
    /// The address includes the version, as in `http://127.0.0.1:8123/v1/`; for `ollama` there is no version. The
    /// provider's key is sent to the address. Without a key, only a server on this machine (`localhost` or a loopback
    /// address) can be called.
    #[must_use]
    pub fn base_url(self, url: &str) -> Self {
        Self { address: Some(Address::new(url)), ..self }
    }

    /// Sets the most time until a reply begins; five minutes by default. Models that reason first need more, and so do
    /// providers that let requests wait: their keep-alives are no beginning.
    ///
    /// ```
    /// use columnar::compute::secs;
    /// use columnar::model::Provider;
    ///
    /// let model = Provider::new("ollama/llama3.2")?.first_timeout(secs(1800)).idle_timeout(secs(600));
    /// # Ok::<(), columnar::model::ProviderError>(())
    /// ```
    #[must_use]
    pub fn first_timeout(mut self, limit: Duration) -> Self {
        self.limits.first = limit;
        self
    }

    /// Sets the most time between two events of a reply that has begun; two minutes by default. From then on the
    /// keep-alives of a server count.
    #[must_use]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.limits.idle = limit;
        self
    }

    /// Sets the most bytes of a reply's text; 16 MiB by default.
    ///
    /// It also limits the bytes on the way, with room for JSON and thoughts. An event may have the bytes of the request,
    /// four times those of the text so far, and half of this limit or 8 MiB; and 65,536 values. A reply may have sixteen
    /// times the bytes of the request, four times this limit and 16 MiB. Of an error's body 64 KiB are read.
    #[must_use]
    pub fn text_limit(mut self, bytes: usize) -> Self {
        self.limits.text = bytes;
        self
    }

    /// Whether the name came with an address.
    pub(super) fn has_address(&self) -> bool {
        self.address.is_some()
    }

    /// The key to send, if the provider takes one.
    fn key(&self) -> Result<Option<String>, ProviderError> {
        let Some(variable) = self.provider.key_variable else {
            return Ok(None);
        };
        // A local server ignores it, and some require one.
        let local = self.address.as_ref().is_some_and(Address::is_loopback);
        let key = env::var(variable).ok().filter(|key| !key.trim().is_empty());
        let key = key.or_else(|| local.then(|| NO_KEY.to_owned()));
        key.map(Some).ok_or_else(|| {
            let model = self.name.clone();
            ProviderError::MissingKey { model, variable, source: Refused }
        })
    }

    async fn open(self, request: Request) -> Result<ReplyStream, ProviderError> {
        let key = self.key()?;
        let (http, bytes) = self.http(key.as_deref(), &request)?;
        // The key that is sent is the one that errors are redacted with.
        let sent = Sent { request, model: self.model, key, address: self.address };
        ReplyStream::open(self.name, self.provider, http, bytes, sent, self.limits).await
    }

    /// The HTTP request, and the length of its body.
    fn http(&self, key: Option<&str>, request: &Request) -> Result<(RequestBuilder, usize), ProviderError> {
        let format = format(self.provider.api);
        let base_url = self.address.as_ref().map_or(self.provider.base_url, Address::as_str);
        let call = Call::new(self.provider, &self.name, &self.model, base_url, request);
        let url = format.url(&call).ok_or_else(|| ProviderError::failed(&self.name, BAD_ADDRESS))?;
        let body = (format.body)(call).to_string();
        let mut http = self.client.post(url).header(CONTENT_TYPE, "application/json");
        for (name, value) in format.headers {
            http = http.header(*name, *value);
        }
        if let Some(key) = key {
            let (name, before) = format.key;
            let key = HeaderValue::try_from(format!("{before}{key}"));
            let mut key = key.map_err(|_| ProviderError::failed(&self.name, BAD_KEY))?;
            key.set_sensitive(true);
            http = http.header(name, key);
        }
        let length = body.len();
        Ok((http.body(body), length))
    }
}

// By hand, because an address may hold a password.
impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Model for Provider {
    fn name(&self) -> &str {
        &self.name
    }

    /// The key, if the provider takes one.
    fn ready(&self) -> Result<(), BoxError> {
        Ok(self.key().map(drop)?)
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let opened = self.clone().open(request);
        let replies = opened.map_ok(|reply| try_unfold(Some(reply), ReplyStream::next));
        replies.try_flatten_stream().map_err(BoxError::from).boxed()
    }
}

#[cfg(test)]
mod wire;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::PROVIDERS;

    #[test]
    fn every_provider_of_the_registry_makes_a_model() {
        for provider in PROVIDERS {
            let name = format!("{}/some/model", provider.name);
            let model = Provider::new(&name).expect("a known provider");
            assert_eq!(model.name(), name);
            assert_eq!((&*model.model, model.provider.name), ("some/model", provider.name));
            assert!(provider.base_url.ends_with('/'), "the path of a request would replace its last part");
        }
    }

    #[test]
    fn the_error_for_a_name_without_provider_or_model_lists_the_providers() {
        for name in ["gpt-4o", "openia/gpt-4o", "openai/", "/gpt-4o", "", "genai_1/x", "vertex/x"] {
            let error = Provider::new(name).expect_err(name).to_string();
            assert!(error.contains("anthropic, cohere") && error.contains("ollama"), "{error}");
        }
    }

    #[test]
    fn a_base_url_stays_out_of_debug_output() {
        let model = Provider::new("openai/x").expect("a provider");
        let model = model.base_url("http://me:secret@localhost/v1/");
        assert_eq!(format!("{model:?}"), r#"Provider { name: "openai/x", .. }"#);
    }

    #[test]
    fn an_address_after_a_name_is_not_part_of_it() {
        let model = Provider::new("openai/x@http://me:secret@localhost/v1").expect("a provider");
        assert_eq!((model.name(), &*model.model), ("openai/x", "x"));
        assert!(model.has_address() && model.ready().is_ok(), "this machine needs no key");
        assert_eq!(format!("{model:?}"), r#"Provider { name: "openai/x", .. }"#);
        for name in ["openai@http://me:secret@h", "@http://me:secret@h", "x@https://me:secret@h/v1"] {
            let error = Provider::new(name).expect_err(name).to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
