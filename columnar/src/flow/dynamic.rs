//! Live flows that are declared at run time.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, Stream, StreamExt};

use super::declarations::Declarations;
use super::live::LiveFlow;
use crate::declare::{Name, Plan, SchemaError, SchemaErrors};
use crate::flow::Column;
use crate::history::IntoValue;
use crate::run::reopen::IntoOpenOptions;
use crate::run::{AdoptedColumn, ComputeSteps, Error, Result, SharedFlow};
use crate::store::Store;

/// A live flow that was declared at run time. The columns are identified by name.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let user = source("user");
/// let words = column("words", user.latest(), |cx: Context| async move {
///     cx.input("user").map_or(0, |text| text.split_whitespace().count()).to_string()
/// });
///
/// let f = flow([words])?;
/// f.push("user", "one two three").await?;
/// f.run().await?;
/// assert_eq!(f.get("words", 0).as_deref(), Some("3"));
/// # Ok(()) }
/// ```
pub type Flow = LiveFlow<'static, Dynamic>;

/// The columns of a [`Flow`].
#[derive(Clone, Debug)]
pub struct Dynamic(Arc<Mutex<Declarations>>);

/// The same flow: both have all values and columns. For an independent one see [`fork`](Flow::fork).
impl Clone for Flow {
    fn clone(&self) -> Self {
        Self::of_parts(self.columns.clone(), Arc::clone(&self.shared), self.steps.clone())
    }
}

impl Dynamic {
    pub(super) fn new(declarations: Declarations) -> Self {
        Self(Arc::new(Mutex::new(declarations)))
    }

    fn lock(&self) -> MutexGuard<'_, Declarations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a flow of these columns and of all columns on which these depend.
///
/// # Errors
///
/// [`Error::Schema`] with all errors in the declarations.
pub fn flow<L: Borrow<Column>>(leaves: impl IntoIterator<Item = L>) -> Result<Flow> {
    Flow::over(None, leaves)
}

impl LiveFlow<'static, Dynamic> {
    /// Makes a flow as [`flow`](flow()) does, and continues with the values in a store. Pass the store, or
    /// [`OpenOptions`](crate::reopen::OpenOptions) with the store.
    ///
    /// # Errors
    ///
    /// - [`Error::Schema`] with all errors in the declarations.
    /// - [`Error::Open`] if the store cannot be opened, for example because another flow has the store open.
    /// - [`Error::Drift`] if columns with stored values have changed.
    /// - [`Error::Load`] if the store cannot be read, or the values contradict the order of the flow.
    /// - [`Error::UnknownColumn`] if an option names a column that the flow does not have.
    pub async fn open<L: Borrow<Column>>(
        options: impl IntoOpenOptions,
        leaves: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        let options = options.into_open_options();
        let flow = Self::over(Some(Arc::clone(&options.store)), leaves)?;
        flow.shared.restore(&options).await?;
        Ok(flow)
    }

    fn over<L: Borrow<Column>>(
        store: Option<Arc<dyn Store>>,
        leaves: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        let leaves = leaves.into_iter().map(|leaf| leaf.borrow().clone()).collect();
        let declarations = Declarations::default().with_all(leaves)?;
        let steps = ComputeSteps::new(declarations.steps());
        let shared = SharedFlow::new(plan(&declarations)?, store, &steps);
        Ok(Self::of(declarations, shared, steps))
    }

    fn of(declarations: Declarations, shared: SharedFlow, steps: ComputeSteps<'static>) -> Self {
        Self::of_parts(Dynamic::new(declarations), Arc::new(shared), steps)
    }

    /// Stores the next value of a source, and returns the step.
    ///
    /// Nothing is computed until the flow runs. A step begins when all sources have a value, so one source may be ahead
    /// of the others.
    ///
    /// The value of a source of documents is the [text](crate::documents::Update::to_text) of an update.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::NotASource`]; [`Error::Update`] if the text is no update, or one that cannot be
    /// applied to the documents; [`Error::Store`] if the value could not be stored.
    pub fn push(&self, source: impl AsRef<str>, value: impl IntoValue) -> BoxFuture<'_, Result<usize>> {
        let source = source.as_ref().to_owned();
        let value = value.into_value();
        async move { self.shared.push(source.as_str(), value).await }.boxed()
    }

    /// Stores the next values of a source, and returns their number.
    ///
    /// Up to 512 values, or 16 MiB, are one write, for which a database waits once. After an error or a crash, the first
    /// values are stored, without a gap; the number of values in the source shows where to continue.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let f = flow([column("topics", source("review").latest(), prompt("List the topics."))])?;
    /// let reviews = "Too slow.\nVery good indeed.\n";
    /// assert_eq!(f.push_all("review", reviews.lines()).await?, 2);
    /// assert_eq!(f.get("review", 1).as_deref(), Some("Very good indeed."));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`push`](Self::push), for the first value that could not be stored.
    pub fn push_all<'s, V: IntoIterator<Item: IntoValue, IntoIter: Send + 's>>(
        &'s self,
        source: impl AsRef<str>,
        values: V,
    ) -> BoxFuture<'s, Result<usize>> {
        self.push_stream(source, stream::iter(values))
    }

    /// Stores the next values of a source as they come, and returns their number at the end of the stream. Values that are
    /// ready at once are stored as by [`push_all`](Self::push_all).
    ///
    /// # Errors
    ///
    /// The errors of [`push`](Self::push), for the first value that could not be stored.
    pub fn push_stream<'s>(
        &'s self,
        source: impl AsRef<str>,
        values: impl Stream<Item: IntoValue> + Send + 's,
    ) -> BoxFuture<'s, Result<usize>> {
        let source = source.as_ref().to_owned();
        let values = values.map(IntoValue::into_value);
        async move { self.shared.push_all(source.as_str(), values).await }.boxed()
    }

    /// The names of the columns in topological order.
    pub fn order(&self) -> Vec<Name> {
        self.shared.plan().schema().columns().iter().map(|column| column.name.clone()).collect()
    }

    /// Adds a column, with the missing columns on which the new one depends. The next run, or the one in progress, computes
    /// the column from step 0. Other columns do not change.
    ///
    /// # Errors
    ///
    /// After an error the flow is unchanged.
    ///
    /// - [`Error::Schema`] if the declaration is invalid, or adds a source to a flow that has values.
    /// - [`Error::Drift`] if the store has values of another column of this name, or such a column was removed.
    /// - [`Error::Load`] if the store cannot be read.
    pub async fn add_column(&self, column: impl Borrow<Column>) -> Result<()> {
        // Held to the end: the first push in between would make an added source a late one.
        let writing = self.shared.writing().await;
        let known = self.columns.lock().clone();
        let first = known.columns.len();
        let declarations = known.clone().with_all(vec![column.borrow().clone()])?;
        let plan = self.shared.plan().extended(declarations.drafts(first))?;
        self.refuse_late_sources(&known, &declarations)?;
        let extension = self.shared.load_added(Arc::new(plan), declarations.steps()).await?;
        // Locked only now, because no lock is held across an `await`. The list and the plan change together.
        let mut declared = self.columns.lock();
        self.shared.extend(&extension, &self.steps)?;
        let earlier = mem::replace(&mut *declared, declarations);
        drop(declared);
        drop(earlier);
        drop(writing);
        // Without a lock, because those who are woken may use the flow.
        self.shared.wake();
        Ok(())
    }

    /// Removes a column that no other column reads.
    ///
    /// The values are kept: the same column has these values when added later, and another one under this name is
    /// [`Error::Drift`]. A source cannot be added to a flow that
    /// has values; the source returns when the store is opened again. To change the declaration of a column, use
    /// [`replace_column`](Self::replace_column).
    ///
    /// # Errors
    ///
    /// - [`Error::UnknownColumn`].
    /// - [`Error::HasDependents`] if other columns depend on this one; see
    ///   [`remove_with_dependents`](Self::remove_with_dependents).
    /// - [`Error::Running`] during a run.
    /// - [`Error::Schema`] for the last source.
    pub async fn remove_column(&self, column: impl AsRef<str>) -> Result<()> {
        self.remove(column.as_ref(), false).await.map(drop)
    }

    /// Removes a column and all dependent columns, as [`remove_column`](Self::remove_column) does, and returns the names.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let user = source("user");
    /// let topics = column("topics", user.latest(), prompt("List the topics."));
    /// let mood = column("mood", user.latest(), prompt("Name the mood."));
    /// let report = column("report", (&topics, &mood), prompt("Report."));
    /// let f = flow([report])?;
    ///
    /// assert_eq!(f.remove_with_dependents("topics").await?, ["topics", "report"]);
    /// assert_eq!(f.order(), ["user", "mood"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::Running`] during a run; [`Error::Schema`] if no source would be left.
    pub async fn remove_with_dependents(&self, column: impl AsRef<str>) -> Result<Vec<Name>> {
        self.remove(column.as_ref(), true).await
    }

    /// Removes a column and, if that is allowed, all dependent columns. Returns the names.
    async fn remove(&self, column: &str, with_dependents: bool) -> Result<Vec<Name>> {
        let writing = self.shared.writing().await;
        let at = self.shared.find(column)?;
        let before = self.shared.plan();
        let mut removed = before.dependents(at);
        if !removed.is_empty() && !with_dependents {
            let column = before.schema().name(at).clone();
            return Err(Error::HasDependents { column, dependents: before.names(&removed) });
        }
        removed.insert(0, at);
        let mut declared = self.columns.lock();
        let left = declared.without(&removed);
        self.shared.remove_columns(plan(&left)?, &left.origins(&declared), &self.steps, left.steps())?;
        let earlier = mem::replace(&mut *declared, left);
        drop(declared);
        // The earlier declarations may be the last to have the compute steps of the removed columns.
        drop(earlier);
        drop(writing);
        self.shared.wake();
        Ok(before.names(&removed))
    }

    /// Another flow, in which this column replaces the one of the same name. The new flow recomputes that column and
    /// all dependent columns, and shares all other values with this flow. This flow does not change, because
    /// stored values are never edited.
    ///
    /// New values of the new flow are kept in memory, also if this flow has a store.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let user = source("user");
    /// let topics = column("topics", user.latest(), prompt("List the topics."));
    /// let mood = column("mood", user.latest(), prompt("Name the mood."));
    /// let f = flow([&topics, &mood])?;
    /// f.push("user", "What a day!").await?;
    /// f.run().await?;
    ///
    /// let other = f.replace_column(column("mood", user.latest(), prompt("Is the mood good?")))?;
    /// assert_eq!(other.forecast().cells, 1);
    /// other.run().await?;
    /// assert_eq!(other.get("topics", 0), f.get("topics", 0));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`] if the flow has no column of that name; [`Error::Schema`] if the declaration is
    /// invalid, is part of a cycle, or adds a source to a flow that has values.
    pub fn replace_column(&self, column: impl Borrow<Column>) -> Result<Self> {
        self.replacing(column.borrow(), AdoptedColumn::without_values)
    }

    /// Another flow, in which this column replaces the one of the same name. `adopted` returns the values of the column of a
    /// number.
    pub(super) fn replacing(
        &self,
        column: &Column,
        adopted: impl FnOnce(usize) -> AdoptedColumn,
    ) -> Result<Self> {
        // Locked until the end, so no column is added or removed meanwhile.
        let known = self.columns.lock();
        let at = self.shared.find(column.name())?;
        let declarations = known.replacing(at, column.clone())?;
        let plan = plan(&declarations)?;
        self.refuse_late_sources(&known, &declarations)?;
        let mut origins = declarations.origins(&known);
        let replacement = plan.schema().find(column.name());
        if let Some(column) = replacement {
            recompute(&plan, column, &mut origins);
        }
        let steps = ComputeSteps::new(declarations.steps());
        let adopted = replacement.map(adopted);
        let shared = self.shared.derive(plan, &origins, &steps, adopted);
        Ok(Self::of(declarations, shared, steps))
    }

    /// The declaration of a column.
    pub(super) fn declaration(&self, column: &str) -> Result<Column> {
        let at = self.shared.find(column)?;
        let declarations = self.columns.lock();
        let declared = declarations.columns.get(at).filter(|declared| declared.name() == column);
        // Removed since.
        declared.cloned().ok_or_else(|| Error::unknown_column(column, self.order()))
    }

    /// Another flow with the steps of this one before `step`. The two flows are independent from then on.
    ///
    /// The values are shared and not copied, so the cost of a fork does not depend on the number of steps. Cells before
    /// `step` that are not stored yet are computed in both flows. New values of the fork are kept in memory, also if
    /// this flow has a store; [`fork_into`](Self::fork_into) makes a durable fork.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if a source has no value for the step before `step`.
    pub fn fork(&self, step: usize) -> Result<Self> {
        // Locked until the state is copied, so the fork has as many declarations as columns.
        let declarations = self.columns.lock();
        Ok(Self::of(declarations.clone(), self.shared.fork(step)?, self.steps.fork()))
    }

    /// A [`fork`](Self::fork) with a separate store, which must be empty. The stored cells before `step` are copied into
    /// that store. After an interruption nothing can be opened there until the same fork is made again, which goes on
    /// with the copy, or the store is deleted.
    ///
    /// # Errors
    ///
    /// - [`Error::Missing`] if a source has no value for the step before `step`.
    /// - [`Error::Open`] if the store cannot be opened, is not empty, or fails to store the values.
    /// - [`Error::Load`] if the values cannot be read from the store of this flow.
    pub async fn fork_into(&self, step: usize, store: impl Store) -> Result<Self> {
        let _writing = self.shared.writing().await;
        // A copy, since a lock cannot be held across the `await`. `writing` holds off changes of the columns.
        let declarations = self.columns.lock().clone();
        let shared = self.shared.fork_into(step, Arc::new(store)).await?;
        Ok(Self::of(declarations, shared, self.steps.fork()))
    }

    /// Refuses a new source in a flow whose sources have values: the existing steps have no value for that source.
    fn refuse_late_sources(&self, known: &Declarations, next: &Declarations) -> Result<()> {
        let plan = self.shared.plan();
        let has_begun = plan.schema().sources().any(|source| self.shared.lock().scheduler.len(source) > 0);
        // The sources alone, because these are few, and a flow may grow by thousands of columns.
        let known: BTreeSet<usize> = known.sources().map(Column::id).collect();
        match next.sources().find(|column| !known.contains(&column.id())) {
            Some(late) if has_begun => {
                Err(SchemaErrors::one(SchemaError::LateSource { name: late.name().to_owned() }).into())
            }
            _ => Ok(()),
        }
    }
}

/// A column has no origin, and the dependents have none, so these are computed anew.
pub(super) fn recompute(plan: &Plan, column: usize, origins: &mut [Option<usize>]) {
    for recomputed in plan.dependents(column).into_iter().chain([column]) {
        if let Some(origin) = origins.get_mut(recomputed) {
            *origin = None;
        }
    }
}

/// The plan of declarations, which are in topological order.
pub(super) fn plan(declarations: &Declarations) -> Result<Arc<Plan>> {
    let schema = declarations.schema()?;
    if schema.sources().next().is_none() {
        return Err(SchemaErrors::one(SchemaError::NoSource).into());
    }
    let order: Vec<usize> = (0..schema.columns().len()).collect();
    Ok(Arc::new(Plan::new(schema, &order)))
}
