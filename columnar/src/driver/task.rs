//! One attempt at one cell: computed, then stored.

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Poller, Poll, ready};

use futures::Stream;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, StreamExt};

use crate::compute::{Kind, Reply};
use crate::error::{BoxError, Error};
use crate::name::Name;
use crate::scheduler::Cell;
use crate::state::Shared;
use crate::store::Put;
use crate::value::Value;

/// What a task tells: deltas, then one of the other two, then nothing.
pub(super) enum Report {
    Delta { text: String },
    Stored { value: Value },
    Failed { error: Error },
}

pub(super) struct Task<'a> {
    pub(super) cell: Cell,
    pub(super) column: Name,
    stage: Stage<'a>,
    shared: Arc<Shared>,
}

enum Stage<'a> {
    Whole(BoxFuture<'a, Result<Value, BoxError>>),
    Deltas { pieces: BoxStream<'a, Result<String, BoxError>>, text: String },
    Storing { value: Value, put: BoxFuture<'static, Result<Put, BoxError>> },
    Over,
}

impl<'a> Task<'a> {
    pub(super) fn new(cell: Cell, column: Name, reply: Reply<'a>, shared: Arc<Shared>) -> Self {
        let stage = match reply.0 {
            Kind::Whole(text) => Stage::Whole(text),
            Kind::Deltas(pieces) => Stage::Deltas { pieces, text: String::new() },
        };
        Self { cell, column, stage, shared }
    }

    fn store(&mut self, value: Value) {
        let put = self.shared.put(self.column.clone(), self.cell.step, value.clone());
        self.stage = Stage::Storing { value, put };
    }

    fn fail(&mut self, error: impl FnOnce(Name, usize) -> Error) -> Report {
        self.stage = Stage::Over;
        Report::Failed { error: error(self.column.clone(), self.cell.step) }
    }

    fn fail_computing(&mut self, source: BoxError) -> Report {
        self.fail(|column, step| Error::Compute { column, step, source })
    }
}

impl Stream for Task<'_> {
    type Item = (Cell, Report);

    fn poll_next(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<Option<Self::Item>> {
        let report = loop {
            match &mut self.stage {
                Stage::Whole(text) => match ready!(text.poll_unpin(poller)) {
                    Ok(value) => self.store(value),
                    Err(source) => break self.fail_computing(source),
                },
                Stage::Deltas { pieces, text } => match ready!(pieces.poll_next_unpin(poller)) {
                    Some(Ok(piece)) if piece.is_empty() => {}
                    Some(Ok(piece)) => {
                        text.push_str(&piece);
                        break Report::Delta { text: piece };
                    }
                    Some(Err(source)) => break self.fail_computing(source),
                    None => {
                        let value = mem::take(text).into();
                        self.store(value);
                    }
                },
                Stage::Storing { value, put } => match ready!(put.poll_unpin(poller)) {
                    Ok(put) => {
                        let value = match put {
                            Put::Stored => value.clone(),
                            Put::Exists(stored) => stored,
                        };
                        self.stage = Stage::Over;
                        break Report::Stored { value };
                    }
                    Err(source) => break self.fail(|column, step| Error::Store { column, step, source }),
                },
                Stage::Over => return Poll::Ready(None),
            }
        };
        Poll::Ready(Some((self.cell, report)))
    }
}
