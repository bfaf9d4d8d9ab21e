//! The thread that a store works on whose calls wait for a disk.
//!
//! Whoever polls a flow never waits for a disk, whatever executor that is. What comes while one write is on its
//! way is written together by the next one, so many cells that finish at once cost one wait.

use std::fmt;
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt};

use super::{Entry, Put, Store, StoreError, StoredSteps};
use crate::declare::Name;

/// So many cells are written together at the most.
const BATCH: usize = 1024;

/// What a store does on its thread. The clauses are those of [`Store`](super::Store); that a failed write halts
/// everything behind it is seen to here.
pub(crate) trait Backend: Sized + Send + 'static {
    /// Where it is; `open` makes a backend of it.
    type Location: Clone + Send + 'static;

    /// Becomes the owner of a place. Dropping the backend gives it back.
    fn open(location: &Self::Location) -> Result<Self, StoreError>;

    fn definition(&mut self) -> Result<Option<String>, StoreError>;

    fn define(&mut self, definition: &str) -> Result<(), StoreError>;

    fn stored_steps(&mut self, column: &Name) -> Result<StoredSteps, StoreError>;

    fn load(&mut self, column: &Name, steps: Range<usize>) -> Result<Vec<(usize, Entry)>, StoreError>;

    /// Stores all of these, and makes them durable together. Says of each what became of it, in order. An
    /// error is one of all of them.
    fn put(&mut self, cells: Vec<NewCell>) -> Result<Vec<Put>, StoreError>;
}

/// A cell that is to be stored.
#[derive(Clone, Debug)]
pub(crate) struct NewCell {
    pub(crate) column: Name,
    pub(crate) step: usize,
    pub(crate) entry: Entry,
}

/// A handle to a backend on a thread of its own, which ends, with all that was asked of it done, when the handle
/// is dropped.
pub(crate) struct Worker<B: Backend> {
    location: B::Location,
    thread: Mutex<Option<Thread<B>>>,
}

struct Thread<B> {
    requests: Sender<Request<B>>,
    handle: JoinHandle<()>,
}

enum Request<B> {
    /// Anything but a write.
    Do(Task<B>),
    Put(NewCell, Answer<Put>),
}

type Task<B> = Box<dyn FnOnce(&mut State<B>) + Send>;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// What a backend is at the moment.
enum State<B> {
    Closed,
    Open(B),
    /// A write has failed. It can be read.
    Halted(B),
}

impl<B: Backend> Worker<B> {
    pub(crate) fn new(location: B::Location) -> Self {
        Self { location, thread: Mutex::new(None) }
    }

    pub(crate) fn location(&self) -> &B::Location {
        &self.location
    }

    /// Asks anything else of the backend, whether or not a write has failed.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut B) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        self.ask(move |state| read(state.read()?))
    }

    /// Asks what concerns the place alone, open or not.
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
            // Nobody may be left who wants to know.
            let _ = answer.send(request(state));
        })));
        wait(answered)
    }

    /// The request is on its way when this returns, so requests arrive in the order in which they are made. If
    /// there is no thread any more, the answer never comes, which its receiver sees.
    fn send(&self, request: Request<B>) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            *thread = Thread::start();
        }
        if let Some(thread) = &*thread {
            let _ = thread.requests.send(request);
        }
    }
}

/// A [`Store`] whose backend works on a thread of its own: all that such a store has to say is which one.
pub(crate) trait OnWorker: Send + Sync + 'static {
    type Backend: Backend;

    fn worker(&self) -> &Worker<Self::Backend>;
}

// Whoever passes something that is no store is to read of `Store`, not of this.
#[diagnostic::do_not_recommend]
impl<S: OnWorker> Store for S {
    fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        let location = self.worker().location.clone();
        self.worker().ask(move |state| {
            // An open backend gives up its ownership first.
            *state = State::Closed;
            let mut backend = S::Backend::open(&location)?;
            let definition = backend.definition()?;
            *state = State::Open(backend);
            Ok(definition)
        })
    }

    fn define(&self, definition: String) -> BoxFuture<'static, Result<(), StoreError>> {
        self.worker().ask(move |state| state.write(|backend| backend.define(&definition)))
    }

    fn stored_steps(&self, column: Name) -> BoxFuture<'static, Result<StoredSteps, StoreError>> {
        self.worker().read(move |backend| backend.stored_steps(&column))
    }

    fn load(
        &self,
        column: Name,
        steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
        self.worker().read(move |backend| backend.load(&column, steps))
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, StoreError>> {
        let (answer, answered) = oneshot::channel();
        self.worker().send(Request::Put(NewCell { column, step, entry }, answer));
        wait(answered)
    }
}

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
            // Whoever opens the place next finds it free. A panic on the thread was told by its hook.
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
                *self = if written.is_ok() { Self::Open(backend) } else { Self::Halted(backend) };
                written
            }
        }
    }

    /// Writes together what is to be written, and answers each. The first one is told what went wrong, and the
    /// others that something did.
    fn put(&mut self, batch: Vec<(NewCell, Answer<Put>)>) {
        let (cells, answers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        match self.write(|backend| backend.put(cells)) {
            Ok(puts) => {
                debug_assert_eq!(puts.len(), answers.len(), "each cell has its answer");
                answers.into_iter().zip(puts).for_each(|(answer, put)| drop(answer.send(Ok(put))));
            }
            Err(error) => {
                let errors = std::iter::once(error).chain(std::iter::repeat_with(|| StoreError::Halted));
                answers.into_iter().zip(errors).for_each(|(answer, error)| drop(answer.send(Err(error))));
            }
        }
    }
}

/// The thread: one request after the other, until nobody can make any.
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
                        Ok(other) => {
                            next = Some(other);
                            break;
                        }
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

/// Waits for the answer of the thread.
fn wait<T: Send + 'static>(
    answered: oneshot::Receiver<Result<T, StoreError>>,
) -> BoxFuture<'static, Result<T, StoreError>> {
    answered
        .map(|answer| answer.unwrap_or_else(|_| Err(StoreError::other("the thread of the store is gone"))))
        .boxed()
}
