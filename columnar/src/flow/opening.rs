//! The future of a declared flow that is opened or extended.
//!
//! It has a type of its own, without the parameters of the function that returns it: rustc checks the parameters of an `async fn`
//! again wherever its future is awaited, and reports an error for each time.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use crate::run::Result;

/// A flow that is being opened or extended. It continues while it is awaited.
#[must_use = "a flow is opened while its future is awaited"]
pub struct Opening<'a, F: Deref<Target: Sized>> {
    opened: BoxFuture<'a, Result<F::Target>>,
    /// Makes the declared type.
    of: fn(F::Target) -> F,
}

impl<'a, F: Deref<Target: Sized>> Opening<'a, F> {
    pub(super) fn new(opened: BoxFuture<'a, Result<F::Target>>, of: fn(F::Target) -> F) -> Self {
        Self { opened, of }
    }
}

impl<F: Deref<Target: Sized>> Future for Opening<'_, F> {
    type Output = Result<F>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<F>> {
        let of = self.of;
        self.opened.as_mut().poll(cx).map_ok(of)
    }
}

impl<F: Deref<Target: Sized>> fmt::Debug for Opening<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").finish_non_exhaustive()
    }
}
