//! Trees whose nodes have readable ids.

use columnar::loom::{Author, Change, Edge, Header, Mode, NodeId, Path, Tree, TreeError};

/// A tree whose nodes have the ids that the tests give them.
pub(super) struct Named(pub(super) Tree);

impl Named {
    pub(super) fn new(mode: Mode) -> Self {
        Self(Tree::new(mode))
    }

    /// Makes a node; its text is its id in upper case.
    pub(super) fn make(&mut self, id: &str, header: impl FnOnce(Header) -> Header) -> NodeId {
        let header = header(Header::new(node(id), Author::Human));
        let text = id.to_uppercase().into();
        self.0.apply(Change::Node { header, text }).unwrap();
        node(id)
    }

    pub(super) fn root(&mut self, id: &str) -> NodeId {
        self.make(id, |header| header.with_edge(Edge::root()))
    }

    pub(super) fn append(&mut self, id: &str, from: impl Into<Edge>) -> NodeId {
        self.make(id, |header| header.with_edge(from))
    }

    pub(super) fn aside(&mut self, id: &str) -> NodeId {
        self.make(id, |header| header)
    }

    pub(super) fn edit(&mut self, id: &str, original: &NodeId) -> NodeId {
        let header = self.0.header_of_edit(node(id), Author::Human, original).unwrap();
        self.make(id, |_| header)
    }

    /// The ids on a path.
    pub(super) fn path(&self, to: impl Into<Edge>, chosen: &[&NodeId]) -> Vec<String> {
        let chosen: Vec<NodeId> = chosen.iter().map(|node| (*node).clone()).collect();
        ids(&self.0.path(to, &chosen).unwrap())
    }

    pub(super) fn error(&self, to: impl Into<Edge>, chosen: &[&NodeId]) -> TreeError {
        let chosen: Vec<NodeId> = chosen.iter().map(|node| (*node).clone()).collect();
        self.0.path(to, &chosen).expect_err("an error")
    }

    pub(super) fn asked(&self, node: &NodeId) -> Vec<String> {
        ids(&self.0.asked(node, &[]).unwrap())
    }
}

pub(super) fn node(id: &str) -> NodeId {
    NodeId::new(id).unwrap()
}

pub(super) fn ids(path: &Path<'_>) -> Vec<String> {
    path.turns().map(|turn| turn.id().to_string()).collect()
}
