//! A request of a batch: its id, and its place in the file of a batch.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use crate::declare::Name;
use crate::model::cache::{CachePolicy, observed};
use crate::model::provider::{Provider, ProviderError, WrittenCall};
use crate::model::registry::BatchApi;
use crate::model::rendering::Request;

/// The cell that a request computes.
#[derive(Clone, Debug)]
pub(crate) struct BatchCell {
    pub(crate) column: Name,
    pub(crate) step: usize,
}

impl BatchCell {
    pub(super) fn of(request: &Request) -> Self {
        let snapshot = request.messages.snapshot();
        Self { column: snapshot.reads.column.clone(), step: snapshot.step }
    }
}

/// A request that no batch has yet.
pub(crate) struct UnsentRequest {
    /// A hash of the cell and of the content: a cell with other content is another request, and never gets the answer.
    pub(crate) id: Arc<str>,
    pub(super) model: String,
    /// The path of a single call of this kind.
    pub(super) path: String,
    pub(super) body: String,
}

impl UnsentRequest {
    /// The request as a member of a batch with this token, which the custom id begins with.
    pub(super) fn text(&self, api: BatchApi, token: &str) -> String {
        let Self { id, path, body, .. } = self;
        // The body is JSON already.
        match api {
            BatchApi::Anthropic => format!(r#"{{"custom_id":"{token}-{id}","params":{body}}}"#),
            BatchApi::OpenAi => {
                format!(r#"{{"custom_id":"{token}-{id}","method":"POST","url":"/v1/{path}","body":{body}}}"#)
            }
        }
    }
}

/// A request for the queue, and what reading the answer needs.
pub(super) struct WrittenRequest {
    pub(super) queued: UnsentRequest,
    pub(super) call: WrittenCall,
}

impl Provider {
    /// Writes a request as a live call has it, without the stream.
    pub(super) fn write_queued(&self, request: &Request) -> Result<WrittenRequest, ProviderError> {
        let policy = observed(&self.name).correct(CachePolicy::by_model(&self.name));
        let mut call = self.write(request, &policy)?;
        // Marks follow the pauses that a process has seen, and change no answer.
        let content = self.write(request, &CachePolicy::UNKNOWN)?.body;
        if let Json::Object(members) = &mut call.body {
            members.shift_remove("stream");
            members.shift_remove("stream_options");
        }
        let BatchCell { column, step } = BatchCell::of(request);
        let hashed = json!([column.as_str(), step, call.path, content]).to_string();
        let queued = UnsentRequest {
            id: hash(hashed.as_bytes()).into(),
            model: self.model.clone(),
            path: call.path.clone(),
            body: call.body.to_string(),
        };
        Ok(WrittenRequest { queued, call })
    }
}

/// Half of a SHA-256 in hexadecimal digits. With a token before, an id has fewer than 64 characters.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    let half = digest.first_chunk().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(half))
}

/// The most requests and bytes of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchLimits {
    pub(super) requests: usize,
    pub(super) bytes: usize,
}

impl BatchLimits {
    pub(super) const fn of(api: BatchApi) -> Self {
        match api {
            // Source: <https://platform.claude.com/docs/en/build-with-claude/batch-processing>, 2026-11-28.
            BatchApi::Anthropic => Self { requests: 100_000, bytes: 256_000_000 },
            // Source: <https://platform.openai.com/docs/api-reference/batch/create>, 2026-11-28.
            BatchApi::OpenAi => Self { requests: 50_000, bytes: 200_000_000 },
        }
    }
}

/// A batch that may get more requests.
struct OpenBatch {
    bytes: usize,
    requests: Vec<UnsentRequest>,
}

/// The bytes around the body of a request.
const AROUND: usize = 200;

/// Splits requests into batches, in order of arrival. A file of OpenAI has requests of one model.
pub(super) fn split(
    requests: Vec<UnsentRequest>,
    api: BatchApi,
    limits: BatchLimits,
) -> Vec<Vec<UnsentRequest>> {
    let mut batches: Vec<OpenBatch> = Vec::new();
    for request in requests {
        let length = request.body.len() + AROUND;
        // A flow has few models, and a batch that is full stays behind the one that is being filled.
        let open = batches.iter_mut().rev().find(|batch| {
            let has_model = batch.requests.first().is_none_or(|first| first.model == request.model);
            (api == BatchApi::Anthropic || has_model)
                && batch.requests.len() < limits.requests
                && batch.bytes + length <= limits.bytes
        });
        match open {
            Some(batch) => {
                batch.bytes += length;
                batch.requests.push(request);
            }
            None => batches.push(OpenBatch { bytes: length, requests: vec![request] }),
        }
    }
    batches.into_iter().map(|batch| batch.requests).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(models: &[&str], api: BatchApi, limits: BatchLimits) -> Vec<usize> {
        let requests = models.iter().enumerate().map(|(at, model)| UnsentRequest {
            id: hash(&[u8::try_from(at).expect("few")]).into(),
            model: (*model).to_owned(),
            path: "messages".to_owned(),
            body: "{}".repeat(50),
        });
        split(requests.collect(), api, limits).iter().map(Vec::len).collect()
    }

    #[test]
    fn limits_and_models_split_a_batch() {
        let limits = BatchLimits { requests: 3, bytes: 1_000_000 };
        assert_eq!(sizes(&["a"; 7], BatchApi::Anthropic, limits), [3, 3, 1]);
        assert_eq!(sizes(&["a", "b", "a", "b"], BatchApi::Anthropic, limits), [3, 1]);
        assert_eq!(sizes(&["a", "b", "a", "b", "a", "a"], BatchApi::OpenAi, limits), [3, 2, 1]);
        let limits = BatchLimits { requests: 100, bytes: 700 };
        assert_eq!(sizes(&["a"; 5], BatchApi::OpenAi, limits), [2, 2, 1]);
        assert_eq!(sizes(&["a"], BatchApi::OpenAi, BatchLimits { requests: 9, bytes: 1 }), [1]);
        assert_eq!(sizes(&[], BatchApi::OpenAi, limits), [0; 0]);
    }

    #[test]
    fn an_id_has_the_form_that_both_interfaces_demand() {
        let id = format!("{}-{}", &hash(b"token")[..16], hash(b"request"));
        assert!(id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{id}");
    }
}
