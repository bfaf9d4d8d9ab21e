//! The errors of trees. They name nodes and never show the texts.

use super::id::{NodeId, NodeIdError};
use crate::declare::error::{Printable, first};

/// The ids after this many are counted, and not listed.
const LISTED: usize = 8;

/// A refused operation on a tree. Nothing of the tree changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A node with several incoming edges, and no choice among them.
    #[error(
        "{} has {} incoming edges, from {}: choose a source of one of them",
        quoted(node),
        ways.len(),
        ids(ways)
    )]
    Ambiguous {
        /// The node.
        node: NodeId,
        /// The source from which a path would come, for each edge in the order of creation.
        ways: Vec<NodeId>,
    },
    /// A text that is no id.
    #[error(transparent)]
    BadId(#[from] NodeIdError),
    /// An edge from a node to one of those that lead to it.
    #[error(
        "{} cannot follow {}, which follows it already: link it from another node",
        quoted(node),
        quoted(source_node)
    )]
    Cycle {
        /// The target of the edge.
        node: NodeId,
        /// The source of the edge.
        source_node: NodeId,
    },
    /// JSON that is no change of a tree, perhaps of a newer version of the library.
    #[error(
        "the JSON of a change is damaged at `{part}`: restore it from a copy, or read it with the version that wrote it"
    )]
    Damaged {
        /// The key with the fault, or `json` if the text is no object of JSON.
        part: &'static str,
    },
    /// An id that the tree has already.
    #[error("{} is in the tree already: give the other node another id", quoted(node))]
    DuplicateNode {
        /// The id.
        node: NodeId,
    },
    /// A tree with as many nodes and changes as it can have.
    #[error("the tree has as many nodes and changes as it can have: begin another tree")]
    Full,
    /// Changes that are not in the order of creation, or nodes that are missing.
    #[error(
        "a change was made when the tree had {expected} nodes, and it has {nodes} there: restore the nodes that are missing"
    )]
    OutOfOrder {
        /// The number of nodes when the change was made.
        expected: usize,
        /// The number of nodes that there are.
        nodes: usize,
    },
    /// An edge without a source.
    #[error("an edge{} has no source: name one{}", to_node(node.as_ref()), if node.is_none() { ", or begin with `Edge::root()`" } else { "" })]
    NoSource {
        /// The target of the edge; `None` for the last edge of a path, whose target does not exist yet.
        node: Option<NodeId>,
    },
    /// A node that was included, and annotates no node of the path.
    #[error("{} annotates no node of this path: include annotations of its nodes", quoted(node))]
    NotAnAnnotation {
        /// The node.
        node: NodeId,
    },
    /// A node that was chosen, and that the path does not have.
    #[error("{} is not on this path: choose among the sources and versions on the way", quoted(node))]
    NotOnPath {
        /// The node.
        node: NodeId,
    },
    /// An id of no node.
    #[error("{} is no node of this tree: name one that was made before", quoted(node))]
    UnknownNode {
        /// The id.
        node: NodeId,
    },
}

/// An id between backticks.
fn quoted(node: &NodeId) -> String {
    format!("`{}`", Printable(node))
}

fn to_node(node: Option<&NodeId>) -> String {
    node.map(|node| format!(" to {}", quoted(node))).unwrap_or_default()
}

fn ids(nodes: &[NodeId]) -> String {
    first(&nodes.iter().map(quoted).collect::<Vec<_>>(), LISTED, ", ", " ")
}
