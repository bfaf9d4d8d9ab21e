//! The nodes of the tree that holds the values of a column.

use std::sync::Arc;

use super::texts::{Held, Mark, Text, start};
use crate::history::Value;
use crate::tokens::Sum;

/// Each node has so many children, as a power of two.
pub(super) const BITS: u32 = 5;
pub(super) const WIDTH: usize = 1 << BITS;

/// Values that are longer together are not copied into one text.
pub(super) const LARGE: usize = 1 << 16;

#[derive(Clone, Debug)]
pub(super) enum Node {
    Inner(Vec<Child>),
    Open(Vec<Option<Held>>),
    /// A leaf without gaps, as one text.
    Sealed {
        text: Arc<str>,
        marks: Arc<[Mark]>,
    },
}

/// A node and all that is in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Child {
    pub(super) node: Arc<Node>,
    pub(super) sum: Sum,
}

/// A node without anything in it, at any level.
impl Default for Node {
    fn default() -> Self {
        Self::Open(Vec::new())
    }
}

impl Node {
    /// The child at a place of a node above the leaves, made if it is not there.
    pub(super) fn child_mut(&mut self, at: usize) -> Option<&mut Child> {
        if let Self::Open(_) = self {
            *self = Self::Inner(Vec::new());
        }
        let Self::Inner(children) = self else { return None };
        if children.len() <= at {
            children.resize_with(at + 1, Child::default);
        }
        children.get_mut(at)
    }

    pub(super) fn sum(&self) -> Sum {
        self.sum_before(WIDTH)
    }

    /// What comes before a place in this node.
    pub(super) fn sum_before(&self, at: usize) -> Sum {
        match self {
            Self::Inner(children) => children.iter().take(at).map(|child| child.sum).sum(),
            Self::Open(texts) => texts.iter().take(at).flatten().map(|held| Sum::one(held.tokens())).sum(),
            Self::Sealed { marks, .. } => marks.iter().take(at).map(|mark| Sum::one(mark.tokens())).sum(),
        }
    }

    /// The value at a place of a leaf.
    pub(super) fn text(&self, at: usize) -> Option<Text<'_>> {
        match self {
            Self::Open(texts) => texts.get(at)?.as_ref().map(Held::known),
            Self::Sealed { text, marks } => {
                let mark = marks.get(at)?;
                text.get(start(marks, at)..mark.end()).map(|value| mark.known(value))
            }
            Self::Inner(_) => None,
        }
    }

    pub(super) fn has(&self, at: usize) -> bool {
        match self {
            Self::Open(texts) => texts.get(at).is_some_and(Option::is_some),
            Self::Sealed { marks, .. } => at < marks.len(),
            Self::Inner(_) => false,
        }
    }

    pub(super) fn value(&self, at: usize) -> Option<Value> {
        match self {
            Self::Open(texts) => Some(Value::from(Arc::clone(&texts.get(at)?.as_ref()?.text))),
            Self::Sealed { text, marks } => {
                let end = marks.get(at)?.end();
                Some(Value::part(Arc::clone(text), start(marks, at)..end))
            }
            Self::Inner(_) => None,
        }
    }

    /// Writes a value into a leaf.
    pub(super) fn insert(&mut self, at: usize, held: Held) {
        let Self::Open(texts) = self else { return };
        if texts.len() <= at {
            texts.resize(at + 1, None);
        }
        if let Some(slot) = texts.get_mut(at) {
            *slot = Some(held);
        }
    }

    /// Makes one text of a leaf that is full, which saves a third of the memory of short values. Not
    /// if that would copy a text that somebody else holds, too. Returns whether the leaf is full.
    pub(super) fn seal(&mut self) -> bool {
        let Self::Open(texts) = self else { return true };
        if texts.len() < WIDTH || texts.iter().any(Option::is_none) {
            return false;
        }
        let length: usize = texts.iter().flatten().map(|held| held.text.len()).sum();
        if length > LARGE || texts.iter().flatten().any(|held| Arc::strong_count(&held.text) > 1) {
            return true;
        }
        let mut end = 0;
        let marks = texts.iter().flatten().map(|held| {
            end += held.text.len();
            Mark::new(end, held)
        });
        if let Some(marks) = marks.collect() {
            let mut text = String::with_capacity(length);
            texts.iter().flatten().for_each(|held| text.push_str(&held.text));
            *self = Self::Sealed { text: text.into(), marks };
        }
        true
    }

    /// Leaves what comes before a step in a node of this height.
    pub(super) fn truncate(&mut self, step: usize, height: u32) {
        let at = digit(step, height);
        if let Self::Sealed { .. } = self {
            let held = |at| {
                let tokens = self.text(at)?.tokens;
                Some(Held::new(self.value(at)?, tokens))
            };
            *self = Self::Open((0..at).map(held).collect());
        }
        match self {
            Self::Open(texts) => texts.truncate(at),
            Self::Inner(children) => {
                children.truncate(at + 1);
                if let Some(child) = children.get_mut(at) {
                    Arc::make_mut(&mut child.node).truncate(step, height.saturating_sub(1));
                    child.sum = child.node.sum();
                }
            }
            Self::Sealed { .. } => {}
        }
    }
}

/// Which child of a node at this level leads to a step.
pub(super) fn digit(step: usize, level: u32) -> usize {
    rest(step, level) & (WIDTH - 1)
}

/// What is left of a step above a level.
pub(super) fn rest(step: usize, level: u32) -> usize {
    step.checked_shr(level * BITS).unwrap_or(0)
}
