//! One cell while it is computed, in as many attempts as its column makes.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Poller, Poll, ready};

use futures::Stream;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, StreamExt};
use tokio::time::Instant;

use super::Error;
use super::warm_up::Lead;
use crate::compute::{Context, Kind, Piece, Step};
use crate::declare::Name;
use crate::error::BoxError;
use crate::history::Value;
use crate::model::End;
use crate::schedule::Cell;
use crate::trace::CellSpan;
use crate::usage::Receipt;

/// What is told of a computation: deltas and retries, then one of the others, then nothing.
pub(super) enum Report {
    Delta { text: String },
    Retry { attempt: usize, error: String },
    Computed { value: Value, end: Ended },
    Skipped { end: Ended },
    Failed { error: Error, end: Ended },
}

/// What is left of a computation that is over.
pub(super) struct Ended {
    pub(super) span: CellSpan,
    /// What it cost, where a model was asked.
    pub(super) receipt: Option<Receipt>,
}

pub(super) struct Computing<'a> {
    cell: Cell,
    column: Name,
    /// Which attempt goes on, counted from 1.
    attempt: usize,
    stage: Stage<'a>,
    lead: Lead,
    /// Goes along with the report of how it ended.
    span: CellSpan,
    /// What it has cost so far, where a model was asked.
    tab: Option<Box<ReceiptBuilder>>,
}

enum Stage<'a> {
    Fresh { step: Step<'a>, context: Context },
    Whole(BoxFuture<'a, Result<Value, BoxError>>),
    Pieces { pieces: BoxStream<'a, Result<Piece, BoxError>>, text: String },
    Refused(Error),
    Over,
}

impl<'a> Computing<'a> {
    pub(super) fn new(cell: Cell, step: Step<'a>, context: Context, lead: Lead) -> Self {
        let column = context.column().clone();
        let span = CellSpan::new(&column, cell.step);
        Self { cell, column, attempt: 1, stage: Stage::Fresh { step, context }, lead, span, tab: None }
    }

    /// A cell that fails without being asked.
    pub(super) fn refused(cell: Cell, column: Name, error: Error) -> Self {
        let span = CellSpan::new(&column, cell.step);
        let (stage, lead) = (Stage::Refused(error), Lead::default());
        Self { cell, column, attempt: 1, stage, lead, span, tab: None }
    }

    /// Whether there is nothing more to come.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    fn poll(&mut self, poller: &mut Poller<'_>) -> Poll<Option<Report>> {
        loop {
            let report = match &mut self.stage {
                Stage::Fresh { .. } => {
                    ready!(self.lead.poll(poller));
                    self.start();
                    continue;
                }
                Stage::Whole(text) => match ready!(text.poll_unpin(poller)) {
                    Ok(value) => self.end(value),
                    Err(source) => self.fail(source),
                },
                Stage::Pieces { pieces, .. } => {
                    let piece = ready!(pieces.poll_next_unpin(poller));
                    match self.hear(piece) {
                        Some(report) => report,
                        None => continue,
                    }
                }
                Stage::Refused(_) => match mem::replace(&mut self.stage, Stage::Over) {
                    Stage::Refused(error) => self.failed(error),
                    _ => unreachable!("it was just there"),
                },
                Stage::Over => return Poll::Ready(None),
            };
            return Poll::Ready(Some(report));
        }
    }

    fn start(&mut self) {
        // The stage is over while the step is called, so that a step that panics is not called again.
        if let Stage::Fresh { step, context } = mem::replace(&mut self.stage, Stage::Over) {
            self.span.attempt(self.attempt);
            self.stage = match step.start(context).0 {
                Kind::Whole(text) => Stage::Whole(text),
                Kind::Pieces(pieces) => Stage::Pieces { pieces, text: String::new() },
            };
        }
    }

    /// Takes in what became known of the text, and returns what there is to tell.
    fn hear(&mut self, piece: Option<Result<Piece, BoxError>>) -> Option<Report> {
        let Stage::Pieces { text, .. } = &mut self.stage else { return None };
        Some(match piece {
            Some(Ok(Piece::Text(more))) => {
                self.lead.answered();
                text.push_str(&more);
                return (!more.is_empty()).then_some(Report::Delta { text: more });
            }
            Some(Ok(Piece::Asked(model))) => {
                self.tab.get_or_insert_default().asked(model);
                return None;
            }
            Some(Ok(Piece::Answered(end))) => {
                self.tab.get_or_insert_default().answered(*end);
                return None;
            }
            Some(Ok(Piece::Retry { attempt, error })) => {
                text.clear();
                self.attempt = attempt + 1;
                self.span.retry(attempt, &*error);
                self.span.attempt(self.attempt);
                Report::Retry { attempt, error: error.to_string() }
            }
            Some(Ok(Piece::Whole(value))) => self.end(value),
            Some(Ok(Piece::Skip)) => self.skip(),
            Some(Err(source)) => self.fail(source),
            None => {
                let value = mem::take(text).into();
                self.end(value)
            }
        })
    }

    fn end(&mut self, value: Value) -> Report {
        self.stage = Stage::Over;
        self.lead.answered();
        Report::Computed { value, end: self.ended() }
    }

    fn skip(&mut self) -> Report {
        self.stage = Stage::Over;
        // Who has not asked leads nobody.
        self.lead = Lead::default();
        Report::Skipped { end: self.ended() }
    }

    fn ended(&mut self) -> Ended {
        let receipt = self.tab.take().map(|tab| tab.receipt(self.attempt));
        Ended { span: mem::take(&mut self.span), receipt }
    }

    fn fail(&mut self, source: BoxError) -> Report {
        self.stage = Stage::Over;
        let (column, step, attempt) = (self.column.clone(), self.cell.step, self.attempt);
        self.failed(Error::Compute { column, step, attempt, source })
    }

    fn failed(&mut self, error: Error) -> Report {
        // Who fails leads nobody, so another one goes first.
        self.lead = Lead::default();
        let mut end = self.ended();
        end.span.failed(&error, error.class());
        Report::Failed { error, end }
    }
}

impl Stream for Computing<'_> {
    type Item = (Cell, Report);

    /// A panic in a compute step, when it is called, polled or dropped, is an error of its cell alone.
    fn poll_next(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<Option<Self::Item>> {
        let cell = self.cell;
        let _entered = self.span.enter();
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll(poller)));
        let report = polled.unwrap_or_else(|payload| {
            let stage = mem::replace(&mut self.stage, Stage::Over);
            // What is left may panic too, and says nothing that may be shown.
            let _ = catch_unwind(AssertUnwindSafe(|| drop((payload, stage))));
            let (column, step) = (self.column.clone(), self.cell.step);
            Poll::Ready(Some(self.failed(Error::Panicked { column, step })))
        });
        report.map(|report| Some((cell, report?)))
    }
}

impl Drop for Computing<'_> {
    /// What a compute tells while it is dropped belongs to its cell, too.
    fn drop(&mut self) {
        let _entered = self.span.enter();
        self.stage = Stage::Over;
    }
}

/// What has been asked and answered for one cell.
struct ReceiptBuilder {
    began: Instant,
    receipt: Receipt,
}

impl Default for ReceiptBuilder {
    fn default() -> Self {
        Self { began: Instant::now(), receipt: Receipt::default() }
    }
}

impl ReceiptBuilder {
    /// A call begins. It has not told what it cost until it ends.
    fn asked(&mut self, model: Arc<str>) {
        self.receipt.model = Some(model);
        self.receipt.calls += 1;
        self.receipt.unreported += 1;
    }

    /// The call that began last is over.
    fn answered(&mut self, end: End) {
        if let Some(usage) = end.usage {
            self.receipt.usage += usage;
            self.receipt.unreported = self.receipt.unreported.saturating_sub(1);
        }
        self.receipt.id = end.id.map(Into::into);
    }

    /// All of it, after so many attempts.
    fn receipt(self, attempts: usize) -> Receipt {
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Receipt { attempts, ms, ..self.receipt }
    }
}
