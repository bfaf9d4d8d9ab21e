//! The edges between nodes, as numbers. Nothing is removed, and nothing here is recursive.
//!
//! ```text
//! node ──first_in──▶ edge ──next_in──▶ edge          the edges that lead to a node
//! node ──first_out─▶ use  ──next_out─▶ use           the edges that have the node as a source
//! ```
//!
//! A list of numbers per node would be an allocation of its own for each of a million nodes.

use super::timeline::{Moment, NodeIndex};
use crate::declare::Purpose;

/// The end of a list.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeKind {
    Continuation,
    Annotation,
}

/// A source of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EdgeSource {
    pub(super) node: NodeIndex,
    pub(super) purpose: Purpose,
}

/// The sources through which a path can run, with the places in the edge: the primary ones. If there are none, it is
/// the first source.
pub(super) fn ways(sources: &[EdgeSource]) -> impl Iterator<Item = (usize, NodeIndex)> {
    let has_primary = sources.iter().any(|source| source.purpose == Purpose::Primary);
    let all = sources.iter().enumerate();
    let ways = all.filter(
        move |(at, source)| {
            if has_primary { source.purpose == Purpose::Primary } else { *at == 0 }
        },
    );
    ways.map(|(at, source)| (at, source.node))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NodeEnds {
    first_in: u32,
    last_in: u32,
    first_out: u32,
    last_out: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EdgeRow {
    kind: EdgeKind,
    target: NodeIndex,
    made: Moment,
    /// The sources are one range.
    first_source: u32,
    end_of_sources: u32,
    next_in: u32,
}

/// The use of a node as a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SourceUse {
    edge: u32,
    next_out: u32,
}

/// An edge of a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeRef<'g> {
    graph: &'g EdgeGraph,
    row: &'g EdgeRow,
    /// Edges are numbered in the order of creation.
    pub(super) number: u32,
}

impl<'g> EdgeRef<'g> {
    pub(super) const fn made(self) -> Moment {
        self.row.made
    }

    pub(super) const fn target(self) -> NodeIndex {
        self.row.target
    }

    pub(super) fn sources(self) -> &'g [EdgeSource] {
        let range = self.row.first_source as usize..self.row.end_of_sources as usize;
        self.graph.sources.get(range).unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EdgeGraph {
    nodes: Vec<NodeEnds>,
    edges: Vec<EdgeRow>,
    sources: Vec<EdgeSource>,
    /// As long as `sources`.
    uses: Vec<SourceUse>,
}

impl EdgeGraph {
    /// Whether there are numbers left for these.
    pub(super) fn has_room(&self, edges: usize, sources: usize) -> bool {
        let most = NONE as usize;
        self.nodes.len() < most && self.edges.len() + edges < most && self.sources.len() + sources < most
    }

    pub(super) fn add_node(&mut self) {
        self.nodes.push(NodeEnds { first_in: NONE, last_in: NONE, first_out: NONE, last_out: NONE });
    }

    /// All nodes of the edge exist, and there is room.
    pub(super) fn add_edge(
        &mut self,
        kind: EdgeKind,
        sources: &[EdgeSource],
        target: NodeIndex,
        made: Moment,
    ) {
        let edge = number(self.edges.len());
        let first_source = number(self.sources.len());
        for source in sources {
            let at = number(self.sources.len());
            self.sources.push(*source);
            self.uses.push(SourceUse { edge, next_out: NONE });
            let Some(ends) = self.nodes.get_mut(source.node as usize) else { continue };
            match self.uses.get_mut(ends.last_out as usize) {
                Some(last) => last.next_out = at,
                None => ends.first_out = at,
            }
            ends.last_out = at;
        }
        let end_of_sources = number(self.sources.len());
        self.edges.push(EdgeRow { kind, target, made, first_source, end_of_sources, next_in: NONE });
        let Some(ends) = self.nodes.get_mut(target as usize) else { return };
        match self.edges.get_mut(ends.last_in as usize) {
            Some(last) => last.next_in = edge,
            None => ends.first_in = edge,
        }
        ends.last_in = edge;
    }

    /// The edges that lead to a node, in the order of creation.
    pub(super) fn incoming(&self, node: NodeIndex, kind: EdgeKind) -> impl Iterator<Item = EdgeRef<'_>> {
        let first = self.nodes.get(node as usize).and_then(|ends| self.edge(ends.first_in));
        let all = std::iter::successors(first, |edge| self.edge(edge.row.next_in));
        all.filter(move |edge| edge.row.kind == kind)
    }

    /// The edges that have a node as a source, in the order of creation. An edge that has the node several times is there
    /// once: who looks through the sources of each edge would take the square of their number.
    pub(super) fn outgoing(&self, node: NodeIndex, kind: EdgeKind) -> impl Iterator<Item = EdgeRef<'_>> {
        let first = self.nodes.get(node as usize).and_then(|ends| self.uses.get(ends.first_out as usize));
        let all = std::iter::successors(first, |one| self.uses.get(one.next_out as usize));
        let mut last = NONE;
        let all = all.filter(move |one| std::mem::replace(&mut last, one.edge) != one.edge);
        all.filter_map(|one| self.edge(one.edge)).filter(move |edge| edge.row.kind == kind)
    }

    fn edge(&self, number: u32) -> Option<EdgeRef<'_>> {
        self.edges.get(number as usize).map(|row| EdgeRef { graph: self, row, number })
    }
}

/// A length as a number. `has_room` was asked before.
fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::{EdgeGraph, EdgeKind, EdgeRef, EdgeSource};
    use crate::declare::Purpose;

    /// An edge that names one source n times took n × n steps to find the nodes that follow the source.
    #[test]
    fn an_edge_with_one_source_many_times_leads_from_it_once() {
        let mut graph = EdgeGraph::default();
        (0..3).for_each(|_| graph.add_node());
        let source = |node| EdgeSource { node, purpose: Purpose::Primary };
        graph.add_edge(EdgeKind::Continuation, &vec![source(0); 1000], 1, 0);
        graph.add_edge(EdgeKind::Continuation, &[source(0), source(1), source(0)], 2, 1);
        let targets: Vec<_> = graph.outgoing(0, EdgeKind::Continuation).map(EdgeRef::target).collect();
        assert_eq!(targets, [1, 2]);
    }
}
