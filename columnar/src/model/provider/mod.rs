//! [`Provider`]: the models of public providers, and of all servers with the same APIs.
//!
//! ```text
//! Request ──▶ call ──▶ format ──▶ client ──▶ bytes ──▶ events ──▶ format ──▶ reply ──▶ chunks
//! ```
//!
//! A format is a file of `formats`; all formats share `call` and `reply`. `stream` alone waits.

mod address;
mod batch;
mod call;
mod client;
mod error;
mod events;
mod format;
mod formats;
mod options;
mod quotes;
mod redaction;
mod reply;
mod schema;
mod settings;
mod stop;
mod stream;
mod window;
mod words;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{BoxStream, try_unfold};
use futures::{StreamExt, TryFutureExt, TryStreamExt};
use reqwest::header::HeaderMap;
use reqwest::{Client, Url};
use serde_json::Value as Json;

use self::address::ServerAddress;
pub use self::batch::{BatchError, BatchQueue};
pub(crate) use self::batch::{BatchSearch, EndedBatch, SentBatch, UnsentRequest, hash};
use self::call::{CallTarget, ProviderCall};
use self::error::BAD_ADDRESS;
pub use self::error::ProviderError;
use self::format::address;
use self::formats::format;
use self::options::ProviderOptions;
use self::redaction::Sent;
use self::settings::SentSettings;
use self::stop::StopFilter;
use self::stream::{Exchange, ReplyStream, StreamLimits};
use super::{Chunk, Model, ReplySettings, Request};
use crate::declare::error::BoxError;
use crate::model::cache::{CachePolicy, Lifetime, observed};
use crate::model::registry::{self, ProviderFacts};

/// A model of a public provider, or of any server with the same interface.
///
/// The name is `provider/model`. The model has the provider's spelling, and is sent as written:
///
/// | name | key |
/// |---|---|
/// | `anthropic/claude-sonnet-5-5` | `ANTHROPIC_API_KEY` |
/// | `gemini/gemini-3.8-flash` | `GEMINI_API_KEY`, `GOOGLE_API_KEY` |
/// | `ollama/llama3.2` | none, it runs on this machine |
/// | `open_router/qwen/qwen3-max` | `OPENROUTER_API_KEY` |
/// | `openai/gpt-5.4-mini`, also for servers with its chat completions | `OPENAI_API_KEY` |
/// | `openai_resp/gpt-6-sol`, with the newer Responses API | `OPENAI_API_KEY` |
///
/// The other providers follow the same pattern; the error for an unknown provider lists them. The key is read from the
/// environment at each request, unless the program [gives one](Self::key).
///
/// Requests go to the address after the name, if there is one, as in `openai/smollm2@http://127.0.0.1:8123/v1`; see
/// [`base_url`](Self::base_url). The address is not part of the model's name, and never shown.
///
/// A setting that the model does not take, such as a temperature, is an error before anything is sent, or is left out
/// where the [settings](ReplySettings::lenient) are lenient. [`body`](Self::body) sends parameters that have no
/// setting here.
///
/// A [schema](Request::schema) is sent to models whose provider enforces schemas, in the provider's dialect and
/// without the keywords that the provider refuses. Other models get the instruction alone, which has the schema, too.
///
/// The `input` tokens of a reply's usage cover the whole request, tokens from the provider's cache included. A reply
/// to a context of which the server read less than half ends with [`Finish::ContextCut`](super::Finish::ContextCut).
///
/// A reply must be polled inside a Tokio runtime. Nothing is sent before the first poll, and dropping the reply closes
/// the connection. Nothing is retried, and no redirect is followed. By default a reply must begin within five minutes,
/// may pause for two minutes, and may have 16 MiB of [text](Self::text_limit);
/// [`timeout`](crate::compute::Policy::timeout) limits the whole call. Replies are never decompressed.
///
/// If the provider takes no more calls for now, the error is [`Overloaded`](super::Overloaded), which
/// [`Adaptive`](super::Adaptive) handles. If the provider would refuse the request again, the error is [`Refused`](super::Refused).
#[derive(Clone)]
pub struct Provider {
    name: String,
    facts: &'static ProviderFacts,
    /// The model in the provider's spelling.
    model: String,
    address: Option<ServerAddress>,
    limits: StreamLimits,
    options: ProviderOptions,
    client: Client,
}

impl Provider {
    /// The model with this name, for example `anthropic/claude-sonnet-5-5`.
    ///
    /// Only the first request shows whether the model exists and the key is right.
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
        let (name, address) = ServerAddress::split(name);
        let (provider_name, model) = name.split_once('/').unwrap_or((name, ""));
        let facts = registry::provider(provider_name).filter(|_| !model.is_empty());
        let facts = facts.ok_or_else(|| {
            let shown = if model.is_empty() { name } else { provider_name };
            ProviderError::UnknownProvider { name: shown.to_owned() }
        })?;
        let client = client::client().ok_or(ProviderError::NoClient)?;
        let name = name.to_owned();
        let model = model.to_owned();
        let limits = StreamLimits::default();
        let options = ProviderOptions::default();
        Ok(Self { name, facts, model, address, limits, options, client })
    }

    /// Sends the requests to this address instead of the provider's address.
    ///
    /// The address includes the version, as in `http://127.0.0.1:8123/v1/`; for `ollama` there is no version. The
    /// provider's key is sent to the address. Without a key, only a server on this machine (`localhost` or a loopback
    /// address) can be called.
    #[must_use]
    pub fn base_url(self, url: &str) -> Self {
        Self { address: Some(ServerAddress::new(url)), ..self }
    }

    /// Sets the most time until a reply begins; five minutes by default. Models that reason first need more, and so do
    /// providers that let requests wait: keep-alives are no beginning.
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
    /// The limit also bounds the bytes on the way, with room for JSON and thoughts. An event may have the bytes of the
    /// request, four times the bytes of the text so far, and half of this limit or 8 MiB; and 65,536 values. A reply
    /// may have sixteen times the bytes of the request, four times this limit and 16 MiB. Of an error's body 64 KiB
    /// are read.
    #[must_use]
    pub fn text_limit(mut self, bytes: usize) -> Self {
        self.limits.text = bytes;
        self
    }

    /// Sends the keys that this function returns, such as the key of the customer, or the next of several keys. The
    /// function is called for each request, and must not block. An empty key counts as missing.
    ///
    /// ```
    /// use columnar::model::Provider;
    ///
    /// fn customer_key() -> String {
    ///     "sk-…".to_owned()
    /// }
    ///
    /// let model = Provider::new("openai/gpt-5.4-mini")?.key(customer_key);
    /// # Ok::<(), columnar::model::ProviderError>(())
    /// ```
    #[must_use]
    pub fn key<K: Into<String>>(mut self, key: impl Fn() -> K + Send + Sync + 'static) -> Self {
        self.options.key = Some(Arc::new(move || key().into()));
        self
    }

    /// Adds a header to all requests, such as `http-referer` for `OpenRouter`, or replaces one. With a header
    /// `authorization`, no key is needed. The value is never shown. A name or value that no header can have is an
    /// error of [`ready`](Model::ready).
    ///
    /// ```
    /// use columnar::model::Provider;
    ///
    /// let model = Provider::new("open_router/qwen/qwen3-max")?.header("x-title", "My chat");
    /// # Ok::<(), columnar::model::ProviderError>(())
    /// ```
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.options.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Merges an object into the body of all requests, after everything else, as a JSON merge patch (RFC 7396):
    /// objects are merged, other values replaced, and `null` removes a member. So any parameter of a provider can be
    /// sent, and any parameter that is sent can be changed.
    ///
    /// ```
    /// use columnar::model::Provider;
    /// use serde_json::json;
    ///
    /// let model = Provider::new("openai/gpt-5.4-mini")?.body(json!({ "service_tier": "flex" }));
    /// let local = Provider::new("ollama/llama3.2")?.body(json!({ "keep_alive": "1h", "options": { "top_k": 20 } }));
    /// # Ok::<(), columnar::model::ProviderError>(())
    /// ```
    #[must_use]
    pub fn body(mut self, patch: Json) -> Self {
        self.options.add_body(patch);
        self
    }

    /// Sets the most tokens of the window that a model on this machine may have (`ollama`); 131,072 by default. A
    /// window has the least power of two that has room for the context and the reply, and 4,096 tokens at least. A
    /// context without room is an error before anything is sent.
    #[must_use]
    pub fn max_context(mut self, tokens: u32) -> Self {
        self.options.max_context = tokens;
        self
    }

    /// Whether the name came with an address.
    pub(super) fn has_address(&self) -> bool {
        self.address.is_some()
    }

    /// Another model of the provider, with the same settings. `None` for a name of another provider, or with an address.
    fn sibling(&self, name: &str) -> Option<Self> {
        let model = name.strip_prefix(self.facts.name)?.strip_prefix('/')?;
        let is_plain = !model.is_empty() && ServerAddress::split(name).1.is_none();
        is_plain.then(|| Self { name: name.to_owned(), model: model.to_owned(), ..self.clone() })
    }

    async fn open(self, request: Request) -> Result<ReplyStream, ProviderError> {
        let key = self.key_to_send()?;
        let policy = observed(&self.name).correct(CachePolicy::by_model(&self.name));
        let WrittenCall { path, body, asked_long, stop } = self.write(&request, &policy)?;
        let body = body.to_string();
        let request_bytes = body.len();
        let http = self.client.post(self.url(&path)?).headers(self.headers(key.as_deref())?).body(body);
        let sent = self.sent(Some(request), key);
        let Self { name, facts, limits, .. } = self;
        let exchange = Exchange { name, facts, limits, sent, request_bytes, asked_long };
        ReplyStream::open(exchange, http, stop).await
    }

    /// Writes a request with the marks of a policy.
    fn write(&self, request: &Request, policy: &CachePolicy) -> Result<WrittenCall, ProviderError> {
        let settings = SentSettings::of(self.facts, &self.name, &request.settings, request.max_tokens)?;
        let stop = StopFilter::new(&settings.own_stop);
        let target = CallTarget {
            provider: self.facts,
            name: &self.name,
            model: &self.model,
            max_context: self.options.max_context,
        };
        let call = ProviderCall::new(target, request, settings, policy)?;
        let asked_long = call.marks().any(|mark| mark == Lifetime::Long);
        let format = format(self.facts.api);
        let path = (format.path)(&call);
        let body = self.options.patched((format.body)(call));
        Ok(WrittenCall { path, body, asked_long, stop })
    }

    /// The address of a path.
    fn url(&self, path: &str) -> Result<Url, ProviderError> {
        let base_url = self.address.as_ref().map_or(self.facts.base_url, ServerAddress::as_str);
        address(base_url, path).ok_or_else(|| ProviderError::failed(&self.name, BAD_ADDRESS))
    }

    fn key_to_send(&self) -> Result<Option<String>, ProviderError> {
        self.options.key(&self.name, self.facts, self.address.as_ref())
    }

    /// The texts that no error may show. The key that is sent is also removed from errors.
    fn sent(&self, request: Option<Request>, key: Option<String>) -> Sent {
        let secrets = self.options.secrets().map(str::to_owned).collect();
        Sent { request, model: self.model.clone(), key, secrets, address: self.address.clone() }
    }

    fn headers(&self, key: Option<&str>) -> Result<HeaderMap, ProviderError> {
        let headers = self.options.headers(format(self.facts.api), key, self.address.as_ref());
        headers.map_err(|cause| ProviderError::failed(&self.name, cause))
    }
}

/// A request in the format of the provider.
struct WrittenCall {
    path: String,
    body: Json,
    /// Whether a mark asked for the longer lifetime.
    asked_long: bool,
    stop: StopFilter,
}

// Written by hand, because an address may hold a password.
impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Model for Provider {
    fn name(&self) -> &str {
        &self.name
    }

    /// Checks the key, if the provider takes one, and the headers.
    fn ready(&self) -> Result<(), BoxError> {
        let key = self.key_to_send()?;
        Ok(self.headers(key.as_deref()).map(drop)?)
    }

    fn accepts(&self, settings: &ReplySettings, max_tokens: u32) -> Result<(), BoxError> {
        Ok(SentSettings::of(self.facts, &self.name, settings, max_tokens).map(drop)?)
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let opened = self.clone().open(request);
        let replies = opened.map_ok(|reply| try_unfold(Some(Box::new(reply)), ReplyStream::next));
        replies.try_flatten_stream().map_err(BoxError::from).boxed()
    }
}

#[cfg(test)]
mod wire;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::registry::PROVIDERS;

    #[test]
    fn every_provider_of_the_registry_makes_a_model() {
        for provider in PROVIDERS {
            let name = format!("{}/some/model", provider.name);
            let model = Provider::new(&name).expect("a known provider");
            assert_eq!(model.name(), name);
            assert_eq!((&*model.model, model.facts.name), ("some/model", provider.name));
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
