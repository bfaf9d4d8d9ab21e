//! The span of a run.

use std::error::Error as StdError;

use tracing::field::Empty;
use tracing::info_span;
use tracing::span::EnteredSpan;

use super::names;
use super::open::{OpenSpan, Outcome};
use crate::store::Entry;

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

    pub(crate) fn stored(&mut self, entry: &Entry) {
        *(if entry.is_skipped() { &mut self.skipped } else { &mut self.stored }) += 1;
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
        if self.open.outcome() == Outcome::Cancelled {
            self.open.set_outcome(Outcome::Ok);
        }
    }
}

impl Drop for RunSpan {
    fn drop(&mut self) {
        let span = self.open.span();
        span.record(names::CELLS_STORED, self.stored);
        span.record(names::CELLS_SKIPPED, self.skipped);
        span.record(names::CELLS_FAILED, self.failed);
    }
}
