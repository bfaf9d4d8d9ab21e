//! A store whose backend blocks, on a separate thread.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::thread::{HandleId, LazyThread, NewCell, PutRequest, Server, answer_all};
use super::{Entry, Put, StepEntries, StoreError, StoreFuture, StoredSteps};
use crate::declare::Name;

/// The blocking half of a store. The clauses of [`Store`](super::Store) hold here as well; the worker itself refuses
/// writes after a failed write.
pub(crate) trait Backend: Sized + Send + 'static {
    /// The address of the store, from which `open` makes a backend.
    type Location: Clone + Send + 'static;

    /// Takes ownership of a location. Dropping the backend ends the ownership.
    fn open(location: &Self::Location) -> Result<Self, StoreError>;

    /// Opens a location to be read beside its owner. Such a backend refuses writes.
    fn open_to_read(location: &Self::Location) -> Result<Self, StoreError>;

    fn definition(&mut self) -> Result<Option<String>, StoreError>;

    fn define(&mut self, definition: &str) -> Result<(), StoreError>;

    fn stored_steps(&mut self, column: &Name) -> Result<StoredSteps, StoreError>;

    fn load(&mut self, column: &Name, steps: Range<usize>) -> Result<StepEntries, StoreError>;

    /// Stores all of these cells, and makes them durable together. Returns the outcomes in order; an error concerns
    /// all cells. A later cell is never stored without the earlier cells of its column.
    fn put(&mut self, cells: Vec<NewCell>) -> Result<Vec<Put>, StoreError>;

    /// Stores the bytes of an attachment, unless these are stored.
    fn put_blob(&mut self, digest: &str, bytes: &Arc<[u8]>) -> Result<(), StoreError>;

    fn load_blob(&mut self, digest: &str) -> Result<Option<Arc<[u8]>>, StoreError>;

    /// Deletes the flow at a location, which nobody owns, not even the caller.
    fn delete(location: &Self::Location) -> Result<(), StoreError>;
}

/// A handle to a backend on a separate thread. When the handle is dropped, the thread finishes all requests and ends.
pub(crate) struct Worker<B: Backend> {
    pub(super) location: B::Location,
    handle: HandleId,
    thread: LazyThread<WorkerState<B>>,
}

/// The state of a backend.
#[derive(Default)]
enum WorkerState<B> {
    #[default]
    Closed,
    Open(B),
    /// A write has failed; reading goes on.
    Halted(B),
}

impl<B: Backend> Worker<B> {
    pub(crate) fn new(location: B::Location) -> Self {
        Self { location, handle: HandleId::new(), thread: LazyThread::default() }
    }

    // The methods of `Store`, to which `delegate_store!` delegates.

    pub(crate) fn open(&self) -> StoreFuture<Option<String>> {
        self.open_by(B::open)
    }

    pub(crate) fn open_to_read(&self) -> StoreFuture<Option<String>> {
        self.open_by(B::open_to_read)
    }

    fn open_by(
        &self,
        open: impl FnOnce(&B::Location) -> Result<B, StoreError> + Send + 'static,
    ) -> StoreFuture<Option<String>> {
        let location = self.location.clone();
        self.ask(move |state| {
            // An open backend gives up the ownership first.
            *state = WorkerState::Closed;
            // If this or the next line fails, the backend is dropped, and the location is free again.
            let mut backend = open(&location)?;
            let definition = backend.definition()?;
            *state = WorkerState::Open(backend);
            Ok(definition)
        })
    }

    pub(crate) fn define(&self, definition: String) -> StoreFuture<()> {
        self.ask(move |state| state.write(|backend| backend.define(&definition)))
    }

    pub(crate) fn stored_steps(&self, column: Name) -> StoreFuture<StoredSteps> {
        self.read(move |backend| backend.stored_steps(&column))
    }

    pub(crate) fn load(&self, column: Name, steps: Range<usize>) -> StoreFuture<StepEntries> {
        self.read(move |backend| backend.load(&column, steps))
    }

    pub(crate) fn put(&self, column: Name, step: usize, entry: Entry) -> StoreFuture<Put> {
        self.thread.send(|thread| thread.put(self.handle, NewCell { column, step, entry }))
    }

    pub(crate) fn put_blob(&self, digest: String, bytes: Arc<[u8]>) -> StoreFuture<()> {
        self.ask(move |state| state.write(|backend| backend.put_blob(&digest, &bytes)))
    }

    pub(crate) fn load_blob(&self, digest: String) -> StoreFuture<Option<Arc<[u8]>>> {
        self.read(move |backend| backend.load_blob(&digest))
    }

    #[expect(clippy::unused_self, reason = "a method of `Store`")]
    pub(crate) fn keeps_order(&self) -> bool {
        true
    }

    #[expect(clippy::unused_self, reason = "a method of `Store`")]
    pub(crate) fn changed(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    pub(crate) fn delete(&self) -> StoreFuture<()> {
        self.inspect(B::delete)
    }

    /// Reads from the backend, whether or not a write has failed.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut B) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<T> {
        self.ask(move |state| match state {
            WorkerState::Closed => Err(StoreError::Closed),
            WorkerState::Open(backend) | WorkerState::Halted(backend) => read(backend),
        })
    }

    /// Runs on the thread with the location alone, whether or not the backend is open.
    pub(crate) fn inspect<T: Send + 'static>(
        &self,
        inspect: impl FnOnce(&B::Location) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<T> {
        let location = self.location.clone();
        self.ask(move |_| inspect(&location))
    }

    fn ask<T: Send + 'static>(
        &self,
        request: impl FnOnce(&mut WorkerState<B>) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<T> {
        self.thread.send(|thread| thread.ask(self.handle, request))
    }
}

impl<B: Backend> fmt::Debug for Worker<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl<B: Backend> WorkerState<B> {
    fn write<T>(&mut self, write: impl FnOnce(&mut B) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match std::mem::replace(self, Self::Closed) {
            Self::Closed => Err(StoreError::Closed),
            Self::Halted(backend) => {
                *self = Self::Halted(backend);
                Err(StoreError::Halted)
            }
            Self::Open(mut backend) => {
                let written = write(&mut backend);
                // After a failed `fsync` the system may drop the unwritten pages, and the next `fsync` succeeds
                // without these pages. So a later success proves nothing, and writing ends with a failure.
                // A reader has written nothing.
                *self = match &written {
                    Ok(_) | Err(StoreError::ReadOnly) => Self::Open(backend),
                    Err(_) => Self::Halted(backend),
                };
                written
            }
        }
    }
}

impl<B: Backend> Server for WorkerState<B> {
    fn put(&mut self, puts: Vec<PutRequest>) {
        let (cells, answers) = puts.into_iter().map(|put| (put.cell, put.answer)).unzip();
        answer_all(answers, self.write(|backend| backend.put(cells)));
    }
}
