//! The errors of requests and of stored trees. Errors name nodes and never show texts.

use std::fmt;

use crate::context::budget::BudgetError;
use crate::context::tree::{Mode, NodeId, TreeError};
use crate::declare::error::Printable;
use crate::store::StoreError;

/// A request that cannot be made, or a stored or imported tree that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoomError {
    /// A stored tree that is damaged.
    #[error("{part} of the stored tree is damaged: {reason}; restore it from a copy")]
    Damaged {
        /// The number of the node or of the change.
        part: String,
        /// The damage.
        reason: String,
    },
    /// A path that shows nothing.
    #[error("the path{} shows no text: include a node that is dropped, or continue another one", To(node))]
    Empty {
        /// The last node of the path; `None` for a path without nodes.
        node: Option<NodeId>,
    },
    /// A document that is no tree in the format Open Loom, version 2.
    #[error("the document cannot be imported: {reason}")]
    Import {
        /// The fault, and where in the document.
        reason: String,
    },
    /// A stored tree of the other mode.
    #[error("the stored tree is in {stored} mode, which never changes: open it in that mode")]
    Mode {
        /// The mode of the stored tree.
        stored: Mode,
    },
    /// The reply and the system text leave too few tokens for any message.
    #[error("the budget of the request holds no message: {source}")]
    NoRoom {
        /// The numbers of tokens.
        source: BudgetError,
    },
    /// A path over the budget, whose strategy never truncates.
    #[error(
        "the path has about {tokens} tokens, and the limit is {limit}; the largest nodes are {}: exclude some, raise the \
         budget, or choose a strategy that truncates",
        Largest(contributors)
    )]
    OverLimit {
        /// The tokens of the messages.
        tokens: usize,
        /// The most tokens that the messages may have.
        limit: usize,
        /// The nodes of the path with the tokens of each, the largest first.
        contributors: Vec<(NodeId, usize)>,
    },
    /// The store failed.
    #[error("the store of the tree failed: {0}")]
    Store(#[from] StoreError),
    /// An operation that the tree refuses. Nothing was stored.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A node that has media and no text.
    #[error("{} has no text: give its media an `altText` or a `transcript`", Quoted(node))]
    Unreadable {
        /// The node.
        node: NodeId,
    },
}

struct Quoted<'n>(&'n NodeId);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", Printable(self.0))
    }
}

struct To<'n>(&'n Option<NodeId>);

impl fmt::Display for To<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |node| write!(f, " to {}", Quoted(node)))
    }
}

/// Prints the three largest nodes.
struct Largest<'e>(&'e [(NodeId, usize)]);

impl fmt::Display for Largest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (node, tokens)) in self.0.iter().take(3).enumerate() {
            write!(f, "{}{} with {tokens}", if at > 0 { ", " } else { "" }, Quoted(node))?;
        }
        Ok(())
    }
}
