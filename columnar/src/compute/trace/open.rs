//! An open span. When the span is dropped, the outcome is recorded: `cancelled`, unless another one was set.

use std::error::Error as StdError;

use tracing::Span;
use tracing::span::EnteredSpan;

use super::{failure, names};

pub(super) struct OpenSpan {
    span: Span,
    outcome: Outcome,
}

/// The outcome of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    Failed,
    Skipped,
    Cancelled,
}

impl OpenSpan {
    pub(super) fn new(span: Span) -> Self {
        Self { span, outcome: Outcome::Cancelled }
    }

    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// Makes the span the current one until the guard is dropped.
    pub(super) fn enter(&self) -> EnteredSpan {
        // An owned guard: the holder of this span is polled mutably between entering and leaving the span.
        self.span.clone().entered()
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.outcome
    }

    pub(super) fn set_outcome(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }

    /// `class` overrides the class that the error's causes show.
    pub(super) fn failed(&mut self, error: &(dyn StdError + 'static), class: Option<&'static str>) {
        self.outcome = Outcome::Failed;
        failure::record(&self.span, error, class);
    }
}

impl Default for OpenSpan {
    fn default() -> Self {
        Self::new(Span::none())
    }
}

impl Drop for OpenSpan {
    fn drop(&mut self) {
        let outcome = match self.outcome {
            Outcome::Ok => "ok",
            Outcome::Failed => "failed",
            Outcome::Skipped => "skipped",
            Outcome::Cancelled => "cancelled",
        };
        self.span.record(names::OUTCOME, outcome);
    }
}
