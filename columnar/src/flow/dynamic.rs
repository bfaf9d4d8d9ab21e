//! Flows whose shape is made at run time.

use std::borrow::Borrow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::declarations::Declarations;
use super::live::LiveFlow;
use crate::declare::{Name, Plan, SchemaError, SchemaErrors};
use crate::flow::Column;
use crate::history::Value;
use crate::reopen::IntoOpenOptions;
use crate::run::{ComputeSteps, Error, Result, Shared};
use crate::store::Store;

/// A live flow whose shape was made at run time; its columns go by their names.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let user = source("user");
/// let words = column("words", user.latest(), |cx: Context| async move {
///     cx.input("user").map_or(0, |said| said.split_whitespace().count()).to_string()
/// });
///
/// let f = flow([words])?;
/// f.push("user", "one two three").await?;
/// f.run().await?;
/// assert_eq!(f.get("words", 0).as_deref(), Some("3"));
/// # Ok(()) }
/// ```
pub type Flow = LiveFlow<'static, Dynamic>;

/// The columns of a [`Flow`]: their declarations, by index.
#[derive(Debug)]
pub struct Dynamic(Mutex<Declarations>);

impl Dynamic {
    fn declarations(&self) -> Declarations {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Declarations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a flow of the columns that you care about; what they read comes along, back to the sources.
///
/// # Errors
///
/// [`Error::Schema`] with everything that is wrong with the declarations.
pub fn flow<L: Borrow<Column>>(leaves: impl IntoIterator<Item = L>) -> Result<Flow> {
    Flow::over(None, leaves)
}

impl LiveFlow<'static, Dynamic> {
    /// Makes a flow as [`flow`](flow()) does, on top of a store: it goes on with what the store holds. What is
    /// to be said about that, an [`OpenOptions`](crate::reopen::OpenOptions) says.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] with everything that is wrong with the declarations; [`Error::Open`] when the store
    /// cannot be opened, as while another flow has it open; [`Error::Drift`] when columns have changed of which
    /// values are stored; [`Error::Load`] when the store cannot be read or holds what cannot be;
    /// [`Error::UnknownColumn`] when an option names a column that the flow does not have.
    pub async fn open<L: Borrow<Column>>(
        options: impl IntoOpenOptions,
        leaves: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        let options = options.into_open_options();
        let flow = Self::over(Some(Arc::clone(options.store())), leaves)?;
        flow.shared.restore(&options).await?;
        Ok(flow)
    }

    fn over<L: Borrow<Column>>(
        store: Option<Arc<dyn Store>>,
        leaves: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        let leaves = leaves.into_iter().map(|leaf| leaf.borrow().clone()).collect();
        let declarations = Declarations::new(leaves)?;
        let steps = ComputeSteps::new(declarations.steps());
        let shared = Shared::new(plan(&declarations)?, store, &steps);
        Ok(Self::of(declarations, shared, steps))
    }

    fn of(declarations: Declarations, shared: Shared, steps: ComputeSteps<'static>) -> Self {
        Self::new(Dynamic(Mutex::new(declarations)), Arc::new(shared), steps)
    }

    /// Stores the next value of a source and returns the step that it belongs to.
    ///
    /// Nothing is computed until the flow runs. A step begins when every source has its value for
    /// it; values pushed ahead wait their turn.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`], [`Error::NotASource`], or [`Error::Store`] when the value could not
    /// be stored.
    pub async fn push(&self, source: &str, value: impl Into<Value>) -> Result<usize> {
        self.shared.push_by_name(source, value.into()).await
    }

    /// The names of the columns in topological order.
    pub fn order(&self) -> Vec<Name> {
        self.shared.plan().schema().columns().iter().map(|column| column.name.clone()).collect()
    }

    /// Adds a column, and what it reads that is not here yet. The next run, or the one that goes on,
    /// computes it from step 0 as if it had always been there; other columns are untouched.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] when the declaration breaks a rule, or brings a source to a flow that has
    /// begun; [`Error::Drift`] when the store holds values of a column of this name that said something else;
    /// [`Error::Load`] when the store cannot be read. The flow is then as it was.
    pub async fn add_column(&self, column: impl Borrow<Column>) -> Result<()> {
        let _writing = self.shared.writing().await;
        let known = self.columns.declarations();
        let first = known.columns().len();
        let declarations = known.with(column.borrow().clone())?;
        let plan = self.shared.plan().extended(declarations.drafts(first))?;
        self.refuse_late_sources(&known, &declarations)?;
        let extension = self.shared.load_added(Arc::new(plan), declarations.steps()).await?;
        let mut declared = self.columns.lock();
        self.shared.extend(extension, &self.steps)?;
        *declared = declarations;
        Ok(())
    }

    /// Removes a column that no other one reads.
    ///
    /// What it holds is not shown any more, and not lost either: a column of the same name that is
    /// added later takes it up, as it does what the store holds. For a column that says something else
    /// from now on, see [`replace_column`](Self::replace_column).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::HasDependents`] names the columns that need it, see
    /// [`remove_with_dependents`](Self::remove_with_dependents); [`Error::Running`] while a run goes on;
    /// [`Error::Schema`] for the last source.
    pub async fn remove_column(&self, column: &str) -> Result<()> {
        let _writing = self.shared.writing().await;
        let at = self.shared.find(column)?;
        let plan = self.shared.plan();
        let dependents = plan.dependents(at);
        if dependents.is_empty() {
            return self.remove(&[at]);
        }
        let (column, dependents) = (plan.schema().name(at).clone(), plan.names(&dependents));
        Err(Error::HasDependents { column, dependents })
    }

    /// Removes a column and all whose values depend on it, as [`remove_column`](Self::remove_column)
    /// does, and returns their names.
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
    /// [`Error::UnknownColumn`]; [`Error::Running`] while a run goes on; [`Error::Schema`] when no source
    /// would be left.
    pub async fn remove_with_dependents(&self, column: &str) -> Result<Vec<Name>> {
        let _writing = self.shared.writing().await;
        let at = self.shared.find(column)?;
        let plan = self.shared.plan();
        let mut removed = plan.dependents(at);
        removed.insert(0, at);
        self.remove(&removed)?;
        Ok(plan.names(&removed))
    }

    fn remove(&self, removed: &[usize]) -> Result<()> {
        let mut declared = self.columns.lock();
        let left = declared.without(removed);
        self.shared.remove_columns(plan(&left)?, &left.origins(&declared), &self.steps, left.steps())?;
        *declared = left;
        Ok(())
    }

    /// Another flow in which this column takes the place of the one of the same name: that column and
    /// all that depends on it are computed anew, everything else is shared with this flow and not paid
    /// for again. This flow stays as it is, for past values are never edited.
    ///
    /// What the new flow adds is kept in memory, wherever this flow keeps its values.
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
    /// [`Error::UnknownColumn`] when there is no column of that name; [`Error::Schema`] when the
    /// declaration breaks a rule, reads a column that waits for it, or brings a source to a flow that
    /// has begun.
    pub fn replace_column(&self, column: impl Borrow<Column>) -> Result<Self> {
        let column = column.borrow();
        let at = self.shared.find(column.name())?;
        let known = self.columns.declarations();
        let declarations = known.replacing(at, column.clone())?;
        let plan = plan(&declarations)?;
        self.refuse_late_sources(&known, &declarations)?;
        let mut origins = declarations.origins(&known);
        let fresh = plan.schema().find(column.name()).map(|at| plan.dependents(at)).unwrap_or_default();
        for dependent in fresh {
            if let Some(origin) = origins.get_mut(dependent) {
                *origin = None;
            }
        }
        let steps = ComputeSteps::new(declarations.steps());
        let shared = self.shared.derive(plan, &origins, &steps);
        Ok(Self::of(declarations, shared, steps))
    }

    /// Another flow with the past of this one: its steps before `step`. Both go on independently.
    ///
    /// The past is shared and not copied, so a fork costs the same after ten steps and after a
    /// million. What is not stored before `step` is computed by both. What the fork adds is kept in
    /// memory, wherever this flow keeps its values; see [`fork_into`](Self::fork_into) for a fork that lasts.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] when a source has no value for the step before.
    pub fn fork(&self, step: usize) -> Result<Self> {
        let declarations = self.columns.lock();
        Ok(Self::of(declarations.clone(), self.shared.fork(step)?, self.steps.fork()))
    }

    /// The same on top of an empty store of its own, which gets a copy of all that this flow has stored before
    /// `step`.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] when a source has no value for the step before; [`Error::Open`] when the store cannot
    /// be opened, is not empty, or does not take the values; [`Error::Load`] when those cannot be read.
    pub async fn fork_into(&self, step: usize, store: impl Store) -> Result<Self> {
        let _writing = self.shared.writing().await;
        let declarations = self.columns.declarations();
        let shared = self.shared.fork_into(step, Arc::new(store)).await?;
        Ok(Self::of(declarations, shared, self.steps.fork()))
    }

    /// A source joins only a flow that has not begun.
    fn refuse_late_sources(&self, known: &Declarations, next: &Declarations) -> Result<()> {
        let plan = self.shared.plan();
        let has_begun = plan.schema().sources().any(|source| self.shared.len(source) > 0);
        let added = next.columns().iter().zip(next.origins(known)).filter(|(_, origin)| origin.is_none());
        match added.map(|(column, _)| column).find(|column| column.views().is_none()) {
            Some(late) if has_begun => {
                Err(SchemaErrors::one(SchemaError::LateSource { name: late.name().to_owned() }).into())
            }
            _ => Ok(()),
        }
    }
}

/// The plan of declarations that stand in topological order.
fn plan(declarations: &Declarations) -> Result<Arc<Plan>> {
    let schema = declarations.schema()?;
    if schema.sources().next().is_none() {
        return Err(SchemaErrors::one(SchemaError::NoSource).into());
    }
    let order: Vec<usize> = (0..schema.columns().len()).collect();
    Ok(Arc::new(Plan::new(schema, &order)))
}
