//! Paths: the nodes that a request shows, in order.
//!
//! ```text
//! Tree, last edge, chosen nodes, moment ──▶ walk to the root ──▶ Path ──▶ turns
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::arena::Tree;
use super::edge::Edge;
use super::error::TreeError;
use super::graph::{EdgeKind, EdgeRef};
use super::id::NodeId;
use super::kinds::{Author, Mark, Mode};
use super::node::Node;
use super::timeline::{Moment, NodeIndex};
use super::walk::{PathItem, PathWalk};
use crate::context::budget::Budget;
use crate::declare::Purpose;
use crate::history::Attachment;

impl Tree {
    /// The path from a root to the sources of an edge: what a request shows before the reply is a node. A path to a node
    /// ends with that node.
    ///
    /// For each edge, the path has the instruction sources, then the context sources, then the primary source, through
    /// which it goes on. Every node without an incoming continuation edge begins a path, also an aside or an annotation.
    ///
    /// `chosen` decides where there is a choice:
    /// - Of several primary sources, the path takes the one that is chosen; otherwise the first one. If an edge has no
    ///   primary source, the first source takes that part.
    /// - If several continuation edges lead to a node, one of them must have a chosen source. If several have one, the
    ///   source that comes first in `chosen` decides.
    /// - In buffer mode an edge from a node is an edge from all versions. The path takes the chosen version, otherwise
    ///   the latest one. The sources of the last edge are taken by the names that the caller gave.
    ///
    /// ```
    /// use columnar::loom::{Author, Edge, Mode, Tree, TreeError};
    ///
    /// let mut next = 0_u64;
    /// let mut dice = || {
    ///     next += 1;
    ///     next << 44
    /// };
    /// let mut tree = Tree::new(Mode::Dialogue);
    /// let question = tree.append(&mut dice, Edge::root(), Author::Human, "Who is in the photo?")?;
    /// let photo = tree.aside(&mut dice, Author::Human, "A woman with a telescope.")?;
    /// let edge = Edge::from(&question).context(&photo);
    ///
    /// let path = tree.path(&edge, &[])?;
    /// let texts: Vec<&str> = path.turns().map(|turn| turn.text()).collect();
    /// assert_eq!(texts, ["A woman with a telescope.", "Who is in the photo?"]);
    ///
    /// // Two ways lead to the answer after this.
    /// let answer = tree.append(&mut dice, edge, Author::Model, "Caroline Herschel.")?;
    /// let again = tree.append(&mut dice, Edge::root(), Author::Human, "Who is this?")?;
    /// tree.link(&again, &answer)?;
    /// assert!(matches!(tree.path(&answer, &[]), Err(TreeError::Ambiguous { .. })));
    /// assert_eq!(tree.path(&answer, &[again])?.turns().count(), 2);
    /// # Ok::<(), TreeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TreeError::UnknownNode`] for a source or a chosen node that is not in the tree.
    /// - [`TreeError::NoSource`] for an edge without a source. [`Edge::root()`] leads to an empty path.
    /// - [`TreeError::Ambiguous`] if several edges lead to a node and none was chosen.
    /// - [`TreeError::NotOnPath`] for a chosen node that the path does not have.
    pub fn path(&self, to: impl Into<Edge>, chosen: &[NodeId]) -> Result<Path<'_>, TreeError> {
        let to = to.into();
        let walk = PathWalk::new(self, self.now(), chosen)?;
        let items = if to.is_root() { Vec::new() } else { walk.items(&self.sources(&to, None)?)? };
        walk.check_chosen(&items)?;
        Ok(Path::new(self, self.now(), items))
    }

    /// The path to the request that led to a node, as the tree was when the node was made: with the marks, the links, the
    /// versions and the system text of that moment.
    ///
    /// It ends with the sources of the node, for an annotation with the annotated node. For a root and an aside it is
    /// empty. The edge of a node does not say what was chosen for the path, so `chosen` has to say it again.
    ///
    /// # Errors
    ///
    /// As for [`path`](Self::path). A chosen node that was made later is not on the path.
    pub fn asked(&self, node: &NodeId, chosen: &[NodeId]) -> Result<Path<'_>, TreeError> {
        let index = self.index(node)?;
        let moment = self.stored(index).made;
        let walk = PathWalk::new(self, moment, chosen)?;
        let edges = [EdgeKind::Continuation, EdgeKind::Annotation].map(|kind| -> Vec<EdgeRef<'_>> {
            self.graph.incoming(index, kind).filter(|edge| edge.made() == moment).collect()
        });
        let first = edges.into_iter().find(|edges| !edges.is_empty()).unwrap_or_default();
        let items = match walk.way(index, &first, true)? {
            Some(edge) => walk.items(edge.sources())?,
            None => Vec::new(),
        };
        walk.check_chosen(&items)?;
        Ok(Path::new(self, moment, items))
    }

    /// The number of nodes before a node, up to a root. Where several edges lead to a node, the first one counts.
    /// `None` if the node is not in the tree.
    pub fn depth(&self, id: &NodeId) -> Option<usize> {
        let node = self.index(id).ok()?;
        let walk = PathWalk::new(self, self.now(), &[]).ok()?;
        Some(std::iter::successors(walk.before(node), |node| walk.before(*node)).count())
    }
}

/// The nodes that a request shows, from a root to the sources of the last edge, with the marks, the versions and the
/// system text of one moment. [`Tree::path`] and [`Tree::asked`] return it.
///
/// Nodes that are excluded or pruned are no turns; [`dropped`](Self::dropped) has them.
#[derive(Clone)]
pub struct Path<'t> {
    tree: &'t Tree,
    moment: Moment,
    items: Vec<PathItem>,
    /// The annotations that are shown after an item, by the place.
    included: BTreeMap<usize, BTreeSet<NodeIndex>>,
}

impl<'t> Path<'t> {
    const fn new(tree: &'t Tree, moment: Moment, items: Vec<PathItem>) -> Self {
        Self { tree, moment, items, included: BTreeMap::new() }
    }

    /// Includes an annotation: it is shown after the target. Annotations of one node are shown in the order in which they
    /// were made, and a second call with the same annotation changes nothing.
    ///
    /// ```
    /// use columnar::loom::{Author, Edge, Mode, Tree};
    ///
    /// let mut next = 0_u64;
    /// let mut dice = || {
    ///     next += 1;
    ///     next << 44
    /// };
    /// let mut tree = Tree::new(Mode::Dialogue);
    /// let question = tree.append(&mut dice, Edge::root(), Author::Human, "Why?")?;
    /// let note = tree.annotate(&mut dice, &question, Author::Human, "He asks this every day.")?;
    ///
    /// let mut path = tree.path(&question, &[])?;
    /// assert_eq!(path.turns().count(), 1);
    /// path.include(&note)?;
    /// assert_eq!(path.turns().last().map(|turn| turn.id()), Some(&note));
    /// # Ok::<(), columnar::loom::TreeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TreeError::UnknownNode`] for a node that is not in the tree, and [`TreeError::NotAnAnnotation`] for one that
    /// annotates no node of the path, or was made later than the path is.
    pub fn include(&mut self, annotation: &NodeId) -> Result<(), TreeError> {
        let node = self.tree.index(annotation)?;
        let edges = self.tree.graph.incoming(node, EdgeKind::Annotation);
        let edges = edges.filter(|edge| edge.made() < self.moment);
        let targets: BTreeSet<NodeIndex> =
            edges.flat_map(EdgeRef::sources).map(|source| self.tree.position(source.node)).collect();
        let place = self.items.iter().enumerate().position(|(at, item)| {
            let mut nodes = self.included.get(&at).into_iter().flatten().chain([&item.node]);
            nodes.any(|node| targets.contains(&self.tree.position(*node)))
        });
        let Some(place) = place else {
            return Err(TreeError::NotAnAnnotation { node: annotation.clone() });
        };
        self.included.entry(place).or_default().insert(node);
        Ok(())
    }

    /// The nodes that the request shows, in order.
    pub fn turns(&self) -> impl Iterator<Item = Turn<'t>> {
        self.all().filter(|turn| turn.dropped_by.is_none())
    }

    /// The nodes that the request does not show because of a mark, in order.
    pub fn dropped(&self) -> impl Iterator<Item = Turn<'t>> {
        self.all().filter(|turn| turn.dropped_by.is_some())
    }

    /// The nodes of the path in order, with those that are dropped.
    pub fn all(&self) -> impl Iterator<Item = Turn<'t>> {
        let tree = self.tree;
        let moment = self.moment;
        let nodes = self.items.iter().enumerate().flat_map(|(at, item)| {
            let included = self.included.get(&at).into_iter().flatten();
            let included = included.map(|node| (PathItem { node: *node, purpose: Purpose::Primary }, true));
            std::iter::once((*item, false)).chain(included)
        });
        nodes.map(move |(item, is_annotation)| Turn {
            node: tree.view(item.node),
            purpose: item.purpose,
            is_annotation,
            dropped_by: tree.marks.before(item.node, moment).drops(),
            moment,
        })
    }

    /// The attachments of the nodes that the request shows, in order.
    pub fn attachments(&self) -> impl Iterator<Item = &'t Attachment> {
        self.turns().flat_map(|turn| turn.attachments())
    }

    /// The tree of the path.
    pub const fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// The mode of the tree.
    pub const fn mode(&self) -> Mode {
        self.tree.mode()
    }

    /// The number of nodes of the tree at the moment of the path.
    pub fn tree_len(&self) -> usize {
        self.tree.nodes.partition_point(|node| node.made < self.moment)
    }

    /// The number of nodes that ended a path at the moment of this one: nothing continued them, and they are roots or continue
    /// others.
    pub fn tree_ends(&self) -> usize {
        self.tree.nodes().take(self.tree_len()).filter(|node| node.is_end(self.moment)).count()
    }

    /// The system text of the tree at the moment of the path.
    pub fn system(&self) -> Option<&'t str> {
        self.tree.system.before(self.moment)?.as_deref()
    }

    /// The budget of the tree at the moment of the path.
    pub fn budget(&self) -> Budget {
        self.tree.budget.before(self.moment).cloned().unwrap_or_default()
    }

    /// Whether requests in buffer mode had a system text at the moment of the path.
    pub fn is_system_in_buffer(&self) -> bool {
        self.tree.system_in_buffer.before(self.moment).copied().unwrap_or_default()
    }
}

/// Ids. The texts would fill a screen.
impl fmt::Debug for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all().map(|turn| turn.id())).finish()
    }
}

/// A node of a path, with the purpose in the request.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'t> {
    node: Node<'t>,
    purpose: Purpose,
    is_annotation: bool,
    dropped_by: Option<Mark>,
    moment: Moment,
}

impl<'t> Turn<'t> {
    /// The node. The marks are the present ones.
    pub const fn node(&self) -> Node<'t> {
        self.node
    }

    /// The id of the node.
    pub fn id(&self) -> &'t NodeId {
        self.node.id()
    }

    /// The author.
    pub fn author(&self) -> Author {
        self.node.author()
    }

    /// The text.
    pub fn text(&self) -> &'t str {
        self.node.text()
    }

    /// The images, documents and files beside the text.
    pub fn attachments(&self) -> &'t [Attachment] {
        self.node.attachments()
    }

    /// Whether the node has no attachments, and nothing but white space as text.
    pub(crate) fn is_blank(&self) -> bool {
        self.text().trim().is_empty() && self.attachments().is_empty()
    }

    /// The purpose in the request. An annotation is primary.
    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Whether the node is an annotation that was [included](Path::include).
    pub const fn is_annotation(&self) -> bool {
        self.is_annotation
    }

    /// The number of nodes that continued it at the moment of the path.
    pub fn continuations(&self) -> usize {
        self.node.following(EdgeKind::Continuation, self.moment)
    }

    /// The number of nodes that annotated it at the moment of the path.
    pub fn annotations(&self) -> usize {
        self.node.following(EdgeKind::Annotation, self.moment)
    }

    /// Whether the node was bookmarked at the moment of the path.
    pub fn is_bookmarked(&self) -> bool {
        self.node.tree().marks.before(self.node.index, self.moment).has(Mark::Bookmarked)
    }

    /// The mark that drops it from the request: [`Mark::Excluded`], otherwise [`Mark::Pruned`].
    pub const fn dropped_by(&self) -> Option<Mark> {
        self.dropped_by
    }
}
