//! The token limit of a column, and the turns that it omits, which are always adjacent.
//!
//! Only the sizes of turns are known here.

use std::ops::Range;

use super::report::BudgetError;
use super::{Budget, Strategy};
use crate::history::tokens::Sum;

/// The sizes of turns, the oldest first. A turn has a slot, and a slot may be empty.
pub(crate) trait Turns {
    /// The slots that may hold turns.
    fn slots(&self) -> Range<usize>;

    /// The number of turns in these slots, and the tokens.
    fn sum(&self, slots: Range<usize>) -> Sum;

    /// The number of all turns, and the tokens.
    fn all(&self) -> Sum {
        self.sum(self.slots())
    }

    /// Whether none of these slots holds a turn.
    fn is_empty(&self, slots: Range<usize>) -> bool {
        self.sum(slots).count == 0
    }

    /// The slot of the first turn from a slot on. The search takes longer strides the longer it finds nothing.
    fn next(&self, from: usize) -> Option<usize> {
        let Range { end: last, .. } = self.slots();
        let mut start = from;
        let mut end = last.min(start.saturating_add(1));
        while start < last && self.is_empty(start..end) {
            let stride = 2 * (end - start);
            start = end;
            end = last.min(start.saturating_add(stride));
        }
        while start + 1 < end {
            let middle = start.midpoint(end);
            if self.is_empty(start..middle) { start = middle } else { end = middle }
        }
        (start < end).then_some(start)
    }

    /// The slot of the last turn before a slot.
    fn previous(&self, before: usize) -> Option<usize> {
        let Range { start: first, .. } = self.slots();
        let mut end = before;
        let mut start = first.max(end.saturating_sub(1));
        while first < end && self.is_empty(start..end) {
            let stride = 2 * (end - start);
            end = start;
            start = first.max(end.saturating_sub(stride));
        }
        while start + 1 < end {
            let middle = start.midpoint(end);
            if self.is_empty(middle..end) { end = middle } else { start = middle }
        }
        (start < end).then_some(start)
    }
}

/// The token limit of a column's messages, and how they are cut to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenLimit {
    pub(crate) tokens: usize,
    pub(crate) strategy: Strategy,
    pub(crate) minimum_recent: usize,
    /// The tokens that a cut leaves, if there is a low-water mark. Such a cut persists.
    pub(crate) low_water: Option<usize>,
}

impl TokenLimit {
    /// The limit that a budget leaves for messages, after an instruction of `instruction` tokens, if an empty message has
    /// `message` tokens. `None` for a budget without tokens.
    pub(crate) fn of(
        budget: &Budget,
        instruction: usize,
        message: usize,
    ) -> Result<Option<Self>, BudgetError> {
        let Some(all) = budget.tokens else { return Ok(None) };
        let token_buffer = budget.token_buffer.unwrap_or(Budget::TOKEN_BUFFER);
        let taken = token_buffer.saturating_add(instruction);
        // A counter may find no token in tags, but a limit of 0 tokens is no limit.
        let least = message.max(1);
        let Some(tokens) = all.checked_sub(taken).filter(|tokens| *tokens >= least) else {
            let least = taken.saturating_add(least);
            return Err(BudgetError::NoRoom { budget: all, token_buffer, instruction, message, least });
        };
        Ok(Some(Self {
            tokens,
            strategy: budget.strategy.unwrap_or_default(),
            // The newest turn is the input of the step, and without it there is nothing to answer.
            minimum_recent: budget.minimum_recent.unwrap_or(Budget::MINIMUM_RECENT).max(1),
            // The share counts messages alone: neither the instruction nor the reply can be cut.
            low_water: budget.low_water.map(|share| part_of(tokens, share)),
        }))
    }
}

impl TokenLimit {
    /// The limit that remains after other texts with this many tokens.
    pub(crate) fn less(self, tokens: usize) -> Self {
        let low_water = self.low_water.map(|mark| mark.saturating_sub(tokens));
        Self { tokens: self.tokens.saturating_sub(tokens), low_water, ..self }
    }
}

/// The turns that are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnCut {
    /// The slots of the turns.
    pub(crate) omitted: Range<usize>,
    /// Whether fewer of the newest turns are kept than the budget asks for.
    pub(crate) kept_fewer: bool,
}

/// The tokens of the marker for omitted turns.
pub(crate) type CutMarker<'m> = &'m dyn Fn(Sum) -> usize;

impl TokenLimit {
    /// The tokens of the turns that are not omitted, and of the marker for the omitted ones.
    fn with_marker(&self, turns: &impl Turns, omitted: &Range<usize>, marker: CutMarker<'_>) -> usize {
        let omitted = turns.sum(omitted.clone());
        let is_marked = self.strategy == Strategy::TruncateMiddle && omitted.count > 0;
        // No underflow: turns outside of the windows have no tokens, even in an earlier cut.
        turns.all().tokens - omitted.tokens + if is_marked { marker(omitted) } else { 0 }
    }

    /// The omitted turns that a marker replaces, if one does. A marker that does not fit beside the newest turn is left out.
    pub(crate) fn marked(
        &self,
        turns: &impl Turns,
        omitted: &Range<usize>,
        marker: CutMarker<'_>,
    ) -> Option<Sum> {
        let sum = turns.sum(omitted.clone());
        let has_marker = self.strategy == Strategy::TruncateMiddle && sum.count > 0;
        (has_marker && self.with_marker(turns, omitted, marker) <= self.tokens).then_some(sum)
    }

    /// The cut for these turns: the one before, if the rest still fits.
    pub(crate) fn fit(&self, turns: &impl Turns, before: &TurnCut, marker: CutMarker<'_>) -> TurnCut {
        // A cut that still fits stays where it is, so that this request repeats the prefix of the last one.
        if self.with_marker(turns, &before.omitted, marker) <= self.tokens {
            before.clone()
        } else {
            self.cut(turns, marker)
        }
    }

    /// Cuts turns that are over the limit.
    fn cut(&self, turns: &impl Turns, marker: CutMarker<'_>) -> TurnCut {
        let target = self.low_water.unwrap_or(self.tokens);
        match self.strategy {
            Strategy::TruncateMiddle => self.truncate_middle(turns, target, marker),
            Strategy::RollingWindow => {
                let omitted = turns.slots().start..newest_that_fit(turns, target);
                TurnCut { omitted, kept_fewer: false }
            }
            Strategy::StopAtLimit => TurnCut::default(),
        }
    }

    fn truncate_middle(&self, turns: &impl Turns, target: usize, marker: CutMarker<'_>) -> TurnCut {
        let fits = |omitted: Range<usize>, tokens| self.with_marker(turns, &omitted, marker) <= tokens;
        let Range { mut start, mut end } = turns.slots();
        for _ in 0..self.minimum_recent {
            end = turns.previous(end).unwrap_or(end);
        }
        let mut kept_fewer = false;
        // By the limit and not by the target: a low-water mark is no reason to omit the newest turns.
        // There is no turn behind the newest one, so that one always stays.
        while !fits(start..end, self.tokens)
            && let Some(newer) = turns.next(end + 1)
        {
            (end, kept_fewer) = (newer, true);
        }
        // A side never goes on after a turn that does not fit, because the omitted turns must be adjacent.
        // The other side does: one huge turn must not exclude small ones elsewhere.
        let mut oldest = true;
        let mut newest = true;
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
        TurnCut { omitted: start..end, kept_fewer }
    }
}

/// The first slot such that all turns from it on fit. The newest turn is always kept.
fn newest_that_fit(turns: &impl Turns, tokens: usize) -> usize {
    let Range { mut start, end } = turns.slots();
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

/// A share of a number of tokens, rounded down.
#[expect(clippy::cast_possible_truncation, reason = "the share is between 0 and 1")]
#[expect(clippy::cast_precision_loss, reason = "a low-water mark of 2^53 tokens may be off by one")]
#[expect(clippy::cast_sign_loss, reason = "the share is above 0")]
fn part_of(tokens: usize, share: f64) -> usize {
    (tokens as f64 * share) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: usize = 5;

    /// A list of sizes.
    impl Turns for [usize] {
        fn slots(&self) -> Range<usize> {
            0..self.len()
        }

        fn sum(&self, slots: Range<usize>) -> Sum {
            self.get(slots).unwrap_or_default().iter().map(|&tokens| Sum::one(tokens)).sum()
        }
    }

    fn limit(strategy: Strategy, tokens: usize) -> TokenLimit {
        TokenLimit { tokens, strategy, minimum_recent: 4, low_water: None }
    }

    fn kept(limit: TokenLimit, turns: &[usize]) -> (Vec<usize>, Vec<usize>, bool) {
        struct List<'t>(&'t [usize]);
        impl Turns for List<'_> {
            fn slots(&self) -> Range<usize> {
                self.0.slots()
            }
            fn sum(&self, slots: Range<usize>) -> Sum {
                self.0.sum(slots)
            }
        }
        let TurnCut { omitted, kept_fewer } = limit.cut(&List(turns), &|_| MARKER);
        (turns[..omitted.start].to_vec(), turns[omitted.end..].to_vec(), kept_fewer)
    }

    #[test]
    fn the_middle_is_omitted_and_the_oldest_turns_come_first() {
        let turns = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
        let middle = |tokens| kept(limit(Strategy::TruncateMiddle, tokens), &turns);
        let newest = |from: usize| turns[from..].to_vec();
        // The four newest turns have 70 tokens, and the marker has 5.
        assert_eq!(middle(75), (Vec::new(), newest(6), false));
        assert_eq!(middle(84), (Vec::new(), newest(6), false));
        assert_eq!(middle(85), (turns[..1].to_vec(), newest(6), false));
        assert_eq!(middle(100), (turns[..1].to_vec(), newest(5), false));
        assert_eq!(middle(111), (turns[..2].to_vec(), newest(5), false));
    }

    /// A huge first turn must not exclude the small ones after it.
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
    fn fewer_of_the_newest_turns_are_kept_if_they_do_not_fit_but_always_one() {
        let turns = [10, 10, 10, 10, 10, 50];
        let middle = |tokens| kept(limit(Strategy::TruncateMiddle, tokens), &turns);
        assert_eq!(middle(74), (Vec::new(), turns[4..].to_vec(), true));
        assert_eq!(middle(20), (Vec::new(), turns[5..].to_vec(), true));
        let rolling = |tokens| kept(limit(Strategy::RollingWindow, tokens), &turns);
        assert_eq!(rolling(70), (Vec::new(), turns[3..].to_vec(), false));
        assert_eq!(rolling(20), (Vec::new(), turns[5..].to_vec(), false));
    }

    #[test]
    fn a_low_water_mark_omits_more_but_not_the_newest_turns_that_fit() {
        let turns = [10; 12];
        let low = TokenLimit { low_water: Some(60), ..limit(Strategy::RollingWindow, 100) };
        assert_eq!(kept(low, &turns).1.len(), 6);
        let low = TokenLimit { low_water: Some(30), ..limit(Strategy::TruncateMiddle, 100) };
        assert_eq!(kept(low, &turns), (Vec::new(), turns[..4].to_vec(), false));
    }
}
