//! The fields of a typed flow: handles of its columns, which read and push values, and are views inside `flow!`.

use std::array;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, Stream, StreamExt};

use super::bind::Bind;
use super::generated::Columns;
use crate::compute::{ColumnType, Step};
use crate::context::Messages;
use crate::context::documents::{Documents, Update};
use crate::declare::Window;
use crate::declare::graph::{CompactedDocuments, TieredView, View};
use crate::history::{IntoValue, Value};
use crate::model::cache::{CachePlan, CachePolicy, Pace, StablePrefix};
use crate::model::usage::Receipt;
use crate::run::{Result, SharedFlow};
use crate::schedule::Cell;

/// A column whose values come from outside, as the field of a typed flow: text, or
/// [`Documents`](crate::documents::Documents).
pub type Source<T = Value> = Handle<kind::Source<T>>;

/// A computed column, as the field of a typed flow: one of plain text, or one whose values are JSON of the type `T`.
pub type Derived<T = Value> = Handle<kind::Derived<T>>;

/// The kinds of columns, as type parameters of a [`Handle`].
pub mod kind {
    use std::marker::PhantomData;

    use crate::context::documents::Documents;
    use crate::history::Value;

    /// The values come from outside: plain text, or documents.
    #[derive(Clone, Copy, Debug)]
    pub struct Source<T = Value>(PhantomData<fn() -> T>);

    /// The values are computed: plain text, or JSON of the type `T`.
    #[derive(Clone, Copy, Debug)]
    pub struct Derived<T = Value>(PhantomData<fn() -> T>);

    /// A kind whose values have windows. Documents are a set, and have none.
    pub trait Windowed: Sealed {}

    impl Windowed for Source {}
    impl<T> Windowed for Derived<T> {}

    /// A kind whose values are documents. Only documents are in tiers.
    pub trait HoldsDocuments: Sealed {}

    impl HoldsDocuments for Source<Documents> {}

    /// The type of a source that has a type: `source files: Documents;`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be the type of a source: its values are text or documents",
        label = "expected `Documents`",
        note = "write `source name: Documents;` for documents, or `source name;` for text"
    )]
    pub trait SourceType: Sealed {}

    impl SourceType for Documents {}

    mod sealed {
        pub trait Sealed {}
    }

    use sealed::Sealed;

    impl<T> Sealed for Source<T> {}
    impl<T> Sealed for Derived<T> {}
    impl Sealed for Documents {}
}

/// A column of a typed flow: a [`Source`] or a [`Derived`] one.
///
/// Outside `flow!` a handle reads the values of the column, and a source also pushes. Inside `flow!` a handle is a view of all
/// values of the column, and has fields and methods for other views. A [`Column`](crate::Column) has the same ones. Clones
/// are the same column of the same flow.
pub struct Handle<K> {
    /// A view of the newest value.
    pub latest: View,
    /// A view of the value of the previous step. Within a step nothing waits for that value, so two columns may
    /// read each other's previous values. Then [`window`](View::window) and [`all`](View::all) show more of the past.
    pub prev: View,
    name: &'static str,
    /// `None` in the constants of a flow's graph.
    flow: Option<Arc<SharedFlow>>,
    kind: PhantomData<K>,
}

impl<K> Handle<K> {
    #[doc(hidden)]
    pub const fn __new(column: usize, name: &'static str) -> Self {
        let latest = View::new(column, Window::LATEST, name);
        Self { latest, prev: latest.lagged(), name, flow: None, kind: PhantomData }
    }

    #[doc(hidden)]
    #[must_use]
    pub fn __bind(&self, flow: &Bind<'_>) -> Self {
        let (column, name) = flow.column(self.latest);
        let latest = View::new(column, Window::LATEST, self.latest.tag);
        let flow = Some(Arc::clone(flow.shared));
        Self { latest, prev: latest.lagged(), name, flow, kind: PhantomData }
    }

    #[doc(hidden)]
    pub const fn __column(&self) -> usize {
        self.latest.column
    }

    /// A view of all values. Inside `flow!` that is the column's name alone, so editors must not offer this method.
    #[doc(hidden)]
    pub const fn __all(&self) -> View {
        View::new(self.latest.column, Window::All, self.latest.tag)
    }

    /// A view of the column in tiers. Inside `flow!` a function beside the graph mentions [`tiered`](Handle::tiered), which
    /// only documents have.
    #[doc(hidden)]
    pub const fn __in_tiers(&self) -> TieredView {
        self.__all().__in_tiers()
    }

    /// A view of the column as a log, as [`__in_tiers`](Self::__in_tiers) is one in tiers.
    #[doc(hidden)]
    pub const fn __in_log(&self) -> CompactedDocuments {
        self.__all().__in_log()
    }

    /// A view of all values, described to the model; see [`View::note`].
    pub const fn note(&self, note: &'static str) -> View {
        self.__all().note(note)
    }

    /// A view of all values as reference material; see [`View::context`].
    pub const fn context(&self) -> View {
        self.__all().context()
    }

    /// A view of all values at the end of the system text; see [`View::instruction`].
    pub const fn instruction(&self) -> View {
        self.__all().instruction()
    }

    /// A view of the texts of all values, without the attachments; see [`View::text_only`].
    pub const fn text_only(&self) -> View {
        self.__all().text_only()
    }

    /// A view of all values under another tag than the column's name, written `.as("tag")` inside `flow!`.
    ///
    /// # Panics
    ///
    /// When the tag is not a [`Name`](crate::Name) without dots; inside `flow!` that is a compile error.
    pub const fn named(&self, tag: &'static str) -> View {
        self.__all().named(tag)
    }

    /// The same as [`named`](Self::named), under the name inside `flow!`.
    pub const fn r#as(&self, tag: &'static str) -> View {
        self.named(tag)
    }

    /// The receipt of the cell at a step: the tokens and the price of the calls. `None` if the cell called no model, or is
    /// not [in memory](super::LiveFlow::load).
    pub fn receipt(&self, step: usize) -> Option<Arc<Receipt>> {
        self.flow().lock().receipt(Cell { column: self.latest.column, step })
    }

    /// The name of the column. For a source of a module, the name of the column that the source is bound to.
    pub fn name(&self) -> &'static str {
        self.name
    }

    fn with_kind<L>(self) -> Handle<L> {
        let Self { latest, prev, name, flow, kind: _ } = self;
        Handle { latest, prev, name, flow, kind: PhantomData }
    }

    pub(super) fn flow(&self) -> &Arc<SharedFlow> {
        match &self.flow {
            Some(flow) => flow,
            None => unreachable!("only the macro holds columns without a flow, and it does not call them"),
        }
    }
}

impl<K: kind::Windowed> Handle<K> {
    /// A view of the last `count` values.
    ///
    /// # Panics
    ///
    /// When `count` is 0; inside `flow!` that is a compile error.
    #[track_caller]
    pub const fn window(&self, count: usize) -> View {
        self.__all().window(count)
    }

    /// A view of the values that `shows` accepts; see [`View::filter`].
    pub const fn filter(&self, shows: fn(&str) -> bool) -> View {
        self.__all().filter(shows)
    }

    /// A view of the values of the steps that `shows` accepts; see [`View::sample`].
    pub const fn sample(&self, shows: fn(usize) -> bool) -> View {
        self.__all().sample(shows)
    }
}

impl<K> Handle<K> {
    /// Excludes a stored cell from the contexts of all steps that have not begun; see
    /// [`LiveFlow::exclude`](super::LiveFlow::exclude).
    ///
    /// # Errors
    ///
    /// [`Error::Missing`](crate::Error::Missing) if the cell is not stored, [`Error::Store`](crate::Error::Store) if the
    /// exclusion could not be stored.
    pub async fn exclude(&self, step: usize) -> Result<()> {
        self.flow().exclude(self.latest.column, step, true).await
    }

    /// Shows an excluded cell again in the contexts of all steps that have not begun.
    ///
    /// # Errors
    ///
    /// The errors of [`exclude`](Self::exclude).
    pub async fn include(&self, step: usize) -> Result<()> {
        self.flow().exclude(self.latest.column, step, false).await
    }
}

impl Handle<kind::Source> {
    /// Stores the next value of the source, and returns the step.
    ///
    /// Nothing is computed until the flow runs. A step begins when all sources have a value, so one source may be ahead
    /// of the others.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) if the value could not be stored.
    pub fn push(&self, value: impl IntoValue) -> BoxFuture<'_, Result<usize>> {
        self.flow().push(self.latest.column, value.into_value()).boxed()
    }

    /// Stores the next values of the source, and returns their number; see [`Flow::push_all`](super::Flow::push_all).
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) for the first value that could not be stored.
    pub fn push_all<'s, V: IntoIterator<Item: IntoValue, IntoIter: Send + 's>>(
        &'s self,
        values: V,
    ) -> BoxFuture<'s, Result<usize>> {
        self.push_stream(stream::iter(values))
    }

    /// Stores the next values of the source as they come, and returns their number at the end of the stream; see
    /// [`Flow::push_stream`](super::Flow::push_stream).
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) for the first value that could not be stored.
    pub fn push_stream<'s>(
        &'s self,
        values: impl Stream<Item: IntoValue> + Send + 's,
    ) -> BoxFuture<'s, Result<usize>> {
        self.flow().push_all(self.latest.column, values.map(IntoValue::into_value)).boxed()
    }

    /// The same column, with the type of the values.
    #[doc(hidden)]
    #[must_use]
    pub fn __of<C, T: kind::SourceType>(self, _: fn(&C) -> &Source<T>) -> Source<T> {
        self.with_kind()
    }
}

impl Handle<kind::Source<Documents>> {
    /// Stores the next update of the documents, and returns the step. An update without changes is a step in which no
    /// document changed.
    ///
    /// ```
    /// use columnar::documents::{Kind, Update};
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// let reader = flow! {
    ///     source files: Documents;
    ///     source user;
    ///     column answer(files, user, self) = script(["It is empty.", "Now it is gone."]);
    /// };
    /// reader.files.push(Update::new().file("notes.md", "")).await?;
    /// reader.user.push("Read my notes.").await?;
    /// reader.files.push(Update::new().remove(Kind::File, "notes.md")).await?;
    /// reader.user.push("And now?").await?;
    /// reader.run().await?;
    ///
    /// let messages = reader.answer.messages(1)?.to_json();
    /// assert!(messages.contains("# Files\\n\\nnotes.md") && messages.contains("# Removed\\n\\nfile notes.md"));
    ///
    /// let error = reader.files.push(Update::new().remove(Kind::File, "notes.md")).await.expect_err("it is gone");
    /// assert!(error.to_string().starts_with("the update of `files` at step 2 was not stored: "));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Error::Update`](crate::Error::Update) with all faults of the update: then nothing is stored.
    /// - [`Error::Store`](crate::Error::Store) if the update could not be stored, [`Error::Load`](crate::Error::Load) if the
    ///   earlier updates cannot be read.
    pub async fn push(&self, update: Update) -> Result<usize> {
        self.flow().push_update(self.latest.column, &update).await
    }

    /// The documents after all updates, also of steps that have not run. From these documents a program that opens a flow
    /// again finds the next update.
    ///
    /// ```
    /// use columnar::documents::Update;
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let reader = flow! {
    ///     source files: Documents;
    ///     source user;
    ///     column answer(files, user, self) = script(["It is empty."]);
    /// };
    /// reader.files.push(Update::new().file("notes.md", "").file("plan.md", "Rest.")).await?;
    /// assert_eq!(reader.files.documents().await?.len(), 2);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Load`](crate::Error::Load) if the updates cannot be read.
    pub async fn documents(&self) -> Result<Documents> {
        self.flow().documents(self.latest.column).await
    }
}

impl<K: kind::HoldsDocuments> Handle<K> {
    /// A view of the documents in tiers: those that have not changed for long come first, so that the next request repeats
    /// these. Then [`target`](TieredView::target) sets the tokens of a tier.
    ///
    /// A column with such a view also reads all of `self`, and text. Without `tiered`, each update of the documents is
    /// shown in the turn of the update, as a value of text is.
    pub const fn tiered(&self) -> TieredView {
        self.__in_tiers()
    }

    /// A view of the documents as a log of changes: a changed document stands in the turn of its step, and the text before
    /// stays until carrying it has cost as much as writing the valid texts anew. Then [`edits`](CompactedDocuments::edits) shows
    /// diffs, and [`at_most`](CompactedDocuments::at_most) bounds the request.
    ///
    /// A column with such a view also reads text. The [guide](crate::guide::documents) compares the layouts.
    pub const fn compacted(&self) -> CompactedDocuments {
        self.__in_log()
    }
}

impl<T> Handle<kind::Derived<T>> {
    /// Continues the conversation of the column: its system text, its messages as they were sent, and its reply. The
    /// instruction of the reader follows as a message of the user; see [`Column::thread`](crate::Column::thread).
    pub const fn thread(&self) -> View {
        self.__all().__thread()
    }
}

impl Handle<kind::Derived> {
    /// The same column, with the type of the values.
    #[doc(hidden)]
    #[must_use]
    pub fn __typed<T>(self) -> Derived<T> {
        self.with_kind()
    }
}

impl<T> Handle<kind::Derived<T>> {
    /// The messages array of the cell at `step`: the context that the compute step received, or will receive.
    ///
    /// # Errors
    ///
    /// - [`Error::Missing`](crate::Error::Missing) if a source has no value for the step, or an input of the cell is
    ///   not stored yet.
    /// - [`Error::Skipped`](crate::Error::Skipped) if all inputs of the cell are empty.
    /// - [`Error::Budget`](crate::Error::Budget) if the messages exceed the budget,
    ///   [`Error::BudgetTooSmall`](crate::Error::BudgetTooSmall) if the budget holds no message.
    /// - [`Error::NotLoaded`](crate::Error::NotLoaded) if a value in these or the previous messages of the column is
    ///   not [in memory](super::LiveFlow::load).
    pub fn messages(&self, step: usize) -> Result<Messages> {
        self.flow().messages(self.latest.column, step)
    }

    /// The whole system text of the request of the cell at `step`; see [`Messages::system`]. A column that calls no model
    /// has no instruction of its own.
    ///
    /// # Errors
    ///
    /// The errors of [`messages`](Self::messages).
    pub fn system(&self, step: usize) -> Result<String> {
        self.flow().system(self.latest.column, step)
    }

    /// The prefix that these messages share with the next request of the column, and the view that ends the
    /// prefix. A provider's cache can serve this prefix.
    ///
    /// # Errors
    ///
    /// The errors of [`messages`](Self::messages).
    pub fn explain_cache(&self, step: usize) -> Result<StablePrefix> {
        self.flow().explain_cache(self.latest.column, step)
    }

    /// The positions of the cache marks in these messages, if the next request of the column follows at this pace.
    ///
    /// # Errors
    ///
    /// The errors of [`messages`](Self::messages).
    pub fn cache_plan(&self, step: usize, policy: &CachePolicy, pace: Pace) -> Result<CachePlan> {
        let messages = self.messages(step)?;
        Ok(CachePlan::of(&messages, messages.system_tokens(), policy, pace))
    }
}

impl<K> Clone for Handle<K> {
    // Not derived: that would require `K: Clone`, and so `Clone` of the type of a typed column's values.
    fn clone(&self) -> Self {
        Self {
            latest: self.latest,
            prev: self.prev,
            name: self.name,
            flow: self.flow.clone(),
            kind: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Handle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.name()).field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Bind<'_> {
    /// The derived columns that `C` itself declares, in order of declaration.
    #[doc(hidden)]
    #[must_use]
    pub fn __derived<C: Columns, const COUNT: usize>(&self) -> [Derived; COUNT] {
        let graph = C::GRAPH;
        let mut columns = graph.derived();
        array::from_fn(|_| match columns.next() {
            Some((column, name)) => Handle::__new(column, name).__bind(self),
            None => unreachable!("the struct of the columns has no field that is no column of its graph"),
        })
    }
}

impl Step<'_> {
    /// The step of a column whose values are JSON of the type of the field.
    #[doc(hidden)]
    #[must_use]
    pub fn __typed<C, T: ColumnType>(self, _: fn(&C) -> &Derived<T>) -> Self {
        self.typed::<T>()
    }
}
