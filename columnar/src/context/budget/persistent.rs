//! Cuts that persist from step to step until the limit is exceeded again.

use std::sync::Arc;

use super::limit::{Cut, CutMarker, TokenLimit, Turns};

/// The cuts of a column so far. They are a function of the values, so this is a cache: a lost cut is computed again from
/// the steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct PersistentCuts {
    /// Each cut with its first step, ascending. Forks share the list.
    cuts: Arc<Vec<(usize, Cut)>>,
    /// The number of cuts that belong to this flow.
    len: usize,
    /// The first step that has not been computed.
    next: usize,
}

impl PersistentCuts {
    /// The cut at a step. `turns` returns the turns of any step up to this one.
    pub(crate) fn at<T: Turns>(
        &mut self,
        step: usize,
        limit: &TokenLimit,
        turns: impl Fn(usize) -> T,
        marker: CutMarker<'_>,
    ) -> Cut {
        // A cut depends on the one before it, so steps that nobody has read are computed as well.
        for step in self.next..=step {
            let before = self.active(step);
            let cut = limit.fit(&turns(step), &before, marker);
            if cut != before {
                self.push(step, cut);
            }
        }
        self.next = self.next.max(step + 1);
        self.active(step)
    }

    /// The last cut that begins at or before a step.
    fn active(&self, step: usize) -> Cut {
        let begun = self.of_flow().partition_point(|(from, _)| *from <= step);
        let active = begun.checked_sub(1).and_then(|last| self.cuts.get(last));
        active.map(|(_, cut)| cut.clone()).unwrap_or_default()
    }

    /// The cuts of the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        let len = self.of_flow().partition_point(|(from, _)| *from < step);
        Self { cuts: Arc::clone(&self.cuts), len, next: self.next.min(step) }
    }

    fn of_flow(&self) -> &[(usize, Cut)] {
        self.cuts.get(..self.len).unwrap_or_default()
    }

    fn push(&mut self, step: usize, cut: Cut) {
        let cuts = Arc::make_mut(&mut self.cuts);
        // A fork still shares the later cuts of the flow that it comes from, which are not its own.
        cuts.truncate(self.len);
        cuts.push((step, cut));
        self.len = cuts.len();
    }
}
