//! The facts of all cells for a page, and the requests of the last steps.

use std::ops::Range;
use std::sync::Arc;

use crate::context::Messages;
use crate::declare::default_limits::{AUDITED_STEPS, REPORTED_STEPS};
use crate::declare::{ColumnOutline, Outline};
use crate::history::SkipReason;
use crate::model::cache::{AuditedCall, CacheAudit};
use crate::model::usage::{Bill, Receipt};
use crate::run::reopen::views;
use crate::run::{CellState, Result, SharedFlow};
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
    /// The steps that are shown in full.
    pub(super) shown: Range<usize>,
}

/// The request of a cell, as it was sent, or will be.
pub(super) struct ReportedRequest {
    pub(super) step: usize,
    pub(super) messages: Messages,
    pub(super) system: String,
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
            audit: (steps <= AUDITED_STEPS).then(|| shared.audit()),
            steps,
            shown: steps.saturating_sub(REPORTED_STEPS)..steps,
        }
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

    pub(super) fn audited(&self, cell: Cell) -> Option<&AuditedCall> {
        let name = &self.column(cell.column)?.name;
        let calls = &self.audit.as_ref()?.calls;
        calls.iter().find(|call| call.step == cell.step && call.column == *name)
    }

    /// The request of a cell; `None` for a source, and for a cell that was skipped before anything was computed.
    pub(super) fn request(&self, cell: Cell, state: &CellState) -> Option<Result<ReportedRequest>> {
        self.column(cell.column)?.pattern?;
        if matches!(state, CellState::Skipped(reason) if !matches!(reason, Some(SkipReason::Failed(_)))) {
            return None;
        }
        let Cell { column, step } = cell;
        Some(self.shared.messages(column, step).map(|messages| {
            let instruction = self.shared.instruction(column).unwrap_or_default();
            ReportedRequest { step, system: messages.system(&instruction), messages }
        }))
    }

    /// The last request of a column before the steps that are shown.
    pub(super) fn request_before(&self, column: usize) -> Option<ReportedRequest> {
        (0..self.shown.start).rev().find_map(|step| {
            let cell = Cell { column, step };
            self.request(cell, &self.state(cell))?.ok()
        })
    }
}
