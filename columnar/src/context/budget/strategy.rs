//! Which turns are left out of a context that is too large: one row of neighbours, wherever it is.

use std::fmt;
use std::ops::Range;

use super::limit::Limit;
use super::turns::Turns;
use crate::tokens::Sum;

/// What happens to a context that has more tokens than its budget leaves.
///
/// Whatever the strategy, the instruction is never cut, and at least the newest turn is kept: all that
/// the column reads at the current step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Keeps the newest turns, as many as [`Budget::minimum_recent`](super::Budget::minimum_recent) says;
    /// then adds the oldest and the next newest in turn, each side as long as its next one fits. A line
    /// in a user message stands for the others: `<elided>12 turns, about 3400 tokens</elided>`. For long
    /// conversations in which the beginning matters.
    #[default]
    TruncateMiddle,
    /// Keeps the newest turns that fit, and nothing else.
    RollingWindow,
    /// Refuses, naming what is largest. For work in which each turn matters.
    StopAtLimit,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TruncateMiddle => "truncate_middle",
            Self::RollingWindow => "rolling_window",
            Self::StopAtLimit => "stop_at_limit",
        })
    }
}

/// What is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The places of it.
    pub(crate) elided: Range<usize>,
    /// Whether fewer of the newest turns are kept than should be.
    pub(crate) kept_fewer: bool,
}

/// How many tokens the marker has that stands for so much.
pub(crate) type MarkerTokens<'m> = &'m dyn Fn(Sum) -> usize;

impl Limit {
    /// How many tokens turns have without some of them, with what stands for those.
    pub(crate) fn left(&self, turns: &impl Turns, elided: &Range<usize>, marker: MarkerTokens<'_>) -> usize {
        let gone = turns.sum(elided.clone());
        let marks = self.strategy == Strategy::TruncateMiddle && gone.count > 0;
        turns.all().tokens - gone.tokens + if marks { marker(gone) } else { 0 }
    }

    /// What is left out of turns: the same as before, if that is enough.
    pub(crate) fn fit(&self, turns: &impl Turns, before: &Cut, marker: MarkerTokens<'_>) -> Cut {
        if self.left(turns, &before.elided, marker) <= self.tokens {
            before.clone()
        } else {
            self.cut(turns, marker)
        }
    }

    /// What is left out of turns that are too many.
    fn cut(&self, turns: &impl Turns, marker: MarkerTokens<'_>) -> Cut {
        let target = self.low_water.unwrap_or(self.tokens);
        match self.strategy {
            Strategy::TruncateMiddle => self.truncate_middle(turns, target, marker),
            Strategy::RollingWindow => {
                let elided = turns.places().start..newest_that_fit(turns, target);
                Cut { elided, kept_fewer: false }
            }
            Strategy::StopAtLimit => Cut::default(),
        }
    }

    fn truncate_middle(&self, turns: &impl Turns, target: usize, marker: MarkerTokens<'_>) -> Cut {
        let fits = |elided: Range<usize>, tokens| self.left(turns, &elided, marker) <= tokens;
        let Range { mut start, mut end } = turns.places();
        for _ in 0..self.minimum_recent {
            end = turns.previous(end).unwrap_or(end);
        }
        let mut kept_fewer = false;
        while !fits(start..end, self.tokens)
            && let Some(newer) = turns.next(end + 1)
        {
            (end, kept_fewer) = (newer, true);
        }
        let (mut oldest, mut newest) = (true, true);
        while oldest || newest {
            if oldest {
                let next = turns.next(start).filter(|&turn| turn < end && fits(turn + 1..end, target));
                start = next.map_or(start, |turn| turn + 1);
                oldest = next.is_some();
            }
            if newest {
                let next = turns.previous(end).filter(|&turn| start <= turn && fits(start..turn, target));
                end = next.unwrap_or(end);
                newest = next.is_some();
            }
        }
        Cut { elided: start..end, kept_fewer }
    }
}

/// The first place from which on all turns fit, if one is kept.
fn newest_that_fit(turns: &impl Turns, tokens: usize) -> usize {
    let Range { mut start, end } = turns.places();
    let mut fitting = turns.previous(end).unwrap_or(end);
    while start < fitting {
        let middle = start.midpoint(fitting);
        if turns.sum(middle..end).tokens <= tokens {
            fitting = middle;
        } else {
            start = middle + 1;
        }
    }
    fitting
}

#[cfg(test)]
mod tests {

    use super::*;

    const MARKER: usize = 5;

    fn limit(strategy: Strategy, tokens: usize) -> Limit {
        Limit { tokens, strategy, minimum_recent: 4, low_water: None }
    }

    fn kept(limit: Limit, turns: &[usize]) -> (Vec<usize>, Vec<usize>, bool) {
        struct List<'t>(&'t [usize]);
        impl Turns for List<'_> {
            fn places(&self) -> Range<usize> {
                self.0.places()
            }
            fn sum(&self, places: Range<usize>) -> Sum {
                self.0.sum(places)
            }
        }
        let Cut { elided, kept_fewer } = limit.cut(&List(turns), &|_| MARKER);
        (turns[..elided.start].to_vec(), turns[elided.end..].to_vec(), kept_fewer)
    }

    #[test]
    fn the_middle_is_left_out_and_the_oldest_come_first() {
        let turns = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
        let middle = |tokens| kept(limit(Strategy::TruncateMiddle, tokens), &turns);
        let newest = |from: usize| turns[from..].to_vec();
        // Four newest have 70, the marker 5.
        assert_eq!(middle(75), (Vec::new(), newest(6), false));
        assert_eq!(middle(84), (Vec::new(), newest(6), false));
        assert_eq!(middle(85), (turns[..1].to_vec(), newest(6), false));
        assert_eq!(middle(100), (turns[..1].to_vec(), newest(5), false));
        assert_eq!(middle(111), (turns[..2].to_vec(), newest(5), false));
    }

    /// A huge first turn must not keep the small ones behind it out.
    #[test]
    fn a_side_whose_next_turn_does_not_fit_does_not_stop_the_other() {
        let turns = [500, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(
            kept(limit(Strategy::TruncateMiddle, 100), &turns),
            (Vec::new(), turns[1..].to_vec(), false)
        );
        let turns = [1, 1, 500, 1, 1, 1, 1];
        assert_eq!(
            kept(limit(Strategy::TruncateMiddle, 100), &turns),
            (turns[..2].to_vec(), turns[3..].to_vec(), false)
        );
    }

    #[test]
    fn where_the_newest_do_not_fit_fewer_are_kept_and_one_always() {
        let turns = [10, 10, 10, 10, 10, 50];
        let middle = |tokens| kept(limit(Strategy::TruncateMiddle, tokens), &turns);
        assert_eq!(middle(74), (Vec::new(), turns[4..].to_vec(), true));
        assert_eq!(middle(20), (Vec::new(), turns[5..].to_vec(), true));
        let rolling = |tokens| kept(limit(Strategy::RollingWindow, tokens), &turns);
        assert_eq!(rolling(70), (Vec::new(), turns[3..].to_vec(), false));
        assert_eq!(rolling(20), (Vec::new(), turns[5..].to_vec(), false));
    }

    #[test]
    fn a_low_water_mark_cuts_deeper_but_not_into_the_newest_that_fit() {
        let turns = [10; 12];
        let low = Limit { low_water: Some(60), ..limit(Strategy::RollingWindow, 100) };
        assert_eq!(kept(low, &turns).1.len(), 6);
        let low = Limit { low_water: Some(30), ..limit(Strategy::TruncateMiddle, 100) };
        assert_eq!(kept(low, &turns), (Vec::new(), turns[..4].to_vec(), false));
    }
}
