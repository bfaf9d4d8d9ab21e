//! Trees of texts by people and models, and the paths through them.
//!
//! ```text
//! verbs ──▶ Change ◀──▶ JSON, in a store
//!             │
//!             ▼
//!           Tree ──▶ Path ──▶ turns, for a request
//! ```
//!
//! A pure layer: no clock and no I/O, and random numbers are an argument. Nothing in it is recursive, as a path
//! may be as long as the tree.
//!
//! # Time
//!
//! Each node and each other change has a number, the moment. Edges have the moment in which they were made, and marks and
//! system texts are kept with the history. So a path can be seen as it was at any moment, without a replay.

mod arena;
mod change;
mod edge;
mod error;
mod graph;
mod id;
mod json;
mod kinds;
mod node;
mod path;
mod replay;
mod timeline;
mod verbs;
mod walk;

pub use arena::Tree;
pub use change::{Change, Header};
pub use edge::Edge;
pub use error::TreeError;
pub use id::{NodeId, NodeIdError, NodeIdFault};
pub use kinds::{Author, Mark, Mode};
pub use node::Node;
pub use path::{Path, Turn};
pub(crate) use replay::TreeBuilder;
