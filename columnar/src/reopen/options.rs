//! How a flow is opened.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::drift::ColumnChange;
use crate::store::Store;

/// So many steps that no view reaches are loaded all the same, unless told otherwise.
const RECENT: usize = 1000;

/// A store, and what is said about opening a flow on it. A store alone says nothing, and can stand wherever an
/// opening is wanted.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::reopen::OpenOptions;
/// use columnar::store::MemoryStore;
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
/// let f = Flow::open(OpenOptions::new(store).keep("seen"), [seen]).await?;
/// assert_eq!(f.get("seen", 0).as_deref(), Some("1"));
/// # Ok(()) }
/// ```
pub struct OpenOptions {
    store: Arc<dyn Store>,
    pub(crate) recent: usize,
    keep: BTreeSet<String>,
    pub(crate) recompute: Option<Recompute>,
}

/// What is computed recompute, in another store.
pub(crate) struct Recompute {
    /// Where the past is that is shared.
    pub(crate) from: Arc<dyn Store>,
    /// From which step on.
    pub(crate) step: usize,
    /// Columns that are as they were, as far as anybody can see.
    pub(crate) columns: BTreeSet<String>,
}

impl OpenOptions {
    /// Nothing but the store: a column that has changed is refused.
    pub fn new(store: impl Store) -> Self {
        Self { store: Arc::new(store), recent: RECENT, keep: BTreeSet::new(), recompute: None }
    }

    /// Keeps what is stored of a column, though the column has changed since, and computes its next steps the
    /// new way.
    #[must_use]
    pub fn keep(mut self, column: impl Into<String>) -> Self {
        self.keep.insert(column.into());
        self
    }

    /// Computes columns that have changed anew from a step on, and all that depends on them, in a store of
    /// their own: everything else that this one holds is copied there, and it stays as it is.
    ///
    /// What has changed is found by comparing; columns of which nobody can see that, as where another prompt
    /// has no [version](crate::compute::Policy::version), are named in `columns` besides. Where `into` holds a
    /// flow already, that is opened as it is: so a program says this once, and can be started as often as it
    /// likes.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::reopen::OpenOptions;
    /// use columnar::store::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let (store, other) = (MemoryStore::new(), MemoryStore::new());
    /// let count = |cx: Context| async move { cx.messages().len().to_string() };
    /// let length = |cx: Context| async move { cx.messages().last_text().len().to_string() };
    /// let user = source("user");
    /// let f = Flow::open(store.clone(), [column("map", user.latest(), count)]).await?;
    /// for text in ["a", "b", "c"] {
    ///     f.push("user", text).await?;
    /// }
    /// f.run().await?;
    /// drop(f);
    ///
    /// let options = OpenOptions::new(store).recompute_from(2, ["map"], other);
    /// let f = Flow::open(options, [column("map", user.latest(), length)]).await?;
    /// assert_eq!((f.forecast().cells, f.get("map", 1).as_deref()), (1, Some("1")));
    /// f.run().await?;
    /// assert_eq!(f.get("map", 2).as_deref(), Some("16"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn recompute_from<C: Into<String>>(
        mut self,
        step: usize,
        columns: impl IntoIterator<Item = C>,
        into: impl Store,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        let from = std::mem::replace(&mut self.store, Arc::new(into));
        self.recompute = Some(Recompute { from, step, columns });
        self
    }

    /// Where the flow keeps its values.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Loads the values of so many steps back, even if no view reaches them any more; 1,000 unless told
    /// otherwise. What views reach is loaded always, and the rest stays in the store until it is
    /// [loaded](crate::flow::LiveFlow::load).
    #[must_use]
    pub fn recent(mut self, steps: usize) -> Self {
        self.recent = steps;
        self
    }

    /// Whether a change may be.
    pub(crate) fn allows(&self, change: &ColumnChange) -> bool {
        !matches!(change, ColumnChange::Kind { .. }) && self.keep.contains(change.column().as_str())
    }
}

/// What a flow can be opened on: a [`Store`], or an [`OpenOptions`] of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no store",
    label = "expected a store, such as `FileStore::new(\"folder\")`"
)]
pub trait IntoOpenOptions {
    /// Converts.
    fn into_open_options(self) -> OpenOptions;
}

impl<S: Store> IntoOpenOptions for S {
    fn into_open_options(self) -> OpenOptions {
        OpenOptions::new(self)
    }
}

impl IntoOpenOptions for OpenOptions {
    fn into_open_options(self) -> Self {
        self
    }
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recent, keep, .. } = self;
        f.debug_struct("OpenOptions").field("keep", keep).field("recent", recent).finish_non_exhaustive()
    }
}
