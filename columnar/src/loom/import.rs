//! The import of trees in the format Open Loom, version 2. What a document costs grows with its length alone: each part is
//! read by itself, nodes are numbers, and cycles are looked for once, in the whole tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::error::LoomError;
use super::media::ContentBlock;
use super::open_loom::FORMAT;
use super::raw_json::RawJson;
use crate::context::tree::{Author, Change, Edge, Header, Mark, Mode, NodeId, Tree, TreeBuilder};
use crate::declare::Purpose;
use crate::declare::error::Printable;
use crate::history::{Text, Value};
use crate::model::usage::Receipt;

/// A tree of a document, with the id and the title from there.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Imported {
    /// The id of the tree.
    pub id: String,
    /// The title of the tree, which may be empty.
    pub title: String,
    /// The tree.
    pub tree: Tree,
}

/// The trees of a document in the format Open Loom, version 2.
///
/// Texts, authors, edges, edits and marks are taken over. A block of media whose `ref` is a data URI in base64 is an
/// attachment, with the `altText` of an image or the `transcript` of a sound in its place for models that take no such
/// media. Any other `ref`, such as the name of a file beside the document, is not read: the block becomes that text. The
/// role `mixed` is a model, `system` a person. Everything else of the document, such as titles of bookmarks or the
/// records of requests, is left out; the receipts that [`export`](super::export) writes are read.
///
/// # Errors
///
/// - [`LoomError::Import`] for a text that is no such document, a node that is missing, a node without text, an attachment
///   that is damaged, or no image in an image block, and edges in a circle.
/// - [`LoomError::Unreadable`] for a node with media that are neither in the document nor have a text.
/// - [`LoomError::Tree`] if a tree would have refused a part of the document.
pub fn import(document: &str) -> Result<Vec<Imported>, LoomError> {
    let document = RawJson::checked(document).map_err(|error| {
        let fault = if error.is_data() { "it has a key twice in one object" } else { "it is no JSON" };
        refused(format!("{fault}, at line {} and column {}", error.line(), error.column()))
    })?;
    let [format, version, trees] = document.members(["format", "version", "trees"]);
    if format.and_then(RawJson::text).as_deref() != Some(FORMAT) {
        return Err(refused("its `format` is not `open-loom`".to_owned()));
    }
    let version = version.and_then(RawJson::text).unwrap_or_default();
    if version.split('.').next() != Some("2") {
        return Err(refused("its `version` is not 2: export it as version 2".to_owned()));
    }
    let trees = trees.and_then(RawJson::list).ok_or_else(|| refused("it has no `trees`".to_owned()))?;
    trees.into_iter().enumerate().map(|(at, tree)| imported_tree(at, tree)).collect()
}

fn refused(reason: String) -> LoomError {
    LoomError::Import { reason }
}

fn imported_tree(at: usize, json: RawJson<'_>) -> Result<Imported, LoomError> {
    let [id, title, mode, system, extensions] =
        json.members(["id", "title", "mode", "systemContext", "extensions"]);
    let mode = mode.and_then(RawJson::text).and_then(|name| Mode::by_name(&name));
    let mut tree = TreeBuilder::new(mode.unwrap_or(Mode::Dialogue));
    if let Some(system) = system.and_then(RawJson::text) {
        tree.apply(Change::System { text: Some(system.into()) })?;
    }
    let [is_system_in_buffer] = columnar(extensions, ["systemInBuffer"]);
    if is_system_in_buffer.is_some_and(RawJson::flag) {
        tree.apply(Change::SystemInBuffer { is_set: true })?;
    }
    TreeDraft::parse(at, json)?.make(&mut tree)?;
    let [id, title] = [id, title].map(|text| text.and_then(RawJson::text).unwrap_or_default());
    Ok(Imported { id, title, tree: tree.build()? })
}

/// Members of the extension that [`export`](super::export) writes.
fn columnar<'d, const N: usize>(
    extensions: Option<RawJson<'d>>,
    members: [&'static str; N],
) -> [Option<RawJson<'d>>; N] {
    let own = extensions.and_then(|all| all.members(["columnar"])[0]);
    own.map_or([None; N], |own| own.members(members))
}

/// The nodes and edges of a document before they are in order. A node is known by the place of its id among all ids.
struct TreeDraft {
    /// The place of the tree in an error.
    place: String,
    /// In order.
    ids: Vec<NodeId>,
    nodes: Vec<NodeDraft>,
    edges: Vec<EdgeDraft>,
    roots: Vec<usize>,
}

struct NodeDraft {
    text: Value,
    author: Author,
    /// The place of the node in the order in which nodes were made, if the document tells the place.
    number: Option<u64>,
    edited_from: Option<usize>,
    is_aside: bool,
    receipt: Option<Receipt>,
    marks: Vec<Mark>,
}

struct EdgeDraft {
    is_continuation: bool,
    /// The number of nodes at the time when the edge was added, for an edge to a node that was there already.
    link: Option<u64>,
    sources: Vec<(Purpose, usize)>,
    target: usize,
}

impl TreeDraft {
    fn parse(at: usize, json: RawJson<'_>) -> Result<Self, LoomError> {
        let place = format!("`trees[{at}]`");
        let [nodes, edges, roots] = json.members(["nodes", "edges", "rootNodeIds"]);
        let nodes = nodes.and_then(RawJson::object);
        let mut nodes = nodes.ok_or_else(|| refused(format!("{place} has no `nodes`")))?;
        let edges = edges.and_then(RawJson::list);
        let edges = edges.ok_or_else(|| refused(format!("{place} has no `edges`")))?;
        nodes.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let mut draft =
            Self { place, ids: Vec::new(), nodes: Vec::new(), edges: Vec::new(), roots: Vec::new() };
        for (id, _) in &nodes {
            draft.ids.push(draft.node_id(id)?);
        }
        for (at, (_, node)) in nodes.into_iter().enumerate() {
            draft.nodes.push(draft.node(at, node)?);
        }
        for (at, edge) in edges.into_iter().enumerate() {
            draft.edges.push(draft.edge(at, edge)?);
        }
        for id in roots.and_then(RawJson::list).into_iter().flatten().filter_map(RawJson::text) {
            draft.roots.push(draft.index(&id)?);
        }
        Ok(draft)
    }

    fn node(&self, at: usize, json: RawJson<'_>) -> Result<NodeDraft, LoomError> {
        let id = self.id(at);
        let [content, author, edited_from, meta, extensions] =
            json.members(["content", "author", "editedFrom", "meta", "extensions"]);
        let blocks = content.and_then(RawJson::list);
        let blocks = blocks.ok_or_else(|| refused(format!("the node `{id}` has no `content`")))?;
        let mut texts = Vec::new();
        let mut media = Vec::new();
        for (place, block) in blocks.into_iter().enumerate() {
            let block = ContentBlock::read(block).map_err(|fault| {
                refused(format!("`content[{place}]` of the node `{id}` cannot be read: {fault}"))
            })?;
            match block {
                Some(ContentBlock::Text(text)) => texts.push(text),
                Some(ContentBlock::Media(attachment)) => media.push(attachment),
                None => return Err(LoomError::Unreadable { node: id.clone() }),
            }
        }
        let text = media.into_iter().fold(Text::new(texts.join("\n\n")), Text::with);
        let role = author.and_then(|author| author.members(["role"])[0]?.text());
        let author = match role.as_deref() {
            Some("model" | "mixed") => Author::Model,
            Some("human" | "system") => Author::Human,
            _ => return Err(refused(format!("the node `{id}` has no known `author.role`"))),
        };
        let edited_from = edited_from.and_then(RawJson::text);
        let [number, is_aside, receipt] = columnar(extensions, ["number", "aside", "receipt"]);
        let flags = meta.map_or([None; 3], |meta| meta.members(["bookmarked", "excluded", "pruned"]));
        let marks = flags.into_iter().zip([Mark::Bookmarked, Mark::Excluded, Mark::Pruned]);
        Ok(NodeDraft {
            text: text.into(),
            author,
            number: number.and_then(RawJson::number),
            edited_from: edited_from.map(|id| self.index(&id)).transpose()?,
            is_aside: is_aside.is_some_and(RawJson::flag),
            receipt: receipt.and_then(|receipt| receipt.as_str().parse().ok()),
            marks: marks.filter(|(flag, _)| flag.is_some_and(RawJson::flag)).map(|(_, mark)| mark).collect(),
        })
    }

    fn edge(&self, at: usize, json: RawJson<'_>) -> Result<EdgeDraft, LoomError> {
        let place = format!("`edges[{at}]` of {}", self.place);
        let [kind, target, sources, extensions] =
            json.members(["type", "targetNodeId", "sources", "extensions"]);
        let target = target.and_then(RawJson::text);
        let target = target.ok_or_else(|| refused(format!("{place} has no `targetNodeId`")))?;
        let list = sources.and_then(RawJson::list).unwrap_or_default();
        let mut sources = Vec::with_capacity(list.len());
        for [id, role] in list.into_iter().map(|source| source.members(["nodeId", "role"])) {
            let Some(id) = id.and_then(RawJson::text) else {
                sources.clear();
                break;
            };
            let role = role.and_then(RawJson::text).unwrap_or_default();
            let mut purposes = [Purpose::Context, Purpose::Instruction].into_iter();
            let purpose = purposes.find(|purpose| purpose.as_str() == role).unwrap_or_default();
            sources.push((purpose, self.index(&id)?));
        }
        if sources.is_empty() {
            return Err(refused(format!("{place} has no sources")));
        }
        let is_continuation = kind.and_then(RawJson::text).as_deref() == Some("continuation");
        let [link] = columnar(extensions, ["link"]);
        let link = link.and_then(RawJson::number).filter(|_| is_continuation);
        Ok(EdgeDraft { is_continuation, link, sources, target: self.index(&target)? })
    }

    fn node_id(&self, id: &str) -> Result<NodeId, LoomError> {
        NodeId::new(id).map_err(|error| refused(format!("in {}, {error}", self.place)))
    }

    /// The place of an id that an edge or an edit names.
    fn index(&self, id: &str) -> Result<usize, LoomError> {
        self.ids.binary_search_by(|known| known.as_str().cmp(id)).or_else(|_| {
            // An id may be any text of the document, so only a valid id is shown.
            let id = Printable(self.node_id(id)?);
            Err(refused(format!("{} names the node `{id}`, which it does not have", self.place)))
        })
    }

    fn id(&self, node: usize) -> &NodeId {
        match self.ids.get(node) {
            Some(id) => id,
            None => unreachable!("the number of a node is the place of its id"),
        }
    }

    /// Makes all nodes, links and marks.
    fn make(&self, tree: &mut TreeBuilder) -> Result<(), LoomError> {
        let order = self.order()?;
        let mut incoming: Vec<&EdgeDraft> = self.first_edges().collect();
        incoming.sort_by_key(|edge| edge.target);
        let material = self.material();
        let mut links: Vec<(u64, &EdgeDraft)> =
            self.edges.iter().filter_map(|edge| Some((edge.link?, edge))).collect();
        links.sort_by_key(|(nodes, _)| *nodes);
        let mut links = links.into_iter().peekable();
        for (number, at) in (0_u64..).zip(order) {
            while let Some((_, link)) = links.next_if(|(nodes, _)| *nodes <= number) {
                tree.apply(self.link(link))?;
            }
            let Some(node) = self.nodes.get(at) else { continue };
            let first = incoming.partition_point(|edge| edge.target < at);
            let edges = incoming.get(first..).unwrap_or_default();
            let edges = edges.iter().take_while(|edge| edge.target == at);
            let is_aside = match node.number {
                Some(_) => node.is_aside,
                None => material.get(at).copied().unwrap_or_default(),
            };
            let header = self.header(at, node, edges, is_aside);
            tree.apply(Change::Node { header, text: node.text.clone() })?;
        }
        for (_, link) in links {
            tree.apply(self.link(link))?;
        }
        for (id, node) in self.ids.iter().zip(&self.nodes) {
            for mark in &node.marks {
                // Each node alone, as in the document.
                tree.apply(match mark {
                    Mark::Pruned => Change::PruneOne { node: id.clone(), is_set: true },
                    mark => Change::Mark { node: id.clone(), mark: *mark, is_set: true },
                })?;
            }
        }
        Ok(())
    }

    fn link(&self, edge: &EdgeDraft) -> Change {
        Change::Link { from: self.sources(edge), node: self.id(edge.target).clone() }
    }

    fn sources(&self, edge: &EdgeDraft) -> Edge {
        Edge::new(edge.sources.iter().map(|(purpose, node)| (*purpose, self.id(*node).clone())))
    }

    fn header<'e>(
        &self,
        at: usize,
        node: &NodeDraft,
        edges: impl Iterator<Item = &'e &'e EdgeDraft>,
        is_aside: bool,
    ) -> Header {
        let mut edges = edges.peekable();
        let mut header = Header::new(self.id(at).clone(), node.author);
        if edges.peek().is_none() && !is_aside {
            header = header.with_edge(Edge::root());
        }
        for edge in edges {
            let from = self.sources(edge);
            header =
                if edge.is_continuation { header.with_edge(from) } else { header.with_annotation_edge(from) };
        }
        if let Some(original) = node.edited_from {
            header = header.with_edited_from(self.id(original));
        }
        match &node.receipt {
            Some(receipt) => header.with_receipt(receipt),
            None => header,
        }
    }

    /// The edges with which nodes were made.
    fn first_edges(&self) -> impl Iterator<Item = &EdgeDraft> {
        self.edges.iter().filter(|edge| edge.link.is_none())
    }

    /// For each node, whether it is a source that is shown beside others and through which no path runs, in documents of
    /// other programs.
    fn material(&self) -> Vec<bool> {
        let edges = self.edges.iter().filter(|edge| edge.is_continuation);
        let mut sources: Vec<(usize, Purpose)> =
            edges.flat_map(|edge| &edge.sources).map(|(purpose, node)| (*node, *purpose)).collect();
        // A primary use comes last, and decides.
        sources.sort_by_key(|(_, purpose)| *purpose == Purpose::Primary);
        let mut material = vec![false; self.nodes.len()];
        for (node, purpose) in sources {
            if let Some(is_beside) = material.get_mut(node) {
                *is_beside = purpose != Purpose::Primary;
            }
        }
        material
    }

    /// The nodes in an order in which all that a node needs comes before it. This is the order in which the nodes were
    /// made, if the document has that order; otherwise roots come first, and siblings in the order of the edges.
    fn order(&self) -> Result<Vec<usize>, LoomError> {
        let edges =
            self.first_edges().flat_map(|edge| edge.sources.iter().map(|(_, source)| (*source, edge.target)));
        let edits = self.nodes.iter().enumerate().filter_map(|(at, node)| Some((node.edited_from?, at)));
        let mut needs: Vec<(usize, usize)> = edges.chain(edits).collect();
        needs.sort_unstable();
        let mut waits = vec![0_usize; self.nodes.len()];
        for (_, after) in &needs {
            waits.get_mut(*after).into_iter().for_each(|waits| *waits += 1);
        }
        let ranks = self.ranks();
        let ranked = |at: usize| Reverse((ranks.get(at).copied().unwrap_or(u64::MAX), at));
        let free = waits.iter().enumerate().filter(|(_, waits)| **waits == 0);
        let mut open: BinaryHeap<_> = free.map(|(at, _)| ranked(at)).collect();
        let mut order = Vec::with_capacity(waits.len());
        while let Some(Reverse((_, at))) = open.pop() {
            order.push(at);
            let first = needs.partition_point(|(before, _)| *before < at);
            let unlocked =
                needs.get(first..).unwrap_or_default().iter().take_while(|(before, _)| *before == at);
            for (_, after) in unlocked {
                if let Some(left) = waits.get_mut(*after) {
                    *left -= 1;
                    open.extend((*left == 0).then(|| ranked(*after)));
                }
            }
        }
        match waits.iter().position(|waits| *waits > 0) {
            None => Ok(order),
            Some(at) => Err(refused(format!(
                "edges or edits of {} lead in a circle through the node `{}`, or to it",
                self.place,
                self.id(at)
            ))),
        }
    }

    /// The rank of each node: the number of the node, otherwise the place of the root, or the place of the first edge that
    /// leads to the node.
    fn ranks(&self) -> Vec<u64> {
        let named = self.roots.iter().copied().chain(self.first_edges().map(|edge| edge.target));
        let mut ranks = vec![u64::MAX; self.nodes.len()];
        for (place, at) in (0..).zip(named) {
            if let Some(rank) = ranks.get_mut(at) {
                *rank = place.min(*rank);
            }
        }
        for (rank, node) in ranks.iter_mut().zip(&self.nodes) {
            *rank = node.number.unwrap_or(*rank);
        }
        ranks
    }
}
