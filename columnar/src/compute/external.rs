//! Columns whose values come from outside: a person, a service, a batch.

use std::fmt;
use std::sync::Arc;

use super::answer_rules::{AnswerRules, ProposeAnswer};
use super::convert::form;
use super::{Context, IntoOutcome, IntoStep, Reply, Step, StepSettings};
use crate::history::Value;
use crate::schedule::Rules;

/// The values of a column that come from outside, cell by cell, and later. Made by [`external`].
#[derive(Clone)]
pub struct External(AnswerRules);

/// Values that come from outside: a person approves a draft, a service calls back. As soon as the inputs of a cell are
/// stored, the cell is pending. A run emits [`Event::Pending`](crate::Event::Pending) for it, computes what depends on other
/// cells, and ends.
///
/// [`pending`](crate::flow::Handle::pending) lists the cells, in any process and fork.
/// [`answer`](crate::flow::Handle::answer) stores a value, [`decline`](crate::flow::Handle::decline) refuses one; the next run
/// goes on from there. The messages of a cell are its context, as for a prompt. See the [guide](crate::guide::answers).
///
/// ```
/// use columnar::prelude::*;
/// use columnar::testing::script;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let desk = flow! {
///     source ticket;
///     column draft(ticket.latest)        = script(["Please restart it.", "We refund you."]);
///     column reply(draft.latest, ticket) = external();
///     column sent(reply.latest)          = async |reply| format!("To the customer: {reply}");
/// };
/// desk.ticket.push("It does not start.").await?;
/// desk.ticket.push("I want my money.").await?;
/// desk.run().await?;                                   // ends, although nobody has answered
/// assert_eq!(desk.reply.pending()?.len(), 2);
///
/// desk.reply.answer(1, "We refund you within two days.").await?;
/// desk.run().await?;
/// assert_eq!(desk.sent.get(1).as_deref(), Some("To the customer: We refund you within two days."));
/// assert_eq!(desk.progress().pending, 1);
/// # Ok(()) }
/// ```
pub fn external() -> External {
    External(AnswerRules::default())
}

impl External {
    /// Proposes an answer for each cell, which [`accept`](crate::flow::Handle::accept) takes: an approval. The receipt of the
    /// cell says whether the answer [is the proposal](crate::usage::Answer), and keeps a proposal that was edited.
    ///
    /// The function must always return the same for the same context. An error means that there is no proposal.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let desk = flow! {
    ///     source ticket;
    ///     column draft(ticket.latest) = script(["Please restart it."]);
    ///     column reply(draft.latest)  = external().default(|cx| cx.input("draft").cloned().ok_or("no draft"));
    /// };
    /// desk.ticket.push("It does not start.").await?;
    /// desk.run().await?;
    /// assert_eq!(desk.reply.pending()?[0].proposal.as_deref(), Some("Please restart it."));
    /// desk.reply.accept(0).await?;
    /// assert_eq!(desk.reply.get(0), desk.draft.get(0));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn default<V: IntoOutcome<Value, Form>, Form>(
        self,
        propose: impl Fn(&Context) -> V + Send + Sync + 'static,
    ) -> Self {
        let propose: Arc<ProposeAnswer> = Arc::new(move |cx| propose(cx).into_outcome());
        Self(AnswerRules { propose: Some(propose), ..self.0 })
    }
}

#[diagnostic::do_not_recommend]
impl<'a> IntoStep<'a, form::External> for External {
    fn into_step(self) -> Step<'a> {
        let rules = Rules { is_external: true, ..Rules::default() };
        let settings = StepSettings { rules, external: Some(self.0), ..StepSettings::default() };
        // A run asks for the cell and never calls the step. `Step` is public, and another step may call it.
        Step::with_settings(settings, |_| Reply::whole(std::future::ready(Err(NOT_COMPUTED.into()))))
    }
}

const NOT_COMPUTED: &str =
    "`external()` computes nothing: give it to a column, and answer the cells of the column";

impl fmt::Debug for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("External").field("proposes", &self.0.propose.is_some()).finish_non_exhaustive()
    }
}
