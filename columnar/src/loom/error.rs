//! The errors of requests and of stored trees. Errors name nodes and never show texts.

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
    #[error("the path{} shows no text: include a node that is dropped, or continue another one", node.as_ref().map_or_else(String::new, |node| format!(" to {}", quoted(node))))]
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
        largest(contributors)
    )]
    OverLimit {
        /// The tokens of the messages.
        tokens: usize,
        /// The most tokens that the messages may have.
        limit: usize,
        /// The nodes of the path with the tokens of each, the largest first. With `others`, these tokens add up to
        /// `tokens`.
        contributors: Vec<(NodeId, usize)>,
        /// The tokens of the text that is no node: the working text of a buffer, or the block of a loom-aware agent.
        others: usize,
    },
    /// The store failed.
    #[error("the store of the tree failed: {0}")]
    Store(#[from] StoreError),
    /// An operation that the tree refuses. Nothing was stored.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A request that the model of the agent would refuse. The tokens may be an estimate that is too high, so a smaller
    /// excess than a half is no error.
    #[error(
        "the request has about {tokens} tokens, and the window of `{}` {window}: exclude some nodes, set a budget, or choose \
         another model",
        Printable(model)
    )]
    Window {
        /// The name of the model.
        model: String,
        /// The tokens of the system text and the messages.
        tokens: usize,
        /// The most tokens of a request.
        window: usize,
    },
    /// A node with media that are not in the document, and have no text.
    #[error(
        "{} has media that are not in the document: give these an `altText` or a `transcript`, or a `ref` that is a data URI \
         in base64",
        quoted(node)
    )]
    Unreadable {
        /// The node.
        node: NodeId,
    },
}

impl LoomError {
    pub(super) fn damaged(part: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Damaged { part: part.into(), reason: reason.into() }
    }
}

fn quoted(node: &NodeId) -> String {
    format!("`{}`", Printable(node))
}

/// The three largest nodes.
fn largest(contributors: &[(NodeId, usize)]) -> String {
    let largest = contributors.iter().take(3);
    largest.map(|(node, tokens)| format!("{} with {tokens}", quoted(node))).collect::<Vec<_>>().join(", ")
}
