//! The worker thread of a store whose backend blocks.
//!
//! So polling a flow never blocks an executor. Cells that arrive during a write are written together by the next
//! one, so many cells that finish at once cost one wait.

use std::fmt;
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt};

use super::{Entry, Put, StoreError, StoredSteps};
use crate::declare::Name;

/// The most cells of one write.
const BATCH: usize = 1024;

/// The blocking half of a store. The clauses are those of [`Store`](super::Store); the worker itself refuses writes
/// after one that failed.
pub(crate) trait Backend: Sized + Send + 'static {
    /// The address of the store, from which `open` makes a backend.
    type Location: Clone + Send + 'static;

    /// Takes ownership of a location. Dropping the backend ends it.
    fn open(location: &Self::Location) -> Result<Self, StoreError>;

    fn definition(&mut self) -> Result<Option<String>, StoreError>;

    fn define(&mut self, definition: &str) -> Result<(), StoreError>;

    fn stored_steps(&mut self, column: &Name) -> Result<StoredSteps, StoreError>;

    fn load(&mut self, column: &Name, steps: Range<usize>) -> Result<Vec<(usize, Entry)>, StoreError>;

    /// Stores all of these cells and makes them durable together. Returns their outcomes in order; an error
    /// concerns all of them.
    fn put(&mut self, cells: Vec<NewCell>) -> Result<Vec<Put>, StoreError>;
}

/// A cell that is to be stored.
#[derive(Clone, Debug)]
pub(crate) struct NewCell {
    pub(crate) column: Name,
    pub(crate) step: usize,
    pub(crate) entry: Entry,
}

/// A handle to a backend on a thread of its own. When the handle is dropped, the thread finishes all requests and
/// ends.
pub(crate) struct Worker<B: Backend> {
    location: B::Location,
    thread: Mutex<Option<Thread<B>>>,
}

struct Thread<B> {
    requests: Sender<Request<B>>,
    handle: JoinHandle<()>,
}

enum Request<B> {
    /// Anything but a put.
    Do(Task<B>),
    Put(NewCell, Answer<Put>),
}

type Task<B> = Box<dyn FnOnce(&mut State<B>) + Send>;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// The state of a backend.
enum State<B> {
    Closed,
    Open(B),
    /// A write has failed; reading goes on.
    Halted(B),
}

impl<B: Backend> Worker<B> {
    pub(crate) fn new(location: B::Location) -> Self {
        Self { location, thread: Mutex::new(None) }
    }

    pub(crate) fn location(&self) -> &B::Location {
        &self.location
    }

    // The methods of `Store`, to which `store_on_worker!` delegates.

    pub(crate) fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        let location = self.location.clone();
        self.ask(move |state| {
            // An open backend gives up its ownership first.
            *state = State::Closed;
            // If this or the next line fails, the backend is dropped, and the location is free again.
            let mut backend = B::open(&location)?;
            let definition = backend.definition()?;
            *state = State::Open(backend);
            Ok(definition)
        })
    }

    pub(crate) fn define(&self, definition: String) -> BoxFuture<'static, Result<(), StoreError>> {
        self.ask(move |state| state.write(|backend| backend.define(&definition)))
    }

    pub(crate) fn stored_steps(&self, column: Name) -> BoxFuture<'static, Result<StoredSteps, StoreError>> {
        self.read(move |backend| backend.stored_steps(&column))
    }

    pub(crate) fn load(
        &self,
        column: Name,
        steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
        self.read(move |backend| backend.load(&column, steps))
    }

    pub(crate) fn put(
        &self,
        column: Name,
        step: usize,
        entry: Entry,
    ) -> BoxFuture<'static, Result<Put, StoreError>> {
        let (answer, answered) = oneshot::channel();
        self.send(Request::Put(NewCell { column, step, entry }, answer));
        wait(answered)
    }

    /// Reads from the backend, whether or not a write has failed.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut B) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        self.ask(move |state| read(state.read()?))
    }

    /// Runs on the thread with the location alone, whether or not the backend is open.
    pub(crate) fn inspect<T: Send + 'static>(
        &self,
        inspect: impl FnOnce(&B::Location) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let location = self.location.clone();
        self.ask(move |_| inspect(&location))
    }

    fn ask<T: Send + 'static>(
        &self,
        request: impl FnOnce(&mut State<B>) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let (answer, answered) = oneshot::channel();
        self.send(Request::Do(Box::new(move |state| {
            // The future that waits for the answer may have been dropped.
            let _ = answer.send(request(state));
        })));
        wait(answered)
    }

    /// Sends before it returns, so requests arrive in the order in which they are made. If the thread is gone, the
    /// answer's channel closes, which the receiver sees.
    fn send(&self, request: Request<B>) {
        // The lock holds one `Option`, which a panic cannot leave half changed.
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            // At the first request, so a handle that is never opened costs no thread. If there is none left,
            // the request is dropped, its future returns an error, and the next request tries again.
            *thread = Thread::start();
        }
        if let Some(thread) = &*thread {
            let _ = thread.requests.send(request);
        }
    }
}

/// The methods of [`Store`](super::Store) for a store with a field `worker`. There is no blanket implementation, since
/// compiler messages would not list the stores that it covers.
macro_rules! store_on_worker {
    () => {
        fn open(
            &self,
        ) -> futures::future::BoxFuture<'static, Result<Option<String>, $crate::store::StoreError>> {
            self.worker.open()
        }

        fn define(
            &self,
            definition: String,
        ) -> futures::future::BoxFuture<'static, Result<(), $crate::store::StoreError>> {
            self.worker.define(definition)
        }

        fn stored_steps(
            &self,
            column: $crate::Name,
        ) -> futures::future::BoxFuture<'static, Result<$crate::store::StoredSteps, $crate::store::StoreError>>
        {
            self.worker.stored_steps(column)
        }

        fn load(
            &self,
            column: $crate::Name,
            steps: std::ops::Range<usize>,
        ) -> futures::future::BoxFuture<
            'static,
            Result<Vec<(usize, $crate::store::Entry)>, $crate::store::StoreError>,
        > {
            self.worker.load(column, steps)
        }

        fn put(
            &self,
            column: $crate::Name,
            step: usize,
            entry: $crate::store::Entry,
        ) -> futures::future::BoxFuture<'static, Result<$crate::store::Put, $crate::store::StoreError>> {
            self.worker.put(column, step, entry)
        }
    };
}
pub(super) use store_on_worker;

impl<B: Backend> Thread<B> {
    /// `None` where the system has no thread left.
    fn start() -> Option<Self> {
        let (requests, received) = mpsc::channel();
        let handle =
            thread::Builder::new().name("columnar-store".into()).spawn(move || serve(&received)).ok()?;
        Some(Self { requests, handle })
    }
}

impl<B: Backend> Drop for Worker<B> {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Thread { requests, handle }) = thread {
            drop(requests);
            // So that the next `open` of the location finds it free. A panic was reported by the panic hook.
            let _ = handle.join();
        }
    }
}

impl<B: Backend> fmt::Debug for Worker<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl<B: Backend> State<B> {
    fn read(&mut self) -> Result<&mut B, StoreError> {
        match self {
            Self::Closed => Err(StoreError::Closed),
            Self::Open(backend) | Self::Halted(backend) => Ok(backend),
        }
    }

    fn write<T>(&mut self, write: impl FnOnce(&mut B) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match std::mem::replace(self, Self::Closed) {
            Self::Closed => Err(StoreError::Closed),
            Self::Halted(backend) => {
                *self = Self::Halted(backend);
                Err(StoreError::Halted)
            }
            Self::Open(mut backend) => {
                let written = write(&mut backend);
                // After a failed `fsync` the system may drop the unwritten pages, and the next one succeeds
                // without them. So a later success proves nothing, and writing ends with a failure.
                *self = if written.is_ok() { Self::Open(backend) } else { Self::Halted(backend) };
                written
            }
        }
    }

    /// Writes a batch and answers each request. After a failure the first request gets the error, and the
    /// others [`StoreError::Halted`].
    fn put(&mut self, batch: Vec<(NewCell, Answer<Put>)>) {
        let (cells, answers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        match self.write(|backend| backend.put(cells)) {
            Ok(puts) => {
                debug_assert_eq!(puts.len(), answers.len(), "each cell has its answer");
                answers.into_iter().zip(puts).for_each(|(answer, put)| drop(answer.send(Ok(put))));
            }
            Err(error) => {
                // The error is not cloned, since `io::Error` is no `Clone`.
                let errors = std::iter::once(error).chain(std::iter::repeat_with(|| StoreError::Halted));
                answers.into_iter().zip(errors).for_each(|(answer, error)| drop(answer.send(Err(error))));
            }
        }
    }
}

/// The loop of the thread, which ends when the handle is dropped.
fn serve<B: Backend>(requests: &Receiver<Request<B>>) {
    let mut state = State::Closed;
    let mut next = requests.recv().ok();
    while let Some(request) = next.take() {
        match request {
            Request::Do(request) => request(&mut state),
            Request::Put(cell, answer) => {
                let mut batch = vec![(cell, answer)];
                while batch.len() < BATCH {
                    match requests.try_recv() {
                        Ok(Request::Put(cell, answer)) => batch.push((cell, answer)),
                        // Requests are served in order, so a read sees all puts that were sent before it.
                        Ok(other) => {
                            next = Some(other);
                            break;
                        }
                        // Either none is waiting, or the handle is gone; then `recv` below ends the loop.
                        Err(_) => break,
                    }
                }
                state.put(batch);
            }
        }
        if next.is_none() {
            next = requests.recv().ok();
        }
    }
}

/// The answer of the thread, as a future.
fn wait<T: Send + 'static>(
    answered: oneshot::Receiver<Result<T, StoreError>>,
) -> BoxFuture<'static, Result<T, StoreError>> {
    answered
        .map(|answer| answer.unwrap_or_else(|_| Err(StoreError::other("the thread of the store is gone"))))
        .boxed()
}
