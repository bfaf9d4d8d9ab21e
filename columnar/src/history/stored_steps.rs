//! The set of a column's stored steps.

use std::ops::Range;

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
