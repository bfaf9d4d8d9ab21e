//! Values with the history, so a path can be seen as it was, and the marks of all nodes.

use std::collections::BTreeMap;

use super::kinds::Mark;

/// The number of a node, in the order in which nodes were made.
pub(super) type NodeIndex = u32;

/// A point in the history of a tree: the number of nodes and changes before.
pub(super) type Moment = u32;

/// The states of one value, each with the change that led to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Timeline<T>(Vec<(Moment, T)>);

impl<T> Timeline<T> {
    /// The newest state.
    pub(super) fn last(&self) -> Option<&T> {
        self.0.last().map(|(_, state)| state)
    }

    /// The state before a moment.
    pub(super) fn before(&self, moment: Moment) -> Option<&T> {
        let states = self.0.partition_point(|(since, _)| *since < moment);
        let (_, state) = self.0.get(states.checked_sub(1)?)?;
        Some(state)
    }

    /// Adds a state. `moment` is not before the newest state.
    pub(super) fn push(&mut self, moment: Moment, state: T) {
        self.0.push((moment, state));
    }
}

/// The marks of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeMarks {
    bits: u8,
}

impl NodeMarks {
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
        1 << mark as u8
    }
}

/// Most nodes have no mark, so those with one are in a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MarkHistory {
    nodes: BTreeMap<NodeIndex, Timeline<NodeMarks>>,
}

impl MarkHistory {
    pub(super) fn last(&self, node: NodeIndex) -> NodeMarks {
        self.nodes.get(&node).and_then(Timeline::last).copied().unwrap_or_default()
    }

    pub(super) fn before(&self, node: NodeIndex, moment: Moment) -> NodeMarks {
        let timeline = self.nodes.get(&node);
        timeline.and_then(|timeline| timeline.before(moment)).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, node: NodeIndex, moment: Moment, mark: Mark, is_set: bool) {
        let before = self.last(node);
        let after = self.last(node).with(mark, is_set);
        if before != after {
            self.nodes.entry(node).or_default().push(moment, after);
        }
    }
}
