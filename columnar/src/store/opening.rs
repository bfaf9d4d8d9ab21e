//! How a flow is opened.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::Store;
use super::drift::Change;

/// So many steps that no view reaches are loaded all the same, unless told otherwise.
const RECENT: usize = 1000;

/// A store, and what is said about opening a flow on it. A store alone says nothing, and can stand wherever an
/// opening is wanted.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::{MemoryStore, Opening};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let store = MemoryStore::new();
/// let answer = |cx: Context| async move { cx.messages().len().to_string() };
/// let f = Flow::open(store.clone(), [column("seen", source("user").latest(), answer)]).await?;
/// f.push("user", "hello").await?;
/// f.run().await?;
/// drop(f);
///
/// // The column reads more than it did when step 0 was computed.
/// let seen = column("seen", source("user"), answer);
/// let refused = Flow::open(store.clone(), [&seen]).await.expect_err("it has changed");
/// assert!(matches!(refused, Error::Drift(_)));
/// let f = Flow::open(Opening::new(store).keep("seen"), [seen]).await?;
/// assert_eq!(f.get("seen", 0).as_deref(), Some("1"));
/// # Ok(()) }
/// ```
pub struct Opening {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) recent: usize,
    keep: BTreeSet<String>,
}

impl Opening {
    /// Nothing but the store: a column that has changed is refused.
    pub fn new(store: impl Store) -> Self {
        Self { store: Arc::new(store), recent: RECENT, keep: BTreeSet::new() }
    }

    /// Keeps what is stored of a column, though the column has changed since, and computes its next steps the
    /// new way.
    #[must_use]
    pub fn keep(mut self, column: impl Into<String>) -> Self {
        self.keep.insert(column.into());
        self
    }

    /// Loads the values of so many steps back, even if no view reaches them any more; 1,000 unless told
    /// otherwise. What views reach is loaded always, and the rest stays in the store until it is
    /// [recalled](crate::flow::LiveFlow::recall).
    #[must_use]
    pub fn recent(mut self, steps: usize) -> Self {
        self.recent = steps;
        self
    }

    /// Whether a change may be.
    pub(crate) fn allows(&self, change: &Change) -> bool {
        !matches!(change, Change::Kind { .. }) && self.keep.contains(change.column().as_str())
    }
}

impl<S: Store> From<S> for Opening {
    fn from(store: S) -> Self {
        Self::new(store)
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recent, keep, .. } = self;
        f.debug_struct("Opening").field("keep", keep).field("recent", recent).finish_non_exhaustive()
    }
}
