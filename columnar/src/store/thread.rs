//! A thread for stores that block, so polling a flow never blocks an executor.
//!
//! The thread serves requests in rounds. The cells of a round are stored with one write, so many cells that finish at
//! once cost one wait. The requests of one handle are served in order; requests of several handles need not wait for
//! each other.

use std::collections::{HashSet, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use std::{collections::BTreeMap, convert::Infallible};

use futures::channel::oneshot;
use futures::future::{self, FutureExt};

use super::{Entry, Put, StoreError, StoreFuture};
use crate::declare::Name;

/// The most cells of one write.
const BATCH: usize = 1024;

/// The most bytes of one write, unless a single cell has more. A database does not accept a gigabyte at once.
const BATCH_BYTES: usize = 32 << 20;

/// The most tasks of a round, so that the puts of other handles do not wait for all tasks that have come.
const TASKS: usize = 16;

/// The most requests that a round looks at.
const ROUND: usize = 4096;

/// The state of a thread, which does the work of the requests.
pub(crate) trait Server: Send + 'static {
    /// Stores cells together, and answers each put.
    fn put(&mut self, puts: Vec<PutRequest>);

    /// Whether [`idle`](Self::idle) has anything to do.
    fn has_idle_work(&self) -> bool {
        false
    }

    /// Work that is done when no request has come for a while.
    fn idle(&mut self) {}
}

/// The time without requests after which [`Server::idle`] is called.
const IDLE: Duration = Duration::from_secs(1);

/// A cell that is to be stored.
#[derive(Clone, Debug)]
pub(crate) struct NewCell {
    pub(crate) column: Name,
    pub(crate) step: usize,
    pub(crate) entry: Entry,
}

/// Identifies a handle of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HandleId(u64);

impl HandleId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A put that waits for its answer.
pub(crate) struct PutRequest {
    pub(crate) handle: HandleId,
    pub(crate) cell: NewCell,
    pub(crate) answer: Answer<Put>,
}

pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// A thread with a state. After a drop, the thread finishes all requests and ends.
pub(crate) struct Thread<S> {
    /// The way to the thread; `None` during the drop, as `handle`.
    requests: Option<Sender<QueuedRequest<S>>>,
    handle: Option<JoinHandle<()>>,
}

enum QueuedRequest<S> {
    /// Any request but a put.
    Do(HandleId, Task<S>),
    Put(PutRequest),
}

type Task<S> = Box<dyn FnOnce(&mut S) + Send>;

impl<S: Server> Thread<S> {
    /// Starts a thread; `None` where the system has no thread left.
    pub(crate) fn start(mut server: S) -> Option<Self> {
        let (requests, received) = mpsc::channel();
        let thread = thread::Builder::new().name("columnar-store".into());
        let handle = thread.spawn(move || serve(&mut server, &received)).ok()?;
        Some(Self { requests: Some(requests), handle: Some(handle) })
    }

    /// Runs a task on the thread. The request is sent before this method returns, so requests arrive in the order of
    /// the calls.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        handle: HandleId,
        task: impl FnOnce(&mut S) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<T> {
        let (answer, answered) = oneshot::channel();
        self.send(QueuedRequest::Do(
            handle,
            Box::new(move |server| {
                // The future that waits for the answer may have been dropped.
                let _ = answer.send(task(server));
            }),
        ));
        wait(answered)
    }

    pub(crate) fn put(&self, handle: HandleId, cell: NewCell) -> StoreFuture<Put> {
        let (answer, answered) = oneshot::channel();
        self.send(QueuedRequest::Put(PutRequest { handle, cell, answer }));
        wait(answered)
    }

    /// Runs a task on the thread. Nothing is ever sent on the channel, which is closed when the task is gone.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn run(
        &self,
        handle: HandleId,
        task: impl FnOnce(&mut S) + Send + 'static,
    ) -> Receiver<Infallible> {
        let (running, done) = mpsc::channel();
        self.send(QueuedRequest::Do(
            handle,
            Box::new(move |server| {
                let _running = running;
                task(server);
            }),
        ));
        done
    }

    /// Sends a request. If the thread is gone, the answer's channel closes, which the receiver sees.
    fn send(&self, request: QueuedRequest<S>) {
        if let Some(requests) = &self.requests {
            let _ = requests.send(request);
        }
    }
}

/// A thread that begins with the first request, so a handle that is never opened costs no thread.
#[derive(Default)]
pub(crate) struct LazyThread<S>(Mutex<Option<Thread<S>>>);

impl<S: Server + Default> LazyThread<S> {
    pub(crate) fn send<T: Send + 'static>(
        &self,
        request: impl FnOnce(&Thread<S>) -> StoreFuture<T>,
    ) -> StoreFuture<T> {
        let mut thread = self.lock();
        if thread.is_none() {
            // If no thread is left, the next request tries again.
            *thread = Thread::start(S::default());
        }
        match &*thread {
            Some(thread) => request(thread),
            None => future::ready(Err(StoreError::no_thread())).boxed(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Thread<S>>> {
        // The lock holds one `Option`, which a panic cannot leave half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Drop for Thread<S> {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(handle) = self.handle.take() {
            // Joined, so that the next `open` of the location finds it free. The panic hook has reported a panic.
            let _ = handle.join();
        }
    }
}

/// Runs a task on a new thread, which ends with the task.
#[cfg(feature = "sqlite")]
pub(crate) fn run<T: Send + 'static>(
    task: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> StoreFuture<T> {
    let (answer, answered) = oneshot::channel();
    // The future that waits for the answer may have been dropped.
    let thread =
        thread::Builder::new().name("columnar-store".into()).spawn(move || drop(answer.send(task())));
    match thread {
        Ok(_) => wait(answered),
        Err(_) => async { Err(StoreError::no_thread()) }.boxed(),
    }
}

/// Answers the requests of one write. After a failure the first request gets the error, and the others
/// [`StoreError::Halted`].
pub(crate) fn answer_all(answers: Vec<Answer<Put>>, outcome: Result<Vec<Put>, StoreError>) {
    match outcome {
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

/// The cells of a handle that are stored together.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) struct CellWrite {
    pub(crate) handle: HandleId,
    pub(crate) cells: Vec<NewCell>,
}

/// The cells of each handle that may write, and the answers that wait for the outcome. Other puts are answered at once.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn by_handle(
    puts: Vec<PutRequest>,
    check: impl Fn(HandleId) -> Result<(), StoreError>,
) -> (Vec<CellWrite>, Vec<Vec<Answer<Put>>>) {
    let mut by_handle = BTreeMap::<HandleId, (Vec<NewCell>, Vec<Answer<Put>>)>::new();
    for PutRequest { handle, cell, answer } in puts {
        match check(handle) {
            Ok(()) => {
                let (cells, answers) = by_handle.entry(handle).or_default();
                cells.push(cell);
                answers.push(answer);
            }
            // The future that waits for the answer may have been dropped.
            Err(error) => drop(answer.send(Err(error))),
        }
    }
    by_handle.into_iter().map(|(handle, (cells, answers))| (CellWrite { handle, cells }, answers)).unzip()
}

/// The requests of a round, in order.
struct WriteRound<S> {
    /// The puts that no other request of the same handle precedes.
    puts: Vec<PutRequest>,
    tasks: Vec<Task<S>>,
    /// The requests that the next round begins with.
    later: VecDeque<QueuedRequest<S>>,
}

impl<S> WriteRound<S> {
    /// Puts come before tasks, so a read sees all puts that were sent before it. A put after a task of the same handle
    /// is left for the next round, with all later requests of that handle.
    fn new(waiting: VecDeque<QueuedRequest<S>>) -> Self {
        let mut round = Self { puts: Vec::new(), tasks: Vec::new(), later: VecDeque::new() };
        let mut with_tasks = HashSet::new();
        let mut delayed = HashSet::new();
        let mut bytes = 0;
        for request in waiting {
            match request {
                QueuedRequest::Put(put)
                    if round.puts.len() < BATCH
                        && (round.puts.is_empty() || bytes + put.cell.entry.len() <= BATCH_BYTES)
                        && !with_tasks.contains(&put.handle)
                        && !delayed.contains(&put.handle) =>
                {
                    bytes += put.cell.entry.len();
                    round.puts.push(put);
                }
                QueuedRequest::Do(handle, task)
                    if round.tasks.len() < TASKS && !delayed.contains(&handle) =>
                {
                    with_tasks.insert(handle);
                    round.tasks.push(task);
                }
                QueuedRequest::Put(PutRequest { handle, .. }) | QueuedRequest::Do(handle, _) => {
                    delayed.insert(handle);
                    round.later.push_back(request);
                }
            }
        }
        round
    }
}

/// The loop of the thread, which ends when the handle is dropped.
fn serve<S: Server>(server: &mut S, requests: &Receiver<QueuedRequest<S>>) {
    let mut waiting = VecDeque::new();
    loop {
        if waiting.is_empty() {
            let request = if server.has_idle_work() {
                requests.recv_timeout(IDLE)
            } else {
                requests.recv().map_err(RecvTimeoutError::from)
            };
            match request {
                Ok(request) => waiting.push_back(request),
                Err(RecvTimeoutError::Timeout) => {
                    survive(|| server.idle());
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        waiting.extend(requests.try_iter().take(ROUND.saturating_sub(waiting.len())));
        let WriteRound { puts, tasks, later } = WriteRound::new(waiting);
        waiting = later;
        if !puts.is_empty() {
            survive(|| server.put(puts));
        }
        for task in tasks {
            survive(|| task(server));
        }
    }
}

/// Runs a request. A panic costs this request an answer; the requests of other handles are served.
fn survive(request: impl FnOnce()) {
    // The panic hook has reported the panic. Servers leave nothing half changed.
    let _ = panic::catch_unwind(AssertUnwindSafe(request));
}

/// The answer of the thread, as a future.
fn wait<T: Send + 'static>(answered: oneshot::Receiver<Result<T, StoreError>>) -> StoreFuture<T> {
    answered
        .map(|answer| answer.unwrap_or_else(|_| Err(StoreError::other("the thread of the store panicked"))))
        .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The requests in the order of service, and the puts of each write.
    #[derive(Default)]
    struct Recorder {
        served: Vec<(HandleId, usize)>,
        writes: Vec<usize>,
    }

    impl Server for Recorder {
        fn put(&mut self, puts: Vec<PutRequest>) {
            self.writes.push(puts.len());
            self.served.extend(puts.iter().map(|put| (put.handle, put.cell.step)));
        }
    }

    /// Requests: the handle, and whether the request is a put.
    type Script = [(u64, bool)];

    fn request((at, (handle, is_put)): (usize, &(u64, bool))) -> QueuedRequest<Recorder> {
        let handle = HandleId(*handle);
        if *is_put {
            let column = Name::new("user").expect("it is a name");
            let cell = NewCell { column, step: at, entry: Entry::SKIPPED };
            return QueuedRequest::Put(PutRequest { handle, cell, answer: oneshot::channel().0 });
        }
        QueuedRequest::Do(handle, Box::new(move |recorder| recorder.served.push((handle, at))))
    }

    /// Serves requests that have all arrived.
    fn served(script: &Script) -> Recorder {
        let (requests, received) = mpsc::channel();
        script.iter().enumerate().map(request).for_each(|request| drop(requests.send(request)));
        drop(requests);
        let mut recorder = Recorder::default();
        serve(&mut recorder, &received);
        recorder
    }

    #[test]
    fn the_requests_of_a_handle_are_served_once_and_in_order() {
        let kinds = [(0, true), (0, false), (1, true), (1, false)];
        for script in 0..4_usize.pow(7) {
            let script: Vec<_> = (0..7).map(|at| kinds[script / 4_usize.pow(at) % 4]).collect();
            let served = served(&script).served;
            assert_eq!(served.len(), script.len(), "{script:?}");
            for handle in [0, 1] {
                let of_handle = served.iter().filter(|(served, _)| *served == HandleId(handle));
                assert!(of_handle.is_sorted_by_key(|(_, at)| *at), "{script:?}: {served:?}");
            }
        }
    }

    #[test]
    fn a_write_has_at_most_the_bytes_that_a_database_accepts_and_at_least_one_cell() {
        let half = BATCH_BYTES / 2;
        for (sizes, expected) in [
            (vec![0, 1, 2], vec![3]),
            (vec![half, half], vec![2]),
            (vec![half, half, 1], vec![2, 1]),
            (vec![half, half + 1, half - 1, 1, 1], vec![1, 2, 2]),
            (vec![BATCH_BYTES + 1, 1, BATCH_BYTES + 1, BATCH_BYTES + 1], vec![1, 1, 1, 1]),
        ] {
            let puts = sizes.into_iter().enumerate().map(|(at, bytes)| match request((at, &(0, true))) {
                QueuedRequest::Put(mut put) => {
                    put.cell.entry = Entry::from("x".repeat(bytes).as_str());
                    QueuedRequest::Put(put)
                }
                task @ QueuedRequest::Do(..) => task,
            });
            let (requests, received) = mpsc::channel();
            puts.for_each(|put| drop(requests.send(put)));
            drop(requests);
            let mut recorder = Recorder::default();
            serve(&mut recorder, &received);
            assert_eq!(recorder.writes, expected);
        }
    }

    #[test]
    fn puts_are_written_together_whatever_other_handles_request_between_them() {
        let mixed: Vec<_> = (0..30).flat_map(|handle| [(handle, true), (handle + 100, false)]).collect();
        assert_eq!(served(&mixed).writes, [30]);
        let reread = [(0, true), (1, false), (0, false), (0, true), (1, true), (2, true)];
        assert_eq!(served(&reread).writes, [2, 2]);
        let waiting: Vec<_> = (1..=TASKS as u64 + 1).map(|handle| (handle, false)).collect();
        let behind_a_task = [&waiting[..], &[(0, true), (TASKS as u64 + 1, true)]].concat();
        assert_eq!(
            served(&behind_a_task).writes,
            [1, 1],
            "a put does not overtake a task of the same handle"
        );
        assert_eq!(served(&vec![(0, true); BATCH + 1]).writes, [BATCH, 1]);
    }
}
