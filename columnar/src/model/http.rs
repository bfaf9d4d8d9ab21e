//! Calls of the HTTP client without log output.

use std::future::{Future, poll_fn};
use std::pin::pin;

use tracing::Dispatch;
use tracing::dispatcher::with_default;

/// Polls a future without a subscriber, because the client logs addresses.
pub(crate) async fn without_logs<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let no_subscriber = Dispatch::none();
    // The subscriber belongs to the thread, and each poll may be on another thread.
    poll_fn(|cx| with_default(&no_subscriber, || future.as_mut().poll(cx))).await
}
