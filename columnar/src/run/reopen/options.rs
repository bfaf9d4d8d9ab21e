//! Options for opening a flow.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::drift::ColumnChange;
use crate::store::Store;

/// Options for opening a flow on a store. A store alone is accepted as well, with the defaults.
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
/// // The column now reads all values; when step 0 was computed, it read the latest.
/// let seen = column("seen", source("user"), answer);
/// let refused = Flow::open(store.clone(), [&seen]).await.expect_err("it has changed");
/// assert!(matches!(refused, Error::Drift(_)));
/// let f = Flow::open(OpenOptions::new(store).keep("seen"), [seen]).await?;
/// assert_eq!(f.get("seen", 0).as_deref(), Some("1"));
/// # Ok(()) }
/// ```
pub struct OpenOptions {
    pub(crate) store: Arc<dyn Store>,
    /// The number of last steps that are loaded; `None` for all.
    pub(crate) recent: Option<usize>,
    pub(crate) keep: KeptColumns,
    pub(crate) recompute: Option<Recompute>,
}

/// The columns whose stored values are kept despite a change.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptColumns(pub(super) BTreeSet<String>);

impl KeptColumns {
    /// Whether a change is allowed.
    pub(crate) fn allow(&self, change: &ColumnChange) -> bool {
        // No declaration fits a column that has both pushed and computed values.
        !change.is_of_kind() && self.0.contains(change.column().as_str())
    }
}

/// The columns and steps that are recomputed in another store.
pub(crate) struct Recompute {
    /// The store of the shared past.
    pub(crate) from: Arc<dyn Store>,
    /// The first step that is recomputed.
    pub(crate) step: usize,
    /// Columns that are recomputed with unchanged declarations.
    pub(crate) columns: BTreeSet<String>,
}

impl OpenOptions {
    /// The defaults: a flow with a changed column is refused, and all values are loaded.
    pub fn new(store: impl Store) -> Self {
        Self { store: Arc::new(store), recent: None, keep: KeptColumns::default(), recompute: None }
    }

    /// Keeps the stored values of a column that has changed since, and computes its next steps with the new
    /// declaration. The column may be added to the flow later. If neither the flow nor the store has such a column,
    /// opening fails with [`Error::UnknownColumn`](crate::Error::UnknownColumn).
    #[must_use]
    pub fn keep(mut self, column: impl Into<String>) -> Self {
        self.keep.0.insert(column.into());
        self
    }

    /// Recomputes changed columns from a step on, with all dependent columns, in another store.
    /// Everything else is copied from this store to `into`; this store does not change.
    ///
    /// Changed columns are found by comparing declarations. List in `columns` those whose change is not in the
    /// declaration, such as another prompt without a [version](crate::compute::Policy::version). If `into` holds a flow
    /// already, that flow is opened and nothing is copied, so a program can make this call at every start.
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
        // The flow is opened on the new store, and the old one is only read.
        let from = std::mem::replace(&mut self.store, Arc::new(into));
        self.recompute = Some(Recompute { from, step, columns });
        self
    }

    /// Loads only the last steps, so that opening a long history costs little time and memory.
    ///
    /// The contexts of these steps, and of cells that are not computed yet, are loaded as well. All other values stay in the
    /// store until something needs a value. Such a cell is [`CellState::NotLoaded`](crate::CellState::NotLoaded), and a method
    /// that needs the value in memory returns [`Error::NotLoaded`](crate::Error::NotLoaded). A run loads the values that it
    /// reads, and [`load`](crate::flow::LiveFlow::load) those that you ask for; [`values`](crate::flow::LiveFlow::values) and
    /// [`rows`](crate::flow::LiveFlow::rows) read the store.
    ///
    /// A run over many steps has some thousand of them in memory, with what their contexts show, and leaves the earlier ones to
    /// the store. So a million [rows](crate::guide::import_export#a-million-rows) are computed in little memory. A flow with
    /// [`external`](crate::compute::external) columns has all cells that wait in memory.
    #[must_use]
    pub fn recent(mut self, steps: usize) -> Self {
        self.recent = Some(steps);
        self
    }
}

/// A value that a flow can be opened on: a [`Store`], or [`OpenOptions`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    label = "expected a store, such as `FileStore::new(\"folder\")`"
)]
pub trait IntoOpenOptions {
    /// Converts the value into options.
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
