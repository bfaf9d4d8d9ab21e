//! A flow as a report sees it: the facts of all cells, and the requests as edits.

use std::ops::Range;
use std::sync::Arc;

use super::edits::{EditPiece, edit};
use crate::context::Messages;
use crate::declare::default_limits::{AUDITED_STEPS, REPORTED_PARTS, REPORTED_STEPS};
use crate::declare::{ColumnOutline, Outline};
use crate::history::SkipReason;
use crate::model::cache::{AuditedCall, CacheAudit, StablePrefix};
use crate::model::usage::{Bill, Receipt};
use crate::run::reopen::views;
use crate::run::{CellState, Error, Result, SharedFlow};
use crate::schedule::Cell;

/// A flow as a report sees it.
pub(super) struct ReportedFlow<'f> {
    shared: &'f SharedFlow,
    pub(super) outline: Outline,
    /// The views of each column, as `flow!` has them.
    pub(super) views: Vec<Vec<String>>,
    pub(super) bill: Bill,
    /// `None` if the flow is too long: an audit assembles the contexts of all calls.
    pub(super) audit: Option<CacheAudit>,
    pub(super) steps: usize,
    /// The steps that the page shows also without a script.
    pub(super) shown: Range<usize>,
    /// The first step whose requests the page has.
    pub(super) first_request: usize,
}

/// A cell with all that the page shows of it.
pub(super) struct ReportedCell<'r> {
    pub(super) cell: Cell,
    pub(super) state: CellState,
    pub(super) receipt: Option<Arc<Receipt>>,
    /// `None` for a source, and for a cell that was skipped before anything was computed.
    pub(super) request: Option<Result<ReportedRequest<'r>, &'r Error>>,
    pub(super) audited: Option<&'r AuditedCall>,
}

/// The request of a cell, as it was sent, or will be.
pub(super) struct ReportedRequest<'r> {
    pub(super) sent: &'r SentRequest,
    /// The request of the column before, of which this one is an edit.
    pub(super) before: Option<&'r SentRequest>,
    pub(super) pieces: Vec<EditPiece<'r>>,
    /// The beginning that the next request repeats.
    pub(super) stable: StablePrefix,
}

pub(super) struct SentRequest {
    pub(super) step: usize,
    pub(super) messages: Messages,
    pub(super) system: String,
}

impl<'r> ReportedRequest<'r> {
    fn new(sent: &'r SentRequest, before: Option<&'r SentRequest>) -> Self {
        let pieces = edit(before.map(|before| &before.messages), &sent.messages);
        Self { sent, before, pieces, stable: StablePrefix::of(&sent.messages) }
    }
}

impl<'f> ReportedFlow<'f> {
    pub(super) fn new(shared: &'f SharedFlow) -> Self {
        let (_, steps) = shared.rows();
        let plan = Arc::clone(&shared.lock().plan);
        let schema = plan.schema();
        let columns = 0..schema.columns().len();
        let reads =
            columns.map(|column| schema.reads(column).map_or_else(Vec::new, |reads| views(reads, &[])));
        let bill = shared.lock().bill();
        Self {
            shared,
            outline: shared.outline(),
            views: reads.collect(),
            bill,
            audit: None,
            steps,
            shown: steps.saturating_sub(REPORTED_STEPS)..steps,
            first_request: steps,
        }
    }

    /// The same with the requests and the audit, for which contexts are assembled.
    pub(super) fn with_requests(self) -> Self {
        let audit = (self.steps <= AUDITED_STEPS).then(|| self.shared.audit());
        Self { first_request: self.first_request(), audit, ..self }
    }

    /// The first step whose requests are in the page, if all requests were as long as the last ones. The first request
    /// that the page shows without a script is an edit of one before.
    fn first_request(&self) -> usize {
        let columns = 0..self.outline.columns.len();
        let parts: usize =
            columns.filter_map(|column| Some(self.last_request(column)?.messages.parts().count())).sum();
        let steps = REPORTED_PARTS / parts.max(1);
        self.steps.saturating_sub(steps).min(self.shown.start.saturating_sub(1))
    }

    fn last_request(&self, column: usize) -> Option<SentRequest> {
        self.shown.clone().rev().find_map(|step| {
            let cell = Cell { column, step };
            self.request(cell, &self.state(cell))?.ok()
        })
    }

    pub(super) fn column(&self, column: usize) -> Option<&ColumnOutline> {
        self.outline.columns.get(column)
    }

    /// The column of this name; the columns of the page have numbers.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.outline.columns.iter().position(|column| column.name == *name)
    }

    pub(super) fn state(&self, cell: Cell) -> CellState {
        self.shared.lock().cell(cell)
    }

    pub(super) fn receipt(&self, cell: Cell) -> Option<Arc<Receipt>> {
        self.shared.lock().receipt(cell)
    }

    /// The steps of each column that a cell waits for.
    pub(super) fn needed(&self, cell: Cell) -> Vec<(usize, Range<usize>)> {
        self.shared.lock().scheduler.needed(cell).collect()
    }

    /// Shows the cells of a column, by step. The request before is held meanwhile, and no older one.
    pub(super) fn visit(&self, column: usize, mut visitor: impl FnMut(&ReportedCell<'_>)) {
        let name = self.column(column).map(|column| &column.name);
        let calls = self.audit.iter().flat_map(|audit| &audit.calls);
        let mut calls = calls.filter(|call| Some(&call.column) == name).peekable();
        let mut before: Option<SentRequest> = None;
        for step in 0..self.steps {
            let cell = Cell { column, step };
            let state = self.state(cell);
            let request = if step < self.first_request { None } else { self.request(cell, &state) };
            let sent = request.as_ref().map(|request| request.as_ref());
            // By itself: a lock in the call below would be held while the visitor runs.
            let receipt = self.receipt(cell);
            visitor(&ReportedCell {
                cell,
                receipt,
                request: sent.map(|sent| sent.map(|sent| ReportedRequest::new(sent, before.as_ref()))),
                audited: calls.next_if(|call| call.step == step),
                state,
            });
            before = request.and_then(Result::ok).or(before);
        }
    }

    fn request(&self, cell: Cell, state: &CellState) -> Option<Result<SentRequest>> {
        self.column(cell.column)?.pattern?;
        if matches!(state, CellState::Skipped(reason) if !matches!(reason, Some(SkipReason::Failed(_)))) {
            return None;
        }
        let Cell { column, step } = cell;
        Some(self.shared.messages(column, step).map(|messages| {
            let instruction = self.shared.instruction(column).unwrap_or_default();
            SentRequest { step, system: messages.system(&instruction), messages }
        }))
    }
}
