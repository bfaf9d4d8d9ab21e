//! The stored cells that a reader has seen, and the next cell in order.
//!
//! A reader sees stored cells by step, and within a step in topological order, so each cell comes after the cells from
//! which it was computed. The steps of a column come in order. A step that has failed, that waits for an answer, or that was left
//! out at the end of a run, holds nothing back: the step is remembered as missing, and comes once it is stored.

use std::collections::BTreeMap;
use std::ops::Range;

use super::track::Track;
use super::{Cell, Scheduler};

/// The steps of one column that a reader has seen: all before `next`, except the missing ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenSteps {
    next: usize,
    /// Steps before `next` that were not stored when the reader passed them: the end of each range, by the start. No range
    /// is empty. Clients send positions with any number of ranges.
    missing: BTreeMap<usize, usize>,
}

impl SeenSteps {
    /// The steps before this one, all of them seen.
    pub(crate) const fn before(next: usize) -> Self {
        Self { next, missing: BTreeMap::new() }
    }

    /// The steps before `next` except the missing ones; `None` unless these are ascending, not empty and before `next`.
    pub(crate) fn new(next: usize, missing: Vec<Range<usize>>) -> Option<Self> {
        let mut from = 0;
        for steps in &missing {
            if steps.start < from || steps.is_empty() || steps.end > next {
                return None;
            }
            from = steps.end;
        }
        Some(Self { next, missing: missing.into_iter().map(|steps| (steps.start, steps.end)).collect() })
    }

    pub(crate) fn next(&self) -> usize {
        self.next
    }

    pub(crate) fn missing(&self) -> impl Iterator<Item = Range<usize>> {
        self.missing.iter().map(|(start, end)| *start..*end)
    }

    pub(crate) fn contains(&self, step: usize) -> bool {
        step < self.next && self.missing_around(step).is_none()
    }

    /// The range of missing steps that has a step.
    fn missing_around(&self, step: usize) -> Option<Range<usize>> {
        let (start, end) = self.missing.range(..=step).next_back()?;
        Some(*start..*end).filter(|steps| steps.contains(&step))
    }

    /// Records that the reader has seen a step. The steps in between are missing.
    pub(crate) fn insert(&mut self, step: usize) {
        if step >= self.next {
            if step > self.next {
                self.missing.insert(self.next, step);
            }
            self.next = step.saturating_add(1);
        } else if let Some(steps) = self.missing_around(step) {
            self.missing.remove(&steps.start);
            let rest = [steps.start..step, step + 1..steps.end];
            let rest = rest.into_iter().filter(|steps| !steps.is_empty());
            self.missing.extend(rest.map(|steps| (steps.start, steps.end)));
        }
    }

    /// The first stored step that may be shown next.
    fn next_stored(&self, track: &Track, is_running: bool) -> Option<usize> {
        // A position of a client may have steps that the flow does not have.
        let mut missing = self.missing.range(..track.stored_end());
        let missing = missing.find_map(|(start, end)| track.first_stored(*start..*end));
        missing.or_else(|| {
            // While a run is active, any other step may still be stored, so later steps wait.
            let next = (self.next..track.stored_end())
                .find(|step| track.is_stored(*step) || is_running && !track.holds_nothing_back(*step));
            next.filter(|&step| track.is_stored(step))
        })
    }
}

impl Scheduler {
    /// The next stored cell for a reader that has seen these steps of the columns, if there is one.
    pub(crate) fn next_unseen(&self, seen: &[SeenSteps], is_running: bool) -> Option<Cell> {
        let next = self.tracks.iter().zip(seen).enumerate().filter_map(|(column, (track, seen))| {
            Some((seen.next_stored(track, is_running)?, self.plan.rank(column), column))
        });
        let next = next
            .filter(|(step, _, column)| self.has_seen_inputs(Cell { column: *column, step: *step }, seen));
        next.min().map(|(step, _, column)| Cell { column, step })
    }

    /// Whether a reader has seen the newest steps that a cell may show, as far as these are stored. A column without an interval
    /// has waited for its inputs at each step, so they have been seen.
    fn has_seen_inputs(&self, cell: Cell, seen: &[SeenSteps]) -> bool {
        let reads = self.plan.schema().reads(cell.column).filter(|_| self.has_intervals);
        let mut inputs = reads.into_iter().flat_map(|reads| reads.all_inputs());
        inputs.all(|input| {
            let Some(step) = cell.step.checked_sub(input.spec.lag) else { return true };
            let is_stored = self.is_stored(Cell { column: input.column, step });
            !is_stored || seen.get(input.column).is_some_and(|seen| seen.contains(step))
        })
    }

    /// The stored steps of a column, for a reader that has seen all.
    pub(crate) fn seen(&self, column: usize) -> SeenSteps {
        let Some(track) = self.tracks.get(column) else { return SeenSteps::default() };
        let mut seen = SeenSteps::before(track.prefix());
        let beyond = (track.prefix()..track.end()).filter(|step| track.is_stored(*step));
        beyond.for_each(|step| seen.insert(step));
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sequence of five steps, with repetitions, gives the steps that a list of flags gives.
    #[test]
    fn seen_steps_are_those_that_were_inserted() {
        for code in 0..5_usize.pow(5) {
            let mut seen = SeenSteps::default();
            let mut flags = [false; 5];
            for digit in 0..5 {
                let step = code / 5_usize.pow(digit) % 5;
                seen.insert(step);
                flags[step] = true;
                assert!((0..5).all(|step| seen.contains(step) == flags[step]), "{code}: {seen:?}");
                assert_eq!(SeenSteps::new(seen.next, seen.missing().collect()), Some(seen.clone()), "{code}");
            }
        }
    }
}
