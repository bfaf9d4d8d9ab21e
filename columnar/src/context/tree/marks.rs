//! The marks of all nodes, with their history.

use std::collections::BTreeMap;

use super::graph::Index;
use super::kinds::Mark;
use super::timeline::{Moment, Timeline};

/// The marks of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    bits: u8,
}

impl Marks {
    pub(super) const fn has(self, mark: Mark) -> bool {
        self.bits & Self::bit(mark) != 0
    }

    /// The mark for which a path leaves the node out.
    pub(super) fn drops(self) -> Option<Mark> {
        [Mark::Excluded, Mark::Pruned].into_iter().find(|mark| self.has(*mark))
    }

    const fn with(self, mark: Mark, is_set: bool) -> Self {
        let bits = if is_set { self.bits | Self::bit(mark) } else { self.bits & !Self::bit(mark) };
        Self { bits }
    }

    const fn bit(mark: Mark) -> u8 {
        match mark {
            Mark::Bookmarked => 1,
            Mark::Pruned => 2,
            Mark::Excluded => 4,
        }
    }
}

/// Most nodes have no mark, so those with one are in a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MarkHistory {
    nodes: BTreeMap<Index, Timeline<Marks>>,
}

impl MarkHistory {
    pub(super) fn last(&self, node: Index) -> Marks {
        self.nodes.get(&node).and_then(Timeline::last).copied().unwrap_or_default()
    }

    pub(super) fn before(&self, node: Index, moment: Moment) -> Marks {
        let timeline = self.nodes.get(&node);
        timeline.and_then(|timeline| timeline.before(moment)).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, node: Index, moment: Moment, mark: Mark, is_set: bool) {
        let (before, after) = (self.last(node), self.last(node).with(mark, is_set));
        if before != after {
            self.nodes.entry(node).or_default().push(moment, after);
        }
    }
}
