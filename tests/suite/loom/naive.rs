//! Trees once more, as scans over lists. They are slow, and close to the words of the rules.

use columnar::Purpose;
use columnar::loom::{Author, Change, Edge, Header, Mark, Mode, NodeId, Path, Tree, TreeError};

#[derive(Clone, Debug)]
struct Known {
    header: Header,
    /// Continuation edges with sources: those of the header, then the links.
    incoming: Vec<Edge>,
    marks: Vec<Mark>,
    /// The tree before the node was made, for requests.
    before: Option<Box<Naive>>,
}

#[derive(Clone, Debug)]
pub(super) struct Naive {
    mode: Mode,
    nodes: Vec<Known>,
    system: Option<String>,
    system_in_buffer: bool,
}

/// What a path shows of a node: id, purpose, the mark that drops it.
pub(super) type Shown = (NodeId, Purpose, Option<Mark>);

/// A path in the form of this file.
pub(super) fn shown(path: &Path<'_>) -> (Vec<Shown>, Option<String>, bool) {
    let turns = path.all().map(|turn| (turn.id().clone(), turn.purpose(), turn.dropped_by())).collect();
    (turns, path.system().map(ToString::to_string), path.is_system_in_buffer())
}

impl Naive {
    pub(super) fn new(mode: Mode) -> Self {
        Self { mode, nodes: Vec::new(), system: None, system_in_buffer: false }
    }

    fn find(&self, id: &NodeId) -> Result<&Known, TreeError> {
        let found = self.nodes.iter().find(|node| node.header.id() == id);
        found.ok_or_else(|| TreeError::UnknownNode { node: id.clone() })
    }

    fn find_mut(&mut self, id: &NodeId) -> &mut Known {
        self.nodes.iter_mut().find(|node| node.header.id() == id).unwrap()
    }

    /// The node it was edited from and all edits of it, again and again until nothing is added.
    pub(super) fn lineage(&self, id: &NodeId) -> Vec<NodeId> {
        let mut found = vec![id.clone()];
        loop {
            let len = found.len();
            for node in &self.nodes {
                let (id, original) = (node.header.id().clone(), node.header.edited_from().cloned());
                let Some(original) = original else { continue };
                for (one, other) in [(&id, &original), (&original, &id)] {
                    if found.contains(one) && !found.contains(other) {
                        found.push(other.clone());
                    }
                }
            }
            if found.len() == len {
                break;
            }
        }
        let all = self.nodes.iter().map(|node| node.header.id().clone());
        all.filter(|id| found.contains(id)).collect()
    }

    fn versions(&self, id: &NodeId) -> Vec<NodeId> {
        if self.mode == Mode::Buffer { self.lineage(id) } else { vec![id.clone()] }
    }

    fn is_version(&self, one: &NodeId, other: &NodeId) -> bool {
        self.versions(one).contains(other)
    }

    pub(super) fn continuations(&self, id: &NodeId) -> Vec<NodeId> {
        let leads = |edge: &Edge| ways(edge).iter().any(|way| self.is_version(id, way));
        let targets = self.nodes.iter().filter(|node| node.incoming.iter().any(leads));
        targets.map(|node| node.header.id().clone()).collect()
    }

    pub(super) fn annotations(&self, id: &NodeId) -> Vec<NodeId> {
        let targets = |edge: &Edge| edge.sources().iter().any(|(_, source)| self.is_version(id, source));
        let nodes = self.nodes.iter().filter(|node| node.header.annotation_edges().iter().any(targets));
        nodes.map(|node| node.header.id().clone()).collect()
    }

    /// Whether a node is reached from itself.
    fn has_cycle(&self) -> bool {
        self.nodes.iter().any(|start| {
            let mut reached: Vec<NodeId> = Vec::new();
            let mut open = self.versions(start.header.id());
            while let Some(id) = open.pop() {
                for (_, source) in self.find(&id).unwrap().incoming.iter().flat_map(Edge::sources) {
                    for version in self.versions(source) {
                        if !reached.contains(&version) {
                            reached.push(version.clone());
                            open.push(version);
                        }
                    }
                }
            }
            reached.contains(start.header.id())
        })
    }

    fn check(&self, edge: &Edge, target: Option<&NodeId>) -> Result<(), TreeError> {
        if edge.sources().is_empty() {
            return Err(TreeError::NoSource { node: target.cloned() });
        }
        edge.sources().iter().try_for_each(|(_, source)| self.find(source).map(drop))
    }

    /// Makes a change, or returns why not. The source in the error of a cycle is not compared.
    pub(super) fn apply(&mut self, change: &Change) -> Result<(), TreeError> {
        let mut next = self.clone();
        match change {
            Change::Node { header, .. } => next.insert(header)?,
            Change::Link { from, node } => {
                next.find(node)?;
                next.check(from, Some(node))?;
                next.find_mut(node).incoming.push(from.clone());
                if next.has_cycle() {
                    return Err(TreeError::Cycle { node: node.clone(), source_node: node.clone() });
                }
            }
            Change::Mark { node, mark: Mark::Pruned, is_set } => {
                next.find(node)?;
                let (mut open, mut done) = (vec![node.clone()], Vec::new());
                while let Some(node) = open.pop() {
                    if !done.contains(&node) {
                        next.set(&node, Mark::Pruned, *is_set);
                        open.extend(next.continuations(&node));
                        done.push(node);
                    }
                }
            }
            Change::Mark { node, mark, is_set } => {
                next.find(node)?;
                next.set(node, *mark, *is_set);
            }
            Change::PruneOne { node, is_set } => {
                next.find(node)?;
                next.set(node, Mark::Pruned, *is_set);
            }
            Change::System { text } => next.system = text.as_ref().map(ToString::to_string),
            Change::SystemInBuffer { is_set } => next.system_in_buffer = *is_set,
            _ => panic!("a change that this file does not know"),
        }
        *self = next;
        Ok(())
    }

    fn insert(&mut self, header: &Header) -> Result<(), TreeError> {
        let id = header.id();
        if self.find(id).is_ok() {
            return Err(TreeError::DuplicateNode { node: id.clone() });
        }
        let is_root = header.edges().len() == 1 && header.edges()[0].is_root();
        let incoming = if is_root { &[] } else { header.edges() };
        incoming.iter().chain(header.annotation_edges()).try_for_each(|edge| self.check(edge, Some(id)))?;
        header.edited_from().map_or(Ok(()), |node| self.find(node).map(drop))?;
        let before = Some(Box::new(self.clone()));
        self.nodes.push(Known {
            header: header.clone(),
            incoming: incoming.to_vec(),
            marks: Vec::new(),
            before,
        });
        if self.has_cycle() {
            return Err(TreeError::Cycle { node: id.clone(), source_node: id.clone() });
        }
        Ok(())
    }

    fn set(&mut self, node: &NodeId, mark: Mark, is_set: bool) {
        let marks = &mut self.find_mut(node).marks;
        marks.retain(|known| *known != mark);
        if is_set {
            marks.push(mark);
        }
    }

    pub(super) fn has(&self, node: &NodeId, mark: Mark) -> bool {
        self.find(node).unwrap().marks.contains(&mark)
    }

    pub(super) fn path(
        &self,
        to: &Edge,
        chosen: &[NodeId],
    ) -> Result<(Vec<Shown>, Option<String>, bool), TreeError> {
        chosen.iter().try_for_each(|node| self.find(node).map(drop))?;
        let mut items = Vec::new();
        if !to.is_root() {
            self.check(to, None)?;
            items = self.before(to, chosen, true)?;
        }
        if let Some(node) = chosen.iter().find(|node| items.iter().all(|(id, _)| id != *node)) {
            return Err(TreeError::NotOnPath { node: node.clone() });
        }
        let dropped =
            |node: &NodeId| [Mark::Excluded, Mark::Pruned].into_iter().find(|mark| self.has(node, *mark));
        let turns = items.into_iter().map(|(node, purpose)| {
            let mark = dropped(&node);
            (node, purpose, mark)
        });
        Ok((turns.collect(), self.system.clone(), self.system_in_buffer))
    }

    /// A path by a replay up to the node.
    pub(super) fn asked(
        &self,
        node: &NodeId,
        chosen: &[NodeId],
    ) -> Result<(Vec<Shown>, Option<String>, bool), TreeError> {
        let known = self.find(node)?;
        chosen.iter().try_for_each(|node| self.find(node).map(drop))?;
        let before = known.before.as_ref().unwrap();
        if let Some(node) = chosen.iter().find(|node| before.find(node).is_err()) {
            return Err(TreeError::NotOnPath { node: node.clone() });
        }
        let header = &known.header;
        let edges = if header.edges().is_empty() { header.annotation_edges() } else { header.edges() };
        match before.edge(node, edges, chosen, true)? {
            None => before.path(&Edge::root(), chosen),
            Some(edge) => before.path(edge, chosen),
        }
    }

    /// The nodes up to the sources of an edge.
    fn before(
        &self,
        edge: &Edge,
        chosen: &[NodeId],
        is_last: bool,
    ) -> Result<Vec<(NodeId, Purpose)>, TreeError> {
        let (way, node) = self.primary(edge, chosen, is_last);
        let incoming = &self.find(&node)?.incoming;
        let mut items = match self.edge(&node, incoming, chosen, false)? {
            None => Vec::new(),
            Some(edge) => self.before(edge, chosen, false)?,
        };
        for wanted in [Purpose::Instruction, Purpose::Context] {
            for (at, (purpose, source)) in edge.sources().iter().enumerate() {
                if *purpose == wanted && at != way {
                    items.push((self.version(source, chosen, is_last), wanted));
                }
            }
        }
        items.push((node, Purpose::Primary));
        Ok(items)
    }

    fn matches(&self, source: &NodeId, chosen: &NodeId, is_last: bool) -> bool {
        if is_last { source == chosen } else { self.is_version(source, chosen) }
    }

    fn edge<'e>(
        &self,
        node: &NodeId,
        edges: &'e [Edge],
        chosen: &[NodeId],
        is_last: bool,
    ) -> Result<Option<&'e Edge>, TreeError> {
        let mut left: Vec<&Edge> = edges.iter().collect();
        let mut is_chosen = left.len() < 2;
        for wanted in chosen {
            let has = |edge: &&&Edge| {
                edge.sources().iter().any(|(_, source)| self.matches(source, wanted, is_last))
            };
            let with: Vec<&Edge> = left.iter().filter(has).copied().collect();
            if !with.is_empty() {
                (left, is_chosen) = (with, true);
            }
        }
        if !is_chosen {
            let ways = edges.iter().map(|edge| self.primary(edge, chosen, is_last).1).collect();
            return Err(TreeError::Ambiguous { node: node.clone(), ways });
        }
        Ok(left.first().copied())
    }

    fn primary(&self, edge: &Edge, chosen: &[NodeId], is_last: bool) -> (usize, NodeId) {
        let ways = ways(edge);
        let wanted =
            chosen.iter().find_map(|wanted| ways.iter().find(|way| self.matches(way, wanted, is_last)));
        let way = wanted.unwrap_or(&ways[0]);
        let has_primary = edge.sources().iter().any(|(purpose, _)| *purpose == Purpose::Primary);
        let is_way = |(purpose, source): &(Purpose, NodeId)| {
            source == way && (!has_primary || *purpose == Purpose::Primary)
        };
        (edge.sources().iter().position(is_way).unwrap(), self.version(way, chosen, is_last))
    }

    fn version(&self, source: &NodeId, chosen: &[NodeId], is_last: bool) -> NodeId {
        if is_last {
            return source.clone();
        }
        let versions = self.versions(source);
        let wanted = chosen.iter().find(|node| versions.contains(node));
        wanted.or(versions.last()).unwrap().clone()
    }
}

/// The sources through which a path can run.
fn ways(edge: &Edge) -> Vec<NodeId> {
    let primary = edge.sources().iter().filter(|(purpose, _)| *purpose == Purpose::Primary);
    let ways: Vec<NodeId> = primary.map(|(_, node)| node.clone()).collect();
    if ways.is_empty() { edge.sources().iter().take(1).map(|(_, node)| node.clone()).collect() } else { ways }
}

/// All that can be read of a node is that of the naive tree.
pub(super) fn check_nodes(tree: &Tree, naive: &Naive) {
    assert_eq!(tree.len(), naive.nodes.len());
    let ids =
        |nodes: Vec<columnar::loom::Node<'_>>| nodes.iter().map(|node| node.id().clone()).collect::<Vec<_>>();
    for (node, known) in tree.nodes().zip(&naive.nodes) {
        let id = known.header.id();
        assert_eq!(node.header(), known.header);
        assert_eq!(tree.node(id).map(|node| node.author()), Some(known.header.author()));
        assert!([Author::Human, Author::Model].contains(&node.author()));
        for mark in [Mark::Bookmarked, Mark::Pruned, Mark::Excluded] {
            assert_eq!(node.has(mark), known.marks.contains(&mark), "{id} {mark}");
        }
        let mut continuations = ids(tree.continuations(id));
        continuations.sort_by_key(|id| naive.nodes.iter().position(|node| node.header.id() == id));
        assert_eq!(continuations, naive.continuations(id), "{id}");
        assert_eq!(ids(tree.annotations(id)), naive.annotations(id), "{id}");
        assert_eq!(ids(tree.versions(id)), naive.lineage(id), "{id}");
    }
}
