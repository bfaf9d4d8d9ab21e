//! Reading the values of live flows and columns.
//!
//! `cell`, `iter` and `last` read the memory, as `get` does. `value` and `values` also read the store.

use std::ops::RangeBounds;

use futures::stream::BoxStream;

use super::handle::Handle;
use super::live::LiveFlow;
use crate::history::Value;
#[cfg(doc)]
use crate::run::Error;
use crate::run::{CellState, FlowState, Result, Values};
use crate::schedule::Cell;

impl<C, I> LiveFlow<'_, C, I> {
    /// The value of a column at a step; `None` if there is none, or the cell is skipped. The value of a typed column is JSON
    /// text here; `read` returns the type.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let f = flow([column("topics", source("user").latest(), prompt("List the topics."))])?;
    /// f.push("user", "Hello").await?;
    /// assert_eq!(f.try_get("user", 0)?.as_deref(), Some("Hello"));
    /// assert_eq!(f.try_get("topics", 0)?, None);
    /// let error = f.try_get("topic", 0).expect_err("there is no such column");
    /// assert_eq!(error.to_string(), "no column is named `topic`; did you mean `topics`?");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::NotLoaded`] if the value is stored and not [in memory](Self::load).
    pub fn try_get(&self, column: impl AsRef<str>, step: usize) -> Result<Option<Value>> {
        self.shared.by_name(column, |state, column| state.value(Cell { column, step }))?
    }

    /// The state of a column at a step: the value, or the reason why there is none in memory.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::reopen::OpenOptions;
    /// use columnar::store::MemoryStore;
    /// use columnar::{CellState, SkipReason};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let store = MemoryStore::new();
    /// let answer = |cx: Context| async move { cx.messages().last_text().to_uppercase() };
    /// let columns = [column("answer", source("user").latest(), answer.every(2))];
    /// let f = Flow::open(store.clone(), &columns).await?;
    /// for text in ["one", "two", "three", "four"] {
    ///     f.push("user", text).await?;
    /// }
    /// f.run().await?;
    /// f.push("user", "five").await?;
    /// drop(f);
    ///
    /// let f = Flow::open(OpenOptions::new(store).recent(2), &columns).await?;
    /// for step in 0..5 {
    ///     match f.cell("answer", step)? {
    ///         CellState::NotLoaded => assert!(step < 2),
    ///         CellState::Skipped(reason) => assert_eq!((step, reason), (2, Some(SkipReason::Every))),
    ///         CellState::Stored(value) => assert_eq!((step, value.contains("FOUR")), (3, true)),
    ///         CellState::Waiting | CellState::Pending => assert_eq!(step, 4),
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`].
    pub fn cell(&self, column: impl AsRef<str>, step: usize) -> Result<CellState> {
        self.shared.by_name(column, |state, column| state.cell(Cell { column, step }))
    }

    /// The number of steps of a column that are stored without a gap, with the skipped ones.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`].
    pub fn len(&self, column: impl AsRef<str>) -> Result<usize> {
        self.shared.by_name(column, |state, column| state.scheduler.len(column))
    }

    /// The stored values of a column with the steps, in order. Skipped steps are left out.
    ///
    /// Values that are stored after the call are not among these.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let f = flow([column("topics", source("user").latest(), prompt("List the topics."))])?;
    /// f.push("user", "Hello").await?;
    /// f.push("user", "and again").await?;
    /// for (step, text) in f.iter("user")? {
    ///     println!("{step}: {text}");
    /// }
    /// assert!(f.iter("user")?.rev().map(|(step, _)| step).eq([1, 0]));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::NotLoaded`] if a stored value is not [in memory](Self::load).
    #[expect(
        clippy::iter_not_returning_iterator,
        reason = "a value that is not in memory is an error, and no gap"
    )]
    pub fn iter(&self, column: impl AsRef<str>) -> Result<Values> {
        self.shared.by_name(column, FlowState::values)?
    }

    /// The last stored value of a column, with the step; `None` if there is no value.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::NotLoaded`] if the value is not [in memory](Self::load).
    pub fn last(&self, column: impl AsRef<str>) -> Result<Option<(usize, Value)>> {
        self.shared.by_name(column, FlowState::last)?
    }

    /// The value of a column at a step, from memory or from the store; `None` if the cell is not stored, or skipped. The
    /// value is not kept in memory.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::Load`] if the store cannot be read.
    pub async fn value(&self, column: impl AsRef<str>, step: usize) -> Result<Option<Value>> {
        self.shared.value(column.as_ref(), step).await
    }

    /// The values of a column within a range of steps, each with the step, from memory or from the store. Skipped steps are
    /// left out.
    ///
    /// The stream ends with the last step that is stored when the stream is made. The stream reads the store in chunks, and
    /// keeps nothing in memory. An error is the last item.
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
    /// drop(f);
    ///
    /// let f = Flow::open(OpenOptions::new(store).recent(1), [topics]).await?;
    /// let mut values = f.values("user", 1..);
    /// while let Some((step, text)) = values.try_next().await? {
    ///     println!("{step}: {text}");
    /// }
    /// assert_eq!(f.value("user", 0).await?.as_deref(), Some("one"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn values(
        &self,
        column: impl AsRef<str>,
        steps: impl RangeBounds<usize>,
    ) -> BoxStream<'static, Result<(usize, Value)>> {
        self.shared.values(column.as_ref(), &steps)
    }
}

impl<K> Handle<K> {
    /// The value at a step; `None` if the cell is not stored, skipped, or not [in memory](LiveFlow::load).
    /// [`cell`](Self::cell) tells these apart. The value of a typed column is JSON text here; `read` returns
    /// the type.
    pub fn get(&self, step: usize) -> Option<Value> {
        self.cell(step).into_value()
    }

    /// The state of the cell at a step: the value, or the reason why there is none in memory.
    pub fn cell(&self, step: usize) -> CellState {
        self.flow().lock().cell(Cell { column: self.__column(), step })
    }

    /// The number of steps that are stored without a gap, with the skipped ones.
    pub fn len(&self) -> usize {
        self.flow().lock().scheduler.len(self.__column())
    }

    /// Whether step 0 is not stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stored values with the steps, in order. Skipped steps are left out.
    ///
    /// Values that are stored after the call are not among these.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Answer.");
    /// };
    /// chat.user.push("Hello").await?;
    /// chat.user.push("and again").await?;
    /// let texts: Vec<_> = chat.user.iter()?.map(|(_, text)| text).collect();
    /// assert_eq!(texts, ["Hello", "and again"]);
    /// assert_eq!(chat.user.last()?, Some((1, "and again".into())));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotLoaded`] if a stored value is not [in memory](LiveFlow::load).
    #[expect(
        clippy::iter_not_returning_iterator,
        reason = "a value that is not in memory is an error, and no gap"
    )]
    pub fn iter(&self) -> Result<Values> {
        self.flow().lock().values(self.__column())
    }

    /// The last stored value with the step; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::NotLoaded`] if the value is not [in memory](LiveFlow::load).
    pub fn last(&self) -> Result<Option<(usize, Value)>> {
        self.flow().lock().last(self.__column())
    }

    /// The value at a step, from memory or from the store; `None` if the cell is not stored, or skipped. The value is
    /// not kept in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] if the store cannot be read.
    pub async fn value(&self, step: usize) -> Result<Option<Value>> {
        self.flow().value(self.name(), step).await
    }

    /// The values within a range of steps, each with the step, from memory or from the store; see [`LiveFlow::values`].
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Answer.");
    /// };
    /// chat.user.push("Hello").await?;
    /// chat.user.push("and again").await?;
    /// let mut values = chat.user.values(1..);
    /// while let Some((step, text)) = values.try_next().await? {
    ///     assert_eq!((step, text.as_str()), (1, "and again"));
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Load`] if the store cannot be read.
    pub fn values(&self, steps: impl RangeBounds<usize>) -> BoxStream<'static, Result<(usize, Value)>> {
        self.flow().values(self.name(), &steps)
    }
}
