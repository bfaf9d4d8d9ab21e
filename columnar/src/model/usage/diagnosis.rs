//! The words of a provider about a prefix that was not read from its cache.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::receipt::{count, object, text};
use super::{Grouped, ParseReceiptError};

/// A provider's own reason for a miss of its cache. Anthropic and OpenAI send one where a request asks for a comparison
/// with an earlier request; see the [guide](crate::guide::caches).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheDiagnosis {
    /// The word of the provider, such as `system_changed` or `reasoning_effort_changed`.
    pub reason: Arc<str>,
    /// The tokens that were not read, by the estimate of the provider.
    pub tokens: Option<u64>,
}

impl CacheDiagnosis {
    /// A diagnosis with this reason.
    pub fn new(reason: impl Into<Arc<str>>, tokens: Option<u64>) -> Self {
        Self { reason: reason.into(), tokens }
    }

    pub(super) fn json(&self) -> Json {
        object([("reason", Some((*self.reason).into())), ("tokens", self.tokens.map(Json::from))])
    }

    /// The diagnosis in a receipt.
    pub(super) fn parse(entries: &Map<String, Json>) -> Result<Option<Self>, ParseReceiptError> {
        let Some(found) = entries.get("diagnosis") else { return Ok(None) };
        let entries = found.as_object().ok_or(ParseReceiptError)?;
        let reason = text(entries, "reason")?.ok_or(ParseReceiptError)?;
        let tokens = entries.contains_key("tokens").then(|| count(entries, "tokens")).transpose()?;
        Ok(Some(Self { reason, tokens }))
    }
}

impl fmt::Display for CacheDiagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        self.tokens.map_or(Ok(()), |tokens| write!(f, ", {} tokens", Grouped(tokens)))
    }
}
