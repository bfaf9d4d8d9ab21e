//! The spans of a run and of the cells, and what all spans have in common: an outcome, which is recorded at the end.

use std::borrow::Cow;
use std::error::Error as StdError;

use tracing::field::Empty;
use tracing::span::EnteredSpan;
use tracing::{Span, info_span, warn};

use super::{content, names};
use crate::compute::error_class::class;
use crate::declare::Name;

/// An open span. When the span is dropped, the outcome is recorded.
pub(super) struct OpenSpan {
    pub(super) span: Span,
    /// `None` until the outcome is known. A span that is dropped before was cancelled.
    pub(super) outcome: Option<&'static str>,
}

impl OpenSpan {
    pub(super) fn new(span: Span) -> Self {
        Self { span, outcome: None }
    }

    /// Makes the span the current one until the guard is dropped.
    pub(super) fn enter(&self) -> EnteredSpan {
        // An owned guard: the holder of this span is polled mutably between entering and leaving the span.
        self.span.clone().entered()
    }

    /// `known` overrides the class that the error's causes show. The text of an error may quote the conversation, so that text
    /// is recorded only if content is captured.
    pub(super) fn failed(&mut self, error: &(dyn StdError + 'static), known: Option<&'static str>) {
        self.outcome = Some(names::FAILED);
        // Without a subscriber the error is not formatted.
        if self.span.is_disabled() {
            return;
        }
        self.span.record(names::OTEL_STATUS, "error");
        self.span.record(names::ERROR_TYPE, known.map_or_else(|| class(error), Cow::Borrowed).as_ref());
        if content::is_captured() {
            self.span.record(names::ERROR_TEXT, error.to_string());
        }
    }
}

impl Default for OpenSpan {
    fn default() -> Self {
        Self::new(Span::none())
    }
}

impl Drop for OpenSpan {
    fn drop(&mut self) {
        self.span.record(names::OUTCOME, self.outcome.unwrap_or(names::CANCELLED));
    }
}

/// The span of a run.
#[derive(Default)]
pub(crate) struct RunSpan {
    open: OpenSpan,
    stored: usize,
    skipped: usize,
    failed: usize,
}

impl RunSpan {
    pub(crate) fn begin() -> Self {
        let span = info_span!(
            target: names::TARGET,
            names::RUN,
            { names::CELLS_STORED } = Empty,
            { names::CELLS_SKIPPED } = Empty,
            { names::CELLS_FAILED } = Empty,
            { names::OUTCOME } = Empty,
            { names::ERROR_TYPE } = Empty,
            { names::ERROR_TEXT } = Empty,
            { names::OTEL_STATUS } = Empty,
        );
        Self { open: OpenSpan::new(span), ..Self::default() }
    }

    pub(crate) fn enter(&self) -> EnteredSpan {
        self.open.enter()
    }

    pub(crate) fn stored(&mut self, is_skipped: bool) {
        *(if is_skipped { &mut self.skipped } else { &mut self.stored }) += 1;
    }

    pub(crate) fn cell_failed(&mut self) {
        self.failed += 1;
    }

    /// The run will end with this error.
    pub(crate) fn failed(&mut self, error: &(dyn StdError + 'static), class: Option<&'static str>) {
        self.open.failed(error, class);
    }

    /// The run is complete.
    pub(crate) fn done(mut self) {
        // A run may have failed before the end, and that outcome stays.
        self.open.outcome.get_or_insert(names::OK);
    }
}

impl Drop for RunSpan {
    fn drop(&mut self) {
        let span = &self.open.span;
        span.record(names::CELLS_STORED, self.stored);
        span.record(names::CELLS_SKIPPED, self.skipped);
        span.record(names::CELLS_FAILED, self.failed);
    }
}

/// The span of a cell, from the first attempt to the store.
#[derive(Default)]
pub(crate) struct CellSpan {
    open: OpenSpan,
    attempts: usize,
}

impl CellSpan {
    /// A child of the current span, which is the span of the run.
    pub(crate) fn new(column: &Name, step: usize) -> Self {
        let span = info_span!(
            target: names::TARGET,
            names::CELL,
            { names::COLUMN } = column.as_str(),
            { names::STEP } = step,
            { names::ATTEMPTS } = Empty,
            { names::OUTCOME } = Empty,
            { names::ERROR_TYPE } = Empty,
            { names::ERROR_TEXT } = Empty,
            { names::OTEL_STATUS } = Empty,
        );
        Self { open: OpenSpan::new(span), attempts: 0 }
    }

    pub(crate) fn enter(&self) -> EnteredSpan {
        self.open.enter()
    }

    /// An attempt begins, counted from 1.
    pub(crate) fn attempt(&mut self, attempt: usize) {
        self.attempts = attempt;
    }

    /// An attempt failed, and another one follows. Called while this span is entered.
    #[expect(clippy::unused_self, reason = "the event belongs to this span")]
    pub(crate) fn retry(&self, attempt: usize, error: &(dyn StdError + 'static)) {
        // The event has no explicit parent: if a filter drops the span of the cell, the event is in the span around.
        warn!(
            target: names::TARGET,
            {
                { names::ATTEMPT } = attempt,
                { names::ERROR_TYPE } = &*class(error),
                { names::ERROR_TEXT } = content::is_captured().then(|| error.to_string()),
            },
            "an attempt failed, and another one follows",
        );
    }

    /// The cell could not be computed or stored. If the column skips failed cells, this one is stored as skipped
    /// afterwards.
    pub(crate) fn failed(&mut self, error: &(dyn StdError + 'static), class: Option<&'static str>) {
        self.open.failed(error, class);
    }

    pub(crate) fn stored(&mut self, is_skipped: bool) {
        self.open.outcome = Some(if is_skipped { names::SKIPPED } else { names::OK });
    }
}

impl Drop for CellSpan {
    fn drop(&mut self) {
        // This runs before the drop of `open`, which records the outcome and closes the span.
        self.open.span.record(names::ATTEMPTS, self.attempts);
    }
}
