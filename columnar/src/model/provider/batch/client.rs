//! The calls of the interfaces for batches: their state, and the files of results.

use std::time::Duration;

use reqwest::header::CONTENT_ENCODING;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value as Json;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, timeout_at};

use super::result::{Outcome, parse};
use crate::model::deadline;
use crate::model::http::without_logs;
use crate::model::provider::error::{GARBLED, ProviderRefusal};
use crate::model::provider::events::{Events, Framing, ServerEvent};
use crate::model::provider::redaction::SentForm;
use crate::model::provider::reply::{self, at, count, string};
use crate::model::provider::stream::{has_too_many_values, read_error, timed_out};
use crate::model::provider::{Provider, ProviderError};
use crate::model::registry::BatchApi;

/// The most bytes of a reply about batches. A page of Anthropic's list with 1,000 batches has about half a megabyte.
const ABOUT_BATCHES: usize = 16 << 20;

/// The most bytes of a line of results beside the text: a reply names its parts, its usage and the request.
const AROUND_TEXT: usize = 8 << 20;

/// The most characters of an id in a path.
const LONGEST_ID: usize = 200;

/// A batch that is over.
#[derive(Debug)]
pub(crate) struct EndedBatch {
    /// The paths of the files with results.
    files: Vec<String>,
    /// The number of requests that were answered or refused, as the provider says.
    pub(crate) results: usize,
    /// The end in the words of the provider, such as `expired`.
    pub(crate) end: String,
}

impl Provider {
    /// The interface for batches, if the provider has one.
    pub(crate) fn batches(&self) -> Option<BatchApi> {
        self.facts.batches
    }

    /// The batch, if it is over.
    pub(crate) async fn look_at_batch(&self, id: &str) -> Result<Option<EndedBatch>, ProviderError> {
        let path = match self.batches() {
            Some(BatchApi::Anthropic) => format!("messages/batches/{}", self.checked_id(id)?),
            _ => format!("batches/{}", self.checked_id(id)?),
        };
        let batch = self.json(self.http(Method::GET, &path)?, Duration::ZERO).await?;
        self.ended(&batch)
    }

    /// The end of a batch by its description; `None` if the batch is not over.
    pub(super) fn ended(&self, batch: &Json) -> Result<Option<EndedBatch>, ProviderError> {
        if self.batches() == Some(BatchApi::Anthropic) {
            if string(batch, "/processing_status") != Some("ended") {
                return Ok(None);
            }
            let id = self.checked_id(string(batch, "/id").unwrap_or_default())?;
            // The address in the batch is not used: the key is sent to the address of the program alone.
            let has_results = string(batch, "/results_url").is_some();
            let files = has_results.then(|| format!("messages/batches/{id}/results"));
            let results = counts(batch, ["succeeded", "errored"]);
            let end = match [counts(batch, ["canceled"]), counts(batch, ["expired"])] {
                [0, 0] => "ended",
                [0, _] => "expired",
                _ => "was cancelled",
            };
            let end = end.to_owned();
            return Ok(Some(EndedBatch { files: files.into_iter().collect(), results, end }));
        }
        let end = match string(batch, "/status") {
            Some("completed") => "is completed",
            Some("expired") => "expired",
            Some("cancelled") => "was cancelled",
            Some("failed") => "failed",
            _ => return Ok(None),
        };
        let word = string(batch, "/errors/data/0/code");
        let word =
            word.and_then(|word| self.sent(None, self.key_to_send().ok()?).shown(SentForm::Word, word));
        let end = word.map_or_else(|| end.to_owned(), |word| format!("{end} ({word})"));
        let files = ["/output_file_id", "/error_file_id"].iter().filter_map(|path| string(batch, path));
        let files = files.map(|id| Ok(format!("files/{}/content", self.checked_id(id)?)));
        let files = files.collect::<Result<_, ProviderError>>()?;
        Ok(Some(EndedBatch { files, results: counts(batch, ["completed", "failed"]), end }))
    }

    /// Reads the results of a batch with this token. A file that ends in the middle of a line is an error, after the results
    /// before.
    pub(crate) async fn batch_results(
        &self,
        batch: &EndedBatch,
        token: &str,
        take: impl Fn(&str, Outcome),
    ) -> Result<(), ProviderError> {
        let Some(api) = self.batches() else { return Ok(()) };
        for file in &batch.files {
            let mut lines = self.lines(file).await?;
            while let Some(line) = lines.next().await? {
                let (json, has_halves) = reply::json(&line.data).ok_or_else(|| self.failed(CUT))?;
                let Some((id, outcome)) = parse(api, &json, has_halves) else { continue };
                if let Some(id) = id.strip_prefix(token).and_then(|id| id.strip_prefix('-')) {
                    take(id, outcome);
                }
            }
        }
        Ok(())
    }

    /// Whether the first result of a batch has a custom id with this token.
    pub(super) async fn has_token(&self, batch: &EndedBatch, token: &str) -> Result<bool, ProviderError> {
        let Some(file) = batch.files.first() else { return Ok(false) };
        let Some(line) = self.lines(file).await?.next().await? else { return Ok(false) };
        let json = reply::json(&line.data).map(|(json, _)| json);
        let id = json.as_ref().and_then(|json| string(json, "/custom_id"));
        Ok(id.is_some_and(|id| id.strip_prefix(token).is_some_and(|rest| rest.starts_with('-'))))
    }

    async fn lines(&self, path: &str) -> Result<ResultLines<'_>, ProviderError> {
        let response = self.exchange(self.http(Method::GET, path)?, Duration::ZERO).await?;
        Ok(ResultLines { provider: self, response, events: Events::new(Framing::Lines) })
    }

    /// A request with the headers of the provider.
    pub(super) fn http(&self, method: Method, path: &str) -> Result<RequestBuilder, ProviderError> {
        let headers = self.headers(self.key_to_send()?.as_deref())?;
        Ok(self.client.request(method, self.url(path)?).headers(headers))
    }

    /// The JSON in the reply to a request, whose body may take this much longer.
    pub(super) async fn json(&self, request: RequestBuilder, more: Duration) -> Result<Json, ProviderError> {
        let mut response = self.exchange(request, more).await?;
        let mut body = Vec::new();
        while let Some(bytes) = self.received(&mut response).await? {
            body.extend_from_slice(&bytes);
            if body.len() > ABOUT_BATCHES {
                return Err(ProviderError::TooLong { model: self.name.clone(), limit: ABOUT_BATCHES });
            }
        }
        serde_json::from_slice(&body).map_err(|_| self.failed(GARBLED))
    }

    async fn exchange(&self, request: RequestBuilder, more: Duration) -> Result<Response, ProviderError> {
        let sent = self.sent(None, self.key_to_send()?);
        let limit = self.limits.first.saturating_add(more);
        let until = deadline(Instant::now(), limit);
        let response = timeout_at(until, without_logs(request.send())).await;
        let response = response.map_err(|_| timed_out(&self.name, limit, false))?;
        let mut response = response.map_err(|error| ProviderError::connection(&self.name, &error, &sent))?;
        if !response.status().is_success() {
            let mut body = Vec::new();
            let _ = timeout_at(until, without_logs(read_error(&mut response, &mut body))).await;
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let refusal = ProviderRefusal::new(response.status().as_u16(), response.headers(), &body, &sent);
            return Err(refusal.into_error(self.name.clone()));
        }
        // No encoding was asked for, and a few bytes could unpack to fill the memory.
        let encoding = response.headers().get(CONTENT_ENCODING).map(|it| it.as_bytes().trim_ascii());
        if encoding.is_some_and(|it| !it.is_empty() && !it.eq_ignore_ascii_case(b"identity")) {
            return Err(self.failed(GARBLED));
        }
        Ok(response)
    }

    /// The next bytes of a body.
    async fn received(&self, response: &mut Response) -> Result<Option<Vec<u8>>, ProviderError> {
        consume_budget().await;
        let limit = self.limits.idle;
        let bytes = timeout_at(deadline(Instant::now(), limit), without_logs(response.chunk())).await;
        let bytes = bytes.map_err(|_| timed_out(&self.name, limit, true))?;
        let bytes = bytes.map_err(|error| {
            ProviderError::connection(&self.name, &error, &self.sent(None, self.key_to_send().ok().flatten()))
        })?;
        Ok(bytes.map(Vec::from))
    }

    /// An id that changes no path.
    pub(super) fn checked_id<'i>(&self, id: &'i str) -> Result<&'i str, ProviderError> {
        let is_plain = (1..=LONGEST_ID).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        is_plain.then_some(id).ok_or_else(|| self.failed(GARBLED))
    }

    pub(super) fn failed(&self, cause: &str) -> ProviderError {
        ProviderError::failed(&self.name, cause)
    }

    /// The member of a description that must be an id.
    pub(super) fn id_in(&self, json: &Json) -> Result<String, ProviderError> {
        let id = at(json, "/id").and_then(Json::as_str).unwrap_or_default();
        self.checked_id(id).map(str::to_owned)
    }
}

const CUT: &str = "the results of a batch end in the middle, or could not be understood";

/// The sum of these counts of requests.
fn counts<const N: usize>(batch: &Json, names: [&str; N]) -> usize {
    let counts = names.iter().filter_map(|name| count(batch, &format!("/request_counts/{name}")));
    usize::try_from(counts.sum::<u64>()).unwrap_or(usize::MAX)
}

/// The lines of a file of results.
struct ResultLines<'p> {
    provider: &'p Provider,
    response: Response,
    events: Events,
}

impl ResultLines<'_> {
    /// The next line; `None` at the end of the file.
    async fn next(&mut self) -> Result<Option<ServerEvent>, ProviderError> {
        let limit = self.provider.limits.text.saturating_mul(4).saturating_add(AROUND_TEXT);
        loop {
            if let Some(line) = self.events.next() {
                let is_too_large = has_too_many_values(&line.data);
                return if is_too_large { Err(self.provider.failed(GARBLED)) } else { Ok(Some(line)) };
            }
            if self.events.pending() > limit {
                return Err(ProviderError::TooLong { model: self.provider.name.clone(), limit });
            }
            let Some(bytes) = self.provider.received(&mut self.response).await? else {
                return Ok(self.events.end());
            };
            self.events.feed(&bytes);
        }
    }
}
