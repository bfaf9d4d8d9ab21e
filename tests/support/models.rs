//! Models for tests: one with scripted chunks, and one that records how replies end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use columnar::BoxError;
use columnar::model::{Chunk, End, Model, ReplySettings, Request};
use futures::stream::{self, BoxStream, StreamExt};

/// The chunks of a reply.
pub type Chunks = Vec<Result<Chunk, BoxError>>;

/// A reply as a function of the number of earlier calls and of the request.
type Script = dyn Fn(usize, &Request) -> Chunks + Send + Sync;

/// A model that replies with exactly these chunks. Clones share the number of calls.
#[derive(Clone)]
pub struct ChunkModel {
    name: &'static str,
    reply: Arc<Script>,
    calls: Arc<AtomicUsize>,
    pace: u64,
}

impl ChunkModel {
    /// A model whose chunks are a function of the number of earlier calls and of the request.
    pub fn new(
        name: &'static str,
        reply: impl Fn(usize, &Request) -> Chunks + Send + Sync + 'static,
    ) -> Self {
        Self { name, reply: Arc::new(reply), calls: Arc::default(), pace: 0 }
    }

    /// The model with a pause before each chunk, of 0 to 10 times this number of milliseconds, so that replies do not
    /// end in the order of the requests.
    #[must_use]
    pub fn paced(self, millis: u64) -> Self {
        Self { pace: millis, ..self }
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl Model for ChunkModel {
    fn name(&self) -> &str {
        self.name
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        // No random number: the pauses of a test are the same in every run.
        let turns = (request.messages.last_text().len() * 37 + call * 7) % 11;
        let pause = Duration::from_millis(self.pace * turns as u64);
        let chunks = stream::iter((self.reply)(call, &request));
        if pause.is_zero() {
            return chunks.boxed();
        }
        let paused = move |chunk| async move {
            tokio::time::sleep(pause).await;
            chunk
        };
        chunks.then(paused).boxed()
    }
}

impl std::fmt::Debug for ChunkModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkModel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The chunks of a complete reply.
pub fn chunks(pieces: &[&str]) -> Chunks {
    let pieces = pieces.iter().map(|piece| Ok(Chunk::Text((*piece).to_owned())));
    pieces.chain([Ok(Chunk::stop())]).collect()
}

/// A model that records how replies end. Clones share the record.
#[derive(Clone)]
pub struct EndRecorder {
    model: Arc<dyn Model>,
    ends: Arc<Mutex<Vec<End>>>,
}

impl EndRecorder {
    /// Records the replies of a model.
    pub fn new(model: impl Model) -> Self {
        Self { model: Arc::new(model), ends: Arc::default() }
    }

    /// The ends so far.
    pub fn ends(&self) -> Vec<End> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Model for EndRecorder {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn ready(&self) -> Result<(), BoxError> {
        self.model.ready()
    }

    fn accepts(&self, settings: &ReplySettings, max_tokens: u32) -> Result<(), BoxError> {
        self.model.accepts(settings, max_tokens)
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let ends = Arc::clone(&self.ends);
        let record = move |chunk: &Result<Chunk, BoxError>| {
            if let Ok(Chunk::End(end)) = chunk {
                ends.lock().unwrap_or_else(PoisonError::into_inner).push(end.clone());
            }
        };
        self.model.reply(request).inspect(record).boxed()
    }
}

impl std::fmt::Debug for EndRecorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndRecorder").field("name", &self.name()).finish_non_exhaustive()
    }
}
