//! The values of one column.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::value::Value;

/// Each node has so many children, as a power of two.
const BITS: u32 = 7;

/// The values of a column by step; a step may be without one. A value that is there stays.
///
/// A tree in which clones share all that they have in common: cloning is a reference count, whatever
/// the length, and writing copies the few nodes on the way that are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    root: Arc<Node>,
    /// How many levels lie between the root and the leaves.
    height: u32,
}

#[derive(Clone, Debug)]
enum Node {
    Inner(Vec<Arc<Node>>),
    Leaf(Vec<Option<Value>>),
}

/// A node without anything in it, at any level.
impl Default for Node {
    fn default() -> Self {
        Self::Leaf(Vec::new())
    }
}

impl History {
    pub(crate) fn get(&self, step: usize) -> Option<&Value> {
        if place(step, self.height + 1, usize::MAX) > 0 {
            return None;
        }
        let mut node = &*self.root;
        for level in (1..=self.height).rev() {
            let Node::Inner(children) = node else { return None };
            node = children.get(child(step, level))?;
        }
        match node {
            Node::Leaf(values) => values.get(child(step, 0))?.as_ref(),
            Node::Inner(_) => None,
        }
    }

    /// Writes a value unless the step has one.
    pub(crate) fn insert(&mut self, step: usize, value: Value) {
        while place(step, self.height + 1, usize::MAX) > 0 {
            let below = core::mem::take(&mut self.root);
            self.root = Arc::new(Node::Inner(alloc::vec![below]));
            self.height += 1;
        }
        let mut node = Arc::make_mut(&mut self.root);
        for level in (1..=self.height).rev() {
            node = match node.child_mut(child(step, level)) {
                Some(child) => Arc::make_mut(child),
                None => return,
            };
        }
        if let Some(slot) = node.value_mut(child(step, 0)) {
            slot.get_or_insert(value);
        }
    }

    /// The values before a step.
    pub(crate) fn before(&self, step: usize) -> Self {
        let mut before = self.clone();
        if place(step, self.height + 1, usize::MAX) > 0 {
            return before;
        }
        let mut node = Arc::make_mut(&mut before.root);
        for level in (1..=self.height).rev() {
            let Node::Inner(children) = node else { return before };
            children.truncate(child(step, level) + 1);
            node = match children.get_mut(child(step, level)) {
                Some(child) => Arc::make_mut(child),
                None => return before,
            };
        }
        if let Node::Leaf(values) = node {
            values.truncate(child(step, 0));
        }
        before
    }
}

impl Node {
    /// The child at a place of a node above the leaves, made if it is not there.
    fn child_mut(&mut self, at: usize) -> Option<&mut Arc<Node>> {
        if let Self::Leaf(_) = self {
            *self = Self::Inner(Vec::new());
        }
        let Self::Inner(children) = self else { return None };
        if children.len() <= at {
            children.resize_with(at + 1, Arc::default);
        }
        children.get_mut(at)
    }

    /// The slot at a place of a leaf, made if it is not there.
    fn value_mut(&mut self, at: usize) -> Option<&mut Option<Value>> {
        let Self::Leaf(values) = self else { return None };
        if values.len() <= at {
            values.resize(at + 1, None);
        }
        values.get_mut(at)
    }
}

/// Which child of a node at this level leads to a step.
fn child(step: usize, level: u32) -> usize {
    place(step, level, (1 << BITS) - 1)
}

fn place(step: usize, level: u32, mask: usize) -> usize {
    step.checked_shr(level * BITS).unwrap_or(0) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(steps: impl IntoIterator<Item = usize>) -> History {
        let mut history = History::default();
        for step in steps {
            history.insert(step, alloc::format!("{step}").into());
        }
        history
    }

    fn holds(history: &History, step: usize) -> bool {
        history.get(step).is_some_and(|value| **value == alloc::format!("{step}"))
    }

    #[test]
    fn what_is_written_is_there_in_any_order_and_at_any_distance() {
        let far = [0, 31, 32, 1023, 1024, 40_000, usize::MAX];
        let forth = history(far);
        let back = history(far.into_iter().rev());
        for step in far {
            assert!(holds(&forth, step) && holds(&back, step), "{step}");
        }
        for step in [1, 30, 33, 1025, 39_999, usize::MAX - 1] {
            assert!(forth.get(step).is_none() && back.get(step).is_none(), "{step}");
        }
    }

    #[test]
    fn a_value_that_is_there_stays() {
        let mut once = history(0..3);
        once.insert(1, "another".into());
        assert!(holds(&once, 1));
    }

    #[test]
    fn the_past_is_shared_and_what_follows_is_not() {
        for step in [0, 1, 31, 32, 33, 1000, 1024, 1056, 2000, 2001] {
            let whole = history(0..2000);
            let mut cut = whole.before(step);
            for at in 0..2000 {
                assert_eq!(holds(&cut, at), at < step, "{at} of {step}");
            }
            cut.insert(step + 1, "its own way".into());
            assert!(cut.get(step).is_none() || step >= 2000, "nothing of the other shows through at {step}");
            assert_eq!(cut.get(step + 1).map(|value| &**value), Some("its own way"));
            assert!((0..2000).all(|at| holds(&whole, at)), "the first one is as it was");
        }
    }

    /// A clone of a long history copies nothing of it: both point at the same values.
    #[test]
    fn a_clone_is_a_reference_count() {
        let whole = history(0..5000);
        let clone = whole.before(4000);
        let (a, b) = (whole.get(17).expect("it is there"), clone.get(17).expect("it is there"));
        assert!(core::ptr::eq(a, b), "the leaf itself is shared");
    }
}
