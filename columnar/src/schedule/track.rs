//! The state of the cells of one column.

use std::collections::VecDeque;
use std::ops::Range;

use crate::history::{SkippedSteps, StepRanges, StoredSteps};

/// The steps of one column: a stored prefix, and the state of each later step.
///
/// A step that is stored out of order joins the stored neighbours to a span. Each end of a span has the number of the
/// other end, so joining costs the same for any length.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    /// The length of the stored prefix: every step below is stored.
    prefix: usize,
    /// The steps from `prefix` on; the first one is never stored.
    slots: VecDeque<Slot>,
    /// The number of stored steps in `slots`.
    beyond: usize,
    /// The steps that are stored as skipped.
    pub(super) skipped: SkippedSteps,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The step waits: this number of views show cells that are not stored.
    Waiting(usize),
    /// All cells that the step reads are stored.
    Ready,
    /// The same, of a column whose values come from outside.
    Pending,
    /// The cell is being computed.
    Running,
    /// The cell is being stored.
    Storing,
    /// The cell failed, and the next run tries again.
    Failed,
    /// The cell is stored, as the first or the last step of a span with this other end. Inside a span the number is
    /// out of date and never read.
    Stored { other_end: usize },
}

impl Track {
    /// The number of steps that are stored without a gap.
    pub(super) fn prefix(&self) -> usize {
        self.prefix
    }

    /// Stores the next step of a source, whose steps are stored in order.
    pub(super) fn advance(&mut self) {
        // A source has no slots, so there is nothing to join.
        self.prefix += 1;
    }

    /// The first step that has no slot yet.
    pub(super) fn end(&self) -> usize {
        self.prefix + self.slots.len()
    }

    pub(super) fn push(&mut self, slot: Slot) {
        self.slots.push_back(slot);
    }

    /// The state of a step after the stored prefix.
    pub(super) fn slot(&self, step: usize) -> Option<Slot> {
        self.slots.get(step.checked_sub(self.prefix)?).copied()
    }

    pub(super) fn slot_mut(&mut self, step: usize) -> Option<&mut Slot> {
        self.slots.get_mut(step.checked_sub(self.prefix)?)
    }

    /// The steps after the stored prefix, with their states.
    pub(super) fn slots_mut(&mut self) -> impl Iterator<Item = (usize, &mut Slot)> {
        (self.prefix..).zip(&mut self.slots)
    }

    /// The number of stored steps.
    pub(super) fn stored(&self) -> usize {
        self.prefix + self.beyond
    }

    /// The stored steps.
    pub(super) fn stored_steps(&self) -> StepRanges {
        let mut steps = StepRanges::from(0..self.prefix);
        for (step, slot) in (self.prefix..).zip(&self.slots) {
            if let Slot::Stored { .. } = slot {
                steps.insert(step..step + 1);
            }
        }
        steps
    }

    /// The track of the steps before `step`: the stored steps stay stored, and the others have just begun.
    pub(super) fn before(&self, step: usize) -> Self {
        let skipped = self.skipped.before(step);
        let mut before = Self { prefix: self.prefix.min(step), skipped, ..Self::default() };
        let begun = (self.prefix..step).zip(&self.slots);
        let stored: Vec<usize> = begun
            .inspect(|_| before.push(Slot::Waiting(0)))
            .filter(|(_, slot)| matches!(slot, Slot::Stored { .. }))
            .map(|(step, _)| step)
            .collect();
        // Stored again, because the ends of a span that `step` cuts would name steps that are gone.
        for step in stored {
            before.store(step);
        }
        before
    }

    /// The track of stored steps. The steps in between have just begun.
    pub(super) fn of(stored_steps: &StoredSteps) -> Self {
        let mut track = Self { prefix: stored_steps.prefix, ..Self::default() };
        for &step in &stored_steps.beyond {
            // The steps beyond the prefix are ascending, so slots are only ever added at the end.
            while track.end() <= step {
                track.push(Slot::Waiting(0));
            }
            track.store(step);
        }
        track
    }

    /// The first of these steps that is not stored.
    pub(super) fn gap(&self, steps: Range<usize>) -> Option<usize> {
        // The first slot is never stored, and all earlier steps are.
        (steps.start.max(self.prefix)..steps.end).find(|&step| !self.is_stored(step))
    }

    /// The first of these steps that is stored.
    pub(super) fn first_stored(&self, mut steps: Range<usize>) -> Option<usize> {
        // The end may come from outside of the program, so the steps are limited to steps that may be stored.
        steps.end = steps.end.min(self.stored_end());
        steps.find(|&step| self.is_stored(step))
    }

    /// A step from which on no step is stored. A column that has failed at many steps has no stored step after the
    /// prefix, and the slots need no search.
    pub(super) fn stored_end(&self) -> usize {
        if self.beyond == 0 { self.prefix } else { self.end() }
    }

    /// Whether a step will most likely not be stored in this run: later steps do not wait for it.
    pub(super) fn holds_nothing_back(&self, step: usize) -> bool {
        matches!(self.slot(step), Some(Slot::Failed | Slot::Pending))
    }

    /// Whether a step is stored.
    pub(super) fn is_stored(&self, step: usize) -> bool {
        step < self.prefix || matches!(self.slot(step), Some(Slot::Stored { .. }))
    }

    /// Stores a step that has a slot, and returns the span of stored steps that contains it.
    pub(super) fn store(&mut self, step: usize) -> Range<usize> {
        if step == self.prefix {
            self.slots.pop_front();
            self.prefix += 1;
            while let Some(Slot::Stored { .. }) = self.slots.front() {
                self.slots.pop_front();
                self.prefix += 1;
                self.beyond -= 1;
            }
            return 0..self.prefix;
        }
        self.beyond += 1;
        // `step` is beyond the prefix, so it is not 0.
        let start = match self.slot(step - 1) {
            Some(Slot::Stored { other_end }) => other_end,
            _ => step,
        };
        let last = match self.slot(step + 1) {
            Some(Slot::Stored { other_end }) => other_end,
            _ => step,
        };
        // `step` is first: where `step` is an end of the span, one of the others replaces the number.
        for (at, other_end) in [(step, step), (start, last), (last, start)] {
            if let Some(slot) = self.slot_mut(at) {
                *slot = Slot::Stored { other_end };
            }
        }
        start..last + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every order of storing six steps gives the spans that a list of flags gives.
    #[test]
    fn spans_are_right_in_every_order() {
        fn permute(rest: &mut Vec<usize>, done: &mut Vec<usize>, check: &mut impl FnMut(&[usize])) {
            if rest.is_empty() {
                check(done);
            }
            for at in 0..rest.len() {
                let step = rest.remove(at);
                done.push(step);
                permute(rest, done, check);
                done.pop();
                rest.insert(at, step);
            }
        }
        let mut orders = 0;
        permute(&mut (0..6).collect(), &mut Vec::new(), &mut |order| {
            orders += 1;
            let mut track = Track::default();
            (0..6).for_each(|_| track.push(Slot::Running));
            let mut flags = [false; 6];
            for &step in order {
                let run = track.store(step);
                flags[step] = true;
                let start = (0..=step).rev().take_while(|&s| flags[s]).last().expect("it is stored");
                let end = (step..6).take_while(|&s| flags[s]).last().expect("it is stored") + 1;
                assert_eq!(run, start..end, "{order:?} at {step}");
                for from in 0..6 {
                    for to in from..=6 {
                        let all = (from..to).all(|s| flags[s]);
                        assert_eq!(track.gap(from..to).is_none(), all, "{order:?} at {step}: {from}..{to}");
                    }
                }
                assert!(track.stored_steps().steps().eq((0..6).filter(|&s| flags[s])), "{order:?} at {step}");
                let cut = track.before(4);
                let kept = (0..4).filter(|&s| flags[s]).count();
                assert_eq!((cut.stored(), cut.end()), (kept, 4), "{order:?} at {step}");
                assert!((0..4).all(|s| cut.gap(s..s + 1).is_none() == flags[s]), "{order:?} at {step}");
                for track in [&track, &cut] {
                    assert!(
                        (track.stored_end()..track.end()).all(|s| !track.is_stored(s)),
                        "{order:?} at {step}"
                    );
                    assert_eq!(track.stored(), track.stored_steps().count(), "{order:?} at {step}");
                }
            }
            assert_eq!(track.prefix(), 6);
        });
        assert_eq!(orders, 720);
    }
}
