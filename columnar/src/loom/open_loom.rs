//! Trees in the format Open Loom, version 2: JSON that other programs read and write.

use serde_json::{Map, Value as Json, json};

use super::media::content;
use crate::context::tree::{Change, Edge, Tree};

/// The name of the format.
pub(super) const FORMAT: &str = "open-loom";

/// The newest version that is written. All versions with the same whole number can be read.
const VERSION: &str = "2.0";

/// A document in the format Open Loom 2.0 with one tree, for other programs.
///
/// The document has nodes, edges with their sources, edits, marks and the system text, but no budgets and no history of
/// marks. Attachments are media blocks with the bytes as data URIs. [`import`](super::import) makes a tree with equal paths from the document. Versions depend on the order of nodes,
/// which the format lacks, so an extension holds the order, and the receipts of replies.
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
            "content": content(&node),
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
        let mut columnar = object(json!({ "number": number }));
        columnar.extend(is_aside.then(|| ("aside".into(), true.into())));
        let receipt = node.receipt_json().and_then(|receipt| serde_json::from_str(receipt).ok());
        columnar.extend(receipt.map(|receipt| ("receipt".into(), receipt)));
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
