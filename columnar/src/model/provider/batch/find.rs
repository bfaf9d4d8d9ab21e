//! Finding a batch whose submission had no answer.

use std::collections::BTreeSet;
use std::time::Duration;

use reqwest::Method;
use serde_json::Value as Json;

use super::submit::METADATA;
use crate::model::provider::reply::{at, string};
use crate::model::provider::{Provider, ProviderError};
use crate::model::registry::BatchApi;

/// The batches of a page, which both interfaces allow.
const PAGE: usize = 100;

/// A batch that may have been submitted.
#[derive(Clone, Debug)]
pub(crate) struct SentBatch {
    /// The text with which the custom ids of its requests begin.
    pub(crate) token: String,
    pub(crate) requests: u64,
    /// The newest batch of the account before; `None` if there was none.
    pub(crate) before: Option<String>,
}

/// The outcome of a look for a batch.
#[derive(Debug)]
pub(crate) enum BatchSearch {
    /// The batch has this id.
    Batch(String),
    /// Another look may show whether a batch is the one.
    Perhaps,
    Nothing,
}

impl Provider {
    /// The id of the newest batch of the account.
    pub(crate) async fn newest_batch(&self) -> Result<Option<String>, ProviderError> {
        let page = self.page(1, None).await?;
        let newest = at(&page, "/data/0").map(|batch| self.id_in(batch));
        newest.transpose()
    }

    /// Looks for a batch among those that are newer than the newest one before. `known` are the ids of other batches.
    ///
    /// OpenAI keeps the token with the batch. Anthropic keeps it in the results alone, so a batch with as many requests is
    /// perhaps the one until it has ended.
    pub(crate) async fn find_batch(
        &self,
        batch: &SentBatch,
        known: &BTreeSet<String>,
    ) -> Result<BatchSearch, ProviderError> {
        let mut found = BatchSearch::Nothing;
        let mut after = None;
        loop {
            let page = self.page(PAGE, after.as_deref()).await?;
            for listed in at(&page, "/data").and_then(Json::as_array).into_iter().flatten() {
                let id = self.id_in(listed)?;
                if Some(&id) == batch.before.as_ref() {
                    return Ok(found);
                }
                match self.is_it(batch, listed, known.contains(&id)).await? {
                    Some(true) => return Ok(BatchSearch::Batch(id)),
                    Some(false) => {}
                    None => found = BatchSearch::Perhaps,
                }
                after = Some(id);
            }
            if at(&page, "/has_more").and_then(Json::as_bool) != Some(true) {
                return Ok(found);
            }
        }
    }

    /// Whether a listed batch is this one; `None` if that is not known yet.
    async fn is_it(
        &self,
        batch: &SentBatch,
        listed: &Json,
        is_known: bool,
    ) -> Result<Option<bool>, ProviderError> {
        if self.batches() == Some(BatchApi::OpenAi) {
            return Ok(Some(string(listed, &format!("/metadata/{METADATA}")) == Some(&batch.token)));
        }
        let counts = at(listed, "/request_counts").and_then(Json::as_object);
        let requests: u64 =
            counts.into_iter().flat_map(|counts| counts.values()).filter_map(Json::as_u64).sum();
        if is_known || requests != batch.requests {
            return Ok(Some(false));
        }
        match self.ended(listed)? {
            Some(ended) => self.has_token(&ended, &batch.token).await.map(Some),
            None => Ok(None),
        }
    }

    /// A page of the list of batches, the newest first.
    async fn page(&self, limit: usize, after: Option<&str>) -> Result<Json, ProviderError> {
        let path = match self.batches() {
            Some(BatchApi::Anthropic) => format!("messages/batches?limit={limit}"),
            _ => format!("batches?limit={limit}"),
        };
        let path = match (self.batches(), after) {
            (_, None) => path,
            (Some(BatchApi::Anthropic), Some(after)) => format!("{path}&after_id={after}"),
            (_, Some(after)) => format!("{path}&after={after}"),
        };
        self.json(self.http(Method::GET, &path)?, Duration::ZERO).await
    }
}
