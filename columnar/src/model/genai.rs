//! [`Genai`]: the models of the public providers, and of every server that speaks like one of them.

mod error;
mod request;

use std::{env, fmt, net::IpAddr, time::Duration};

use ::genai::{
    Client, ModelIden, WebConfig,
    adapter::AdapterKind,
    chat::{ChatOptions, ChatStream, ChatStreamEvent, StopReason, StreamEnd},
    resolver::{AuthData, Endpoint},
};
use futures::{StreamExt, TryFutureExt, TryStreamExt, stream, stream::BoxStream};

pub use self::error::GenaiError;
use self::request::chat_request;
use super::{Chunk, End, Finish, Model, Request, Usage};
use crate::error::BoxError;

/// What may stand before the slash of a model's name. Providers that need more than a key, such as
/// the name of a cloud project, are left out.
#[rustfmt::skip]
pub(crate) const PROVIDERS: &[&str] = &[
    "aliyun", "anthropic", "cohere", "deepseek", "fireworks", "gemini", "groq", "kimi", "minimax",
    "mistral", "moonshot", "nebius", "ollama", "ollama_cloud", "open_router", "openai",
    "openai_resp", "qwen_cloud", "together", "xai", "zai",
];

/// A dead address should fail while somebody is still watching; the system waits for minutes.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

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
/// | `openai/gpt-4o-mini`, also for servers that speak its chat completions | `OPENAI_API_KEY` |
/// | `openai_resp/gpt-5-codex`, over the newer Responses interface | `OPENAI_API_KEY` |
///
/// The other providers follow the same pattern; the error for an unknown one lists them. The key
/// is read from the environment at each request. A name that ends in `-low`, `-medium` or `-high`
/// asks a reasoning model for that effort, and the ending is not sent as part of the name.
///
/// Of a reply's usage, `input` counts the whole request, also what came from the provider's cache.
///
/// A reply must be polled inside a Tokio runtime. Nothing is sent before its first poll, and
/// dropping it closes the connection. Nothing is retried, and a slow reply is waited for. That the
/// provider takes no more calls for now is an [`Overloaded`](super::Overloaded), which is for
/// [`Adaptive`](super::Adaptive) to deal with.
#[derive(Clone)]
pub struct Genai {
    name: String,
    model: ModelIden,
    base_url: Option<String>,
    client: Client,
}

impl Genai {
    /// The model with this name, for example `anthropic/claude-sonnet-4-5`.
    ///
    /// Whether the model exists and the key is right, only a request can tell.
    ///
    /// # Errors
    ///
    /// [`GenaiError::UnknownProvider`] if the name does not begin with a known provider and a
    /// slash, [`GenaiError::NoClient`] if the system has no root certificates.
    pub fn new(name: &str) -> Result<Self, GenaiError> {
        let (provider, model) = name.split_once('/').unwrap_or((name, ""));
        let kind = (PROVIDERS.contains(&provider) && !model.is_empty())
            .then(|| AdapterKind::from_lower_str(provider))
            .flatten()
            .ok_or_else(|| {
                let provider = if model.is_empty() { name } else { provider };
                GenaiError::UnknownProvider(provider.to_owned())
            })?;
        let client = Client::builder()
            .with_web_config(WebConfig::default().with_connect_timeout(CONNECT_TIMEOUT))
            .build()
            .map_err(|_| GenaiError::NoClient)?;
        Ok(Self { name: name.to_owned(), model: ModelIden::new(kind, model), base_url: None, client })
    }

    /// Sends the requests to this address instead of the provider's.
    ///
    /// It goes up to and including the version, as in `http://127.0.0.1:8123/v1/`; for `ollama`
    /// there is none. The provider's key is sent along. Only a server on this machine
    /// (`localhost` or a loopback address) can do without.
    #[must_use]
    pub fn with_base_url(mut self, url: &str) -> Self {
        let (path, query) = url.split_at(url.find('?').unwrap_or(url.len()));
        // The path of the request would otherwise replace the last part of the address.
        let slash = if path.ends_with('/') { "" } else { "/" };
        self.base_url = Some(format!("{path}{slash}{query}"));
        self
    }

    fn key(&self) -> Result<AuthData, GenaiError> {
        let Some(variable) = self.model.adapter_kind.default_key_env_name() else {
            return Ok(AuthData::None);
        };
        // The client insists on a key even where nobody will read it.
        let local = self.base_url.as_deref().is_some_and(is_loopback);
        let key = env::var(variable).ok().filter(|key| !key.trim().is_empty());
        let key = key.or_else(|| local.then(|| "none".to_owned()));
        key.map(AuthData::Key).ok_or_else(|| {
            let model = self.name.clone();
            GenaiError::MissingKey { model, variable }
        })
    }

    async fn open(&self, request: Request) -> Result<ChatStream, GenaiError> {
        let failed = |error| GenaiError::new(&self.name, &error);
        let target = self.client.resolve_service_target(self.model.clone()).await;
        let mut target = target.map_err(failed)?;
        target.auth = self.key()?;
        if let Some(url) = &self.base_url {
            target.endpoint = Endpoint::from_owned(url.as_str());
        }
        let chat = chat_request(&self.name, &request);
        let options = ChatOptions::default().with_max_tokens(request.max_tokens).with_capture_usage(true);
        let reply = self.client.exec_chat_stream(target, chat, Some(&options)).await;
        Ok(reply.map_err(failed)?.stream)
    }
}

// By hand, because a base URL may hold a password.
impl fmt::Debug for Genai {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Genai").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Model for Genai {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let this = self.clone();
        async move {
            let events = this.open(request).await?;
            let failed = move |error| GenaiError::new(&this.name, &error);
            // Ends at the first error; the client's own stream may go on after one.
            Ok(stream::try_unfold(Some(events), next).map_err(failed))
        }
        .try_flatten_stream()
        .map_err(BoxError::from)
        .boxed()
    }
}

type Events = Option<ChatStream>;

/// The next chunk and the events after it. A reply that breaks off gets no [`Chunk::End`].
async fn next(events: Events) -> Result<Option<(Chunk, Events)>, ::genai::Error> {
    let Some(mut events) = events else {
        return Ok(None);
    };
    while let Some(event) = events.try_next().await? {
        match event {
            ChatStreamEvent::Chunk(text) if !text.content.is_empty() => {
                return Ok(Some((Chunk::Text(text.content), Some(events))));
            }
            ChatStreamEvent::End(end) => {
                return Ok(finished(end).map(|end| (Chunk::End(end), None)));
            }
            _ => {}
        }
    }
    Ok(None)
}

fn finished(end: StreamEnd) -> Option<End> {
    let finish = match end.captured_stop_reason? {
        StopReason::Completed(_) | StopReason::StopSequence(_) => Finish::Stop,
        StopReason::MaxTokens(_) => Finish::Length,
        StopReason::ContentFilter(_) => Finish::Refused,
        StopReason::ToolCall(reason) | StopReason::Other(reason) => Finish::Other(reason),
    };
    let count = |tokens: Option<i32>| tokens.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let usage = end.captured_usage.filter(|usage| usage.prompt_tokens.is_some()).map(|usage| {
        let details = usage.prompt_tokens_details.unwrap_or_default();
        Usage::new(count(usage.prompt_tokens), count(usage.completion_tokens))
            .cached(count(details.cached_tokens), count(details.cache_creation_tokens))
    });
    Some(End { usage, ..End::new(finish) })
}

fn is_loopback(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let (_, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    // An address in brackets, as in `[::1]:8123`, has colons of its own.
    let end = if host.starts_with('[') { ']' } else { ':' };
    let host = host.trim_start_matches('[').split(end).next();
    host.is_some_and(|host| host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wire;
