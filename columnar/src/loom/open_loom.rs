//! Trees in the format Open Loom, version 2: JSON that other programs read and write.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::error::LoomError;
use super::unique_keys::UniqueKeys;
use crate::context::tree::{Author, Change, Edge, Header, Mark, Mode, NodeId, Tree};
use crate::declare::Purpose;
use crate::declare::error::Printable;

/// The name of the format.
const FORMAT: &str = "open-loom";

/// The newest version that is written. All versions with the same whole number can be read.
const VERSION: &str = "2.0";

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

/// A document in the format Open Loom 2.0 with one tree, for other programs.
///
/// The document has nodes, edges with their sources, edits, marks and the system text, but no budgets and no history of
/// marks. [`import`] makes a tree with equal paths from the document. Versions depend on the order of nodes, which the
/// format lacks, so an extension holds the order.
///
/// ```
/// use columnar::loom::{Agent, Author, Edge, Mode, Tree, export, import};
///
/// let mut tree = Tree::new(Mode::Dialogue);
/// let question = tree.append(&mut || 7 << 40, Edge::root(), Author::Human, "Why?")?;
/// tree.append(&mut || 9 << 44, &question, Author::Model, "Because.")?;
///
/// let document = export(&tree, "t1", "A question");
/// let again = &import(&document)?[0];
/// assert_eq!((again.title.as_str(), again.tree.len()), ("A question", 2));
/// let agent = Agent::new("");
/// let asked = |tree: &Tree| Ok::<_, columnar::loom::LoomError>(tree.path(&question, &[])?.dialogue(&agent)?.messages().to_json());
/// assert_eq!(asked(&again.tree)?, asked(&tree)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn export(tree: &Tree, id: &str, title: &str) -> String {
    let mut nodes = Map::new();
    let mut edges = Vec::new();
    let mut roots = Vec::new();
    for (number, node) in tree.nodes().enumerate() {
        let id = node.id().as_str();
        let header = node.header();
        let mut json = object(json!({
            "id": id,
            "content": [{ "type": "text", "text": node.text() }],
            "author": { "role": node.author().as_str() },
        }));
        if let Some(original) = node.edited_from() {
            json.insert("editedFrom".into(), original.as_str().into());
        }
        let marks = [
            ("bookmarked", node.is_bookmarked()),
            ("pruned", node.is_pruned()),
            ("excluded", node.is_excluded()),
        ];
        let marks = marks.into_iter().filter(|(_, is_set)| *is_set);
        let marks: Map<String, Json> = marks.map(|(mark, _)| (mark.into(), true.into())).collect();
        if !marks.is_empty() {
            json.insert("meta".into(), marks.into());
        }
        // By the format, a root is any node that no continuation edge leads to.
        if node.edges().iter().all(Edge::is_root) {
            roots.push(Json::from(id));
        }
        let is_aside = header.edges().is_empty() && header.annotation_edges().is_empty();
        let aside = is_aside.then(|| json!({ "number": number, "aside": true }));
        let columnar = aside.unwrap_or_else(|| json!({ "number": number }));
        json.insert("extensions".into(), json!({ "columnar": columnar }));
        nodes.insert(id.to_owned(), json.into());
        let from = header.edges().iter().filter(|edge| !edge.is_root());
        edges.extend(from.map(|from| edge("continuation", from, id)));
        edges.extend(header.annotation_edges().iter().map(|from| edge("annotation", from, id)));
    }
    for (nodes, change) in tree.further_changes() {
        if let Change::Link { from, node } = change {
            let mut link = object(edge("continuation", from, node.as_str()));
            link.insert("extensions".into(), json!({ "columnar": { "link": nodes } }));
            edges.push(link.into());
        }
    }
    let mut exported = object(json!({
        "id": id,
        "title": title,
        "mode": tree.mode().as_str(),
        "rootNodeIds": roots,
        "nodes": nodes,
        "edges": edges,
    }));
    if let Some(system) = tree.system() {
        exported.insert("systemContext".into(), system.into());
    }
    if tree.is_system_in_buffer() {
        exported.insert("extensions".into(), json!({ "columnar": { "systemInBuffer": true } }));
    }
    let generator = json!({ "name": "columnar", "version": env!("CARGO_PKG_VERSION") });
    let mut document =
        json!({ "format": FORMAT, "version": VERSION, "generator": generator, "trees": [exported] });
    // A person who reads the file finds nodes by id, and equal trees have equal files.
    document.sort_all_objects();
    format!("{document:#}\n")
}

/// The fields of an object, to which others can be added.
fn object(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(fields) => fields,
        _ => unreachable!("each caller has an object"),
    }
}

fn edge(kind: &str, from: &Edge, target: &str) -> Json {
    let sources: Vec<Json> = (from.sources().iter())
        .map(|(purpose, node)| json!({ "nodeId": node.as_str(), "role": purpose.as_str() }))
        .collect();
    json!({ "type": kind, "sources": sources, "targetNodeId": target })
}

/// The trees of a document in the format Open Loom, version 2.
///
/// Texts, authors, edges, edits and marks are taken over. An image becomes its `altText`, a sound its `transcript`. The
/// role `mixed` is a model, `system` a person. Everything else of the document, such as titles of bookmarks or the
/// records of requests, is left out.
///
/// # Errors
///
/// - [`LoomError::Import`] for a text that is no such document, a node that is missing, a node without text, and edges in a
///   circle.
/// - [`LoomError::Unreadable`] for a node that has media and no text.
/// - [`LoomError::Tree`] if a tree would have refused a part of the document.
pub fn import(document: &str) -> Result<Vec<Imported>, LoomError> {
    let document: Result<UniqueKeys, _> = serde_json::from_str(document);
    let UniqueKeys(document) = document.map_err(|error| {
        let fault = if error.is_data() { "it has a key twice in one object" } else { "it is no JSON" };
        refused(format!("{fault}, at line {} and column {}", error.line(), error.column()))
    })?;
    if text(&document, "format") != Some(FORMAT) {
        return Err(refused("its `format` is not `open-loom`".to_owned()));
    }
    if text(&document, "version").unwrap_or_default().split('.').next() != Some("2") {
        return Err(refused("its `version` is not 2: export it as version 2".to_owned()));
    }
    let trees = list(&document, "trees").ok_or_else(|| refused("it has no `trees`".to_owned()))?;
    trees.iter().enumerate().map(|(at, tree)| TreeDraft::parse(at, tree)?.build()).collect()
}

fn refused(reason: String) -> LoomError {
    LoomError::Import { reason }
}

/// A tree of a document before the nodes are in order.
struct TreeDraft<'j> {
    /// The place of the tree in an error.
    place: String,
    id: String,
    title: String,
    mode: Mode,
    system: Option<&'j str>,
    is_system_in_buffer: bool,
    roots: Vec<&'j str>,
    nodes: BTreeMap<&'j str, DraftNode<'j>>,
    /// The sources and the target of each edge, in order.
    edges: Vec<DraftEdge<'j>>,
}

struct DraftNode<'j> {
    json: &'j Json,
    /// The place of the node in the order in which nodes were made, if the document tells the place.
    number: Option<u64>,
    text: String,
    author: Author,
    edited_from: Option<&'j str>,
}

struct DraftEdge<'j> {
    is_continuation: bool,
    /// The number of nodes at the time when the edge was added, for an edge to a node that was there already.
    link: Option<u64>,
    sources: Vec<(Purpose, &'j str)>,
    target: &'j str,
}

impl<'j> TreeDraft<'j> {
    fn parse(at: usize, json: &'j Json) -> Result<Self, LoomError> {
        let place = format!("`trees[{at}]`");
        let nodes = json.get("nodes").and_then(Json::as_object);
        let nodes = nodes.ok_or_else(|| refused(format!("{place} has no `nodes`")))?;
        let edges = list(json, "edges").ok_or_else(|| refused(format!("{place} has no `edges`")))?;
        let roots = list(json, "rootNodeIds").into_iter().flatten();
        let mut draft = Self {
            id: text(json, "id").unwrap_or_default().to_owned(),
            title: text(json, "title").unwrap_or_default().to_owned(),
            mode: text(json, "mode").and_then(Mode::by_name).unwrap_or(Mode::Dialogue),
            system: text(json, "systemContext"),
            is_system_in_buffer: flag(json, &["extensions", "columnar", "systemInBuffer"]),
            roots: roots.filter_map(Json::as_str).collect(),
            nodes: BTreeMap::new(),
            edges: Vec::new(),
            place,
        };
        for (id, node) in nodes {
            let node = draft.node(id, node)?;
            draft.nodes.insert(id, node);
        }
        for (at, edge) in edges.iter().enumerate() {
            draft.edges.push(draft.edge(at, edge)?);
        }
        draft.check_nodes()?;
        Ok(draft)
    }

    fn node(&self, id: &str, json: &'j Json) -> Result<DraftNode<'j>, LoomError> {
        let id = self.node_id(id)?;
        let blocks = list(json, "content");
        let blocks = blocks.ok_or_else(|| refused(format!("the node `{id}` has no `content`")))?;
        let mut texts = Vec::new();
        for block in blocks {
            let field = match text(block, "type") {
                Some("text") => "text",
                Some("audio") => "transcript",
                _ => "altText",
            };
            match text(block, field) {
                Some(text) => texts.push(text),
                None => return Err(LoomError::Unreadable { node: id }),
            }
        }
        let author = match field(json, &["author", "role"]).and_then(Json::as_str) {
            Some("model" | "mixed") => Author::Model,
            Some("human" | "system") => Author::Human,
            _ => return Err(refused(format!("the node `{id}` has no known `author.role`"))),
        };
        let number = field(json, &["extensions", "columnar", "number"]).and_then(Json::as_u64);
        let edited_from = text(json, "editedFrom");
        Ok(DraftNode { json, number, text: texts.join("\n\n"), author, edited_from })
    }

    fn edge(&self, at: usize, json: &'j Json) -> Result<DraftEdge<'j>, LoomError> {
        let place = format!("`edges[{at}]` of {}", self.place);
        let target = text(json, "targetNodeId");
        let target = target.ok_or_else(|| refused(format!("{place} has no `targetNodeId`")))?;
        let sources = list(json, "sources").into_iter().flatten().map(|source| {
            let role = text(source, "role").unwrap_or_default();
            let mut purposes = [Purpose::Context, Purpose::Instruction].into_iter();
            let purpose = purposes.find(|purpose| purpose.as_str() == role).unwrap_or_default();
            Some((purpose, text(source, "nodeId")?))
        });
        let sources = sources.collect::<Option<Vec<_>>>().filter(|sources| !sources.is_empty());
        let sources = sources.ok_or_else(|| refused(format!("{place} has no sources")))?;
        let is_continuation = text(json, "type") == Some("continuation");
        let link = field(json, &["extensions", "columnar", "link"]).and_then(Json::as_u64);
        Ok(DraftEdge { is_continuation, link: link.filter(|_| is_continuation), sources, target })
    }

    /// Checks that each id that an edge or an edit names is the id of a node.
    fn check_nodes(&self) -> Result<(), LoomError> {
        let edges = self.edges.iter();
        let edges = edges.flat_map(|edge| edge.sources.iter().map(|(_, id)| *id).chain([edge.target]));
        let edits = self.nodes.values().filter_map(|node| node.edited_from);
        let mut named = self.roots.iter().copied().chain(edges).chain(edits);
        match named.find(|id| !self.nodes.contains_key(id)) {
            None => Ok(()),
            Some(id) => {
                // An id may be any text of the document, so only a valid id is shown.
                let id = Printable(self.node_id(id)?);
                Err(refused(format!("{} names the node `{id}`, which it does not have", self.place)))
            }
        }
    }

    fn node_id(&self, id: &str) -> Result<NodeId, LoomError> {
        NodeId::new(id).map_err(|error| refused(format!("in {}, {error}", self.place)))
    }

    fn build(self) -> Result<Imported, LoomError> {
        let mut tree = Tree::new(self.mode);
        if let Some(system) = self.system {
            tree.set_system(Some(system))?;
        }
        if self.is_system_in_buffer {
            tree.set_system_in_buffer(true)?;
        }
        let order = self.order()?;
        let mut incoming: BTreeMap<&str, Vec<&DraftEdge<'_>>> = BTreeMap::new();
        self.first_edges().for_each(|edge| incoming.entry(edge.target).or_default().push(edge));
        let material = self.material();
        let mut links: Vec<_> = self.edges.iter().filter_map(|edge| Some((edge.link?, edge))).collect();
        links.sort_by_key(|(nodes, _)| *nodes);
        let mut links = links.into_iter().peekable();
        for (number, id) in (0_u64..).zip(order) {
            let Some(node) = self.nodes.get(id) else { continue };
            while let Some((_, link)) = links.next_if(|(nodes, _)| *nodes <= number) {
                tree.link(link.parse()?, &node_id(link.target)?)?;
            }
            let edges = incoming.get(id).map_or(&[][..], Vec::as_slice);
            let is_aside = match node.number {
                Some(_) => flag(node.json, &["extensions", "columnar", "aside"]),
                None => material.contains(id),
            };
            let header = header(id, node, edges, is_aside)?;
            tree.apply(Change::Node { header, text: Arc::from(node.text.as_str()) })?;
        }
        for (_, link) in links {
            tree.link(link.parse()?, &node_id(link.target)?)?;
        }
        for (id, node) in &self.nodes {
            let id = node_id(id)?;
            for (mark, field) in [(Mark::Bookmarked, "bookmarked"), (Mark::Excluded, "excluded")] {
                if flag(node.json, &["meta", field]) {
                    tree.mark(&id, mark, true)?;
                }
            }
            // Each node alone, as in the document.
            if flag(node.json, &["meta", "pruned"]) {
                tree.prune_one(&id, true)?;
            }
        }
        Ok(Imported { id: self.id, title: self.title, tree })
    }

    /// The edges with which nodes were made.
    fn first_edges(&self) -> impl Iterator<Item = &DraftEdge<'j>> {
        self.edges.iter().filter(|edge| edge.link.is_none())
    }

    /// The sources that are shown beside others and through which no path runs, in documents of other programs.
    fn material(&self) -> BTreeSet<&'j str> {
        let edges = self.edges.iter().filter(|edge| edge.is_continuation);
        let mut primary = BTreeSet::new();
        let mut beside = BTreeSet::new();
        for (purpose, source) in edges.flat_map(|edge| &edge.sources) {
            if *purpose == Purpose::Primary { &mut primary } else { &mut beside }.insert(*source);
        }
        beside.difference(&primary).copied().collect()
    }

    /// The nodes in an order in which all that a node needs comes before it. This is the order in which the nodes were
    /// made, if the document has that order; otherwise roots come first, and siblings in the order of the edges.
    fn order(&self) -> Result<Vec<&'j str>, LoomError> {
        let mut waits: BTreeMap<&str, usize> = self.nodes.keys().map(|id| (*id, 0)).collect();
        let mut unlocks: BTreeMap<&str, Vec<&'j str>> = BTreeMap::new();
        let edges =
            self.first_edges().flat_map(|edge| edge.sources.iter().map(|(_, source)| (*source, edge.target)));
        let edits = self.nodes.iter().filter_map(|(id, node)| Some((node.edited_from?, *id)));
        for (before, after) in edges.chain(edits) {
            unlocks.entry(before).or_default().push(after);
            *waits.entry(after).or_default() += 1;
        }
        let ranks = self.ranks();
        let ranked = |id: &'j str| Reverse((ranks.get(id).copied().unwrap_or(u64::MAX), id));
        let free = waits.iter().filter(|(_, waits)| **waits == 0);
        let mut open: BinaryHeap<_> =
            free.filter_map(|(id, _)| Some(ranked(self.nodes.get_key_value(id)?.0))).collect();
        let mut order = Vec::new();
        while let Some(Reverse((_, id))) = open.pop() {
            order.push(id);
            for after in unlocks.get(id).map_or(&[][..], Vec::as_slice) {
                if let Some(left) = waits.get_mut(after) {
                    *left -= 1;
                    if *left == 0 {
                        open.push(ranked(after));
                    }
                }
            }
        }
        match waits.iter().find(|(_, waits)| **waits > 0) {
            None => Ok(order),
            Some((id, _)) => Err(refused(format!(
                "edges or edits of {} lead in a circle through the node `{}`, or to it",
                self.place,
                node_id(id)?
            ))),
        }
    }

    /// The rank of each node that has one in the document: the number of the node, otherwise the place of the root, or
    /// the place of the first edge that leads to the node.
    fn ranks(&self) -> BTreeMap<&'j str, u64> {
        let named = self.roots.iter().copied().chain(self.first_edges().map(|edge| edge.target));
        let mut ranks = BTreeMap::new();
        for (place, id) in (0..).zip(named) {
            ranks.entry(id).or_insert(place);
        }
        ranks.extend(self.nodes.iter().filter_map(|(id, node)| Some((*id, node.number?))));
        ranks
    }
}

impl DraftEdge<'_> {
    fn parse(&self) -> Result<Edge, LoomError> {
        let sources = self.sources.iter().map(|(purpose, source)| Ok((*purpose, node_id(source)?)));
        Ok(Edge::new(sources.collect::<Result<Vec<_>, LoomError>>()?))
    }
}

fn header(
    id: &str,
    node: &DraftNode<'_>,
    edges: &[&DraftEdge<'_>],
    is_aside: bool,
) -> Result<Header, LoomError> {
    let mut header = Header::new(node_id(id)?, node.author);
    for edge in edges {
        let from = edge.parse()?;
        header =
            if edge.is_continuation { header.with_edge(from) } else { header.with_annotation_edge(from) };
    }
    if edges.is_empty() && !is_aside {
        header = header.with_edge(Edge::root());
    }
    match node.edited_from {
        Some(original) => Ok(header.with_edited_from(&node_id(original)?)),
        None => Ok(header),
    }
}

fn node_id(id: &str) -> Result<NodeId, LoomError> {
    NodeId::new(id).map_err(|error| refused(error.to_string()))
}

fn text<'j>(json: &'j Json, field: &str) -> Option<&'j str> {
    json.get(field)?.as_str()
}

fn list<'j>(json: &'j Json, field: &str) -> Option<&'j Vec<Json>> {
    json.get(field)?.as_array()
}

fn field<'j>(json: &'j Json, path: &[&str]) -> Option<&'j Json> {
    path.iter().try_fold(json, |json, field| json.get(field))
}

fn flag(json: &Json, path: &[&str]) -> bool {
    field(json, path) == Some(&Json::Bool(true))
}
