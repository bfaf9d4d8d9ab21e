//! A context under its budget.

use std::ops::Range;

use super::shown::Shown;
use super::turns::Places;
use crate::context::budget::{Cut, Limit, MarkerTokens, Report, Standing, Strategy, Turns, marker};

/// What is left out of a context, and what is said of it.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) report: Report,
    /// The places of the turns that are left out.
    pub(super) elided: Range<usize>,
    /// What was left out of the context before, where a cut stays.
    before: Range<usize>,
    /// What is most likely left out of the next one.
    pub(super) next: Range<usize>,
    /// Whether the next one is cut another way for certain.
    pub(super) changes: bool,
    /// What stands for them, if anything does, and its tokens.
    pub(super) marker: Option<(String, usize)>,
}

impl Fitted {
    /// `standing` remembers the cuts of a column whose cuts stay.
    pub(crate) fn new(shown: &Shown, limit: &Limit, standing: Option<&mut Standing>) -> Self {
        let (step, around) = (shown.step, &shown.around);
        let marker_tokens: MarkerTokens<'_> = &|gone| around.counter.count(&marker(gone)) + around.gap;
        let turns = Places::at(shown, step);
        let fit = |at, before: &Cut| limit.fit(&Places::at(shown, at), before, marker_tokens);
        let (before, cut) = match standing {
            Some(standing) => {
                let mut at = |step| standing.at(step, limit, |step| Places::at(shown, step), marker_tokens);
                let before = step.checked_sub(1).map(&mut at).unwrap_or_default();
                (Some(before.elided), at(step))
            }
            None => (None, fit(step, &Cut::default())),
        };
        // A cut that does not stay is another one in each context.
        let changes = before.is_none() && !cut.elided.is_empty();
        let next = if changes { cut.elided.start..usize::MAX } else { fit(step + 1, &cut).elided };
        let gone = turns.sum(cut.elided.clone());
        let report = Report {
            strategy: limit.strategy,
            limit: limit.tokens,
            before: turns.all().tokens,
            after: limit.left(&turns, &cut.elided, marker_tokens),
            turns: gone.count,
            kept_fewer: cut.kept_fewer && gone.count > 0,
        };
        let marks = limit.strategy == Strategy::TruncateMiddle && gone.count > 0;
        let marker = marks.then(|| (marker(gone), marker_tokens(gone)));
        let before = before.unwrap_or_default();
        Self { report, elided: cut.elided, before, next, changes, marker }
    }

    /// The same for the context before.
    pub(super) fn previous(&self) -> Self {
        let elided = self.before.clone();
        let marker = self.marker.clone().filter(|_| !elided.is_empty());
        Self { next: elided.clone(), elided, before: 0..0, changes: false, marker, ..self.clone() }
    }
}
