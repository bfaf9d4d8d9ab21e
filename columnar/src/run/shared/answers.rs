//! Answers from outside: the cells that wait for one, and storing it.

use std::sync::Arc;

use super::{CountedTokens, SharedFlow};
use crate::compute::{AnswerRules, Context};
use crate::context::Messages;
use crate::declare::Name;
use crate::declare::default_limits::SKIP_MESSAGE;
use crate::declare::error::BoxError;
use crate::history::{SkipReason, Value};
use crate::model::cache::PastRequests;
use crate::model::usage::{Answer, CellReceipt, Receipt, UnixTime};
use crate::run::state::{FindColumn, FlowState, entry, receipt as receipt_of};
use crate::run::user_code::caught;
use crate::run::{Error, Result};
use crate::schedule::{Cell, OnFailure};
use crate::store::Put;

/// A cell that waits for an [answer](crate::compute::external) from outside. Made by
/// [`pending`](crate::flow::LiveFlow::pending).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PendingCell {
    /// The column.
    pub column: Name,
    /// The step, counted from 0.
    pub step: usize,
    /// The context: what the column reads, as a person or a service sees it.
    pub messages: Messages,
    /// The answer that the column [proposes](crate::compute::External::default).
    pub proposal: Option<Value>,
}

/// A decision about a pending cell.
pub(crate) enum Decision {
    Answer(Value),
    /// The answer is what the column proposes.
    Accept,
    /// There will be no answer, for this reason.
    Decline(String),
}

/// A pending cell that somebody decides about.
struct DecidedCell {
    cell: Cell,
    column: Name,
    rules: AnswerRules,
    on_failure: OnFailure,
}

impl SharedFlow {
    /// The cells that wait for answers, of one column or of all: by column and step.
    pub(crate) fn pending(&self, column: Option<usize>) -> Result<Vec<PendingCell>> {
        let cells: Vec<_> = {
            let state = self.lock();
            let cells = state.scheduler.pending().filter(|cell| column.is_none_or(|it| it == cell.column));
            cells.map(|cell| (cell, state.external(cell.column).cloned())).collect()
        };
        let mut pending = Vec::new();
        for (Cell { column, step }, rules) in cells {
            let messages = match self.messages(column, step) {
                Ok(messages) => messages,
                // The filters let nothing pass, so the next run skips the cell.
                Err(Error::Skipped { .. }) => continue,
                Err(error) => return Err(error),
            };
            let proposal = rules.and_then(|rules| self.proposal(&rules, &messages).ok());
            pending.push(PendingCell { column: messages.column().clone(), step, messages, proposal });
        }
        Ok(pending)
    }

    /// The value that a column proposes for the cell of a context.
    fn proposal(&self, rules: &AnswerRules, messages: &Messages) -> Result<Value, BoxError> {
        let defaults = Arc::clone(&self.lock().defaults);
        let cx = Context::new(messages.snapshot().clone(), defaults, PastRequests::default());
        let proposed = caught(|| rules.proposal(&cx));
        proposed.unwrap_or_else(|| Err("its function panicked, which is a bug in it".into()))
    }

    /// Stores a decision about a cell. The first decision about a cell stays.
    pub(crate) async fn decide(
        &self,
        column: impl FindColumn,
        step: usize,
        decision: Decision,
    ) -> Result<()> {
        let done = {
            // As pushes do: no two decisions about a cell overlap.
            let _writing = self.writing().await;
            self.settle_exclusions().await?;
            let decided = self.lock().decided(column, step)?;
            let messages = self.messages(decided.cell.column, step)?;
            match decision {
                Decision::Answer(value) => self.answer(&decided, &messages, Some(value)).await,
                Decision::Accept => self.answer(&decided, &messages, None).await,
                Decision::Decline(reason) => self.decline(&decided, reason).await,
            }
        };
        // Outside of the lock, because those who are woken may answer.
        self.wake();
        done
    }

    /// Stores an answer; without one, the proposal.
    async fn answer(&self, decided: &DecidedCell, messages: &Messages, given: Option<Value>) -> Result<()> {
        let DecidedCell { cell, rules, .. } = decided;
        let column = decided.column.clone();
        let step = cell.step;
        let proposal = self.proposal(rules, messages);
        let (value, proposal) = match (given, proposal) {
            (Some(given), proposal) => {
                let read = caught(|| rules.value(given));
                let read = read.unwrap_or_else(|| Err("its type panicked, which is a bug in it".into()));
                let value = read.map_err(|source| Error::Answer { column, step, source })?;
                (value, proposal.ok())
            }
            (None, Ok(proposal)) => (proposal.clone(), Some(proposal)),
            (None, Err(source)) => return Err(Error::NoProposal { column, step, source }),
        };
        let answer = Answer::new(&value, proposal.as_deref());
        let calls = Some(Arc::new(Receipt { answer: Some(answer), ..Receipt::default() }));
        self.put_decision(*cell, Some(value), CellReceipt { calls, ..CellReceipt::default() }).await
    }

    /// Follows the policy of the column for a cell that gets no answer.
    async fn decline(&self, decided: &DecidedCell, reason: String) -> Result<()> {
        let cell = decided.cell;
        if decided.on_failure == OnFailure::Skip {
            let reason = SkipReason::declined(&reason, SKIP_MESSAGE);
            return self.put_decision(cell, None, CellReceipt::skipped(reason)).await;
        }
        let mut state = self.lock();
        // The run that asks again fails with the reason. After that run the cell is pending again.
        if state.scheduler.ask_again(cell).is_ok() {
            state.declined.insert(cell, reason);
            state.is_stale = true;
        }
        Ok(())
    }

    /// Stores a cell that somebody has decided about.
    async fn put_decision(&self, cell: Cell, value: Option<Value>, receipt: CellReceipt) -> Result<()> {
        let plan = self.plan();
        let value = value.map(|value| self.lock().stored.attachments.clone().share(value));
        // Before anything is stored, and outside of the lock: a counter may panic.
        let counted = value.as_ref().map(|value| self.counted(value));
        if let Some(value) = &value {
            self.put_attachments(&plan, cell, value).await?;
        }
        let put = match self.put(cell, || entry(value.clone(), &receipt)) {
            None => Ok(Put::Stored),
            Some(put) => put.await,
        };
        match self.checked(&plan, cell, put)? {
            Put::Stored => self.insert_decided(cell, value.zip(counted), receipt),
            // The call that stored the earlier decision was dropped before the store confirmed it.
            Put::Exists(earlier) => {
                let receipt = receipt_of(&earlier).unwrap_or_default();
                let value = earlier.value.map(|value| {
                    let counted = self.counted(&value);
                    (value, counted)
                });
                self.insert_decided(cell, value, receipt)?;
                Err(self.lock().answered(cell))
            }
        }
    }

    fn insert_decided(
        &self,
        cell: Cell,
        value: Option<(Value, CountedTokens)>,
        receipt: CellReceipt,
    ) -> Result<()> {
        let is_skipped = value.is_none();
        let counted = value.as_ref().map(|(value, counted)| self.lock_counted(value, counted));
        let (tokens, mut state) = counted.unwrap_or_else(|| (0, self.lock()));
        let is_running = state.is_running;
        if state.scheduler.handle_answered(cell, is_skipped, is_running).is_err() {
            let column = state.name(cell.column).clone();
            return Err(Error::NotPending { column, step: cell.step });
        }
        if let Some((value, _)) = value {
            state.table.insert(cell, value, tokens);
        }
        state.receipts.insert(cell, receipt);
        state.is_stale = true;
        Ok(())
    }
}

impl FlowState {
    /// The settings of a column whose values come from outside.
    pub(crate) fn external(&self, column: usize) -> Option<&AnswerRules> {
        self.settings.get(column)?.external.as_ref()
    }

    /// The pending cell that somebody decides about. An earlier refusal is forgotten.
    fn decided(&mut self, column: impl FindColumn, step: usize) -> Result<DecidedCell> {
        let column = column.find_in(self)?;
        let cell = Cell { column, step };
        let name = self.name(column).clone();
        let Some(rules) = self.external(column).cloned() else {
            let columns = 0..self.settings.len();
            let external: Vec<_> = columns.filter(|column| self.external(*column).is_some()).collect();
            return Err(Error::NotExternal { column: name, external: self.plan.names(&external) });
        };
        if self.scheduler.is_stored(cell) {
            return Err(self.answered(cell));
        }
        if let Some(missing) = self.missing_input(cell) {
            return Err(Error::Missing { column: self.name(missing.column).clone(), step: missing.step });
        }
        if !self.scheduler.is_pending(cell) {
            return Err(Error::NotPending { column: name, step });
        }
        self.declined.remove(&cell);
        let on_failure = self.settings.get(column).map(|settings| settings.rules.on_failure);
        Ok(DecidedCell { cell, column: name, rules, on_failure: on_failure.unwrap_or_default() })
    }

    /// The error of a further answer for a stored cell.
    fn answered(&self, cell: Cell) -> Error {
        let column = self.name(cell.column).clone();
        let step = cell.step;
        let is_declined = matches!(self.skip_reason(cell), Some(SkipReason::Declined(_)));
        if self.scheduler.is_skipped(cell) && !is_declined {
            return Error::Skipped { column, step };
        }
        let at = self.receipts.get(cell).and_then(|receipt| Some(receipt.answer.as_ref()?.at));
        Error::Answered { column, step, since: at.map(|at| UnixTime::now().since(at)), is_declined }
    }
}
