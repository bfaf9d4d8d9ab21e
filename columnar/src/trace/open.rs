//! A span that is open. When it is dropped it tells how it ended, which is `cancelled` unless
//! something else was said.

use std::error::Error as StdError;

use tracing::Span;
use tracing::span::EnteredSpan;

use super::{failure, names};

pub(super) struct Open {
    span: Span,
    outcome: Outcome,
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    Failed,
    Skipped,
    Cancelled,
}

impl Open {
    pub(super) fn new(span: Span) -> Self {
        Self { span, outcome: Outcome::Cancelled }
    }

    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// Whoever is asked for a span until the guard is dropped gives this one.
    pub(super) fn enter(&self) -> EnteredSpan {
        self.span.clone().entered()
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.outcome
    }

    pub(super) fn ends(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }

    /// `class` is that of the error where its causes do not show it.
    pub(super) fn failed(&mut self, error: &(dyn StdError + 'static), class: Option<&'static str>) {
        self.outcome = Outcome::Failed;
        failure::tell(&self.span, error, class);
    }
}

impl Default for Open {
    fn default() -> Self {
        Self::new(Span::none())
    }
}

impl Drop for Open {
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
