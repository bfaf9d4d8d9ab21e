//! The way from the end of a path to the root: choices among edges, sources and versions.

use std::collections::{BTreeMap, BTreeSet};

use super::arena::Tree;
use super::error::TreeError;
use super::graph::{EdgeKind, EdgeRef, EdgeSource, ways};
use super::id::NodeId;
use super::timeline::{Moment, NodeIndex};
use crate::declare::Purpose;

/// A node of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathItem {
    pub(super) node: NodeIndex,
    pub(super) purpose: Purpose,
}

/// The place of a chosen node among the chosen ones; all others have this one.
const NOT_CHOSEN: usize = usize::MAX;

/// A walk through a tree as it was at a moment.
pub(super) struct PathWalk<'t> {
    tree: &'t Tree,
    moment: Moment,
    chosen: Vec<NodeIndex>,
    /// The first place of each chosen node.
    by_node: BTreeMap<NodeIndex, usize>,
    /// The first place of each position with a chosen version.
    by_position: BTreeMap<NodeIndex, usize>,
}

impl<'t> PathWalk<'t> {
    pub(super) fn new(tree: &'t Tree, moment: Moment, chosen: &[NodeId]) -> Result<Self, TreeError> {
        let chosen: Vec<NodeIndex> = chosen
            .iter()
            .map(|node| match tree.index(node)? {
                // The node was not there yet.
                index if tree.stored(index).made >= moment => {
                    Err(TreeError::NotOnPath { node: node.clone() })
                }
                index => Ok(index),
            })
            .collect::<Result<_, _>>()?;
        let mut by_node = BTreeMap::new();
        let mut by_position = BTreeMap::new();
        for (place, node) in chosen.iter().enumerate() {
            by_node.entry(*node).or_insert(place);
            by_position.entry(tree.position(*node)).or_insert(place);
        }
        Ok(Self { tree, moment, chosen, by_node, by_position })
    }

    /// The nodes from the root to the sources of the last edge. It ends, as no position is before itself.
    pub(super) fn items(&self, last: &[EdgeSource]) -> Result<Vec<PathItem>, TreeError> {
        let mut backwards = Vec::new();
        let mut sources = last.to_vec();
        let mut is_last = true;
        while let Some((way, node)) = self.primary(&sources, is_last) {
            backwards.push(PathItem { node, purpose: Purpose::Primary });
            for purpose in [Purpose::Context, Purpose::Instruction] {
                // The first source of an edge without a primary one is the way already.
                let others = sources.iter().enumerate().rev();
                let others = others.filter(|(at, source)| source.purpose == purpose && *at != way);
                backwards.extend(
                    others.map(|(_, source)| PathItem { node: self.version(source.node, is_last), purpose }),
                );
            }
            let edges: Vec<EdgeRef<'_>> = self.edges(node).collect();
            let Some(edge) = self.way(node, &edges, false)? else { break };
            sources = edge.sources().to_vec();
            is_last = false;
        }
        backwards.reverse();
        Ok(backwards)
    }

    /// The edge among these that a path to the node takes.
    pub(super) fn way<'g>(
        &self,
        node: NodeIndex,
        edges: &[EdgeRef<'g>],
        is_last: bool,
    ) -> Result<Option<EdgeRef<'g>>, TreeError> {
        let [_, _, ..] = edges else { return Ok(edges.first().copied()) };
        // The chosen source that comes first decides, then the second one among the edges with the first, and so on. Of
        // edges with the same chosen sources it is the first.
        let edges_with_places = edges.iter().map(|edge| {
            let places = edge.sources().iter().map(|source| self.place(source.node, is_last));
            (places.chain([NOT_CHOSEN]).collect::<BTreeSet<usize>>(), edge)
        });
        match edges_with_places.min_by(|(one, _), (other, _)| one.cmp(other)) {
            Some((places, edge)) if places.first() != Some(&NOT_CHOSEN) => Ok(Some(*edge)),
            _ => {
                let ways = edges.iter().filter_map(|edge| self.primary(edge.sources(), is_last));
                let ways = ways.map(|(_, node)| self.tree.id(node)).collect();
                Err(TreeError::Ambiguous { node: self.tree.id(node), ways })
            }
        }
    }

    /// The node before a node on the first of the ways.
    pub(super) fn before(&self, node: NodeIndex) -> Option<NodeIndex> {
        let edge = self.edges(node).next()?;
        self.primary(edge.sources(), false).map(|(_, node)| node)
    }

    pub(super) fn check_chosen(&self, items: &[PathItem]) -> Result<(), TreeError> {
        if self.chosen.is_empty() {
            return Ok(());
        }
        let shown: BTreeSet<NodeIndex> = items.iter().map(|item| item.node).collect();
        match self.chosen.iter().find(|node| !shown.contains(node)) {
            Some(node) => Err(TreeError::NotOnPath { node: self.tree.id(*node) }),
            None => Ok(()),
        }
    }

    /// The continuation edges that led to a node at the moment.
    fn edges(&self, node: NodeIndex) -> impl Iterator<Item = EdgeRef<'t>> {
        let edges = self.tree.graph.incoming(node, EdgeKind::Continuation);
        edges.filter(|edge| edge.made() < self.moment)
    }

    /// The source through which a path runs: the place among the sources, and the version that is taken. Only an edge
    /// without sources has none.
    fn primary(&self, sources: &[EdgeSource], is_last: bool) -> Option<(usize, NodeIndex)> {
        let (at, way) = ways(sources).min_by_key(|(_, way)| self.place(*way, is_last))?;
        Some((at, self.version(way, is_last)))
    }

    /// The place of a source among the chosen nodes, by any of the versions unless it is one of the last edge.
    fn place(&self, source: NodeIndex, is_last: bool) -> usize {
        let place = if is_last {
            self.by_node.get(&source)
        } else {
            self.by_position.get(&self.tree.position(source))
        };
        place.copied().unwrap_or(NOT_CHOSEN)
    }

    /// The version of a source that the path takes.
    fn version(&self, source: NodeIndex, is_last: bool) -> NodeIndex {
        match self.chosen.get(self.place(source, is_last)) {
            // The reply to a request from an earlier version was not asked with the latest one.
            _ if is_last => source,
            Some(node) => *node,
            None => self.tree.latest(self.tree.position(source), self.moment),
        }
    }
}
