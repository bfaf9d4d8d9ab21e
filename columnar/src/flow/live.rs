//! The methods of all live flows.

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

use crate::context::Messages;
use crate::context::budget::Budget;
use crate::declare::{Name, Outline};
use crate::history::tokens::{Counter, LimitedCounter};
use crate::model::Choice;
#[cfg(feature = "providers")]
use crate::model::Provider;
use crate::model::cache::{CacheAudit, CachePlan, CachePolicy, Pace, StablePrefix};
use crate::model::usage::{Bill, Receipt, SpendLimit};
#[cfg(feature = "providers")]
use crate::run::BatchRun;
use crate::run::reopen::StaleCells;
#[cfg(doc)]
use crate::run::{CellState, Error};
use crate::run::{ColumnId, ComputeSteps, Forecast, Result, Run, SharedFlow};
use crate::schedule::{Cell, Progress};

/// A live flow: a [`Typed`](super::Typed) one, declared with `flow!`, or a [`Flow`](super::Flow), declared at run time.
///
/// `C` is the type of the columns, and `I` identifies the derived ones in events. The compute steps may borrow values
/// for `'a`.
pub struct LiveFlow<'a, C, I = Name> {
    pub(super) columns: C,
    pub(crate) shared: Arc<SharedFlow>,
    pub(crate) steps: ComputeSteps<'a>,
    // `fn() -> I` is `Send` and `Sync` for every `I`. A flow holds no value of `I`.
    id: PhantomData<fn() -> I>,
}

impl<'a, C, I> LiveFlow<'a, C, I> {
    pub(super) fn of_parts(columns: C, shared: Arc<SharedFlow>, steps: ComputeSteps<'a>) -> Self {
        Self { columns, shared, steps, id: PhantomData }
    }

    /// Sets the number of cells that are computed at once, at least one. The default is 32. For a limit on one column
    /// see [`Policy::limit`](crate::compute::Policy::limit).
    pub fn set_concurrency(&self, cells: usize) {
        self.shared.lock().scheduler.limit(cells);
        self.shared.wake();
    }

    /// Sets the [`Budget`] of the columns that have none. The budget also applies to [`messages`](Self::messages) of
    /// earlier steps, which are the messages that would be sent now.
    pub fn set_budget(&self, budget: impl Into<Budget>) {
        let budget = budget.into();
        self.shared.change(|state| mem::replace(&mut state.budget, budget));
    }

    /// States the usual time between two steps, which decides how long a provider shall cache the prefix that a request
    /// shares with the next one. By default, each column [learns](Pace::learnt) the time from the pauses so far.
    pub fn set_pace(&self, pace: Pace) {
        Arc::make_mut(&mut self.shared.lock().defaults).pace = pace;
    }

    /// Sets the system text of the flow, which follows the instruction of each column; an empty one removes the text. The text
    /// also applies to [`system`](Self::system) and [`messages`](Self::messages) of earlier steps, and counts against budgets.
    /// Like a budget, the text is a setting of the program, and not stored.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column topics(user.latest)   = prompt("List the topics.");
    ///     column assistant(user, self) = prompt("You are a helpful assistant.");
    /// };
    /// chat.set_system("Write French.");
    /// chat.user.push("Hello!").await?;
    /// assert_eq!(chat.assistant.system(0)?, "You are a helpful assistant.\n\nWrite French.");
    /// assert_eq!(chat.system("topics", 0)?, "List the topics.\n\nWrite French.");
    /// # Ok(()) }
    /// ```
    pub fn set_system(&self, system: impl AsRef<str>) {
        let system = system.as_ref();
        let system = (!system.trim().is_empty()).then(|| system.into());
        self.shared.change(|state| mem::replace(&mut Arc::make_mut(&mut state.defaults).system, system));
    }

    /// Sets the model of the prompts that have none: a [`Model`](crate::model::Model), or a name as for
    /// [`by_name`](crate::model::by_name). An unknown name or a missing key is an [`Error::Model`] of the next run,
    /// before anything is computed.
    ///
    /// ```
    /// use columnar::model::Offline;
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column topics(user.latest)   = prompt("List the topics.");
    ///     column assistant(user, self) = prompt("Answer.").model("anthropic/claude-sonnet-5");
    /// };
    /// chat.set_model(Offline::new());                 // for `topics`, not for `assistant`
    /// chat.set_model("openai/gpt-5.4-mini");           // the same by name
    /// # Ok(()) }
    /// ```
    pub fn set_model(&self, model: impl Into<Choice>) {
        let model = model.into();
        // The size of tiers depends on the model.
        self.shared.change(|state| mem::replace(&mut Arc::make_mut(&mut state.defaults).model, model));
    }

    /// Limits the total cost of the calls of this flow from now on; see [`SpendLimit`].
    pub fn set_spend_limit(&self, limit: impl Into<SpendLimit>) {
        let limit = limit.into();
        Arc::make_mut(&mut self.shared.lock().defaults).limit = Some(limit);
    }

    /// Sets the counter of tokens, and counts the values in memory again: the counter is in use when this returns. The default
    /// is [`Estimate`](crate::tokens::Estimate).
    pub fn set_counter(&self, counter: impl Counter + 'static) {
        self.shared.set_counter(Arc::new(LimitedCounter(counter)));
    }

    /// Loads the values from `step` on that are stored but not in memory.
    ///
    /// Values are not in memory if the flow was opened with
    /// [`OpenOptions::recent`](crate::reopen::OpenOptions::recent), or was made from such a flow as a fork or with a
    /// replaced column. [`get`](Self::get) returns `None` for such a value, [`cell`](Self::cell) returns
    /// [`CellState::NotLoaded`], and [`messages`](Self::messages) returns [`Error::NotLoaded`]. Flows that were made from
    /// each other share the values that one flow loads.
    ///
    /// ```
    /// use columnar::CellState;
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
    /// assert_eq!((f.steps(), f.cell("user", 0)?), (3, CellState::NotLoaded));
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

    /// The receipt of a cell: the tokens and the price of the calls. `None` if the cell called no model, or is not stored.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::NotLoaded`] if the cell is stored and not [in memory](Self::load).
    pub fn try_receipt(&self, column: impl AsRef<str>, step: usize) -> Result<Option<Arc<Receipt>>> {
        self.shared.by_name(column, |state, column| {
            let cell = Cell { column, step };
            if state.is_unloaded(cell) { Err(state.not_loaded(cell)) } else { Ok(state.receipt(cell)) }
        })?
    }

    /// The receipts of all cells that are [in memory](Self::load), by column and step. The bill has the number of the
    /// others.
    pub fn bill(&self) -> Bill {
        self.shared.lock().bill()
    }

    /// The audited bill: for each cell that called a model, the tokens that it should have read from the provider's cache,
    /// the tokens that were billed as read, and the reason for the difference.
    ///
    /// A promise is the longest prefix that an earlier request of the column wrote at a mark and that this request repeats;
    /// or a request of another column with the same model, effort and beginning. All of this is computed from stored values:
    /// the contexts of the cells, their marks, and the receipts with the times. The contexts of all calls are assembled
    /// again, which takes a while in a long flow.
    ///
    /// ```
    /// use columnar::cache::CacheCause;
    /// use columnar::model::{End, Finish, Usage};
    /// use columnar::prelude::*;
    /// use columnar::testing::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// // A provider that writes each request into its cache, and drops it.
    /// let model = ScriptedModel::new(|_| "I see.".to_owned()).named("anthropic/claude-sonnet-5-5").end(|request| {
    ///     let tokens = request.messages.tokens() as u64;
    ///     End::new(Finish::Stop).with_usage(Usage::new(tokens, 3).cached(0, tokens))
    /// });
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.").model(model.clone());
    /// };
    /// for question in ["What do you think of this? ".repeat(200), "And now?".to_owned()] {
    ///     chat.user.push(question).await?;
    ///     chat.run().await?;
    /// }
    /// let audit = chat.audit();
    /// assert_eq!(audit.calls[0].cause, Some(CacheCause::First));
    /// assert_eq!((audit.calls[1].read(), audit.calls[1].cause.clone()), (0, Some(CacheCause::Evicted)));
    /// println!("{audit}");
    /// # Ok(()) }
    /// ```
    pub fn audit(&self) -> CacheAudit {
        self.shared.audit()
    }

    /// The values that another prompt, model, version or view computed than the flow has now, with the reasons. Nothing is
    /// computed again: [`OpenOptions::recompute_from`](crate::reopen::OpenOptions::recompute_from) does that.
    ///
    /// Receipts that are not [in memory](Self::load) are read from the store. A receipt has the name of the model, and hashes
    /// of the rest: of the prompt with its settings and the [system text](Self::set_system) of the flow, of the version, and
    /// of the views. So call `stale` after these settings of the flow. A renamed column, a budget, and a function without
    /// another version are no changes.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::reopen::StaleReason;
    /// use columnar::store::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let store = MemoryStore::new();
    /// let topics = |text: &str| column("topics", source("user").latest(), prompt(text).model("offline"));
    /// let f = Flow::open(store.clone(), [topics("List the topics.")]).await?;
    /// f.push("user", "Hello").await?;
    /// f.run().await?;
    /// assert_eq!(f.stale().await?.cells, []);
    /// drop(f);
    ///
    /// let f = Flow::open(store, [topics("List the main topics.")]).await?;
    /// let stale = f.stale().await?.cells;
    /// assert_eq!((stale[0].column.as_str(), stale[0].step), ("topics", 0));
    /// assert_eq!(stale[0].reasons, [StaleReason::Prompt]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Load`] if the store cannot be read.
    pub async fn stale(&self) -> Result<StaleCells> {
        self.shared.stale().await
    }

    /// The messages array of a cell: the context that the compute step received, or will receive.
    ///
    /// # Errors
    ///
    /// - [`Error::UnknownColumn`], or [`Error::NotDerived`] for a source.
    /// - [`Error::Missing`] if a source has no value for the step, or an input of the cell is not stored yet.
    /// - [`Error::Skipped`] if all inputs of the cell are empty.
    /// - [`Error::Budget`] if the messages exceed the budget, [`Error::BudgetTooSmall`] if the budget holds no message.
    /// - [`Error::NotLoaded`] if a value that they or the previous request of the column show is not
    ///   [in memory](Self::load).
    pub fn messages(&self, column: impl AsRef<str>, step: usize) -> Result<Messages> {
        self.shared.messages(column.as_ref(), step)
    }

    /// The whole system text of the request of a cell; see [`Messages::system`]. A column that calls no model has no
    /// instruction of its own.
    ///
    /// # Errors
    ///
    /// The errors of [`messages`](Self::messages).
    pub fn system(&self, column: impl AsRef<str>, step: usize) -> Result<String> {
        self.shared.system(column.as_ref(), step)
    }

    /// The prefix that the messages of a cell share with the next request of the column, and the view that ends the
    /// prefix. A provider's cache can serve this prefix.
    ///
    /// # Errors
    ///
    /// The errors of [`messages`](Self::messages).
    pub fn explain_cache(&self, column: impl AsRef<str>, step: usize) -> Result<StablePrefix> {
        self.shared.explain_cache(column.as_ref(), step)
    }

    /// The positions of the cache marks in the messages of a cell, if the next request of the column follows at this
    /// pace.
    ///
    /// # Errors
    ///
    /// The errors of [`messages`](Self::messages).
    pub fn cache_plan(
        &self,
        column: impl AsRef<str>,
        step: usize,
        policy: &CachePolicy,
        pace: Pace,
    ) -> Result<CachePlan> {
        let messages = self.messages(column, step)?;
        Ok(CachePlan::of(&messages, messages.system_tokens(), policy, pace))
    }

    /// Excludes a stored cell from the contexts of all steps that have not begun: no view shows the cell there, as if the cell
    /// had been [skipped](crate::compute::Policy::or_skip). Windows count the cell. The contexts of earlier steps do not
    /// change, and the value stays stored and readable.
    ///
    /// A step has begun when all sources have a value there. The context of the cell's own step shows the cell in any case,
    /// also if the cell was pushed ahead. The exclusion is stored, and a fork at a later step takes it over. What providers can
    /// serve from caches ends at the turn of the cell, once.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = script(["Hello.", "Good."]);
    /// };
    /// chat.user.push("My password is swordfish.").await?;
    /// chat.run().await?;
    /// chat.user.exclude(0).await?;                     // or `chat.exclude("user", 0)`
    /// chat.user.push("How are you?").await?;
    /// chat.run().await?;
    ///
    /// assert!(chat.answer.messages(0)?.to_json().contains("swordfish"));
    /// assert!(!chat.answer.messages(1)?.to_json().contains("swordfish"));
    /// assert_eq!(chat.user.get(0).as_deref(), Some("My password is swordfish."));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Error::UnknownColumn`], or [`Error::Missing`] if the cell is not stored.
    /// - [`Error::Store`] if the exclusion could not be stored. Opening the flow again shows the outcome.
    pub async fn exclude(&self, column: impl AsRef<str>, step: usize) -> Result<()> {
        self.shared.exclude(column.as_ref(), step, true).await
    }

    /// Shows an excluded cell again in the contexts of all steps that have not begun.
    ///
    /// # Errors
    ///
    /// The errors of [`exclude`](Self::exclude).
    pub async fn include(&self, column: impl AsRef<str>, step: usize) -> Result<()> {
        self.shared.exclude(column.as_ref(), step, false).await
    }

    /// The number of complete steps: those at which each cell is stored.
    pub fn steps(&self) -> usize {
        self.shared.lock().scheduler.steps()
    }

    /// The columns whose values depend on this column, in topological order.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`].
    pub fn dependents(&self, column: impl AsRef<str>) -> Result<Vec<Name>> {
        self.shared.by_name(column, |state, column| state.plan.names(&state.plan.dependents(column)))
    }

    /// The outline of the current columns: levels, patterns, growth of contexts, and a drawing for Mermaid.
    pub fn outline(&self) -> Outline {
        self.shared.outline()
    }

    /// A forecast of the next run: cells, calls, estimated tokens. Nothing is computed or stored.
    pub fn forecast(&self) -> Forecast {
        self.shared.forecast()
    }

    /// The numbers of cells that are done, skipped, running, failed and waiting at this moment.
    pub fn progress(&self) -> Progress {
        self.shared.lock().progress()
    }

    /// The sources without a value for a step that has values of other sources.
    pub fn missing(&self) -> Vec<Name> {
        self.shared.lock().late_sources()
    }
}

impl<'a, C, I: ColumnId> LiveFlow<'a, C, I> {
    /// Starts a run, which computes all missing cells.
    ///
    /// The run is a [`Stream`] of [`Event`](crate::Event)s, and also a future: `flow.run().await?` computes the cells
    /// and discards the events. Nothing happens until the run is polled. Dropping a run cancels the cells that are not
    /// stored. If no cell is missing, the run ends at once.
    ///
    /// If a cell fails, the cells in progress are finished and stored, and then the run ends with the error. The next
    /// run computes the missing cells.
    ///
    /// The run ends before anything is computed with [`Error::Running`] if another run is in progress, with
    /// [`Error::Model`] if the model of a column with missing cells is unknown or not
    /// [ready](crate::model::Model::ready), and with [`Error::BudgetTooSmall`] if the budget holds no message.
    ///
    /// [`Stream`]: https://docs.rs/futures/0.3/futures/stream/trait.Stream.html
    pub fn run(&self) -> Run<'a, I> {
        Run::new(Arc::clone(&self.shared), self.steps.clone())
    }
}

#[cfg(feature = "providers")]
impl<'a, C, I: ColumnId> LiveFlow<'a, C, I> {
    /// Starts a run whose calls are requests of batches, for half the price: a provider may take a day to answer a batch. The
    /// run is a stream of events and a future, as [`run`](Self::run) returns; the chapter [`batches`](crate::guide::batches) of
    /// the guide says when batches are worth the wait.
    ///
    /// The batches take the calls of prompts without a model, and of prompts that name a model of the same provider. All
    /// other columns are computed as in a run. Cells that are ready together are in one batch, however many there are.
    ///
    /// The store remembers each batch. If the process ends, the next run by batches on the same store goes on with the
    /// batches that were submitted, and pays for nothing twice.
    ///
    /// ```no_run
    /// use columnar::model::Provider;
    /// use columnar::prelude::*;
    /// use columnar::store::FileStore;
    ///
    /// flow! {
    ///     pub struct Reviews {
    ///         source review;
    ///         column topics(review.latest) = prompt("List the topics.");
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::result::Result<(), columnar::BoxError> {
    /// let reviews = Reviews::open(FileStore::new("reviews")).await?;
    /// reviews.batch(Provider::new("openai/gpt-6-luna")?).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of a run. A cell whose request a batch did not answer is an [`Error::Compute`] with a
    /// [`BatchError`](crate::model::BatchError), which names all cells without an answer. Before anything is computed,
    /// [`Error::Model`] for a provider without batches.
    pub fn batch(&self, provider: Provider) -> BatchRun<'a, I> {
        BatchRun::new(Arc::clone(&self.shared), self.steps.clone(), provider)
    }
}

/// The result for a column that the program names.
#[track_caller]
pub(super) fn known<T>(result: Result<T>) -> T {
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
