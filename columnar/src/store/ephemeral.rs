//! For flows that nobody will open again.

use futures::future::{self, BoxFuture, FutureExt};

use super::{Entry, Put, Store};
use crate::error::BoxError;
use crate::name::Name;

/// Keeps nothing: the flow's own table, which is in memory, is all there is.
pub(crate) struct Ephemeral;

impl Store for Ephemeral {
    fn put(&self, _: Name, _: usize, _: Entry) -> BoxFuture<'static, Result<Put, BoxError>> {
        future::ready(Ok(Put::Stored)).boxed()
    }

    fn load(&self, _: Name) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, BoxError>> {
        future::ready(Ok(Vec::new())).boxed()
    }
}
