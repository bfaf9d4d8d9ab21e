//! The steps of a column that are stored as skipped.

use std::ops::Range;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

/// The skipped steps of a column. A step that is not in the set, stored or not, counts as a value.
///
/// Most columns skip no step, and contexts keep clones: then a set is one empty pointer, and no clone counts a reference.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkippedSteps(Option<Arc<Gaps>>);

/// The skipped steps as gaps. Neighbouring steps are one entry, so a window passes a gap of any length in one look-up.
#[derive(Clone, Debug, Default)]
struct Gaps {
    /// The end of each gap, by the start. No gap is empty or touches the next one.
    ends: RedBlackTreeMapSync<usize, usize>,
    count: usize,
    /// The end of the last gap. Most windows begin behind the last gap.
    end: usize,
}

impl SkippedSteps {
    /// The number of steps.
    pub(crate) fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |gaps| gaps.count)
    }

    pub(crate) fn contains(&self, step: usize) -> bool {
        self.gap(step).is_some()
    }

    /// The gaps, if any of them has this step or a later one.
    fn gaps_from(&self, step: usize) -> Option<&Gaps> {
        self.0.as_deref().filter(|gaps| step < gaps.end)
    }

    /// The gap that has a step.
    fn gap(&self, step: usize) -> Option<Range<usize>> {
        let (start, end) = self.gaps_from(step)?.ends.range(..=step).next_back()?;
        Some(*start..*end).filter(|gap| gap.contains(&step))
    }

    /// The steps, ascending.
    pub(crate) fn steps(&self) -> impl Iterator<Item = usize> {
        self.0.iter().flat_map(|gaps| gaps.ends.iter()).flat_map(|(start, end)| *start..*end)
    }

    pub(crate) fn insert(&mut self, step: usize) {
        if !self.contains(step) {
            self.insert_gap(step..step.saturating_add(1));
        }
    }

    /// Adds steps, none of which is in the set.
    pub(crate) fn insert_gap(&mut self, steps: Range<usize>) {
        let before = steps.start.checked_sub(1).and_then(|last| self.gap(last));
        let start = before.map_or(steps.start, |gap| gap.start);
        let gaps = Arc::make_mut(self.0.get_or_insert_default());
        gaps.count += steps.len();
        let end = gaps.ends.get(&steps.end).copied().unwrap_or(steps.end);
        gaps.ends.remove_mut(&steps.end);
        gaps.ends.insert_mut(start, end);
        gaps.end = gaps.end.max(end);
    }

    /// The steps of the set before a step.
    pub(crate) fn before(&self, step: usize) -> Self {
        let Some(gaps) = self.gaps_from(step) else { return self.clone() };
        let mut before = Self::default();
        gaps.ends.range(..step).for_each(|(start, end)| before.insert_gap(*start..step.min(*end)));
        before
    }

    /// The number of steps of the set within a range.
    pub(crate) fn count_within(&self, steps: &Range<usize>) -> usize {
        let Some(gaps) = self.gaps_from(steps.start) else { return 0 };
        let first = self.gap(steps.start).map_or(0, |gap| gap.end.min(steps.end) - steps.start);
        // Of a gap that begins before the range, the steps are counted above.
        let later =
            gaps.ends.range(steps.start.saturating_add(1)..steps.end.max(steps.start.saturating_add(1)));
        first + later.map(|(start, end)| (*end).min(steps.end) - start).sum::<usize>()
    }

    /// The start of the last `count` values before a step; 0 if there are fewer.
    pub(crate) fn start_of_last(&self, count: usize, before: usize) -> usize {
        let Some(gaps) = self.gaps_from(before.saturating_sub(count)) else {
            return before.saturating_sub(count);
        };
        let mut start = before;
        let mut left = count;
        for (gap_start, gap_end) in gaps.ends.range(..before).rev() {
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
        let Some(gaps) = self.gaps_from(at) else { return at.saturating_add(left) };
        for (gap_start, gap_end) in gaps.ends.range(at..) {
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
