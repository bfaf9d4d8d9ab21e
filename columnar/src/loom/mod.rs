//! Trees of texts: conversations and stories that branch, by people and models.
//!
//! A [`Tree`] has nodes. A node has an author and a text, and never changes. A node continues another node, so each
//! node is the end of a [`Path`] from a root, and a path is what a model is asked about. Several nodes can continue the
//! same one: other replies, or an edited question.
//!
//! ```
//! use columnar::loom::{Author, Edge, Mark, Mode, Tree};
//!
//! // Ids of nodes are random. A program takes its random numbers from a crate.
//! let mut seed = 1_u64;
//! let mut dice = || {
//!     seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
//!     seed
//! };
//!
//! let mut tree = Tree::new(Mode::Dialogue);
//! tree.set_system(Some("You are an astronomer."))?;
//! let question = tree.append(&mut dice, Edge::root(), Author::Human, "Why is the sky blue?")?;
//! let answer = tree.append(&mut dice, &question, Author::Model, "Because of scattering.")?;
//! let why = tree.append(&mut dice, &answer, Author::Human, "Why?")?;
//!
//! // The request after `why`, and the same without the first answer.
//! assert_eq!(tree.path(&why, &[])?.turns().count(), 3);
//! tree.mark(&answer, Mark::Excluded, true)?;
//! let path = tree.path(&why, &[])?;
//! let texts: Vec<&str> = path.turns().map(|turn| turn.text()).collect();
//! assert_eq!(texts, ["Why is the sky blue?", "Why?"]);
//!
//! // The answer was asked for before that, and each request can be seen again.
//! assert_eq!(tree.asked(&answer, &[])?.turns().count(), 1);
//! # Ok::<(), columnar::loom::TreeError>(())
//! ```
//!
//! # Rules
//!
//! - An [`Edge`] leads from one or several sources to one node. A primary source is continued. Context and instruction
//!   sources are shown beside the primary source in the request. An annotation edge leads to a remark about a node.
//! - No edge closes a cycle, has no source, or names a node that is not there. A refused operation changes nothing.
//! - An edit is a new node beside the original. In [dialogue mode](Mode::Dialogue) the conversation goes on from
//!   either. In [buffer mode](Mode::Buffer) both are versions of one text, and everything that follows one follows the
//!   other.
//! - A path shows one version of a text. Nodes that are excluded or pruned are not shown, each by itself.
//! - Everything that happened is a [`Change`]. The changes make the same tree again, and show each path as it was at
//!   any time.

mod agent;
mod assembly;
mod aware;
mod comparison;
mod error;
mod import;
mod live;
mod media;
mod memory;
mod open_loom;
mod raw_json;
mod receipts;
mod unique_keys;

pub use self::agent::Agent;
pub use self::assembly::Assembled;
pub use self::aware::Aware;
pub use self::comparison::{Branch, BranchComparison};
pub use self::error::LoomError;
pub use self::import::{Imported, import};
pub use self::live::Loom;
pub use self::memory::Memory;
pub use self::open_loom::export;
pub use crate::context::tree::{
    Author, Change, Edge, Header, Mark, Mode, Node, NodeId, NodeIdError, NodeIdFault, Path, Tree, TreeError,
    Turn,
};
