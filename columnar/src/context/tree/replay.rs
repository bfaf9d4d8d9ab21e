//! A tree from its changes, and the changes of a tree.

use super::arena::{CycleCheck, Tree};
use super::change::{Change, Header};
use super::error::TreeError;
use super::kinds::Mode;
use crate::history::IntoValue;

impl Tree {
    /// All changes of the tree, in order. [`replay`](Self::replay) makes an equal tree of them.
    pub fn changes(&self) -> impl Iterator<Item = Change> {
        let mut further = self.further.iter().peekable();
        let mut nodes = self.nodes().enumerate().peekable();
        std::iter::from_fn(move || {
            let made = nodes.peek().map_or(self.len(), |(at, _)| *at);
            if let Some((_, change)) = further.next_if(|(before, _)| *before <= made) {
                return Some(change.clone());
            }
            let (_, node) = nodes.next()?;
            Some(Change::Node { header: node.header(), text: node.value() })
        })
    }

    /// The changes that made no node, in order, each with the number of nodes before it.
    ///
    /// A store can hold [headers](crate::loom::Node::header) and texts in one sequence and these changes in another one;
    /// [`rebuild`](Self::rebuild) joins them.
    pub fn further_changes(&self) -> impl ExactSizeIterator<Item = (usize, &Change)> {
        self.further.iter().map(|(before, change)| (*before, change))
    }

    /// Makes a tree from all its changes, in order.
    ///
    /// ```
    /// use columnar::loom::{Author, Edge, Mark, Mode, Tree};
    ///
    /// let mut tree = Tree::new(Mode::Buffer);
    /// let start = tree.append(&mut || 11, Edge::root(), Author::Human, "It was dark.")?;
    /// tree.edit(&mut || 13 << 50, &start, Author::Human, "It was dark and stormy.")?;
    /// tree.mark(&start, Mark::Excluded, true)?;
    ///
    /// let again = Tree::replay(Mode::Buffer, tree.changes())?;
    /// assert_eq!(again, tree);
    /// # Ok::<(), columnar::loom::TreeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TreeError`] at the first change that a tree would have refused: the changes are damaged, or out of order.
    pub fn replay(mode: Mode, changes: impl IntoIterator<Item = Change>) -> Result<Self, TreeError> {
        let mut tree = TreeBuilder::new(mode);
        changes.into_iter().try_for_each(|change| tree.apply(change))?;
        tree.build()
    }

    /// Makes a tree from its nodes and its [further changes](Self::further_changes), which are two sequences.
    ///
    /// # Errors
    ///
    /// The errors of [`replay`](Self::replay), and [`TreeError::OutOfOrder`] for a further change that is not where the number
    /// of nodes before it says, or that makes a node.
    pub fn rebuild(
        mode: Mode,
        nodes: impl IntoIterator<Item = (Header, impl IntoValue)>,
        further: impl IntoIterator<Item = (usize, Change)>,
    ) -> Result<Self, TreeError> {
        let mut tree = TreeBuilder::new(mode);
        let mut nodes = nodes.into_iter();
        let mut further = further.into_iter().peekable();
        loop {
            while let Some((before, change)) = further.next_if(|(before, _)| *before <= tree.0.len()) {
                if before != tree.0.len() || matches!(change, Change::Node { .. }) {
                    return Err(TreeError::OutOfOrder { expected: before, nodes: tree.0.len() });
                }
                tree.apply(change)?;
            }
            match nodes.next() {
                Some((header, text)) => tree.apply(Change::Node { header, text: text.into_value() })?,
                None => break,
            }
        }
        match further.next() {
            Some((expected, _)) => Err(TreeError::OutOfOrder { expected, nodes: tree.0.len() }),
            None => tree.build(),
        }
    }
}

/// A tree that is made from many changes. Cycles are looked for once, at the end: a search through the ancestors for each
/// change would take the square of their number.
pub(crate) struct TreeBuilder(Tree);

impl TreeBuilder {
    pub(crate) fn new(mode: Mode) -> Self {
        Self(Tree::new(mode))
    }

    /// Makes a change. All errors but a cycle are found at once.
    pub(crate) fn apply(&mut self, change: Change) -> Result<(), TreeError> {
        self.0.make_change(change, CycleCheck::Later)
    }

    /// The tree, if it has no cycle.
    pub(crate) fn build(self) -> Result<Tree, TreeError> {
        self.0.check_acyclic().map(|()| self.0)
    }
}
