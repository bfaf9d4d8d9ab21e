//! Values in memory, for as long as the process lives.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{self, BoxFuture, FutureExt};

use super::{Entry, Put, Store};
use crate::error::BoxError;
use crate::name::Name;

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
    columns: Arc<Mutex<HashMap<Name, Vec<Option<Entry>>>>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for MemoryStore {
    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, BoxError>> {
        let mut columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        let cells = columns.entry(column).or_default();
        if cells.len() <= step {
            cells.resize(step + 1, None);
        }
        let put = match cells.get_mut(step) {
            Some(Some(there)) => Put::Exists(there.clone()),
            Some(cell) => {
                *cell = Some(entry);
                Put::Stored
            }
            None => unreachable!("there is a place for step {step}"),
        };
        future::ready(Ok(put)).boxed()
    }

    fn load(&self, column: Name) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, BoxError>> {
        let columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        let cells = columns.get(&column).into_iter().flatten().enumerate();
        let cells = cells.filter_map(|(step, entry)| Some((step, entry.clone()?))).collect();
        future::ready(Ok(cells)).boxed()
    }
}
