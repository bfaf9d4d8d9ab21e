//! The tiers that a request does not repeat of the one before, where a budget omits turns or cells are excluded.
//!
//! The tracker knows the whole history. An exchange may be omitted long after it entered its tier, and an exchange that is
//! omitted changes no text where it moves.

use std::ops::Range;

use super::request::Layout;
use crate::context::tiers::{Moves, Tier};
use crate::history::tokens::Sum;

/// The turns that a budget omits from a request.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Omitted {
    /// The slots of the turns.
    pub(in crate::context) slots: Range<usize>,
    /// The numbers in the marker, if it replaces them.
    pub(in crate::context) marker: Option<Sum>,
}

impl Layout {
    /// The moves, with the tiers whose text is not that of the last request with a response.
    ///
    /// `before` and `now` are the turns that the two requests omit. `changed` has the cells that only one of them excludes:
    /// the slot of each, and whether the later request includes it. `count` returns the number of turns in some slots.
    pub(in crate::context) fn moves_of(
        &self,
        (before, now): (&Omitted, &Omitted),
        changed: &[(usize, bool)],
        count: impl Fn(Range<usize>) -> usize,
    ) -> Moves {
        let [then, since] = self.tiers.histories();
        let is_broken = |tier: &Tier| {
            let (then, since) = (Shown::of(*tier, then, before), Shown::of(*tier, since, now));
            let is_shown = |(slot, now): &(usize, bool)| if *now { &since } else { &then }.has(*slot);
            self.tiers.has_other_documents(*tier)
                || changed.iter().any(is_shown)
                || then.differs(&since, &count)
        };
        self.tiers.moves().with_broken(Tier::CACHED.into_iter().filter(is_broken).collect())
    }
}

/// The turns that a tier shows.
struct Shown {
    /// The slots before the omitted ones, and those after them.
    slots: [Range<usize>; 2],
    marker: Option<Sum>,
}

impl Shown {
    /// The turns of a tier. `history` has the boundaries of the tiers, in steps.
    fn of(tier: Tier, history: [usize; 4], omitted: &Omitted) -> Self {
        let mut start = 0;
        for (of, boundary) in Tier::CACHED.into_iter().zip(history) {
            let slots = start..2 * boundary;
            if of == tier {
                let Range { start: from, end: to } = omitted.slots;
                let kept = [slots.start..slots.end.min(from), slots.start.max(to)..slots.end];
                // Nothing is omitted by an empty range, wherever it is.
                let kept = if omitted.slots.is_empty() { [slots.clone(), 0..0] } else { kept };
                return Self { slots: kept, marker: omitted.marker.filter(|_| slots.contains(&from)) };
            }
            start = slots.end;
        }
        Self { slots: [0..0, 0..0], marker: None }
    }

    fn has(&self, slot: usize) -> bool {
        self.slots.iter().any(|slots| slots.contains(&slot))
    }

    /// Whether the texts differ. Apart from excluded cells, no turn of a cached tier
    /// changes, so it is enough to compare which ones are shown.
    fn differs(&self, other: &Self, count: impl Fn(Range<usize>) -> usize) -> bool {
        let count = |slots: Range<usize>| if slots.is_empty() { 0 } else { count(slots) };
        let of = |shown: &Self| shown.slots.iter().cloned().map(count).sum::<usize>();
        let pairs = self.slots.iter().flat_map(|one| other.slots.iter().map(move |two| (one, two)));
        let shared = pairs.map(|(one, two)| count(one.start.max(two.start)..one.end.min(two.end)));
        let shared: usize = shared.sum();
        self.marker != other.marker || of(self) != shared || of(other) != shared
    }
}
