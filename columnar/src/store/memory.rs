//! Values in memory, for as long as the process lives.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{self, BoxFuture, FutureExt};

use super::{Put, Store};
use crate::error::BoxError;
use crate::name::Name;
use crate::value::Value;

/// A store in memory. Clones share what they hold, so a flow can be opened again from one.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::MemoryStore;
///
/// flow! {
///     struct Echo {
///         source user;
///         column echo(user.latest) = |cx: Context| async move { cx.messages().last_text().into_owned() };
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let store = MemoryStore::new();
/// Echo::open(store.clone()).await?.user.push("hello").await?;
///
/// let again = Echo::open(store).await?;
/// assert_eq!(again.user.get(0).as_deref(), Some("hello"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    columns: Arc<Mutex<BTreeMap<Name, BTreeMap<usize, Value>>>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for MemoryStore {
    fn put(&self, column: Name, step: usize, value: Value) -> BoxFuture<'static, Result<Put, BoxError>> {
        let mut columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        let put = match columns.entry(column).or_default().entry(step) {
            Entry::Vacant(cell) => {
                cell.insert(value);
                Put::Stored
            }
            Entry::Occupied(cell) => Put::Exists(cell.get().clone()),
        };
        future::ready(Ok(put)).boxed()
    }

    fn load(&self, column: Name) -> BoxFuture<'static, Result<Vec<(usize, Value)>, BoxError>> {
        let columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        let cells = columns.get(&column).into_iter().flatten();
        future::ready(Ok(cells.map(|(&step, value)| (step, value.clone())).collect())).boxed()
    }
}
