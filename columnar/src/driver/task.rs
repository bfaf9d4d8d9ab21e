//! One cell: computed, in as many attempts as its column makes, then stored.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Poller, Poll, ready};

use futures::Stream;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, StreamExt};

use crate::compute::{Kind, Piece, Step};
use crate::context::Context;
use crate::error::{BoxError, Error};
use crate::name::Name;
use crate::scheduler::Cell;
use crate::state::Shared;
use crate::store::Put;
use crate::value::Value;

/// What a task tells: deltas and retries, then one of the other two, then nothing.
pub(super) enum Report {
    Delta { text: String },
    Retry { attempt: usize, error: String },
    Stored { value: Value },
    Failed { error: Error },
}

pub(super) struct Task<'a> {
    cell: Cell,
    column: Name,
    /// Which attempt goes on, counted from 1.
    attempt: usize,
    stage: Stage<'a>,
    shared: Arc<Shared>,
}

enum Stage<'a> {
    Fresh { step: Step<'a>, context: Context },
    Whole(BoxFuture<'a, Result<Value, BoxError>>),
    Pieces { pieces: BoxStream<'a, Result<Piece, BoxError>>, text: String },
    Computed(Value),
    Storing { value: Value, put: BoxFuture<'static, Result<Put, BoxError>> },
    Refused(Error),
    Over,
}

impl<'a> Task<'a> {
    /// A task that will compute the cell.
    pub(super) fn new(cell: Cell, step: Step<'a>, context: Context, shared: Arc<Shared>) -> Self {
        let column = context.column().clone();
        Self { cell, column, attempt: 1, stage: Stage::Fresh { step, context }, shared }
    }

    /// A task that tells why the cell cannot be computed.
    pub(super) fn refused(cell: Cell, column: Name, error: Error, shared: Arc<Shared>) -> Self {
        Self { cell, column, attempt: 1, stage: Stage::Refused(error), shared }
    }

    fn poll(&mut self, poller: &mut Poller<'_>) -> Poll<Option<Report>> {
        loop {
            match &mut self.stage {
                Stage::Fresh { .. } => self.start(),
                Stage::Whole(text) => match ready!(text.poll_unpin(poller)) {
                    Ok(value) => self.stage = Stage::Computed(value),
                    Err(source) => return Poll::Ready(Some(self.fail_computing(source))),
                },
                Stage::Pieces { pieces, .. } => {
                    let piece = ready!(pieces.poll_next_unpin(poller));
                    if let Some(report) = self.hear(piece) {
                        return Poll::Ready(Some(report));
                    }
                }
                Stage::Computed(value) => {
                    let value = value.clone();
                    let put = self.shared.put(self.column.clone(), self.cell.step, value.clone());
                    self.stage = Stage::Storing { value, put };
                }
                Stage::Storing { value, put } => {
                    let value = match ready!(put.poll_unpin(poller)) {
                        Ok(Put::Stored) => value.clone(),
                        Ok(Put::Exists(stored)) => stored,
                        Err(source) => {
                            let (column, step) = (self.column.clone(), self.cell.step);
                            return Poll::Ready(Some(self.fail(Error::Store { column, step, source })));
                        }
                    };
                    self.stage = Stage::Over;
                    return Poll::Ready(Some(Report::Stored { value }));
                }
                Stage::Refused(_) | Stage::Over => {
                    return Poll::Ready(match mem::replace(&mut self.stage, Stage::Over) {
                        Stage::Refused(error) => Some(Report::Failed { error }),
                        _ => None,
                    });
                }
            }
        }
    }

    fn start(&mut self) {
        // The stage is over while the step is called, so that a step that panics is not called again.
        if let Stage::Fresh { step, context } = mem::replace(&mut self.stage, Stage::Over) {
            self.stage = match step.start(context).0 {
                Kind::Whole(text) => Stage::Whole(text),
                Kind::Pieces(pieces) => Stage::Pieces { pieces, text: String::new() },
            };
        }
    }

    /// Takes in what became known of the text, and returns what there is to tell.
    fn hear(&mut self, piece: Option<Result<Piece, BoxError>>) -> Option<Report> {
        let Stage::Pieces { text, .. } = &mut self.stage else { return None };
        match piece {
            Some(Ok(Piece::Text(more))) => {
                text.push_str(&more);
                return (!more.is_empty()).then_some(Report::Delta { text: more });
            }
            Some(Ok(Piece::Retry { attempt, error })) => {
                text.clear();
                self.attempt = attempt + 1;
                return Some(Report::Retry { attempt, error: error.to_string() });
            }
            Some(Ok(Piece::Whole(value))) => self.stage = Stage::Computed(value),
            Some(Err(source)) => return Some(self.fail_computing(source)),
            None => self.stage = Stage::Computed(mem::take(text).into()),
        }
        None
    }

    fn fail_computing(&mut self, source: BoxError) -> Report {
        let (column, step, attempt) = (self.column.clone(), self.cell.step, self.attempt);
        self.fail(Error::Compute { column, step, attempt, source })
    }

    fn fail(&mut self, error: Error) -> Report {
        self.stage = Stage::Over;
        Report::Failed { error }
    }
}

impl Stream for Task<'_> {
    type Item = (Cell, Report);

    /// A panic in a compute step, when it is called, polled or dropped, is an error of its cell alone.
    fn poll_next(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<Option<Self::Item>> {
        let cell = self.cell;
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll(poller)));
        let report = polled.unwrap_or_else(|payload| {
            let stage = mem::replace(&mut self.stage, Stage::Over);
            // What is left may panic too, and says nothing that may be shown.
            let _ = catch_unwind(AssertUnwindSafe(|| drop((payload, stage))));
            let (column, step) = (self.column.clone(), self.cell.step);
            Poll::Ready(Some(Report::Failed { error: Error::Panicked { column, step } }))
        });
        report.map(|report| Some((cell, report?)))
    }
}
