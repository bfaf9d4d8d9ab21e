//! Calls of user code that may panic: filters, counters, stores, wakers, models.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::{BoxFuture, FutureExt};

use crate::store::StoreError;

/// The result of a call; `None` if it panicked. The payload may quote a conversation, so nothing shows it. The panic hook
/// has reported it.
///
/// The caller asserts that a panic leaves nothing half changed.
pub(super) fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(discard).ok()
}

/// Drops a value whose drop may panic.
pub(super) fn discard<T>(value: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

/// A request to a store. A panic of the store, when it is called, polled or dropped, is an error of the request.
///
/// `None` when it has ended.
pub(super) struct StoreRequest<T>(Option<BoxFuture<'static, Result<T, StoreError>>>);

impl<T> StoreRequest<T> {
    pub(super) fn new(call: impl FnOnce() -> BoxFuture<'static, Result<T, StoreError>>) -> Self {
        Self(caught(call))
    }
}

impl<T> Future for StoreRequest<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = caught(|| {
            let polled = self.0.as_mut()?.poll_unpin(task);
            if polled.is_ready() {
                self.0 = None;
            }
            Some(polled)
        });
        polled.flatten().unwrap_or_else(|| {
            discard(self.0.take());
            Poll::Ready(Err(StoreError::other("the store panicked, which is a bug in it")))
        })
    }
}

impl<T> Drop for StoreRequest<T> {
    fn drop(&mut self) {
        if self.0.is_some() {
            discard(self.0.take());
        }
    }
}
