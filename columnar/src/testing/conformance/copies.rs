//! The copy of a flow into a store, which is dropped at each of its writes.

use std::future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::channel::oneshot;
use futures::future::{Either, FutureExt, select};

use crate::compute::Context;
use crate::declare::Name;
use crate::flow::{Column, Flow, column, source};
use crate::run::Error;
use crate::store::{Entry, MemoryStore, Put, Store, StoreFuture};
use crate::testing::{LayeredStore, StoreLayer};

const STEPS: usize = 3;

/// Drops a copy at its first write, at its second, and so on. No flow is opened on a part of the copy, and the same copy
/// can be made again.
pub(super) async fn shows_a_copy_whole_or_not_at_all<S: Store, H: Fn() -> S>(location: &impl Fn() -> H) {
    let flow = original().await;
    // Each write is dropped before it begins, or after a poll.
    for at in 0.. {
        let handle = location();
        if !is_interrupted(&flow, handle(), at / 2, at % 2 == 1).await {
            assert!(
                at / 2 > STEPS * 2,
                "clause 11: the copy has a definition and {STEPS} steps of two columns"
            );
            return check(&handle, "a copy").await;
        }
        match Flow::open(handle(), columns()).await {
            Err(Error::Open { .. }) => {}
            Err(error) => unreachable!("clause 11: a part of a copy is refused, but {error}"),
            Ok(opened) => {
                let steps = opened.steps();
                drop(opened);
                // The copy had not begun, or its last write was confirmed late.
                assert!(steps == 0 || steps == STEPS, "clause 11: {steps} of {STEPS} steps were copied");
                let deleted = handle().delete().await;
                assert!(deleted.is_ok(), "clause 10: a closed flow can be deleted, but {deleted:?}");
            }
        }
        let again = flow.fork_into(STEPS, handle()).await.map(drop);
        assert!(again.is_ok(), "clause 11: the copy can be made again, but {again:?}");
        check(&handle, "a copy that was made again").await;
    }
}

pub(super) fn columns() -> [Column; 1] {
    let echo = |cx: Context| async move { cx.messages().last_text().into_owned() };
    [column("echo", source("user").latest(), echo)]
}

pub(super) fn known<T>(done: Result<T, Error>) -> T {
    done.unwrap_or_else(|error| unreachable!("the flow in memory works: {error}"))
}

async fn original() -> Flow {
    let flow = known(Flow::open(MemoryStore::new(), columns()).await);
    for step in 0..STEPS {
        known(flow.push("user", format!("text {step}")).await);
    }
    known(flow.run().await);
    flow
}

/// Checks that a location has the whole flow.
async fn check<S: Store>(handle: &impl Fn() -> S, what: &str) {
    let flow = Flow::open(handle(), columns()).await;
    let flow = flow.unwrap_or_else(|error| unreachable!("clause 11: {what} can be opened: {error}"));
    assert_eq!(flow.steps(), STEPS, "clause 11: the steps of {what}");
    for step in 0..STEPS {
        let texts = ["user", "echo"].map(|column| flow.get(column, step));
        assert!(texts.iter().all(Option::is_some), "clause 11: {what} has step {step}");
    }
}

/// Copies, and drops the copy at a write. Returns whether there was such a write.
async fn is_interrupted(flow: &Flow, store: impl Store, write: usize, begins: bool) -> bool {
    let (reached, at_write) = oneshot::channel();
    let interrupt =
        Interrupt { writes: AtomicUsize::new(0), at: write, begins, reached: Mutex::new(Some(reached)) };
    let copy = pin!(flow.fork_into(STEPS, LayeredStore::new(store, interrupt)));
    match select(at_write, copy).await {
        Either::Left((Ok(()), _)) => true,
        Either::Left((Err(_), copy)) => {
            known(copy.await);
            false
        }
        Either::Right((copied, _)) => {
            assert!(copied.is_ok(), "clause 11: a store takes a copy, but {:?}", copied.map(drop));
            false
        }
    }
}

/// A layer in which a write never ends.
struct Interrupt {
    writes: AtomicUsize,
    at: usize,
    /// Whether the write begins.
    begins: bool,
    reached: Mutex<Option<oneshot::Sender<()>>>,
}

impl Interrupt {
    fn pass<T: Send + 'static>(self: &Arc<Self>, write: impl FnOnce() -> StoreFuture<T>) -> StoreFuture<T> {
        if self.writes.fetch_add(1, Ordering::SeqCst) != self.at {
            return write();
        }
        let begun = self.begins.then(|| write().now_or_never());
        // Nobody waits if the copy was dropped before.
        let reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = reached.map(|reached| reached.send(()));
        async move {
            drop(begun);
            future::pending().await
        }
        .boxed()
    }
}

impl StoreLayer for Interrupt {
    fn define(self: &Arc<Self>, inner: &Arc<dyn Store>, definition: String) -> StoreFuture<()> {
        self.pass(|| inner.define(definition))
    }

    fn put(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        step: usize,
        entry: Entry,
    ) -> StoreFuture<Put> {
        self.pass(|| inner.put(column, step, entry))
    }
}
