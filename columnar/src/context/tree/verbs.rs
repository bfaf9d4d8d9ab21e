//! The verbs of a tree. Each one makes a change and applies it.

use std::sync::Arc;

use super::arena::Tree;
use super::change::{Change, Header};
use super::edge::Edge;
use super::error::TreeError;
use super::id::NodeId;
use super::kinds::{Author, Mark};
use crate::context::budget::Budget;
use crate::history::{IntoValue, Value};

impl Tree {
    /// Makes a node that continues others, or a root with [`Edge::root()`]. `dice` returns random numbers, for the id.
    ///
    /// Here and wherever a node is made, a [`Text`](crate::Text) adds attachments to the text.
    ///
    /// ```
    /// use columnar::loom::{Author, Edge, Mode, Tree};
    /// use columnar::{Attachment, Text};
    ///
    /// let mut tree = Tree::new(Mode::Dialogue);
    /// let question = Text::new("When is it?").with(Attachment::new("Launch on Monday.")?);
    /// let question = tree.append(&mut || 7, Edge::root(), Author::Human, question)?;
    /// assert_eq!(tree.node(&question).map(|node| node.attachments().len()), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TreeError::UnknownNode`] for a source that is not in the tree, [`TreeError::NoSource`] for an edge without one, and
    /// [`TreeError::Full`]. Nothing changed.
    pub fn append(
        &mut self,
        dice: &mut impl FnMut() -> u64,
        from: impl Into<Edge>,
        author: Author,
        text: impl IntoValue,
    ) -> Result<NodeId, TreeError> {
        self.make(Header::new(self.new_id(dice), author).with_edge(from), text.into_value())
    }

    /// Makes a node that continues nothing and is no root: the material of [context](Edge::context) and
    /// [instruction](Edge::instruction) sources.
    ///
    /// # Errors
    ///
    /// [`TreeError::Full`].
    pub fn aside(
        &mut self,
        dice: &mut impl FnMut() -> u64,
        author: Author,
        text: impl IntoValue,
    ) -> Result<NodeId, TreeError> {
        self.make(Header::new(self.new_id(dice), author), text.into_value())
    }

    /// Makes a node that annotates another one. Paths show it only if it is
    /// [included](crate::loom::Path::include).
    ///
    /// # Errors
    ///
    /// [`TreeError::UnknownNode`] if the other node is not in the tree, and [`TreeError::Full`].
    pub fn annotate(
        &mut self,
        dice: &mut impl FnMut() -> u64,
        node: &NodeId,
        author: Author,
        text: impl IntoValue,
    ) -> Result<NodeId, TreeError> {
        self.make(Header::new(self.new_id(dice), author).with_annotation_edge(node), text.into_value())
    }

    /// Makes an edited copy of a node. The copy has the same incoming edges.
    ///
    /// In dialogue mode it is a sibling of the node: what followed the node does not follow the copy. In buffer mode it is
    /// a version: what followed the node follows the copy as well, and paths take the latest version.
    ///
    /// # Errors
    ///
    /// [`TreeError::UnknownNode`] if the node is not in the tree, and [`TreeError::Full`].
    pub fn edit(
        &mut self,
        dice: &mut impl FnMut() -> u64,
        node: &NodeId,
        author: Author,
        text: impl IntoValue,
    ) -> Result<NodeId, TreeError> {
        let header = self.header_of_edit(self.new_id(dice), author, node)?;
        self.make(header, text.into_value())
    }

    /// Adds a continuation edge to a node. A path to a node with several of them needs a choice.
    ///
    /// # Errors
    ///
    /// [`TreeError::UnknownNode`], [`TreeError::NoSource`], and [`TreeError::Cycle`] if a source follows the node. Nothing
    /// changed.
    pub fn link(&mut self, from: impl Into<Edge>, node: &NodeId) -> Result<(), TreeError> {
        self.apply(Change::Link { from: from.into(), node: node.clone() })
    }

    /// Sets or removes a mark. [`Mark::Pruned`] is set or removed for all nodes that follow the node, too, but not for
    /// those that are made later.
    ///
    /// # Errors
    ///
    /// [`TreeError::UnknownNode`] if the node is not in the tree, and [`TreeError::Full`].
    pub fn mark(&mut self, node: &NodeId, mark: Mark, is_set: bool) -> Result<(), TreeError> {
        self.apply(Change::Mark { node: node.clone(), mark, is_set })
    }

    /// Sets or removes [`Mark::Pruned`] for a node alone.
    ///
    /// # Errors
    ///
    /// [`TreeError::UnknownNode`] if the node is not in the tree, and [`TreeError::Full`].
    pub fn prune_one(&mut self, node: &NodeId, is_set: bool) -> Result<(), TreeError> {
        self.apply(Change::PruneOne { node: node.clone(), is_set })
    }

    /// Replaces the system text of the tree, or removes it.
    ///
    /// # Errors
    ///
    /// [`TreeError::Full`].
    pub fn set_system(&mut self, text: Option<&str>) -> Result<(), TreeError> {
        self.apply(Change::System { text: text.map(Arc::from) })
    }

    /// Sets whether requests in buffer mode have a system text. They have none unless this was set.
    ///
    /// # Errors
    ///
    /// [`TreeError::Full`].
    pub fn set_system_in_buffer(&mut self, is_set: bool) -> Result<(), TreeError> {
        self.apply(Change::SystemInBuffer { is_set })
    }

    /// Replaces the budget of requests. The fields that the budget does not set come from the
    /// [program](crate::budget::set_default); those that an [agent](crate::loom::Agent::budget) sets count first.
    ///
    /// # Errors
    ///
    /// [`TreeError::Full`].
    pub fn set_budget(&mut self, budget: impl Into<Budget>) -> Result<(), TreeError> {
        self.apply(Change::Budget { budget: budget.into() })
    }

    /// The header of an edited copy of a node: with the incoming edges that the node has now.
    ///
    /// # Errors
    ///
    /// [`TreeError::UnknownNode`] if the node is not in the tree.
    pub fn header_of_edit(&self, id: NodeId, author: Author, node: &NodeId) -> Result<Header, TreeError> {
        let node = self.view(self.index(node)?);
        let mut header = Header::new(id, author).with_edited_from(node.id());
        header.from = node.edges();
        header.annotates = node.annotation_edges();
        Ok(header)
    }

    fn make(&mut self, header: Header, text: Value) -> Result<NodeId, TreeError> {
        let id = header.id().clone();
        self.apply(Change::Node { header, text })?;
        Ok(id)
    }
}
