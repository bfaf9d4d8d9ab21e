//! Reading a tree: the nodes and the neighbours.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::arena::{StoredNode, Tree};
use super::change::Header;
use super::edge::Edge;
use super::graph::{EdgeKind, EdgeRef, ways};
use super::id::NodeId;
use super::kinds::{Author, Mark, Mode};
use super::timeline::{Moment, NodeIndex};
use crate::context::budget::Budget;
use crate::history::{Attachment, Value};

/// A node of a tree. The id, author, text and attachments never change.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree,
    pub(super) index: NodeIndex,
}

impl<'t> Node<'t> {
    /// The id of the node.
    pub fn id(&self) -> &'t NodeId {
        &self.stored().id
    }

    /// The author.
    pub fn author(&self) -> Author {
        self.stored().author
    }

    /// The text.
    pub fn text(&self) -> &'t str {
        &self.stored().text
    }

    /// The text, for a reader that outlives the tree. The cost is a reference count.
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.stored().text)
    }

    /// The images, documents and files beside the text.
    pub fn attachments(&self) -> &'t [Attachment] {
        self.tree.attachments.get(&self.index).map(|attachments| &**attachments).unwrap_or_default()
    }

    /// The text with the attachments, for a reader that outlives the tree. The cost is a reference count or two.
    pub fn value(&self) -> Value {
        Value::from(self.shared_text()).attached(self.tree.attachments.get(&self.index).cloned())
    }

    /// The node that this one is an edit of.
    pub fn edited_from(&self) -> Option<&'t NodeId> {
        self.stored().edited_from.map(|original| &self.tree.stored(original).id)
    }

    pub(crate) fn receipt_json(&self) -> Option<&'t str> {
        self.tree.receipts.get(&self.index).map(|receipt| &**receipt)
    }

    /// The tree of the node.
    pub const fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// Whether the node ended a path at a moment: nothing continued it, and it is a root or continues another node.
    pub(super) fn is_end(&self, moment: Moment) -> bool {
        let mut incoming = self.tree.graph.incoming(self.index, EdgeKind::Continuation);
        self.following(EdgeKind::Continuation, moment) == 0
            && (self.stored().is_root || incoming.next().is_some())
    }

    /// The number of nodes to which edges of a kind led from the node at a moment, in buffer mode from any of the versions.
    pub(super) fn following(&self, kind: EdgeKind, moment: Moment) -> usize {
        let tree = self.tree;
        let edges = tree.versions_of(tree.position(self.index)).flat_map(|node| {
            let edges = tree.graph.outgoing(node, kind).filter(move |edge| edge.made() < moment);
            edges.filter(move |edge| {
                kind == EdgeKind::Annotation || ways(edge.sources()).any(|(_, way)| way == node)
            })
        });
        edges.map(EdgeRef::target).collect::<BTreeSet<NodeIndex>>().len()
    }

    /// Whether the node has [`Mark::Bookmarked`].
    pub fn is_bookmarked(&self) -> bool {
        self.has(Mark::Bookmarked)
    }

    /// Whether the node has [`Mark::Pruned`].
    pub fn is_pruned(&self) -> bool {
        self.has(Mark::Pruned)
    }

    /// Whether the node has [`Mark::Excluded`].
    pub fn is_excluded(&self) -> bool {
        self.has(Mark::Excluded)
    }

    /// Whether the node has a mark.
    pub fn has(&self, mark: Mark) -> bool {
        self.tree.marks.last(self.index).has(mark)
    }

    /// The continuation edges that lead to the node: those that it was made with, then the links. A root without links has
    /// [`Edge::root()`].
    pub fn edges(&self) -> Vec<Edge> {
        let edges = self.edges_of(EdgeKind::Continuation, None);
        if edges.is_empty() && self.stored().is_root { vec![Edge::root()] } else { edges }
    }

    /// The annotation edges that lead to the node.
    pub fn annotation_edges(&self) -> Vec<Edge> {
        self.edges_of(EdgeKind::Annotation, None)
    }

    /// The node as it was made, without the text.
    pub fn header(&self) -> Header {
        let stored = self.stored();
        let mut header = Header::new(stored.id.clone(), stored.author);
        header.from = self.edges_of(EdgeKind::Continuation, Some(stored.made));
        if stored.is_root {
            header.from.push(Edge::root());
        }
        header.annotates = self.edges_of(EdgeKind::Annotation, Some(stored.made));
        header.edited_from = self.edited_from().cloned();
        header.receipt = self.tree.receipts.get(&self.index).cloned();
        header
    }

    /// The edges that lead to the node, all or those made at a moment.
    fn edges_of(&self, kind: EdgeKind, made: Option<Moment>) -> Vec<Edge> {
        let edges = self.tree.graph.incoming(self.index, kind);
        let edges = edges.filter(|edge| made.is_none_or(|made| edge.made() == made)).map(|edge| {
            Edge::new(edge.sources().iter().map(|source| (source.purpose, self.tree.id(source.node))))
        });
        edges.collect()
    }

    fn stored(&self) -> &'t StoredNode {
        self.tree.stored(self.index)
    }
}

/// Without the text, which would fill a screen.
impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks = [Mark::Bookmarked, Mark::Pruned, Mark::Excluded].into_iter();
        f.debug_struct("Node")
            .field("header", &self.header())
            .field("text", &self.text().len())
            .field("marks", &marks.filter(|mark| self.has(*mark)).collect::<Vec<_>>())
            .finish()
    }
}

impl Tree {
    /// The mode of the tree.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the tree has no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The system text of the tree.
    pub fn system(&self) -> Option<&str> {
        self.system.last()?.as_deref()
    }

    /// The budget of requests, which sets no field unless it was [set](Self::set_budget).
    pub fn budget(&self) -> Budget {
        self.budget.last().cloned().unwrap_or_default()
    }

    /// Whether requests in buffer mode have a system text.
    pub fn is_system_in_buffer(&self) -> bool {
        self.system_in_buffer.last().copied().unwrap_or_default()
    }

    /// The node with an id.
    pub fn node(&self, id: &NodeId) -> Option<Node<'_>> {
        self.index(id).ok().map(|node| self.view(node))
    }

    /// All nodes, in the order of creation.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node<'_>> + DoubleEndedIterator {
        // A tree is full before there are more nodes than numbers.
        let count = u32::try_from(self.nodes.len()).unwrap_or(NodeIndex::MAX);
        (0..count as usize).map(|at| self.view(u32::try_from(at).unwrap_or(NodeIndex::MAX)))
    }

    /// The nodes that were made as roots, in this order, without those that a link leads to.
    pub fn roots(&self) -> impl Iterator<Item = Node<'_>> {
        let roots = self.roots.iter().copied();
        roots
            .filter(|node| self.graph.incoming(*node, EdgeKind::Continuation).next().is_none())
            .map(|node| self.view(node))
    }

    /// The nodes that continue a node: those that a path can reach from it directly, in the order of the edges. In buffer
    /// mode they continue all versions. Empty if the node is not in the tree.
    pub fn continuations(&self, id: &NodeId) -> Vec<Node<'_>> {
        let Ok(node) = self.index(id) else { return Vec::new() };
        self.following(self.position(node)).into_iter().map(|node| self.view(node)).collect()
    }

    /// The nodes that annotate a node, in the order of creation; in buffer mode those that annotate one of its
    /// versions. Empty if the node is not in the tree.
    pub fn annotations(&self, id: &NodeId) -> Vec<Node<'_>> {
        let Ok(node) = self.index(id) else { return Vec::new() };
        let versions = self.versions_of(self.position(node));
        let edges = versions.flat_map(|node| self.graph.outgoing(node, EdgeKind::Annotation));
        let mut nodes: Vec<NodeIndex> = edges.map(EdgeRef::target).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.into_iter().map(|node| self.view(node)).collect()
    }

    /// The versions of a node in the order of creation: the node that it goes back to by edits, and all edits
    /// of that, in both modes. Empty if the node is not in the tree.
    pub fn versions(&self, id: &NodeId) -> Vec<Node<'_>> {
        let Ok(node) = self.index(id) else { return Vec::new() };
        self.lineage(node).map(|node| self.view(node)).collect()
    }

    pub(crate) fn receipts_json(&self) -> impl Iterator<Item = &str> {
        self.receipts.values().map(|receipt| &**receipt)
    }

    pub(super) const fn view(&self, index: NodeIndex) -> Node<'_> {
        Node { tree: self, index }
    }
}
