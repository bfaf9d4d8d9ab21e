//! The errors of trees. They name nodes and never show the texts.

use std::fmt;

use super::id::{NodeId, NodeIdError, shown};

/// The ids after this many are counted, and not listed.
const LISTED: usize = 8;

/// A refused operation on a tree. Nothing of the tree changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A node with several incoming edges, and no choice among them.
    #[error(
        "{} has {} incoming edges, from {}: choose a source of one of them",
        QuotedId(node),
        ways.len(),
        IdList(ways)
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
        QuotedId(node),
        QuotedId(source_node)
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
    #[error("{} is in the tree already: give the other node another id", QuotedId(node))]
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
    #[error("an edge{} has no source: name one{}", ToNode(node.as_ref()), if node.is_none() { ", or begin with `Edge::root()`" } else { "" })]
    NoSource {
        /// The target of the edge; `None` for the last edge of a path, whose target does not exist yet.
        node: Option<NodeId>,
    },
    /// A node that was included, and annotates no node of the path.
    #[error("{} annotates no node of this path: include annotations of its nodes", QuotedId(node))]
    NotAnAnnotation {
        /// The node.
        node: NodeId,
    },
    /// A node that was chosen, and that the path does not have.
    #[error("{} is not on this path: choose among the sources and versions on the way", QuotedId(node))]
    NotOnPath {
        /// The node.
        node: NodeId,
    },
    /// An id of no node.
    #[error("{} is no node of this tree: name one that was made before", QuotedId(node))]
    UnknownNode {
        /// The id.
        node: NodeId,
    },
}

/// An id between backticks.
struct QuotedId<'n>(&'n NodeId);

impl fmt::Display for QuotedId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", shown(self.0))
    }
}

struct ToNode<'n>(Option<&'n NodeId>);

impl fmt::Display for ToNode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |node| write!(f, " to {}", QuotedId(node)))
    }
}

struct IdList<'n>(&'n [NodeId]);

impl fmt::Display for IdList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, node) in self.0.iter().take(LISTED).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{}", QuotedId(node))?;
        }
        match self.0.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
