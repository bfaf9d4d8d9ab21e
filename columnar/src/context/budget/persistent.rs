//! A cut that stays from step to step until the limit is passed again.

use std::sync::Arc;

use super::limit::{Cut, CutMarker, TokenLimit, Turns};

/// The cuts of a column so far. They follow from the values alone, so this is a memory and no state: what
/// is lost of it is found again by going through the steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct PersistentCuts {
    /// From which step on each holds, in this order. Forks share it.
    cuts: Arc<Vec<(usize, Cut)>>,
    /// How many of them are of this flow.
    len: usize,
    /// The first step that was not looked at.
    next: usize,
}

impl PersistentCuts {
    /// What is left out at a step. `turns` are those of any step up to it.
    pub(crate) fn at<T: Turns>(
        &mut self,
        step: usize,
        limit: &TokenLimit,
        turns: impl Fn(usize) -> T,
        marker: CutMarker<'_>,
    ) -> Cut {
        for step in self.next..=step {
            let before = self.holding(step);
            let cut = limit.fit(&turns(step), &before, marker);
            if cut != before {
                self.push(step, cut);
            }
        }
        self.next = self.next.max(step + 1);
        self.holding(step)
    }

    fn holding(&self, step: usize) -> Cut {
        let holding = self.own().partition_point(|(from, _)| *from <= step);
        let holding = holding.checked_sub(1).and_then(|last| self.cuts.get(last));
        holding.map(|(_, cut)| cut.clone()).unwrap_or_default()
    }

    /// What is known of the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        let len = self.own().partition_point(|(from, _)| *from < step);
        Self { cuts: Arc::clone(&self.cuts), len, next: self.next.min(step) }
    }

    fn own(&self) -> &[(usize, Cut)] {
        self.cuts.get(..self.len).unwrap_or_default()
    }

    fn push(&mut self, step: usize, cut: Cut) {
        let cuts = Arc::make_mut(&mut self.cuts);
        cuts.truncate(self.len);
        cuts.push((step, cut));
        self.len = cuts.len();
    }
}
