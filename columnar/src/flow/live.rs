//! A flow that lives: what can be done with any.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::cache::{CachePlan, CachePolicy, Pace, StablePrefix};
use crate::context::Messages;
use crate::context::budget::Budget;
use crate::declare::{Name, Outline};
use crate::history::Value;
use crate::model::Choice;
#[cfg(doc)]
use crate::run::Error;
use crate::run::{ColumnId, ComputeSteps, Forecast, Result, Run, Shared};
use crate::schedule::Progress;
use crate::tokens::Counter;
use crate::usage::{Bill, Receipt, SpendLimit};

/// A live flow: a [`Typed`](super::Typed) one, declared with `flow!`, or a [`Flow`](super::Flow) whose
/// shape was made at run time.
///
/// `C` holds the columns, `I` names the derived ones in events, and `'a` is what the compute steps
/// borrow.
pub struct LiveFlow<'a, C, I = Name> {
    pub(super) columns: C,
    pub(crate) shared: Arc<Shared>,
    pub(crate) steps: ComputeSteps<'a>,
    id: PhantomData<fn() -> I>,
}

impl<'a, C, I> LiveFlow<'a, C, I> {
    pub(super) fn new(columns: C, shared: Arc<Shared>, steps: ComputeSteps<'a>) -> Self {
        Self { columns, shared, steps, id: PhantomData }
    }

    /// Sets how many cells of this flow are computed at once, at least one; the default is 32. For a limit on
    /// one column see [`Policy::limit`](crate::compute::Policy::limit).
    pub fn set_concurrency(&self, cells: usize) {
        self.shared.set_concurrency(cells);
    }

    /// Sets the [`Budget`] of the columns that have none of their own. [`messages`](Self::messages) of earlier
    /// steps follow it as well: they are the messages that would be sent today.
    pub fn set_budget(&self, budget: impl Into<Budget>) {
        self.shared.set_budget(budget.into());
    }

    /// Sets the usual time from one step to the next. It decides for how long a prompt asks the provider to
    /// cache the part of a request that the next one repeats. By default steps follow each other at once.
    pub fn set_pace(&self, pace: Pace) {
        self.shared.set_pace(pace);
    }

    /// Sets the model of all prompts of this flow that have none of their own: a [`Model`](crate::model::Model),
    /// or the name of one, as [`by_name`](crate::model::by_name) takes it. An unknown name and a missing key are
    /// an [`Error::Model`] of the next run, before it computes anything.
    ///
    /// ```
    /// use columnar::model::Offline;
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column topics(user.latest) = prompt("List the topics.");
    ///     column assistant(user, self) = prompt("Answer.").model("anthropic/claude-sonnet-4-5");
    /// };
    /// chat.set_model(Offline::new());                 // for `topics`, not for `assistant`
    /// chat.set_model("openai/gpt-4o-mini");           // the same by name
    /// # Ok(()) }
    /// ```
    pub fn set_model(&self, model: impl Into<Choice>) {
        self.shared.set_model(model.into());
    }

    /// Limits what all calls of this flow together may cost from now on; see [`SpendLimit`].
    pub fn set_spend_limit(&self, limit: impl Into<SpendLimit>) {
        self.shared.set_spend_limit(limit.into());
    }

    /// Sets the counter of tokens, also for the values that are stored already; the default is
    /// [`Chars`](crate::tokens::Chars).
    pub fn set_counter(&self, counter: impl Counter + 'static) {
        self.shared.set_counter(Arc::new(counter));
    }

    /// Loads the values of the steps from this one on that are still in the store alone.
    ///
    /// Opening a flow loads what the views of its columns reach, and the last steps (see
    /// [`OpenOptions::recent`](crate::reopen::OpenOptions::recent)); what lies before costs neither time nor memory. To
    /// look at that, load it: until then [`get`](Self::get) finds nothing there, and
    /// [`messages`](Self::messages) says so.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::reopen::OpenOptions;
    /// use columnar::store::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let store = MemoryStore::new();
    /// let topics = column("topics", source("user").latest(), prompt("List the topics."));
    /// let f = Flow::open(store.clone(), [&topics]).await?;
    /// for text in ["one", "two", "three"] {
    ///     f.push("user", text).await?;
    /// }
    /// f.run().await?;
    /// drop(f);
    ///
    /// let f = Flow::open(OpenOptions::new(store).recent(1), [&topics]).await?;
    /// assert_eq!((f.steps(), f.get("user", 0)), (3, None));
    /// f.load(0).await?;
    /// assert_eq!(f.get("user", 0).as_deref(), Some("one"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Load`] when the store cannot be read.
    pub async fn load(&self, step: usize) -> Result<()> {
        self.shared.load(step).await
    }

    /// The value of a column at a step; `None` if it is not stored, or not [in memory](Self::load). The columns of a
    /// typed flow are fields with the same method.
    ///
    /// # Panics
    ///
    /// If the flow has no such column. For a name that the program does not know, use [`try_get`](Self::try_get).
    #[track_caller]
    pub fn get(&self, column: &str, step: usize) -> Option<Value> {
        known(self.try_get(column, step))
    }

    /// The value of a column at a step; `None` if it is not stored, or not [in memory](Self::load).
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let f = flow([column("topics", source("user").latest(), prompt("List the topics."))])?;
    /// f.push("user", "Hello").await?;
    /// assert_eq!(f.try_get("user", 0)?.as_deref(), Some("Hello"));
    /// assert_eq!(f.try_get("topics", 0)?, None);
    /// assert!(matches!(f.try_get("topic", 0), Err(Error::UnknownColumn { suggestion: Some(name), .. }) if name == "topics"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`].
    pub fn try_get(&self, column: &str, step: usize) -> Result<Option<Value>> {
        Ok(self.shared.get(self.shared.find(column)?, step))
    }

    /// The receipt of a cell: the tokens and the price of its calls. `None` if it called no model, or is not
    /// [in memory](Self::load).
    ///
    /// # Panics
    ///
    /// If the flow has no such column. For a name that the program does not know, use
    /// [`try_receipt`](Self::try_receipt).
    #[track_caller]
    pub fn receipt(&self, column: &str, step: usize) -> Option<Arc<Receipt>> {
        known(self.try_receipt(column, step))
    }

    /// The receipt of a cell: the tokens and the price of its calls. `None` if it called no model, or is not
    /// [in memory](Self::load).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`].
    pub fn try_receipt(&self, column: &str, step: usize) -> Result<Option<Arc<Receipt>>> {
        Ok(self.shared.receipt(self.shared.find(column)?, step))
    }

    /// What all cells took that are [in memory](Self::load), by column and step.
    pub fn bill(&self) -> Bill {
        self.shared.bill()
    }

    /// The messages array that the compute step of a column saw at a step, or will see.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::NotDerived`] for a source; [`Error::Missing`] when the step
    /// has not begun, or something that the column reads is not stored yet; [`Error::Skipped`] when all it
    /// reads is empty there; [`Error::Budget`] when they do not go into their budget; [`Error::NotLoaded`] when
    /// something they show has to be [loaded](Self::load).
    pub fn messages(&self, column: &str, step: usize) -> Result<Messages> {
        self.shared.messages_of(column, step)
    }

    /// How much of the messages of a column at a step will be the beginning of its next request, too, and
    /// which view ends that: what a provider's cache can serve.
    ///
    /// # Errors
    ///
    /// Those of [`messages`](Self::messages).
    pub fn explain_cache(&self, column: &str, step: usize) -> Result<StablePrefix> {
        Ok(StablePrefix::of(&self.messages(column, step)?))
    }

    /// Where the messages of a column at a step are to be marked for the cache of a provider, when its next
    /// request follows at this pace.
    ///
    /// # Errors
    ///
    /// Those of [`messages`](Self::messages).
    pub fn cache_plan(
        &self,
        column: &str,
        step: usize,
        provider: &CachePolicy,
        pace: Pace,
    ) -> Result<CachePlan> {
        self.shared.cache_plan(self.shared.find(column)?, step, provider, pace)
    }

    /// The number of steps in which every column has its value.
    pub fn steps(&self) -> usize {
        self.shared.steps()
    }

    /// The columns whose values depend on those of this column, in topological order.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`].
    pub fn dependents(&self, column: &str) -> Result<Vec<Name>> {
        self.shared.dependents(column)
    }

    /// What the declaration says of the columns that there are now, with a drawing for Mermaid.
    pub fn outline(&self) -> Outline {
        Outline::of(&self.shared.plan())
    }

    /// What the next run will do and about what it will cost. Nothing is computed or stored.
    pub fn forecast(&self) -> Forecast {
        self.shared.forecast()
    }

    /// How far the computing is, at this moment.
    pub fn progress(&self) -> Progress {
        self.shared.progress()
    }

    /// The sources that the next step waits for because another source is ahead of them.
    pub fn missing(&self) -> Vec<Name> {
        self.shared.missing()
    }
}

impl<'a, C, I: ColumnId> LiveFlow<'a, C, I> {
    /// Computes everything that is missing, and tells what happens as it happens.
    ///
    /// The run is a [`Stream`](futures::Stream) of [`Event`](crate::Event)s and a future:
    /// `flow.run().await?` computes and discards the events. Nothing happens until it is polled,
    /// and dropping it cancels what is not stored. With nothing new it ends at once.
    ///
    /// A column that fails ends the run with its error, after the columns that were being computed
    /// beside it are stored. The next run computes what is missing. Of two runs at a time the
    /// second ends with [`Error::Running`].
    pub fn run(&self) -> Run<'a, I> {
        Run::new(Arc::clone(&self.shared), self.steps.clone())
    }
}

/// The result for a column that the program names.
#[track_caller]
fn known<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        #[expect(clippy::panic, reason = "a misspelt column is a bug of the program, and no value to handle")]
        Err(error) => panic!("{error}"),
    }
}

impl<C, I> fmt::Debug for LiveFlow<'_, C, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shared, f)
    }
}
