//! Sets of steps: as ranges, and as a store reports the steps of a column.

use std::ops::Range;

/// A set of steps: ascending ranges, none of which is empty or touches the next range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StepRanges(Vec<Range<usize>>);

impl StepRanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, step: usize) -> bool {
        self.first_in(&(step..step.saturating_add(1))).is_some()
    }

    /// The number of first steps without a gap.
    pub(crate) fn prefix(&self) -> usize {
        self.0.first().filter(|first| first.start == 0).map_or(0, |first| first.end)
    }

    /// The number of steps.
    pub(crate) fn count(&self) -> usize {
        self.iter().map(|range| range.len()).sum()
    }

    /// The first step of the set within a range.
    pub(crate) fn first_in(&self, steps: &Range<usize>) -> Option<usize> {
        self.overlapping(steps).first().map(|first| first.start.max(steps.start))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().cloned()
    }

    /// The steps, ascending.
    pub(crate) fn steps(&self) -> impl Iterator<Item = usize> {
        self.iter().flatten()
    }

    /// The range from the first step to the last; `None` for an empty set.
    pub(crate) fn span(&self) -> Option<Range<usize>> {
        Some(self.0.first()?.start..self.0.last()?.end)
    }

    /// The steps of the set within a range.
    pub(crate) fn within(&self, steps: &Range<usize>) -> Self {
        let overlapping = self.overlapping(steps).iter();
        Self(overlapping.map(|range| range.start.max(steps.start)..range.end.min(steps.end)).collect())
    }

    /// The steps that the other set does not have.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let mut left = Vec::new();
        for range in &self.0 {
            let mut start = range.start;
            for taken in other.overlapping(range) {
                left.extend((start < taken.start).then_some(start..taken.start));
                start = taken.end;
            }
            left.extend((start < range.end).then_some(start..range.end));
        }
        Self(left)
    }

    pub(crate) fn insert(&mut self, steps: Range<usize>) {
        if steps.is_empty() {
            return;
        }
        // Ranges that touch the new range are joined.
        let from = self.0.partition_point(|range| range.end < steps.start);
        let to = self.0.partition_point(|range| range.start <= steps.end);
        let joined = self.0.get(from..to).unwrap_or_default();
        let start = joined.first().map_or(steps.start, |first| first.start.min(steps.start));
        let end = joined.last().map_or(steps.end, |last| last.end.max(steps.end));
        self.0.splice(from..to, Some(start..end));
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        other.iter().for_each(|range| self.insert(range));
    }

    /// Ranges that cover the set, none of which goes beyond a multiple of `size`. A gap does not end a chunk, so
    /// scattered steps share a chunk.
    ///
    /// The ranges are made one after the other: a damaged store may report any number of steps.
    pub(crate) fn chunks(&self, size: usize) -> impl Iterator<Item = Range<usize>> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let start = self.first_in(&(next..usize::MAX))?;
            next = (start / size + 1).saturating_mul(size);
            // The last range that begins in this chunk ends it.
            let end = self.overlapping(&(start..next)).last().map_or(start, |last| last.end.min(next));
            Some(start..end)
        })
    }

    /// The ranges of the set that share a step with this range.
    fn overlapping(&self, steps: &Range<usize>) -> &[Range<usize>] {
        let from = self.0.partition_point(|range| range.end <= steps.start);
        let to = self.0.partition_point(|range| range.start < steps.end);
        self.0.get(from..to).filter(|_| !steps.is_empty()).unwrap_or_default()
    }
}

impl From<&StepRanges> for StoredSteps {
    fn from(ranges: &StepRanges) -> Self {
        let prefix = ranges.prefix();
        Self { prefix, beyond: ranges.within(&(prefix..usize::MAX)).steps().collect() }
    }
}

impl From<Range<usize>> for StepRanges {
    fn from(steps: Range<usize>) -> Self {
        Self(if steps.is_empty() { Vec::new() } else { vec![steps] })
    }
}

impl From<&StoredSteps> for StepRanges {
    fn from(stored_steps: &StoredSteps) -> Self {
        let mut ranges = Self::from(0..stored_steps.prefix);
        stored_steps.beyond.iter().for_each(|&step| ranges.insert(step..step + 1));
        ranges
    }
}

/// The set of a column's stored steps: a prefix without gaps, and single steps beyond.
///
/// ```
/// use columnar::store::StoredSteps;
///
/// let stored: StoredSteps = [4, 0, 1, 6].into_iter().collect();
/// assert_eq!(stored, StoredSteps { prefix: 2, beyond: vec![4, 6] });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSteps {
    /// The first step that is not stored; every earlier step is.
    pub prefix: usize,
    /// The stored steps above the prefix, ascending, each computed before an earlier step.
    pub beyond: Vec<usize>,
}

impl StoredSteps {
    /// Whether no step is stored.
    pub fn is_empty(&self) -> bool {
        self.prefix == 0 && self.beyond.is_empty()
    }

    /// The stored steps within a range, ascending.
    pub(crate) fn within<'e>(&'e self, steps: &Range<usize>) -> impl Iterator<Item = usize> + 'e {
        let steps = steps.clone();
        let prefix = steps.start.min(self.prefix)..steps.end.min(self.prefix);
        prefix.chain(self.beyond.iter().copied().filter(move |step| steps.contains(step)))
    }
}

impl FromIterator<usize> for StoredSteps {
    /// Collects steps in any order; a repeated step counts once.
    fn from_iter<I: IntoIterator<Item = usize>>(steps: I) -> Self {
        let mut steps: Vec<usize> = steps.into_iter().collect();
        steps.sort_unstable();
        steps.dedup();
        // Sorted and without repetitions, each step equals its index up to the first gap.
        let prefix = steps.iter().zip(0..).take_while(|(step, at)| **step == *at).count();
        steps.drain(..prefix);
        Self { prefix, beyond: steps }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The set with these steps as bits.
    fn ranges(bits: u32) -> StepRanges {
        let mut ranges = StepRanges::default();
        // Backwards and forwards, so ranges join on both sides.
        let steps = (0..8).filter(|step| bits >> step & 1 == 1);
        let (even, odd): (Vec<usize>, Vec<usize>) = steps.partition(|step| step % 2 == 0);
        even.into_iter().rev().chain(odd).for_each(|step| ranges.insert(step..step + 1));
        ranges
    }

    fn set(ranges: &StepRanges) -> BTreeSet<usize> {
        ranges.steps().collect()
    }

    #[test]
    fn all_operations_are_those_of_a_set() {
        for bits in 0..256 {
            let one = ranges(bits);
            let steps: BTreeSet<usize> = (0..8).filter(|step| bits >> step & 1 == 1).collect();
            assert_eq!((set(&one), one.count(), one.is_empty()), (steps.clone(), steps.len(), bits == 0));
            let gaps = one.0.windows(2).all(|pair| pair[0].end < pair[1].start);
            assert!(gaps && one.0.iter().all(|range| !range.is_empty()), "{one:?}");
            for (start, end) in (0..9).flat_map(|start| (start..9).map(move |end| (start, end))) {
                let within = steps.iter().copied().filter(|step| (start..end).contains(step));
                assert_eq!(set(&one.within(&(start..end))), within.clone().collect(), "{one:?}");
                assert_eq!(one.first_in(&(start..end)), within.min());
                let mut joined = one.clone();
                joined.insert(start..end);
                assert_eq!(set(&joined), steps.iter().copied().chain(start..end).collect());
            }
            assert!((0..9).all(|step| one.contains(step) == steps.contains(&step)));
            let ends = steps.first().zip(steps.last());
            assert_eq!(one.span(), ends.map(|(first, last)| *first..last + 1));
            let stored_steps: StoredSteps = steps.iter().copied().collect();
            assert_eq!(StoredSteps::from(&one), stored_steps);
            assert_eq!(StepRanges::from(&stored_steps), one);
            for other in (0..256).step_by(7).map(ranges) {
                assert_eq!(set(&one.minus(&other)), &steps - &set(&other), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn chunks_end_at_multiples_of_their_size_and_bridge_gaps() {
        let mut steps = StepRanges::from(3..20);
        [21..22, 23..24, 40..41].into_iter().for_each(|range| steps.insert(range));
        assert!(steps.chunks(8).eq([3..8, 8..16, 16..24, 40..41]));
        assert_eq!(StepRanges::default().chunks(8).next(), None);
        let huge = StepRanges::from(5..usize::MAX);
        assert_eq!(huge.chunks(8).nth(1), Some(8..16));
    }
}
