//! A context under its budget.

use alloc::string::String;
use core::ops::Range;

use super::shown::Shown;
use super::turns::Places;
use crate::budget::{Cut, Limit, MarkerTokens, Report, Standing, Strategy, Turns, marker};

/// What is left out of a context, and what is said of it.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) report: Report,
    /// The places of the turns that are left out.
    pub(super) elided: Range<usize>,
    /// What was left out of the context before, as far as it makes a difference.
    before: Range<usize>,
    /// What is most likely left out of the next one.
    pub(super) next: Range<usize>,
    /// What stands for them, if anything does, and its tokens.
    pub(super) marker: Option<(String, usize)>,
}

impl Fitted {
    /// `standing` remembers the cuts of a column whose cuts stay. `count` counts the tokens of a text.
    pub(crate) fn new(
        shown: &Shown,
        limit: &Limit,
        standing: Option<&mut Standing>,
        count: &dyn Fn(&str) -> usize,
    ) -> Self {
        let (step, gap) = (shown.step, shown.around.gap);
        let marker_tokens: MarkerTokens<'_> = &|gone| count(&marker(gone)) + gap;
        let turns = Places::at(shown, step);
        let fit = |at, before: &Cut| limit.fit(&Places::at(shown, at), before, marker_tokens);
        let (before, cut, next) = match standing {
            Some(standing) => {
                let mut at = |step| standing.at(step, limit, |step| Places::at(shown, step), marker_tokens);
                let before = step.checked_sub(1).map(&mut at).unwrap_or_default();
                let cut = at(step);
                let next = fit(step + 1, &cut);
                (before.elided, cut, next.elided)
            }
            None => {
                let cut = fit(step, &Cut::default());
                // A cut that does not stay is another one in each context.
                let next = if cut.elided.is_empty() {
                    fit(step + 1, &cut).elided
                } else {
                    cut.elided.start..usize::MAX
                };
                (0..0, cut, next)
            }
        };
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
        Self { report, elided: cut.elided, before, next, marker }
    }

    /// The same for the context before.
    pub(super) fn previous(&self) -> Self {
        let (elided, now) = (self.before.clone(), &self.elided);
        let next = if now.is_empty() || elided == *now { now.clone() } else { now.start..usize::MAX };
        Self { elided, before: 0..0, next, ..self.clone() }
    }
}
