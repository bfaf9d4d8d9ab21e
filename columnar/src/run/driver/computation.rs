//! The computation of one cell, with all attempts.

use std::borrow::Cow;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use futures::Stream;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt};
use tokio::time::Instant;

use super::warm_up::WarmUp;
use crate::compute::trace::CellSpan;
use crate::compute::{Context, Piece, Step, error_class};
use crate::declare::Name;
use crate::declare::default_limits::SKIP_MESSAGE;
use crate::declare::error::BoxError;
use crate::history::{SkipReason, Value};
use crate::model::End;
use crate::model::cache::MarkedRequest;
use crate::model::usage::{CallTime, CellReceipt, Fingerprint, Receipt, SpendLimitError, UnixTime, Usage};
use crate::run::Error;
use crate::run::shared::CountedTokens;
use crate::run::state::SentCall;
use crate::run::user_code::discard;
use crate::schedule::Cell;
use crate::store::{Put, StoreError};

/// A report of a computation: any number of deltas, retries and waits, then one of the others, which is the last.
pub(super) enum CellReport {
    /// A message about the column, before all other reports.
    Warning(String),
    /// A piece of the text.
    Delta(String),
    /// An attempt failed, and another one follows.
    Retry { attempt: usize, error: String },
    /// A call is repeated after a pause.
    Waiting { pause: Duration, error: String },
    /// The cell is computed, or skipped by the step.
    Finished(Unstored),
    /// In a box, because a failure is rare and larger than the others, and each cell moves a report.
    Failed(Box<CellFailure>),
}

/// The failure of a computation.
pub(super) struct CellFailure {
    pub(super) error: Error,
    /// The message for an event.
    pub(super) cause: String,
    /// Whether the spend limit has refused a call.
    pub(super) is_over_limit: bool,
    /// The cell as skipped, for a column that skips failed cells.
    pub(super) unstored: Unstored,
}

/// A finished cell that is not stored yet.
pub(super) struct Unstored {
    pub(super) cell: Cell,
    /// `None` if the cell is skipped.
    pub(super) value: Option<Value>,
    pub(super) receipt: CellReceipt,
    /// The last call; `None` if no model was called. In a box, because each cell moves a report.
    pub(super) called: Option<Box<SentCall>>,
    /// The tokens of the value, once counted.
    pub(super) counted: Option<CountedTokens>,
    pub(super) span: CellSpan,
}

/// A write into the store that is in progress.
pub(super) type CellWrite = BoxFuture<'static, (Unstored, Result<Put, StoreError>)>;

/// The computation of one cell: a stream of reports.
pub(super) struct Computation<'a> {
    cell: Cell,
    column: Name,
    /// The number of the current attempt, from 1.
    attempt: usize,
    stage: ComputationStage<'a>,
    /// What computes the cell.
    made: Fingerprint,
    /// A warning about the column.
    pub(super) warning: Option<String>,
    pub(super) warm_up: WarmUp,
    /// Moves into the last report.
    span: CellSpan,
    created: Instant,
    /// `None` if no model has been called.
    receipt: Option<Box<ReceiptBuilder>>,
}

pub(super) enum ComputationStage<'a> {
    NotStarted { step: Step<'a>, context: Context },
    Pieces { pieces: BoxStream<'a, Result<Piece, BoxError>>, text: String },
    // Without a call of the compute step.
    Refused(Error),
    Finished,
}

impl<'a> Computation<'a> {
    pub(super) fn new(cell: Cell, column: Name, stage: ComputationStage<'a>, made: Fingerprint) -> Self {
        let span = CellSpan::new(&column, cell.step);
        let warm_up = WarmUp::default();
        let created = Instant::now();
        Self { cell, column, attempt: 1, stage, made, warning: None, warm_up, span, created, receipt: None }
    }

    fn receipt(&mut self) -> &mut ReceiptBuilder {
        let created = self.created;
        self.receipt.get_or_insert_with(|| Box::new(ReceiptBuilder::new(created)))
    }

    /// Whether the last report has been returned.
    pub(super) fn is_finished(&self) -> bool {
        matches!(self.stage, ComputationStage::Finished)
    }

    fn poll(&mut self, task: &mut TaskContext<'_>) -> Poll<Option<CellReport>> {
        if let Some(message) = self.warning.take() {
            return Poll::Ready(Some(CellReport::Warning(message)));
        }
        loop {
            let report = match &mut self.stage {
                ComputationStage::NotStarted { .. } => {
                    // Before the compute step is called, because a call may send the request.
                    ready!(self.warm_up.poll_ready(task));
                    self.start();
                    continue;
                }
                ComputationStage::Pieces { pieces, .. } => {
                    let piece = ready!(pieces.poll_next_unpin(task));
                    match self.handle_piece(piece) {
                        Some(report) => report,
                        None => continue,
                    }
                }
                ComputationStage::Refused(_) => {
                    match mem::replace(&mut self.stage, ComputationStage::Finished) {
                        ComputationStage::Refused(error) => self.report_failure(error),
                        _ => unreachable!("the stage was matched above"),
                    }
                }
                ComputationStage::Finished => return Poll::Ready(None),
            };
            return Poll::Ready(Some(report));
        }
    }

    fn start(&mut self) {
        // The stage is `Finished` during the call, so a step that panics is not called again.
        if let ComputationStage::NotStarted { step, context } =
            mem::replace(&mut self.stage, ComputationStage::Finished)
        {
            self.span.attempt(self.attempt);
            let pieces = step.start(context).0;
            self.stage = ComputationStage::Pieces { pieces, text: String::new() };
        }
    }

    /// Handles the next piece of a reply, `None` at the end, and returns the report of the piece, if there is one.
    fn handle_piece(&mut self, piece: Option<Result<Piece, BoxError>>) -> Option<CellReport> {
        let ComputationStage::Pieces { text, .. } = &mut self.stage else { return None };
        Some(match piece {
            Some(Ok(Piece::Text(more))) => {
                // An empty piece proves as well that the reply has begun.
                self.warm_up.reply_began();
                text.push_str(&more);
                return (!more.is_empty()).then_some(CellReport::Delta(more));
            }
            Some(Ok(Piece::CallStarted(model, marked))) => {
                self.receipt().call_started(model, marked);
                return None;
            }
            Some(Ok(Piece::Waiting { pause, error })) => CellReport::Waiting { pause, error },
            Some(Ok(Piece::CallRefused)) => {
                self.receipt().call_refused();
                return None;
            }
            Some(Ok(Piece::CallEnded(end))) => {
                self.receipt().call_ended(*end);
                return None;
            }
            Some(Ok(Piece::Retry { attempt, error })) => {
                // The warm-up goes on: the next attempt sends the same prefix, and others wait for that reply.
                // Deltas belong to one attempt, because a failed attempt stores nothing.
                text.clear();
                let class = error_class::class(&*error);
                self.receipt.iter_mut().for_each(|receipt| receipt.call_failed(&class));
                self.attempt = attempt + 1;
                self.span.retry(attempt, &*error);
                self.span.attempt(self.attempt);
                CellReport::Retry { attempt, error: error.to_string() }
            }
            Some(Ok(Piece::Whole(value))) => self.succeed(value),
            Some(Ok(Piece::Skip(reason))) => self.skip(reason),
            Some(Err(source)) => self.fail(source),
            None => {
                let value = mem::take(text).into();
                self.succeed(value)
            }
        })
    }

    fn succeed(&mut self, value: Value) -> CellReport {
        self.stage = ComputationStage::Finished;
        self.warm_up.reply_began();
        CellReport::Finished(self.finish(Some(value), None))
    }

    fn skip(&mut self, reason: SkipReason) -> CellReport {
        self.stage = ComputationStage::Finished;
        // No request was sent, so another one warms the prefix.
        self.warm_up = WarmUp::default();
        CellReport::Finished(self.finish(None, Some(reason)))
    }

    fn fail(&mut self, source: BoxError) -> CellReport {
        self.stage = ComputationStage::Finished;
        let column = self.column.clone();
        let step = self.cell.step;
        let attempt = self.attempt;
        self.report_failure(Error::Compute { column, step, attempt, source })
    }

    fn report_failure(&mut self, error: Error) -> CellReport {
        // The prefix may still be cold, so another request warms it.
        self.warm_up = WarmUp::default();
        // Before the rest: an error of users may panic in a method, and then this is called again.
        let cause = error.cause();
        let is_over_limit = SpendLimitError::of(&error).is_some();
        let class = error.class().map_or_else(|| error_class::class(&error), Cow::Borrowed);
        self.receipt.iter_mut().for_each(|receipt| receipt.call_failed(&class));
        self.span.failed(&error, error.class());
        let unstored = self.finish(None, Some(SkipReason::failed(&cause, SKIP_MESSAGE)));
        CellReport::Failed(Box::new(CellFailure { error, cause, is_over_limit, unstored }))
    }

    /// The cell with this value, or skipped for this reason.
    fn finish(&mut self, value: Option<Value>, skipped: Option<SkipReason>) -> Unstored {
        let called = self.receipt.as_mut().and_then(|receipt| receipt.called.take()).map(Box::new);
        let calls = self.receipt.take().map(|receipt| Arc::new(receipt.build(self.attempt)));
        let made = value.is_some().then_some(self.made);
        let receipt = CellReceipt { calls, skipped, made, ..CellReceipt::default() };
        let span = mem::take(&mut self.span);
        Unstored { cell: self.cell, value, receipt, called, counted: None, span }
    }
}

impl Stream for Computation<'_> {
    type Item = (Cell, CellReport);

    /// A panic in a compute step, whether called, polled or dropped, is an error of one cell alone.
    fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        let cell = self.cell;
        let _entered = self.span.enter();
        // Unwind safe: code of users runs in the stage alone, which is replaced after a panic.
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll(task)));
        let report = polled.unwrap_or_else(|payload| {
            let stage = mem::replace(&mut self.stage, ComputationStage::Finished);
            // Dropping either may panic again. The payload may quote a conversation, so nothing shows the payload.
            discard(payload);
            discard(stage);
            let column = self.column.clone();
            let step = self.cell.step;
            Poll::Ready(Some(self.report_failure(Error::Panicked { column, step })))
        });
        report.map(|report| Some((cell, report?)))
    }
}

impl Drop for Computation<'_> {
    /// Spans and logs of a compute step that is dropped belong to the cell, too.
    fn drop(&mut self) {
        let _entered = self.span.enter();
        // The drop of the run may be a panic already, and goes on with the other cells.
        discard(mem::replace(&mut self.stage, ComputationStage::Finished));
    }
}

/// The receipt of a cell in progress.
struct ReceiptBuilder {
    started: Instant,
    /// The last call.
    called: Option<SentCall>,
    /// The begin of the call that has not ended.
    open: Option<Instant>,
    receipt: Receipt,
}

impl ReceiptBuilder {
    fn new(created: Instant) -> Self {
        let started = Instant::now();
        let receipt = Receipt { waited: millis(started - created), ..Receipt::default() };
        Self { started, called: None, open: None, receipt }
    }

    /// A call counts as unreported until the end with the usage.
    fn call_started(&mut self, model: Arc<str>, marked: Option<Arc<MarkedRequest>>) {
        self.close_call();
        let at = Instant::now();
        self.open = Some(at);
        self.called = Some(SentCall { at, marked, usage: Usage::default() });
        self.receipt.at = Some(UnixTime::now());
        self.receipt.model = Some(model);
        self.receipt.calls += 1;
        self.receipt.unreported += 1;
    }

    /// A refused call has no usage, and needs none.
    fn call_refused(&mut self) {
        self.close_call();
        self.receipt.unreported = self.receipt.unreported.saturating_sub(1);
    }

    fn call_ended(&mut self, end: End) {
        self.close_call();
        if let Some(usage) = end.usage {
            if let Some(called) = &mut self.called {
                called.usage = usage;
            }
            self.receipt.usage += usage;
            self.receipt.unreported = self.receipt.unreported.saturating_sub(1);
        }
        self.receipt.finish = Some(end.finish);
        self.receipt.id = end.id.map(Into::into);
        self.receipt.thoughts = end.thoughts;
        self.receipt.diagnosis = end.diagnosis;
        self.receipt.batch = end.batch;
    }

    /// Records that the attempt with the last call failed. The call itself may have ended before.
    fn call_failed(&mut self, error: &str) {
        self.close_call();
        if let Some(call) = self.receipt.call_times.last_mut() {
            // An attempt without a call says nothing about the call of an earlier one.
            call.error.get_or_insert_with(|| error.into());
        }
    }

    fn close_call(&mut self) {
        if let Some(begin) = self.open.take() {
            let [after, ms] = [begin - self.started, begin.elapsed()].map(millis);
            self.receipt.call_times.push(CallTime { after, ms, error: None });
        }
    }

    fn build(mut self, attempts: usize) -> Receipt {
        self.close_call();
        // A single call has the times of the cell.
        if self.receipt.call_times.len() < 2 {
            self.receipt.call_times = Vec::new();
        }
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        Receipt { attempts, ms: millis(self.started.elapsed()), ..self.receipt }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
