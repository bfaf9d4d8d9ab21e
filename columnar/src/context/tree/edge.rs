//! The sources of a node: the nodes that it continues, and those that were beside them in its request.

use super::id::NodeId;
use crate::declare::Purpose;

/// The sources from which a node is made, each with its purpose, in the order of the calls.
///
/// The id of a node is an edge from that node alone. So `tree.append(&mut dice, &question, ..)` continues `question`,
/// and an `Edge` is needed for roots and for several sources.
///
/// ```
/// use columnar::Purpose;
/// use columnar::loom::{Edge, NodeId};
///
/// let (question, photo) = (NodeId::new("k3f9")?, NodeId::new("p0aa")?);
/// let edge = Edge::from(&question).context(&photo);
/// assert_eq!(edge.sources(), [(Purpose::Primary, question), (Purpose::Context, photo)]);
/// assert!(Edge::root().is_root());
/// # Ok::<(), columnar::loom::NodeIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Edge {
    sources: Vec<(Purpose, NodeId)>,
    /// Then there are no sources.
    is_root: bool,
}

impl Edge {
    /// The beginning of a path: the node continues nothing. A tree may have several roots.
    pub const fn root() -> Self {
        Self { sources: Vec::new(), is_root: true }
    }

    /// An edge from these sources, for an import. Without a source a tree refuses it; it is no root.
    pub fn new(sources: impl IntoIterator<Item = (Purpose, NodeId)>) -> Self {
        Self { sources: sources.into_iter().collect(), is_root: false }
    }

    /// Adds a primary source. A path runs through one of them: the chosen one, or the first.
    pub fn and(self, node: &NodeId) -> Self {
        self.with(Purpose::Primary, node)
    }

    /// Adds reference material. A path shows it before the primary source.
    pub fn context(self, node: &NodeId) -> Self {
        self.with(Purpose::Context, node)
    }

    /// Adds an instruction, which ends the system text. Never use it for text that you do not trust.
    pub fn instruction(self, node: &NodeId) -> Self {
        self.with(Purpose::Instruction, node)
    }

    /// The sources, in the order of the calls.
    pub fn sources(&self) -> &[(Purpose, NodeId)] {
        &self.sources
    }

    /// Whether a node with this edge begins a path.
    pub const fn is_root(&self) -> bool {
        self.is_root
    }

    fn with(mut self, purpose: Purpose, node: &NodeId) -> Self {
        self.sources.push((purpose, node.clone()));
        self.is_root = false;
        self
    }
}

impl From<&NodeId> for Edge {
    fn from(node: &NodeId) -> Self {
        Self::new([(Purpose::Primary, node.clone())])
    }
}

impl From<&Self> for Edge {
    fn from(edge: &Self) -> Self {
        edge.clone()
    }
}
