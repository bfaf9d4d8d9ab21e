//! The queue of a run by batches: requests that wait for their answers, and the model that puts them there.
//!
//! ```text
//! enter ──▶ unsent ──▶ in a batch ──▶ answered ──▶ taken
//!              ▲           │ the provider never had it
//!              └───────────┘
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::oneshot;
use futures::stream::{self, BoxStream, StreamExt};

use super::error::{BatchError, listed};
use super::request::{BatchCell, UnsentRequest};
use super::result::Outcome;
use crate::declare::error::BoxError;
use crate::model::provider::{Provider, WrittenCall};
use crate::model::rendering::Request;
use crate::model::{Chunk, Model, ReplyError, ReplySettings};

/// The answer to a request: the chunks of the reply.
type Answer = Result<Vec<Chunk>, BoxError>;

/// The id of a request.
type Id = Arc<str>;

/// The requests of a run by batches, and the batches that have them.
#[doc(hidden)]
pub struct BatchQueue {
    provider: Arc<Provider>,
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    /// The requests whose cells wait for an answer.
    waiting: BTreeMap<Id, WaitingRequest>,
    /// The requests that no batch has, in order of arrival.
    unsent: Vec<UnsentRequest>,
    /// The batch of each request that was sent, until a cell takes the answer.
    sent: BTreeMap<Id, usize>,
    /// The answers that no cell has taken.
    answers: BTreeMap<Id, Outcome>,
    /// The batches that a cell waits for, and that nothing looks after.
    asked: BTreeSet<usize>,
    /// The batches that something looks after.
    active: BTreeSet<usize>,
    /// The batches whose answers are arriving.
    arriving: BTreeSet<usize>,
}

/// A request whose cell waits for the answer.
struct WaitingRequest {
    provider: Arc<Provider>,
    request: Request,
    call: WrittenCall,
    cell: BatchCell,
    sender: oneshot::Sender<Answer>,
}

impl WaitingRequest {
    fn take(self, outcome: Outcome) {
        let answer = self.provider.read_outcome(self.request, self.call, outcome);
        // A cell that was dropped meanwhile is computed by a later run.
        let _ = self.sender.send(answer);
    }
}

impl BatchQueue {
    pub(crate) fn new(provider: Provider) -> Arc<Self> {
        Arc::new(Self { provider: Arc::new(provider), state: Mutex::default() })
    }

    pub(crate) fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The model that puts requests into the queue.
    pub(crate) fn model(self: &Arc<Self>) -> Arc<dyn Model> {
        Arc::new(QueuedModel { provider: Arc::clone(&self.provider), queue: Arc::clone(self) })
    }

    /// The same for a model with this name, if it is one of the provider.
    pub(crate) fn model_named(self: &Arc<Self>, name: &str) -> Option<Arc<dyn Model>> {
        // A name with an address belongs to another server.
        let provider = Arc::new(self.provider.sibling(name)?);
        Some(Arc::new(QueuedModel { provider, queue: Arc::clone(self) }))
    }

    /// Adds the batch of an earlier process, with the ids of its requests.
    pub(crate) fn remember(&self, batch: usize, ids: impl IntoIterator<Item = Id>) {
        let mut state = self.lock();
        ids.into_iter().for_each(|id| _ = state.sent.insert(id, batch));
    }

    /// Forgets the requests that a batch was to have.
    pub(crate) fn forget(&self, batch: usize) {
        self.lock().sent.retain(|_, of| *of != batch);
    }

    fn enter(
        &self,
        provider: &Arc<Provider>,
        request: Request,
    ) -> Result<oneshot::Receiver<Answer>, BoxError> {
        let written = provider.write_queued(&request)?;
        let id = Arc::clone(&written.queued.id);
        let cell = BatchCell::of(&request);
        let (sender, receiver) = oneshot::channel();
        let call = written.call;
        let waiting = WaitingRequest { provider: Arc::clone(provider), request, call, cell, sender };
        let mut state = self.lock();
        if let Some(outcome) = state.answers.remove(&id) {
            state.sent.remove(&id);
            drop(state);
            waiting.take(outcome);
            return Ok(receiver);
        }
        match state.sent.get(&id).copied() {
            Some(batch) if !state.active.contains(&batch) => _ = state.asked.insert(batch),
            Some(_) => {}
            // A cell that tries again after it was dropped finds its request in the queue.
            None if state.waiting.contains_key(&id) => {}
            None => state.unsent.push(written.queued),
        }
        state.waiting.insert(id, waiting);
        Ok(receiver)
    }

    /// The number of cells that wait for an answer.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting.values().filter(|waiting| !waiting.sender.is_canceled()).count()
    }

    /// Notes whether the answers of a batch are arriving.
    pub(crate) fn arrive(&self, batch: usize, is_arriving: bool) {
        let arriving = &mut self.lock().arriving;
        if is_arriving {
            arriving.insert(batch)
        } else {
            arriving.remove(&batch)
        };
    }

    /// Whether answers are arriving, which may lead to more requests.
    pub(crate) fn is_arriving(&self) -> bool {
        !self.lock().arriving.is_empty()
    }

    pub(crate) fn has_unsent(&self) -> bool {
        !self.lock().unsent.is_empty()
    }

    /// Takes the requests that no batch has, and whose cells still wait.
    pub(crate) fn take_unsent(&self) -> Vec<UnsentRequest> {
        let mut state = self.lock();
        state.waiting.retain(|_, waiting| !waiting.sender.is_canceled());
        let mut unsent = std::mem::take(&mut state.unsent);
        unsent.retain(|request| state.waiting.contains_key(&request.id));
        unsent
    }

    /// Notes that a batch has these requests, and that something looks after the batch.
    pub(crate) fn send(&self, batch: usize, requests: &[UnsentRequest]) {
        self.remember(batch, requests.iter().map(|request| Arc::clone(&request.id)));
        self.lock().active.insert(batch);
    }

    /// The batches of earlier processes that cells wait for. The caller looks after these from now on.
    pub(crate) fn take_asked(&self) -> Vec<usize> {
        let mut state = self.lock();
        let asked = std::mem::take(&mut state.asked);
        state.active.extend(&asked);
        asked.into_iter().collect()
    }

    /// Takes an outcome from the results of a batch. Of several outcomes of one request the first counts, and an id that is
    /// not of this batch is ignored.
    pub(crate) fn answer(&self, batch: usize, id: &str, outcome: Outcome) {
        let mut state = self.lock();
        if state.sent.get(id) != Some(&batch) || state.answers.contains_key(id) {
            return;
        }
        match state.waiting.remove(id) {
            Some(waiting) => {
                state.sent.remove(id);
                drop(state);
                waiting.take(outcome);
            }
            None => _ = state.answers.insert(id.into(), outcome),
        }
    }

    /// Ends a batch that has no further answers. The cells that wait for one get an error, which `error` makes of the number
    /// of these cells and their names.
    pub(crate) fn give_up(&self, batch: usize, error: impl FnOnce(usize, &str) -> BatchError) {
        let waiting = self.waiting_for(batch);
        if !waiting.is_empty() {
            let cells: Vec<BatchCell> = waiting.iter().map(|waiting| waiting.cell.clone()).collect();
            fail(waiting, &error(cells.len(), &listed(&cells)));
        }
        let mut state = self.lock();
        let QueueState { sent, answers, .. } = &mut *state;
        sent.retain(|id, of| *of != batch || answers.contains_key(id));
    }

    /// Fails the cells that wait for a batch, which nothing looks after until another cell asks for an answer of it.
    pub(crate) fn put_off(&self, batch: usize, error: &BatchError) {
        fail(self.waiting_for(batch), error);
    }

    /// Puts the requests of a batch that the provider never had back into the queue.
    pub(crate) fn release(&self, batch: usize) {
        let waiting = self.waiting_for(batch);
        self.forget(batch);
        let mut state = self.lock();
        for waiting in waiting {
            match waiting.provider.write_queued(&waiting.request) {
                Ok(written) => {
                    let id = Arc::clone(&written.queued.id);
                    state.unsent.push(written.queued);
                    state.waiting.insert(id, waiting);
                }
                Err(error) => _ = waiting.sender.send(Err(error.into())),
            }
        }
    }

    /// The number of requests of a batch without an answer.
    pub(crate) fn unanswered(&self, batch: usize) -> usize {
        let state = self.lock();
        state.sent.iter().filter(|(id, of)| **of == batch && !state.answers.contains_key(*id)).count()
    }

    /// Whether each request of a batch has been answered, and a cell has taken the answer.
    pub(crate) fn is_taken(&self, batch: usize) -> bool {
        self.lock().sent.values().all(|of| *of != batch)
    }

    /// Takes the requests that wait for an answer of a batch, which nothing looks after from now on.
    fn waiting_for(&self, batch: usize) -> Vec<WaitingRequest> {
        let mut state = self.lock();
        state.active.remove(&batch);
        let ids: Vec<Id> =
            state.waiting.keys().filter(|id| state.sent.get(*id) == Some(&batch)).cloned().collect();
        ids.iter().filter_map(|id| state.waiting.remove(id)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fail(waiting: Vec<WaitingRequest>, error: &BatchError) {
    for request in waiting {
        let _ = request.sender.send(Err(error.clone().into()));
    }
}

impl fmt::Debug for BatchQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchQueue").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// A model whose requests wait in a queue until a batch has answered them.
struct QueuedModel {
    provider: Arc<Provider>,
    queue: Arc<BatchQueue>,
}

impl Model for QueuedModel {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn ready(&self) -> Result<(), BoxError> {
        if self.provider.batches().is_none() {
            return Err(BatchError::NoBatches { model: self.name().to_owned() }.into());
        }
        self.provider.ready()
    }

    fn accepts(&self, settings: &ReplySettings, max_tokens: u32) -> Result<(), BoxError> {
        self.provider.accepts(settings, max_tokens)
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        // Before the first poll, so that a run that polls all its cells knows which of them wait.
        let entered = self.queue.enter(&self.provider, request);
        let chunks = async move {
            let answer = match entered {
                Ok(answer) => answer.await.unwrap_or_else(|_| Err(ReplyError::BrokeOff.into())),
                Err(error) => Err(error),
            };
            match answer {
                Ok(chunks) => stream::iter(chunks.into_iter().map(Ok).collect::<Vec<_>>()),
                Err(error) => stream::iter(vec![Err(error)]),
            }
        };
        stream::once(chunks).flatten().boxed()
    }
}
