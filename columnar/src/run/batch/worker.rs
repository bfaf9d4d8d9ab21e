//! The life of a batch: submitted once, looked at with growing pauses, collected.
//!
//! ```text
//! intent ──▶ submitted ──▶ looked at ──▶ collected ──▶ given up: the requests without an answer
//!    │           ▲
//!    │ no answer │ found
//!    └───────────┴──▶ never there: submitted again
//! ```

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::time::sleep;

use super::journal::Journal;
use crate::model::{
    BatchError, BatchQueue, BatchSearch, EndedBatch, Overloaded, Provider, ProviderError, Refused, SentBatch,
    UnsentRequest,
};
use crate::store::StoreError;

/// The attempts of a call whose failure may be temporary. With the usual pauses, a failure of an hour is survived.
const ATTEMPTS: usize = 10;

/// The looks for a batch after which the provider never had it: a list may lag behind.
const LOOKS: usize = 3;

/// The attempts to fetch results that are fewer than promised.
const FETCHES: usize = 4;

/// What all batches of a run share.
pub(super) struct BatchWorker {
    pub(super) queue: Arc<BatchQueue>,
    pub(super) journal: Journal,
    /// The first pause between two looks, and the longest.
    pub(super) pauses: [Duration; 2],
}

/// The reason why a batch is not collected.
enum Failure {
    /// The journal has not taken a note.
    NotStored(StoreError),
    /// The batch was refused.
    Refused(ProviderError),
    /// The batch may exist.
    Unknown(ProviderError),
    /// The provider never had the batch.
    NeverThere,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::NotStored(error)
    }
}

impl BatchWorker {
    /// Submits requests as a batch, and collects the answers.
    pub(super) async fn submit(self: Arc<Self>, number: usize, requests: Vec<UnsentRequest>) {
        let count = requests.len();
        let submitted = self.submitted(number, &requests).await;
        // The bodies of a large batch are not kept for a day.
        drop(requests);
        self.follow(number, count, submitted).await;
    }

    /// Goes on with a batch of an earlier run, or one whose submission or results have failed.
    pub(super) async fn resume(self: Arc<Self>, number: usize) {
        let Some(batch) = self.journal.batch(number).await else {
            return self.queue.release(number);
        };
        let count = usize::try_from(batch.sent.requests).unwrap_or(usize::MAX);
        let found = match batch.id {
            Some(id) => Ok(id),
            None => match self.find(&batch.sent).await {
                Ok(Some(id)) => self.note(number, id).await,
                Ok(None) => Err(Failure::NeverThere),
                Err(error) => Err(Failure::Unknown(error)),
            },
        };
        self.follow(number, count, found).await;
    }

    async fn follow(&self, number: usize, requests: usize, id: Result<String, Failure>) {
        let failed = match id {
            Ok(id) => return self.collect(number, requests, &id).await,
            Err(failed) => failed,
        };
        match failed {
            Failure::NeverThere => self.queue.release(number),
            Failure::Refused(source) => {
                let source = Arc::new(source);
                self.queue.give_up(number, |_, _| BatchError::NotSubmitted { requests, source });
            }
            Failure::Unknown(source) => {
                let source = Arc::new(source);
                self.queue.put_off(number, &BatchError::NotSubmitted { requests, source });
            }
            Failure::NotStored(error) => {
                self.queue.put_off(number, &BatchError::NotStored { reason: error.to_string() });
            }
        }
    }

    async fn note(&self, number: usize, id: String) -> Result<String, Failure> {
        self.journal.submitted(number, &id).await?;
        Ok(id)
    }

    /// Submits a batch, and returns its id.
    async fn submitted(&self, number: usize, requests: &[UnsentRequest]) -> Result<String, Failure> {
        let newest = self.patiently(|| self.provider().newest_batch()).await;
        let sent = self.journal.intend(number, requests, newest.map_err(Failure::Refused)?).await?;
        let mut pauses = self.pauses(ATTEMPTS);
        loop {
            let error = match self.provider().submit_batch(&sent.token, requests).await {
                Ok(id) => return self.note(number, id).await,
                Err(error) => error,
            };
            if Refused::of(&error).is_some() {
                return Err(Failure::Refused(error));
            }
            // The answer may have been lost, and a second batch would be paid for as well.
            match self.find(&sent).await {
                Ok(Some(id)) => return self.note(number, id).await,
                Ok(None) => {}
                Err(error) => return Err(Failure::Unknown(error)),
            }
            let Some(pause) = pauses.next() else { return Err(Failure::Unknown(error)) };
            sleep(self.requested(&error, pause)).await;
        }
    }

    /// Looks for a batch until it is found, or surely not there.
    async fn find(&self, batch: &SentBatch) -> Result<Option<String>, ProviderError> {
        let mut pauses = self.pauses(usize::MAX);
        let mut absent = 0;
        while absent < LOOKS {
            let known = self.journal.ids().await;
            match self.patiently(|| self.provider().find_batch(batch, &known)).await? {
                BatchSearch::Batch(id) => return Ok(Some(id)),
                BatchSearch::Perhaps => absent = 0,
                BatchSearch::Nothing => absent += 1,
            }
            sleep(pauses.next().unwrap_or_default()).await;
        }
        Ok(None)
    }

    /// Waits for the end of a batch, and takes the answers.
    async fn collect(&self, number: usize, requests: usize, id: &str) {
        match self.collected(number, requests, id).await {
            Ok(end) => self.queue.give_up(number, |missing, cells| BatchError::Unanswered {
                end,
                missing,
                requests,
                cells: cells.into(),
            }),
            Err(error) => {
                let is_gone = matches!(error, ProviderError::Status { status: 404 | 410, .. });
                let source = Arc::new(error);
                let error = BatchError::NotCollected { requests, source };
                // A batch that is gone cannot be collected by a later run either.
                if is_gone {
                    self.queue.give_up(number, |_, _| error);
                } else {
                    self.queue.put_off(number, &error);
                }
            }
        }
    }

    /// Takes the answers of a batch, and returns its end in words.
    async fn collected(&self, number: usize, requests: usize, id: &str) -> Result<String, ProviderError> {
        let mut pauses = self.pauses(usize::MAX);
        let ended = loop {
            if let Some(ended) = self.patiently(|| self.provider().look_at_batch(id)).await? {
                break ended;
            }
            sleep(pauses.next().unwrap_or_default()).await;
        };
        let token = self.journal.batch(number).await.map(|batch| batch.sent.token).unwrap_or_default();
        for pause in self.pauses(FETCHES) {
            self.patiently(|| self.results(number, &ended, &token)).await?;
            // Files that were cut at the end of a line have fewer results than the batch.
            if requests.saturating_sub(self.queue.unanswered(number)) >= ended.results {
                break;
            }
            sleep(pause).await;
        }
        Ok(ended.end)
    }

    async fn results(&self, number: usize, batch: &EndedBatch, token: &str) -> Result<(), ProviderError> {
        self.queue.arrive(number, true);
        let results =
            self.provider().batch_results(batch, token, |id, outcome| self.queue.answer(number, id, outcome));
        let results = results.await;
        self.queue.arrive(number, false);
        results
    }

    /// Repeats a call that changes nothing, if the failure may be temporary.
    async fn patiently<T, F: Future<Output = Result<T, ProviderError>>>(
        &self,
        call: impl Fn() -> F,
    ) -> Result<T, ProviderError> {
        let mut pauses = self.pauses(ATTEMPTS);
        loop {
            match call().await {
                Err(error) if Refused::of(&error).is_none() => match pauses.next() {
                    Some(pause) => sleep(self.requested(&error, pause)).await,
                    None => return Err(error),
                },
                done => return done,
            }
        }
    }

    /// The pause after an error: as long as the provider asks for, up to the longest pause.
    fn requested(&self, error: &ProviderError, pause: Duration) -> Duration {
        let [_, longest] = self.pauses;
        let requested = Overloaded::of(error).and_then(|overloaded| overloaded.retry_after);
        pause.max(requested.unwrap_or_default().min(longest))
    }

    fn pauses(&self, most: usize) -> ExponentialBackoff {
        let [first, longest] = self.pauses;
        ExponentialBuilder::default()
            .with_min_delay(first)
            .with_max_delay(longest)
            .with_jitter()
            .with_max_times(most)
            .build()
    }

    fn provider(&self) -> &Provider {
        self.queue.provider()
    }
}
