//! The steps of a column that are stored as skipped.

use std::ops::Range;

use rpds::RedBlackTreeMapSync;

/// The skipped steps of a column. A step that is not in the set, stored or not, counts as a value.
///
/// Neighbouring steps are one entry, so a window passes a gap of any length in one look-up. Contexts keep clones, and a
/// clone is a reference count.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkippedSteps {
    /// The end of each gap, by the start. No gap is empty or touches the next one.
    gaps: RedBlackTreeMapSync<usize, usize>,
    count: usize,
    /// The end of the last gap. Most columns have no gap, and most windows begin behind the last one.
    end: usize,
}

impl SkippedSteps {
    /// The number of steps.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn contains(&self, step: usize) -> bool {
        self.gap(step).is_some()
    }

    /// The gap that has a step.
    fn gap(&self, step: usize) -> Option<Range<usize>> {
        if step >= self.end {
            return None;
        }
        let (start, end) = self.gaps.range(..=step).next_back()?;
        Some(*start..*end).filter(|gap| gap.contains(&step))
    }

    /// The steps, ascending.
    pub(crate) fn steps(&self) -> impl Iterator<Item = usize> {
        self.gaps.iter().flat_map(|(start, end)| *start..*end)
    }

    pub(crate) fn insert(&mut self, step: usize) {
        if !self.contains(step) {
            self.insert_gap(step..step.saturating_add(1));
        }
    }

    /// Adds steps, none of which is in the set.
    pub(crate) fn insert_gap(&mut self, steps: Range<usize>) {
        self.count += steps.len();
        let before = steps.start.checked_sub(1).and_then(|last| self.gap(last));
        let start = before.map_or(steps.start, |gap| gap.start);
        let end = self.gaps.get(&steps.end).copied().unwrap_or(steps.end);
        self.gaps.remove_mut(&steps.end);
        self.gaps.insert_mut(start, end);
        self.end = self.end.max(end);
    }

    /// The steps of the set before a step.
    pub(crate) fn before(&self, step: usize) -> Self {
        if self.end <= step {
            return self.clone();
        }
        let mut before = Self::default();
        self.gaps.range(..step).for_each(|(start, end)| before.insert_gap(*start..step.min(*end)));
        before
    }

    /// The number of steps of the set within a range.
    pub(crate) fn count_within(&self, steps: &Range<usize>) -> usize {
        if steps.start >= self.end {
            return 0;
        }
        let first = self.gap(steps.start).map_or(0, |gap| gap.end.min(steps.end) - steps.start);
        // Of a gap that begins before the range, the steps are counted above.
        let later =
            self.gaps.range(steps.start.saturating_add(1)..steps.end.max(steps.start.saturating_add(1)));
        first + later.map(|(start, end)| (*end).min(steps.end) - start).sum::<usize>()
    }

    /// The start of the last `count` values before a step; 0 if there are fewer.
    pub(crate) fn start_of_last(&self, count: usize, before: usize) -> usize {
        if before.saturating_sub(count) >= self.end {
            return before.saturating_sub(count);
        }
        let mut start = before;
        let mut left = count;
        for (gap_start, gap_end) in self.gaps.range(..before).rev() {
            let values = start.saturating_sub(*gap_end);
            if values >= left {
                break;
            }
            left -= values;
            start = *gap_start;
        }
        start.saturating_sub(left)
    }

    /// The step of the value number `count` from a step on, counted from 1.
    pub(crate) fn nth_from(&self, step: usize, count: usize) -> usize {
        let mut at = self.next_other(step);
        let mut left = count.saturating_sub(1);
        if at >= self.end {
            return at.saturating_add(left);
        }
        for (gap_start, gap_end) in self.gaps.range(at..) {
            let values = gap_start - at;
            if values > left {
                break;
            }
            left -= values;
            at = *gap_end;
        }
        at.saturating_add(left)
    }

    /// The first step from this one on that is not in the set.
    pub(crate) fn next_other(&self, step: usize) -> usize {
        self.gap(step).map_or(step, |gap| gap.end)
    }

    /// The steps of a range that are not in the set.
    pub(crate) fn others(&self, steps: Range<usize>) -> OtherSteps<'_> {
        OtherSteps { skipped: self, steps }
    }
}

/// The steps of a range without the skipped ones.
#[derive(Clone, Debug)]
pub(crate) struct OtherSteps<'s> {
    skipped: &'s SkippedSteps,
    steps: Range<usize>,
}

impl Iterator for OtherSteps<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.steps.start = self.skipped.next_other(self.steps.start);
        self.steps.next()
    }
}

impl DoubleEndedIterator for OtherSteps<'_> {
    fn next_back(&mut self) -> Option<usize> {
        let last = self.steps.end.checked_sub(1)?;
        self.steps.end = self.skipped.gap(last).map_or(self.steps.end, |gap| gap.start);
        self.steps.next_back()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Each set of eight steps, inserted from both sides, answers as a list of flags does.
    #[test]
    fn all_answers_are_those_of_a_list() {
        for bits in 0..256_u32 {
            let is_skipped = |step: usize| step < 8 && bits >> step & 1 == 1;
            let steps: BTreeSet<usize> = (0..8).filter(|step| is_skipped(*step)).collect();
            let mut skipped = SkippedSteps::default();
            let (even, odd): (Vec<usize>, Vec<usize>) = steps.iter().partition(|step| *step % 2 == 0);
            even.into_iter().rev().chain(odd).for_each(|step| skipped.insert(step));
            assert_eq!((skipped.steps().collect(), skipped.count()), (steps.clone(), steps.len()));
            for start in 0..10 {
                assert_eq!(skipped.contains(start), is_skipped(start));
                assert!(skipped.before(start).steps().eq(steps.range(..start).copied()), "{skipped:?}");
                for count in 1..4 {
                    let last = (0..start).rev().filter(|step| !is_skipped(*step)).nth(count - 1);
                    assert_eq!(
                        skipped.start_of_last(count, start),
                        last.unwrap_or(0),
                        "{skipped:?} {start} {count}"
                    );
                    let nth = (start..).filter(|step| !is_skipped(*step)).nth(count - 1);
                    assert_eq!(Some(skipped.nth_from(start, count)), nth, "{skipped:?} {start} {count}");
                }
                for end in start..10 {
                    let others: Vec<usize> = (start..end).filter(|step| !is_skipped(*step)).collect();
                    assert!(skipped.others(start..end).eq(others.iter().copied()), "{skipped:?}");
                    assert!(skipped.others(start..end).rev().eq(others.iter().rev().copied()), "{skipped:?}");
                    assert_eq!(
                        skipped.count_within(&(start..end)),
                        end - start - others.len(),
                        "{skipped:?}"
                    );
                }
            }
        }
    }
}
