//! Calls of users' code that may panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

/// The result of a call; `None` after a panic. The payload may quote a conversation, so nothing shows the payload. The panic
/// hook has reported the panic.
///
/// The caller asserts that a panic leaves nothing half changed.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(discard).ok()
}

/// Drops a value whose drop may panic.
pub(crate) fn discard<T>(value: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

/// A future of a user. After a panic, whether called, polled or dropped, its output is `None`.
///
/// `None` at the end.
pub(crate) struct CaughtFuture<T>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T> CaughtFuture<T> {
    pub(crate) fn new(call: impl FnOnce() -> Pin<Box<dyn Future<Output = T> + Send>>) -> Self {
        Self(caught(call))
    }
}

impl<T> Future for CaughtFuture<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<T>> {
        let polled = caught(|| {
            let polled = self.0.as_mut()?.as_mut().poll(task);
            if polled.is_ready() {
                self.0 = None;
            }
            Some(polled)
        });
        match polled.flatten() {
            Some(polled) => polled.map(Some),
            None => {
                discard(self.0.take());
                Poll::Ready(None)
            }
        }
    }
}

impl<T> Drop for CaughtFuture<T> {
    fn drop(&mut self) {
        if self.0.is_some() {
            discard(self.0.take());
        }
    }
}
