//! The changes of a tree. A tree is what the changes, one after another, make of an empty one, and no node is changed or
//! removed: so each request can be seen as it was, and a store only appends.

use std::fmt;
use std::sync::Arc;

use super::edge::Edge;
use super::id::NodeId;
use super::kinds::{Author, Mark};
use crate::context::budget::Budget;
use crate::history::Value;

/// A node without the text: the id, the author, and the nodes that it was made from.
///
/// [`Tree`](crate::loom::Tree) makes headers for the nodes that it makes. A program that imports nodes makes them itself
/// and applies a [`Change::Node`]. A header without an edge makes an [aside](crate::loom::Tree::aside).
///
/// ```
/// use columnar::loom::{Author, Edge, Header, NodeId};
///
/// let (original, edited) = (NodeId::new("k3f9")?, NodeId::new("k3f9-2")?);
/// let header = Header::new(edited, Author::Human).with_edge(Edge::root()).with_edited_from(&original);
/// assert_eq!(header.to_json(), r#"{"id":"k3f9-2","author":"human","root":true,"edited_from":"k3f9"}"#);
/// # Ok::<(), columnar::loom::NodeIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Header {
    id: NodeId,
    author: Author,
    pub(super) from: Vec<Edge>,
    pub(super) annotates: Vec<Edge>,
    pub(super) edited_from: Option<NodeId>,
    /// An object of JSON, because receipts belong to a layer above.
    pub(super) receipt: Option<Arc<str>>,
}

impl Header {
    /// The header of a node that no edge leads to.
    pub const fn new(id: NodeId, author: Author) -> Self {
        Self { id, author, from: Vec::new(), annotates: Vec::new(), edited_from: None, receipt: None }
    }

    /// Adds a continuation edge that leads to the node. With [`Edge::root()`] the node is a root.
    pub fn with_edge(mut self, edge: impl Into<Edge>) -> Self {
        self.from.push(edge.into());
        self
    }

    /// Adds an annotation edge that leads to the node.
    pub fn with_annotation_edge(mut self, edge: impl Into<Edge>) -> Self {
        self.annotates.push(edge.into());
        self
    }

    /// The node that this one is an edit of.
    pub fn with_edited_from(mut self, node: &NodeId) -> Self {
        self.edited_from = Some(node.clone());
        self
    }

    pub(crate) fn with_receipt_json(mut self, receipt: &str) -> Self {
        self.receipt = Some(receipt.into());
        self
    }

    /// The id of the node.
    pub const fn id(&self) -> &NodeId {
        &self.id
    }

    /// The author.
    pub const fn author(&self) -> Author {
        self.author
    }

    /// The continuation edges that led to the new node: none for an aside and for an annotation,
    /// [`Edge::root()`] for a root, and several for the edit of a node with several.
    pub fn edges(&self) -> &[Edge] {
        &self.from
    }

    /// The annotation edges that led to the new node.
    pub fn annotation_edges(&self) -> &[Edge] {
        &self.annotates
    }

    /// The node that this one is an edit of.
    pub const fn edited_from(&self) -> Option<&NodeId> {
        self.edited_from.as_ref()
    }

    pub(crate) fn receipt_json(&self) -> Option<&str> {
        self.receipt.as_deref()
    }

    /// Whether the node is a root: the only continuation edge is [`Edge::root()`].
    pub(super) fn is_root(&self) -> bool {
        matches!(self.from.as_slice(), [edge] if edge.is_root())
    }
}

/// One change of a tree.
///
/// [`Tree::changes`](crate::loom::Tree::changes) lists the changes of a tree, and
/// [`Tree::replay`](crate::loom::Tree::replay) makes the tree again. The [JSON form](Self::to_json) is for stores.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// A node was made.
    Node {
        /// The node without the text.
        header: Header,
        /// The text, perhaps with attachments.
        text: Value,
    },
    /// Another continuation edge leads to a node.
    Link {
        /// The sources.
        from: Edge,
        /// The target.
        node: NodeId,
    },
    /// A mark was set or removed: [`Mark::Pruned`] of the node and of all later nodes on its paths.
    Mark {
        /// The node.
        node: NodeId,
        /// The mark.
        mark: Mark,
        /// `false` for a removal.
        is_set: bool,
    },
    /// [`Mark::Pruned`] was set or removed, of the node alone.
    PruneOne {
        /// The node.
        node: NodeId,
        /// `false` for a removal.
        is_set: bool,
    },
    /// The system text of the tree was replaced, or removed.
    System {
        /// The new text.
        text: Option<Arc<str>>,
    },
    /// The budget of the tree was replaced.
    Budget {
        /// The new budget.
        budget: Budget,
    },
    /// It was set whether requests of a tree in [buffer mode](crate::loom::Mode::Buffer) have a system text.
    SystemInBuffer {
        /// Whether such requests have one.
        is_set: bool,
    },
}

/// Ids and lengths. The texts would fill a screen.
impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node { header, text } => {
                f.debug_struct("Node").field("header", header).field("text", &text.len()).finish()
            }
            Self::System { text } => {
                f.debug_struct("System").field("text", &text.as_ref().map(|text| text.len())).finish()
            }
            change => f.write_str(&change.to_json()),
        }
    }
}
