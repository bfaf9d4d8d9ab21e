//! Answers for the cells whose values come from outside: the methods of columns and flows.

use super::handle::{Handle, kind};
use super::live::LiveFlow;
use crate::history::IntoValue;
use crate::run::{Decision, PendingCell, Result};

impl<T> Handle<kind::Derived<T>> {
    /// The cells of the column that wait for an [answer](crate::compute::external), by step, each with its context. Cells of
    /// earlier processes are among them, whether the flow has run since or not.
    ///
    /// # Errors
    ///
    /// The errors of [`messages`](Self::messages).
    pub fn pending(&self) -> Result<Vec<PendingCell>> {
        self.flow().pending(Some(self.latest.column))
    }

    /// Stores the answer of a pending cell: the value, for good. The next run computes what reads the cell; so does a run
    /// in progress, and a [spawned](crate::service) flow. In a typed column the answer is JSON of the type.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let desk = flow! {
    ///     source ticket;
    ///     column reply(ticket.latest) = external();
    /// };
    /// desk.ticket.push("It does not start.").await?;
    /// desk.reply.answer(0, "Please restart it.").await?;
    ///
    /// let error = desk.reply.answer(0, "Buy another one.").await.unwrap_err();
    /// assert!(error.to_string().starts_with("`reply` at step 0 is answered already, since 0 s"), "{error}");
    /// assert_eq!(desk.reply.get(0).as_deref(), Some("Please restart it."));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Error::Answered`](crate::Error::Answered) if the cell is answered or declined already,
    ///   [`Error::Skipped`](crate::Error::Skipped) if it has nothing to read.
    /// - [`Error::Missing`](crate::Error::Missing) if an input has no value yet, and the other errors of
    ///   [`messages`](Self::messages).
    /// - [`Error::NotExternal`](crate::Error::NotExternal) if the column is computed,
    ///   [`Error::Answer`](crate::Error::Answer) if the answer does not match the type of the column.
    /// - [`Error::Store`](crate::Error::Store) if the answer could not be stored.
    pub async fn answer(&self, step: usize, value: impl IntoValue) -> Result<()> {
        self.flow().decide(self.latest.column, step, Decision::Answer(value.into_value())).await
    }

    /// Stores what the column [proposes](crate::compute::External::default) as the answer of a pending cell.
    ///
    /// # Errors
    ///
    /// The errors of [`answer`](Self::answer), and [`Error::NoProposal`](crate::Error::NoProposal) without a proposal.
    pub async fn accept(&self, step: usize) -> Result<()> {
        self.flow().decide(self.latest.column, step, Decision::Accept).await
    }

    /// Gives no answer for a pending cell, for this reason, as if the computation had failed:
    ///
    /// - with [`or_skip`](crate::compute::Policy::or_skip) the cell is stored as skipped, with the reason;
    /// - with [`or_wait`](crate::compute::Policy::or_wait) the run in progress, or the next one, emits
    ///   [`Event::Failed`](crate::Event::Failed) and goes on, and then the cell is pending again;
    /// - without a policy that run ends with [`Error::Declined`](crate::Error::Declined), and then the cell is pending again.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::{CellState, SkipReason};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let desk = flow! {
    ///     source ticket;
    ///     column reply(ticket.latest) = external().or_skip();
    /// };
    /// desk.ticket.push("Win a prize!").await?;
    /// desk.reply.decline(0, "spam").await?;
    /// assert_eq!(desk.reply.cell(0), CellState::Skipped(Some(SkipReason::Declined("spam".into()))));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`answer`](Self::answer).
    pub async fn decline(&self, step: usize, reason: impl Into<String>) -> Result<()> {
        self.flow().decide(self.latest.column, step, Decision::Decline(reason.into())).await
    }
}

impl<C, I> LiveFlow<'_, C, I> {
    /// The cells of all columns that wait for an [answer](crate::compute::external), by column and step, each with its context.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let f = flow([column("reply", source("ticket").latest(), external())])?;
    /// f.push("ticket", "It does not start.").await?;
    /// for cell in f.pending()? {
    ///     println!("{} at step {}: {}", cell.column, cell.step, cell.messages.last_text());
    ///     f.answer(&cell.column, cell.step, "Please restart it.").await?;
    /// }
    /// assert_eq!(f.pending()?, []);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`messages`](Self::messages).
    pub fn pending(&self) -> Result<Vec<PendingCell>> {
        self.shared.pending(None)
    }

    /// Stores the answer of a pending cell of a column; see [`answer`](super::Handle::answer) of a column.
    ///
    /// # Errors
    ///
    /// The errors of that method, and [`Error::UnknownColumn`](crate::Error::UnknownColumn).
    pub async fn answer(&self, column: impl AsRef<str>, step: usize, value: impl IntoValue) -> Result<()> {
        self.shared.decide(column.as_ref(), step, Decision::Answer(value.into_value())).await
    }

    /// Stores what a column proposes as the answer of a pending cell; see [`accept`](super::Handle::accept) of a column.
    ///
    /// # Errors
    ///
    /// The errors of that method, and [`Error::UnknownColumn`](crate::Error::UnknownColumn).
    pub async fn accept(&self, column: impl AsRef<str>, step: usize) -> Result<()> {
        self.shared.decide(column.as_ref(), step, Decision::Accept).await
    }

    /// Gives no answer for a pending cell of a column, for this reason; see [`decline`](super::Handle::decline) of a column.
    ///
    /// # Errors
    ///
    /// The errors of that method, and [`Error::UnknownColumn`](crate::Error::UnknownColumn).
    pub async fn decline(
        &self,
        column: impl AsRef<str>,
        step: usize,
        reason: impl Into<String>,
    ) -> Result<()> {
        self.shared.decide(column.as_ref(), step, Decision::Decline(reason.into())).await
    }
}
