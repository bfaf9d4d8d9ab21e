//! The words of a provider about a prefix that was not read from its cache.

use std::fmt;
use std::sync::Arc;

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
}

impl fmt::Display for CacheDiagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        self.tokens.map_or(Ok(()), |tokens| write!(f, ", {tokens} tokens"))
    }
}
