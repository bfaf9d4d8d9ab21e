//! Cuts that persist from step to step until the limit is exceeded again.

use super::super::forked_list::ForkedList;
use super::limit::{CutMarker, TokenLimit, TurnCut, Turns};

/// The cuts of a column so far: a function of the values, so this is a cache: a lost cut is computed again from
/// the steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct PersistentCuts {
    /// Each cut after the first step of the cut, ascending.
    cuts: ForkedList<(usize, TurnCut)>,
    /// The first step that has not been computed.
    next: usize,
}

impl PersistentCuts {
    /// The cut at a step. `limit` and `turns` return the limit and the turns of any step up to this one.
    pub(crate) fn at<T: Turns>(
        &mut self,
        step: usize,
        limit: impl Fn(usize) -> TokenLimit,
        turns: impl Fn(usize) -> T,
        marker: CutMarker<'_>,
    ) -> TurnCut {
        // A cut depends on the one before, so steps that nobody has read are computed as well.
        for step in self.next..=step {
            let before = self.active(step);
            let cut = limit(step).fit(&turns(step), &before, marker);
            if cut != before {
                self.cuts.push((step, cut));
            }
        }
        self.next = self.next.max(step + 1);
        self.active(step)
    }

    /// The last cut that begins at or before a step.
    fn active(&self, step: usize) -> TurnCut {
        let begun = self.cuts.partition_point(|(from, _)| *from <= step);
        let active = begun.checked_sub(1).and_then(|last| self.cuts.get(last));
        active.map(|(_, cut)| cut.clone()).unwrap_or_default()
    }

    /// No cuts, from a step on.
    pub(crate) fn from(step: usize) -> Self {
        Self { next: step, ..Self::default() }
    }

    /// The cuts of the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        let len = self.cuts.partition_point(|(from, _)| *from < step);
        Self { cuts: self.cuts.before(len), next: self.next.min(step) }
    }
}
