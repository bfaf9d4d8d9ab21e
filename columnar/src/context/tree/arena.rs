//! The tree itself: the nodes, and the rules by which changes are accepted or refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::change::{Change, Header};
use super::edge::Edge;
use super::error::TreeError;
use super::graph::{EdgeGraph, EdgeKind, EdgeRef, EdgeSource, ways};
use super::id::{Ids, NodeId};
use super::kinds::{Author, Mark, Mode};
use super::timeline::{MarkHistory, Moment, NodeIndex, Timeline};
use crate::context::budget::Budget;
use crate::history::{Attachments, Value};

/// A tree of texts by people and models.
///
/// A [node](crate::loom::Node) never changes. It continues other nodes, or begins a path, or annotates a node. Everything
/// that happens to a tree is a [`Change`], and a refused one changes nothing.
///
/// ```
/// use columnar::loom::{Author, Edge, Mark, Mode, Tree};
///
/// let mut seed = 7_u64;
/// let mut dice = || {
///     seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
///     seed
/// };
/// let mut tree = Tree::new(Mode::Dialogue);
/// let question = tree.append(&mut dice, Edge::root(), Author::Human, "Why is the sky blue?")?;
/// let short = tree.append(&mut dice, &question, Author::Model, "Rayleigh scattering.")?;
/// let long = tree.append(&mut dice, &question, Author::Model, "Light is scattered by molecules ...")?;
/// assert_eq!(tree.continuations(&question).len(), 2);
///
/// tree.mark(&short, Mark::Bookmarked, true)?;
/// let path = tree.path(&long, &[])?;
/// let texts: Vec<&str> = path.turns().map(|turn| turn.text()).collect();
/// assert_eq!(texts, ["Why is the sky blue?", "Light is scattered by molecules ..."]);
/// # Ok::<(), columnar::loom::TreeError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Tree {
    pub(super) mode: Mode,
    pub(super) nodes: Vec<StoredNode>,
    ids: Ids,
    /// The nodes that were made as roots.
    pub(super) roots: Vec<NodeIndex>,
    pub(super) graph: EdgeGraph,
    /// The nodes of a lineage in the order of creation, by the first one; only those with several.
    lineages: BTreeMap<NodeIndex, Vec<NodeIndex>>,
    /// The receipts of the nodes that have one, as JSON.
    pub(super) receipts: BTreeMap<NodeIndex, Arc<str>>,
    /// The attachments of the nodes that have some.
    pub(super) attachments: BTreeMap<NodeIndex, Attachments>,
    pub(super) marks: MarkHistory,
    pub(super) system: Timeline<Option<Arc<str>>>,
    pub(super) system_in_buffer: Timeline<bool>,
    pub(super) budget: Timeline<Budget>,
    /// The changes that made no node, each with the number of nodes before.
    pub(super) further: Vec<(usize, Change)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredNode {
    pub(super) id: NodeId,
    pub(super) text: Arc<str>,
    pub(super) author: Author,
    pub(super) edited_from: Option<NodeIndex>,
    /// The node that all edits of the lineage go back to; itself if it is no edit.
    pub(super) origin: NodeIndex,
    pub(super) made: Moment,
    pub(super) is_root: bool,
}

/// The edges of a node that the tree accepts, with the nodes as numbers.
struct AcceptedNode {
    from: Vec<Vec<EdgeSource>>,
    annotates: Vec<Vec<EdgeSource>>,
    edited_from: Option<NodeIndex>,
}

/// The time at which cycles are looked for. One change leads to no long search, and many changes would lead to as many.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CycleCheck {
    Now,
    /// In the whole tree, by [`Tree::check_acyclic`].
    Later,
}

impl Tree {
    /// A tree without nodes.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            nodes: Vec::new(),
            ids: Ids::default(),
            roots: Vec::new(),
            graph: EdgeGraph::default(),
            lineages: BTreeMap::new(),
            receipts: BTreeMap::new(),
            attachments: BTreeMap::new(),
            marks: MarkHistory::default(),
            system: Timeline::default(),
            system_in_buffer: Timeline::default(),
            budget: Timeline::default(),
            further: Vec::new(),
        }
    }

    /// Makes a change. It is refused if the verbs of a tree, such as [`append`](Self::append), would have refused it.
    ///
    /// # Errors
    ///
    /// [`TreeError`] with the reason; nothing changed.
    pub fn apply(&mut self, change: Change) -> Result<(), TreeError> {
        self.make_change(change, CycleCheck::Now)
    }

    pub(super) fn make_change(&mut self, change: Change, cycles: CycleCheck) -> Result<(), TreeError> {
        self.check_numbers()?;
        let now = self.now();
        match &change {
            Change::Node { header, text } => {
                let AcceptedNode { from, annotates, edited_from } = self.accept_node(header, cycles)?;
                let node = self.insert(header, text, edited_from);
                for (kind, edges) in [(EdgeKind::Continuation, from), (EdgeKind::Annotation, annotates)] {
                    edges.iter().for_each(|sources| self.graph.add_edge(kind, sources, node, now));
                }
                return Ok(());
            }
            Change::Link { from, node } => {
                let (sources, target) = self.accept_link(from, node, cycles)?;
                self.graph.add_edge(EdgeKind::Continuation, &sources, target, now);
            }
            Change::Mark { node, mark: Mark::Pruned, is_set } => {
                for node in self.descendants(self.index(node)?) {
                    self.marks.set(node, now, Mark::Pruned, *is_set);
                }
            }
            Change::Mark { node, mark, is_set } => self.marks.set(self.index(node)?, now, *mark, *is_set),
            Change::PruneOne { node, is_set } => {
                self.marks.set(self.index(node)?, now, Mark::Pruned, *is_set);
            }
            Change::System { text } => self.system.push(now, text.clone()),
            Change::SystemInBuffer { is_set } => self.system_in_buffer.push(now, *is_set),
            Change::Budget { budget } => self.budget.push(now, budget.clone()),
        }
        self.further.push((self.nodes.len(), change));
        Ok(())
    }

    /// Tells whether [`apply`](Self::apply) would accept a change, for a program that stores it first.
    ///
    /// # Errors
    ///
    /// [`TreeError`] with the reason.
    pub fn check(&self, change: &Change) -> Result<(), TreeError> {
        self.check_numbers()?;
        match change {
            Change::Node { header, .. } => self.accept_node(header, CycleCheck::Now).map(drop),
            Change::Link { from, node } => self.accept_link(from, node, CycleCheck::Now).map(drop),
            Change::Mark { node, .. } | Change::PruneOne { node, .. } => self.index(node).map(drop),
            Change::System { .. } | Change::SystemInBuffer { .. } | Change::Budget { .. } => Ok(()),
        }
    }

    /// An id for the next node: short, random and not taken. `dice` returns random numbers.
    pub fn new_id(&self, dice: &mut impl FnMut() -> u64) -> NodeId {
        NodeId::draw(dice, self.nodes.len(), |text| self.ids.get(text).is_some())
    }

    /// Checks that there is a number for one more change.
    fn check_numbers(&self) -> Result<(), TreeError> {
        u32::try_from(self.nodes.len() + self.further.len() + 1).map_or(Err(TreeError::Full), |_| Ok(()))
    }

    fn accept_link(
        &self,
        from: &Edge,
        node: &NodeId,
        cycles: CycleCheck,
    ) -> Result<(Vec<EdgeSource>, NodeIndex), TreeError> {
        let target = self.index(node)?;
        let sources = self.sources(from, Some(node))?;
        self.check_room([&sources])?;
        if cycles == CycleCheck::Now {
            self.check_cycle(target, node, &sources)?;
        }
        Ok((sources, target))
    }

    fn accept_node(&self, header: &Header, cycles: CycleCheck) -> Result<AcceptedNode, TreeError> {
        let id = header.id();
        if self.ids.get(id.as_str()).is_some() {
            return Err(TreeError::DuplicateNode { node: id.clone() });
        }
        let edges = header.from.iter().filter(|_| !header.is_root());
        let from = edges.map(|edge| self.sources(edge, Some(id))).collect::<Result<Vec<_>, _>>()?;
        let annotates = header.annotates.iter().map(|edge| self.sources(edge, Some(id)));
        let annotates = annotates.collect::<Result<Vec<_>, _>>()?;
        let edited_from = header.edited_from().map(|node| self.index(node)).transpose()?;
        self.check_room(from.iter().chain(&annotates))?;
        if let Some(original) = edited_from.filter(|_| self.mode == Mode::Buffer && cycles == CycleCheck::Now)
        {
            // The edges of the original lead to the versions already, and close no cycle.
            let known: BTreeSet<NodeIndex> = (self.graph.incoming(original, EdgeKind::Continuation))
                .flat_map(|edge| edge.sources().iter().map(|source| source.node))
                .collect();
            for edge in &from {
                let added: Vec<EdgeSource> =
                    edge.iter().filter(|source| !known.contains(&source.node)).copied().collect();
                self.check_cycle(original, id, &added)?;
            }
        }
        Ok(AcceptedNode { from, annotates, edited_from })
    }

    fn check_room<'s>(&self, edges: impl IntoIterator<Item = &'s Vec<EdgeSource>>) -> Result<(), TreeError> {
        let (count, sources) =
            edges.into_iter().fold((0, 0), |(count, sum), edge| (count + 1, sum + edge.len()));
        if self.graph.has_room(count, sources) { Ok(()) } else { Err(TreeError::Full) }
    }

    /// An edge with these sources must not lead to a node from which they are reached. A lineage in buffer mode counts as
    /// one node: a path may go on from any version, so a cycle through two versions would be endless. `id` is the node that
    /// an error names: a new version is not in the tree yet, and `target` is the original then.
    fn check_cycle(&self, target: NodeIndex, id: &NodeId, sources: &[EdgeSource]) -> Result<(), TreeError> {
        let position = self.position(target);
        if let Some(source) = sources.iter().find(|source| self.position(source.node) == position) {
            return Err(TreeError::Cycle { node: id.clone(), source_node: self.id(source.node) });
        }
        let mut versions = self.versions_of(position);
        if sources.is_empty()
            || versions.all(|node| self.graph.outgoing(node, EdgeKind::Continuation).next().is_none())
        {
            return Ok(());
        }
        let mut seen = BTreeSet::new();
        for source in sources {
            let mut open = vec![self.position(source.node)];
            while let Some(at) = open.pop() {
                if at == position {
                    return Err(TreeError::Cycle { node: id.clone(), source_node: self.id(source.node) });
                }
                if seen.insert(at) {
                    let versions = self.versions_of(at);
                    let edges = versions.flat_map(|node| self.graph.incoming(node, EdgeKind::Continuation));
                    open.extend(edges.flat_map(EdgeRef::sources).map(|source| self.position(source.node)));
                }
            }
        }
        Ok(())
    }

    /// Checks that no position is reached from itself, as each change is checked. Edges are only added, so the whole tree has
    /// a cycle if one of the changes would have been refused.
    pub(super) fn check_acyclic(&self) -> Result<(), TreeError> {
        // In all other trees an edge leads to a node that was made after its sources.
        let has_links = self.further.iter().any(|(_, change)| matches!(change, Change::Link { .. }));
        let has_versions = self.mode == Mode::Buffer && !self.lineages.is_empty();
        if !has_links && !has_versions {
            return Ok(());
        }
        let mut waits = vec![0_u32; self.nodes.len()];
        let positions =
            (0..).zip(&self.nodes).map(|(node, _)| node).filter(|node| self.position(*node) == *node);
        for after in positions.clone().flat_map(|position| self.leads(position)) {
            waits.get_mut(after as usize).into_iter().for_each(|waits| *waits += 1);
        }
        let mut open: Vec<NodeIndex> =
            positions.filter(|position| waits.get(*position as usize) == Some(&0)).collect();
        while let Some(position) = open.pop() {
            for after in self.leads(position) {
                let Some(left) = waits.get_mut(after as usize) else { continue };
                *left -= 1;
                open.extend((*left == 0).then_some(after));
            }
        }
        match (0..).zip(&waits).find(|(_, waits)| **waits > 0) {
            None => Ok(()),
            Some((position, _)) => Err(self.cycle_before(position, &waits)),
        }
    }

    /// The positions to which edges lead from a position, once for each edge and version.
    fn leads(&self, position: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        let edges =
            self.versions_of(position).flat_map(|node| self.graph.outgoing(node, EdgeKind::Continuation));
        edges.map(|edge| self.position(edge.target()))
    }

    /// The error of a cycle that leads to a position. On the way back through positions that wait, each has another one
    /// before it; after as many steps as there are nodes, the way is in the cycle.
    fn cycle_before(&self, mut position: NodeIndex, waits: &[u32]) -> TreeError {
        let mut target = position;
        for _ in 0..=self.nodes.len() {
            let edges =
                self.versions_of(position).flat_map(|node| self.graph.incoming(node, EdgeKind::Continuation));
            let mut before = edges.flat_map(EdgeRef::sources).map(|source| self.position(source.node));
            let waiting = before.find(|before| waits.get(*before as usize).is_some_and(|waits| *waits > 0));
            target = position;
            position = waiting.unwrap_or(position);
        }
        TreeError::Cycle { node: self.id(target), source_node: self.id(position) }
    }

    /// Adds an accepted node without the edges.
    fn insert(&mut self, header: &Header, text: &Value, edited_from: Option<NodeIndex>) -> NodeIndex {
        let made = self.now();
        let node = u32::try_from(self.nodes.len()).unwrap_or(NodeIndex::MAX);
        let origin = edited_from.map_or(node, |original| self.stored(original).origin);
        if origin != node {
            self.lineages.entry(origin).or_insert_with(|| vec![origin]).push(node);
        }
        self.ids.insert(header.id(), node);
        self.receipts.extend(header.receipt.iter().map(|receipt| (node, Arc::clone(receipt))));
        let (text, attachments) = text.clone().into_parts();
        self.attachments.extend(attachments.map(|attachments| (node, attachments)));
        self.roots.extend(header.is_root().then_some(node));
        self.graph.add_node();
        self.nodes.push(StoredNode {
            id: header.id().clone(),
            text,
            author: header.author(),
            edited_from,
            origin,
            made,
            is_root: header.is_root(),
        });
        node
    }

    /// The sources of an edge as numbers.
    pub(super) fn sources(&self, edge: &Edge, target: Option<&NodeId>) -> Result<Vec<EdgeSource>, TreeError> {
        if edge.sources().is_empty() {
            return Err(TreeError::NoSource { node: target.cloned() });
        }
        let source =
            |(purpose, node): &(_, NodeId)| Ok(EdgeSource { node: self.index(node)?, purpose: *purpose });
        edge.sources().iter().map(source).collect()
    }

    /// The number of nodes and changes so far.
    pub(super) fn now(&self) -> Moment {
        u32::try_from(self.nodes.len() + self.further.len()).unwrap_or(Moment::MAX)
    }

    pub(super) fn index(&self, node: &NodeId) -> Result<NodeIndex, TreeError> {
        self.ids.get(node.as_str()).ok_or_else(|| TreeError::UnknownNode { node: node.clone() })
    }

    pub(super) fn stored(&self, node: NodeIndex) -> &StoredNode {
        match self.nodes.get(node as usize) {
            Some(node) => node,
            None => unreachable!("numbers of nodes are made with the nodes, and none is removed"),
        }
    }

    pub(super) fn id(&self, node: NodeIndex) -> NodeId {
        self.stored(node).id.clone()
    }

    /// The number that all versions of a node have in common; in dialogue mode a node has no versions.
    pub(super) fn position(&self, node: NodeIndex) -> NodeIndex {
        match self.mode {
            Mode::Buffer => self.stored(node).origin,
            Mode::Dialogue => node,
        }
    }

    /// The nodes at a position in the order of creation, if there are several.
    fn several_versions(&self, position: NodeIndex) -> &[NodeIndex] {
        match self.mode {
            Mode::Buffer => self.edits(position),
            Mode::Dialogue => &[],
        }
    }

    /// The nodes at a position, in the order of creation.
    pub(super) fn versions_of(&self, position: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        let versions = self.several_versions(position);
        versions.iter().copied().chain(versions.is_empty().then_some(position))
    }

    /// The newest node at a position that was there at a moment.
    pub(super) fn latest(&self, position: NodeIndex, moment: Moment) -> NodeIndex {
        let versions = self.several_versions(position);
        let made = versions.partition_point(|node| self.stored(*node).made < moment);
        made.checked_sub(1).and_then(|last| versions.get(last)).copied().unwrap_or(position)
    }

    /// The node, the one that it was edited from, and all edits of it, in the order of creation.
    pub(super) fn lineage(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        let lineage = self.edits(self.stored(node).origin);
        lineage.iter().copied().chain(lineage.is_empty().then_some(node))
    }

    /// A node and its edits; empty if it has none, or is one.
    fn edits(&self, origin: NodeIndex) -> &[NodeIndex] {
        self.lineages.get(&origin).map_or(&[], Vec::as_slice)
    }

    /// The nodes that paths reach directly from a position, in the order of the edges.
    pub(super) fn following(&self, position: NodeIndex) -> Vec<NodeIndex> {
        let mut edges = BTreeMap::new();
        for node in self.versions_of(position) {
            let leads = self.graph.outgoing(node, EdgeKind::Continuation);
            let leads = leads.filter(|edge| ways(edge.sources()).any(|(_, way)| way == node));
            edges.extend(leads.map(|edge| (edge.number, edge.target())));
        }
        let mut seen = BTreeSet::new();
        edges.into_values().filter(|node| seen.insert(*node)).collect()
    }

    /// A node and all nodes that follow it.
    fn descendants(&self, node: NodeIndex) -> BTreeSet<NodeIndex> {
        let mut found = BTreeSet::new();
        let mut positions = BTreeSet::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if found.insert(node) && positions.insert(self.position(node)) {
                open.extend(self.following(self.position(node)));
            }
        }
        found
    }
}

/// Numbers. The nodes would fill a screen.
impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tree = f.debug_struct("Tree");
        tree.field("mode", &self.mode).field("nodes", &self.nodes.len());
        tree.field("further_changes", &self.further.len()).finish_non_exhaustive()
    }
}
