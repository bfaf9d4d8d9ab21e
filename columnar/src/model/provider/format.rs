//! The parts of a format: how a request is written, and how a reply is read.

use reqwest::Url;
use serde_json::Value as Json;

use super::call::ProviderCall;
use super::events::Framing;
use super::reply::WireReply;

/// The format of a provider's requests and replies.
pub(super) struct WireFormat {
    /// The header with the key, and the text before the key.
    pub(super) key: (&'static str, &'static str),
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The address, relative to the base URL.
    pub(super) path: fn(&ProviderCall<'_>) -> String,
    pub(super) body: fn(ProviderCall<'_>) -> Json,
    pub(super) framing: Framing,
    /// Adds an event of this kind to the reply.
    pub(super) read: fn(&str, &Json, &mut WireReply),
    /// Adds a reply that was not streamed.
    pub(super) read_whole: fn(&Json, &mut WireReply),
}

impl WireFormat {
    /// A format with server-sent events and the usual header for the key.
    pub(super) const fn new(
        path: fn(&ProviderCall<'_>) -> String,
        body: fn(ProviderCall<'_>) -> Json,
        read: fn(&str, &Json, &mut WireReply),
    ) -> Self {
        Self {
            key: ("authorization", "Bearer "),
            headers: &[],
            path,
            body,
            framing: Framing::Sse,
            read,
            read_whole: |_, _| {},
        }
    }
}

/// The address of a path, with the query of the base URL; `None` if the base URL is not valid.
pub(super) fn address(base_url: &str, path: &str) -> Option<Url> {
    let base = Url::parse(base_url).ok()?;
    let mut url = base.join(path).ok()?;
    let queries: Vec<&str> = [url.query(), base.query()].into_iter().flatten().collect();
    let query = queries.join("&");
    url.set_query(Some(&*query).filter(|query| !query.is_empty()));
    Some(url)
}
