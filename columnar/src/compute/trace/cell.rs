//! The span of a cell, from the first attempt to the store.

use std::error::Error as StdError;

use tracing::field::Empty;
use tracing::span::EnteredSpan;
use tracing::{info_span, warn};

use super::open::{OpenSpan, Outcome};
use super::{content, failure, names};
use crate::declare::Name;
use crate::store::Entry;

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
                { names::ERROR_TYPE } = &*failure::class(error),
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

    pub(crate) fn stored(mut self, entry: &Entry) {
        self.open.set_outcome(if entry.is_skipped() { Outcome::Skipped } else { Outcome::Ok });
    }
}

impl Drop for CellSpan {
    fn drop(&mut self) {
        // This runs before the drop of `open`, which records the outcome and closes the span.
        self.open.span().record(names::ATTEMPTS, self.attempts);
    }
}
