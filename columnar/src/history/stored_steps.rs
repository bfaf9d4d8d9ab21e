//! Which steps of a column are stored.

use std::ops::Range;

/// Which steps of a column are stored.
///
/// ```
/// use columnar::store::StoredSteps;
///
/// let stored: StoredSteps = [4, 0, 1, 6].into_iter().collect();
/// assert_eq!(stored, StoredSteps { prefix: 2, beyond: vec![4, 6] });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSteps {
    /// Every step below this one is stored, and it is not.
    pub prefix: usize,
    /// The stored steps behind it, ascending: what was computed ahead of what is missing.
    pub beyond: Vec<usize>,
}

impl StoredSteps {
    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.prefix == 0 && self.beyond.is_empty()
    }

    /// The stored steps among these, ascending.
    pub(crate) fn within<'e>(&'e self, steps: &Range<usize>) -> impl Iterator<Item = usize> + 'e {
        let steps = steps.clone();
        let prefix = steps.start.min(self.prefix)..steps.end.min(self.prefix);
        prefix.chain(self.beyond.iter().copied().filter(move |step| steps.contains(step)))
    }
}

impl FromIterator<usize> for StoredSteps {
    /// From steps in any order; a repeated step counts once.
    fn from_iter<I: IntoIterator<Item = usize>>(steps: I) -> Self {
        let mut steps: Vec<usize> = steps.into_iter().collect();
        steps.sort_unstable();
        steps.dedup();
        let prefix = steps.iter().zip(0..).take_while(|(step, at)| **step == *at).count();
        steps.drain(..prefix);
        Self { prefix, beyond: steps }
    }
}
