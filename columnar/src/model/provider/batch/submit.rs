//! Submitting a batch.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value as Json, json};

use super::request::{BatchLimits, UnsentRequest, split};
use crate::model::provider::error::GARBLED;
use crate::model::provider::{Provider, ProviderError};
use crate::model::registry::BatchApi;

/// The slowest upload, in bytes for a second.
const SLOWEST: u64 = 100_000;

/// The member of a batch's metadata at OpenAI that has the token.
pub(super) const METADATA: &str = "columnar";

impl Provider {
    /// Splits requests into batches that the provider takes, each with at most `most` requests.
    pub(crate) fn split_batches(&self, requests: Vec<UnsentRequest>, most: usize) -> Vec<Vec<UnsentRequest>> {
        let Some(api) = self.batches() else { return vec![requests] };
        let limits = BatchLimits::of(api);
        split(requests, api, BatchLimits { requests: limits.requests.min(most.max(1)), ..limits })
    }

    /// Submits a batch, and returns its id. After an error that is no refusal, the batch may exist.
    pub(crate) async fn submit_batch(
        &self,
        token: &str,
        requests: &[UnsentRequest],
    ) -> Result<String, ProviderError> {
        let api = self.batches().unwrap_or(BatchApi::OpenAi);
        let texts = requests.iter().map(|request| request.text(api, token));
        let created = match api {
            BatchApi::Anthropic => {
                let body = format!(r#"{{"requests":[{}]}}"#, texts.collect::<Vec<_>>().join(","));
                self.post("messages/batches", "application/json", body).await?
            }
            BatchApi::OpenAi => {
                // JSON has no raw line breaks, so no line of the file can be the boundary.
                let boundary = format!("columnar-{token}");
                let file = texts.map(|text| text + "\n").collect::<String>();
                let body = format!(
                    "--{boundary}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
                     --{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{boundary}.jsonl\"\r\n\
                     content-type: application/jsonl\r\n\r\n{file}\r\n--{boundary}--\r\n"
                );
                let kind = format!("multipart/form-data; boundary={boundary}");
                let file = self.post("files", &kind, body).await?;
                let path = requests.first().map_or("", |first| &*first.path);
                let batch = json!({
                    "input_file_id": self.id_in(&file)?,
                    "endpoint": format!("/v1/{path}"),
                    "completion_window": "24h",
                    "metadata": { METADATA: token },
                });
                self.post("batches", "application/json", batch.to_string()).await?
            }
        };
        self.id_in(&created)
    }

    async fn post(&self, path: &str, kind: &str, body: String) -> Result<Json, ProviderError> {
        let more = Duration::from_secs(body.len() as u64 / SLOWEST);
        let kind = HeaderValue::try_from(kind).map_err(|_| self.failed(GARBLED))?;
        let mut headers = self.headers(self.key_to_send()?.as_deref())?;
        headers.insert(CONTENT_TYPE, kind);
        let request = self.client.post(self.url(path)?).headers(headers).body(body);
        self.json(request, more).await
    }
}
