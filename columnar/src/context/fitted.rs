//! A context under its budget.

use alloc::string::String;
use core::ops::Range;

use crate::budget::{Cut, Limit, MarkerTokens, Report, Standing, Strategy, Turns, marker};

use super::shown::Shown;
use super::turns::Places;

/// What is left out of a context, and what is said of it.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) report: Report,
    /// The places of the turns that are left out.
    pub(super) elided: Range<usize>,
    /// What is most likely left out of the next context.
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
        let gap = shown.around.gap;
        let marker_tokens: MarkerTokens<'_> = &|gone| count(&marker(gone)) + gap;
        let turns = Places::at(shown, shown.step);
        let stays = standing.is_some();
        let cut = match standing {
            Some(standing) => standing.at(shown.step, limit, |step| Places::at(shown, step), marker_tokens),
            None => limit.fit(&turns, &Cut::default(), marker_tokens),
        };
        let before = if stays { cut.clone() } else { Cut::default() };
        let next = limit.fit(&Places::at(shown, shown.step + 1), &before, marker_tokens).elided;
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
        Self { report, elided: cut.elided, next, marker }
    }
}
