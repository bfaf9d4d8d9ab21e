//! Documents in the format Open Loom: those of this library, of other programs, and hostile ones.

use columnar::Purpose;
use columnar::loom::{
    Agent, Author, Change, Edge, Header, Imported, LoomError, Mark, Mode, NodeId, Tree, TreeError, export,
    import,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value as Json, json};

use super::laws::{change, config, drafts, mode};
use super::long::{LENGTH, dice, on_a_small_stack};
use super::naive::shown;
use super::named::node;

/// The request to each node, or its error.
fn requests(tree: &Tree, id: &NodeId) -> Vec<String> {
    let agent = Agent::new("You write.");
    let path = match tree.path(id, &[]) {
        Ok(path) => path,
        Err(error) => return vec![error.to_string()],
    };
    let asked = [path.dialogue(&agent), path.buffer(" and", &agent)].into_iter();
    asked
        .map(|asked| match asked {
            Ok(asked) => format!("{:?} {}", asked.system(), asked.messages().to_json()),
            Err(error) => error.to_string(),
        })
        .collect()
}

proptest! {
    #![proptest_config(config(150))]

    /// An edit of a text got lost in the order of the document, so another version was the latest; roots with annotations
    /// became asides; links were edges with which their nodes were made.
    #[test]
    fn an_exported_tree_is_imported_as_an_equal_one(
        mode in mode(),
        drafts in drafts(),
        wanted in vec(any::<Index>(), 1..4),
    ) {
        let mut tree = Tree::new(mode);
        for draft in &drafts {
            let _ = tree.apply(change(&tree, draft));
        }
        let Imported { id, title, tree: again, .. } = import(&export(&tree, "t", "A title")).unwrap().remove(0);
        prop_assert_eq!((id.as_str(), title.as_str()), ("t", "A title"));
        let ids = |nodes: Vec<columnar::loom::Node<'_>>| -> Vec<NodeId> {
            nodes.into_iter().map(|node| node.id().clone()).collect()
        };
        prop_assert_eq!(ids(again.nodes().collect()), ids(tree.nodes().collect()));
        prop_assert_eq!(ids(again.roots().collect()), ids(tree.roots().collect()));
        prop_assert_eq!((again.system(), again.is_system_in_buffer()), (tree.system(), tree.is_system_in_buffer()));
        let nodes = ids(tree.nodes().collect());
        for id in &nodes {
            let (node, copy) = (tree.node(id).unwrap(), again.node(id).unwrap());
            prop_assert_eq!(copy.header(), node.header());
            prop_assert_eq!((copy.edges(), copy.text()), (node.edges(), node.text()));
            prop_assert_eq!(copy.attachments(), node.attachments());
            for mark in [Mark::Bookmarked, Mark::Excluded, Mark::Pruned] {
                prop_assert_eq!(copy.has(mark), node.has(mark));
            }
            prop_assert_eq!(ids(again.continuations(id)), ids(tree.continuations(id)));
            prop_assert_eq!(ids(again.annotations(id)), ids(tree.annotations(id)));
            prop_assert_eq!(requests(&again, id), requests(&tree, id));
            for at in &wanted {
                let chosen = [at.get(&nodes).clone()];
                let path = |tree: &Tree| tree.path(id, &chosen).map(|path| shown(&path));
                prop_assert_eq!(path(&again), path(&tree));
            }
        }
    }

    /// Values of a document are removed or replaced. The document is read or refused, and nothing panics.
    #[test]
    fn a_changed_document_is_read_or_refused(
        mode in mode(),
        drafts in drafts(),
        changes in vec((any::<Index>(), 0..10_usize, any::<Index>()), 1..6),
    ) {
        let mut tree = Tree::new(mode);
        for draft in &drafts {
            let _ = tree.apply(change(&tree, draft));
        }
        let mut document: Json = serde_json::from_str(&export(&tree, "t", "A title")).unwrap();
        for (at, how, other) in changes {
            let places = pointers(&document);
            let place = at.get(&places).as_str();
            let with = document.pointer(other.get(&places).as_str()).cloned().unwrap_or_default();
            let value = document.pointer_mut(place).unwrap();
            *value = match how {
                0 => Json::Null,
                1 => json!("secret text 7"),
                2 => json!(-1),
                3 => json!([]),
                4 => json!({}),
                5 => json!(true),
                6 => json!("\u{202e}\n"),
                7 => json!(u64::MAX),
                _ => with,
            };
        }
        match import(&document.to_string()) {
            Ok(trees) => for imported in trees {
                for node in imported.tree.nodes() {
                    requests(&imported.tree, node.id());
                }
                import(&export(&imported.tree, "", "")).unwrap();
            },
            Err(error) => {
                let error = error.to_string();
                prop_assert!(!error.contains("text \"") && !error.contains("text \\\""), "{error}");
                prop_assert!(!error.contains(['\n', '\u{202e}']), "{error:?}");
            }
        }
    }
}

/// The places of all values of a document.
fn pointers(document: &Json) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![(String::new(), document)]);
    while let Some((place, value)) = open.pop() {
        match value {
            Json::Array(items) => {
                open.extend(items.iter().enumerate().map(|(at, item)| (format!("{place}/{at}"), item)));
            }
            Json::Object(fields) => {
                open.extend(fields.iter().map(|(key, item)| {
                    (format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")), item)
                }));
            }
            _ => {}
        }
        found.push(place);
    }
    found
}

/// The document of the specification: one root and two continuations.
fn minimal() -> Json {
    let node = |id: &str, text: &str, role: &str| json!({ "id": id, "content": [{ "type": "text", "text": text }], "author": { "role": role } });
    json!({
        "format": "open-loom",
        "version": "2.0",
        "trees": [{
            "id": "t1",
            "title": "Hello",
            "rootNodeIds": ["a"],
            "currentNodeId": "c",
            "nodes": {
                "a": node("a", "Once upon a time", "human"),
                "b": node("b", " there was a fox.", "model"),
                "c": node("c", " there was a loom.", "model"),
            },
            "edges": [
                { "type": "continuation", "sources": [{ "nodeId": "a" }], "targetNodeId": "c" },
                { "type": "continuation", "sources": [{ "nodeId": "a" }], "targetNodeId": "b" },
            ],
        }],
    })
}

fn imported(document: &Json) -> Tree {
    import(&document.to_string()).unwrap().remove(0).tree
}

fn refused(document: &Json) -> String {
    import(&document.to_string()).unwrap_err().to_string()
}

/// The minimal document with another value at a place.
fn with(place: &str, value: Json) -> Json {
    let mut document = minimal();
    let (parent, key) = place.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Json::Array(items) if key == "-" => items.push(value),
        Json::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        parent => parent[key] = value,
    }
    document
}

#[test]
fn the_minimal_document_is_imported() {
    let imported = import(&minimal().to_string()).unwrap().remove(0);
    assert_eq!((imported.id.as_str(), imported.title.as_str()), ("t1", "Hello"));
    let tree = imported.tree;
    assert_eq!((tree.mode(), tree.len()), (Mode::Dialogue, 3));
    let asked = tree.path(&node("b"), &[]).unwrap().buffer("", &Agent::new("")).unwrap();
    assert_eq!(asked.text(), "Once upon a time there was a fox.");
    // The order of the edges is that of the siblings.
    let siblings: Vec<&str> = tree.continuations(&node("a")).iter().map(|node| node.id().as_str()).collect();
    assert_eq!(siblings, ["c", "b"]);
}

#[test]
fn roles_types_and_fields_of_others_are_read() {
    let root = "/trees/0/nodes/a";
    for (role, author) in [("mixed", Author::Model), ("system", Author::Human)] {
        let tree = imported(&with(&format!("{root}/author/role"), json!(role)));
        assert_eq!(tree.node(&node("a")).unwrap().author(), author);
    }
    let tree = imported(&with("/trees/0/edges/1/type", json!("remark")));
    assert_eq!(tree.annotations(&node("a")).len(), 1);
    assert_eq!(tree.continuations(&node("a")).len(), 1);
    for (place, value) in [
        ("/more", json!({ "deep": [null] })),
        ("/trees/0/more", json!(3)),
        ("/trees/0/mode", json!("spiral")),
        ("/trees/0/nodes/a/more", json!([[]])),
        ("/trees/0/edges/0/more", json!("x")),
        ("/version", json!("2.7")),
    ] {
        assert_eq!(imported(&with(place, value)), imported(&minimal()), "{place}");
    }
    let mut two = minimal();
    let mut second = two["trees"][0].clone();
    second["mode"] = json!("buffer");
    two["trees"].as_array_mut().unwrap().push(second);
    let modes: Vec<Mode> = import(&two.to_string()).unwrap().iter().map(|one| one.tree.mode()).collect();
    assert_eq!(modes, [Mode::Dialogue, Mode::Buffer]);

    let source = json!([{ "nodeId": "a", "role": "primary" }, { "nodeId": "b", "role": "context" }]);
    let mut document = with("/trees/0/edges/0/sources", source);
    document["trees"][0]["edges"].as_array_mut().unwrap().pop();
    let tree = imported(&document);
    let edge = Edge::new([(Purpose::Primary, node("a")), (Purpose::Context, node("b"))]);
    assert_eq!(tree.node(&node("c")).unwrap().edges(), [edge]);
    assert_eq!(tree.roots().map(|root| root.id().as_str()).collect::<Vec<_>>(), ["a"]);
}

/// A root with a remark is a root.
#[test]
fn a_root_with_annotations_alone_stays_a_root() {
    let mut document = minimal();
    for edge in document["trees"][0]["edges"].as_array_mut().unwrap() {
        edge["type"] = json!("annotation");
    }
    assert_eq!(imported(&document).roots().count(), 1);
}

/// Versions of a text were in the order of their ids, so the latest one was any of them.
#[test]
fn edits_of_others_are_in_the_order_of_their_edges() {
    let mut document = minimal();
    let tree = &mut document["trees"][0];
    tree["mode"] = json!("buffer");
    for id in ["z", "y", "x"] {
        tree["nodes"][id] = json!({
            "id": id, "content": [{ "type": "text", "text": id }], "author": { "role": "human" }, "editedFrom": "b",
        });
        tree["edges"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "type": "continuation", "sources": [{ "nodeId": "a" }], "targetNodeId": id }));
    }
    let tree = imported(&document);
    let versions: Vec<&str> = tree.versions(&node("b")).iter().map(|node| node.id().as_str()).collect();
    assert_eq!(versions, ["b", "z", "y", "x"]);
}

#[test]
fn media_are_read_by_their_texts() {
    let place = "/trees/0/nodes/a/content/-";
    for block in [
        json!({ "type": "image", "ref": "a.png", "mimeType": "image/png", "altText": "A fox." }),
        json!({ "type": "audio", "ref": "a.ogg", "mimeType": "audio/ogg", "transcript": "A fox." }),
    ] {
        let tree = imported(&with(place, block));
        assert_eq!(tree.node(&node("a")).unwrap().text(), "Once upon a time\n\nA fox.");
    }
    for block in [
        json!({ "type": "image", "ref": "secret" }),
        json!({ "type": "audio", "ref": "secret", "altText": "secret" }),
        json!({ "type": "text" }),
        json!({ "type": "hologram" }),
        json!(null),
    ] {
        let error = import(&with(place, block).to_string()).unwrap_err();
        assert!(matches!(&error, LoomError::Unreadable { node } if *node == "a"), "{error}");
        assert!(!error.to_string().contains("secret"));
    }
}

#[test]
fn a_hostile_document_is_refused_by_its_place() {
    let circle = json!({ "type": "continuation", "sources": [{ "nodeId": "b" }], "targetNodeId": "a" });
    let itself = json!({ "type": "remark", "sources": [{ "nodeId": "b" }], "targetNodeId": "b" });
    let lost = json!({ "type": "continuation", "sources": [{ "nodeId": "q" }], "targetNodeId": "b" });
    for (place, value, expected) in [
        ("/format", json!("closed-loom"), "its `format` is not `open-loom`"),
        ("/version", json!("3.0"), "its `version` is not 2"),
        ("/version", json!("20.0"), "its `version` is not 2"),
        ("/version", json!(2.0), "its `version` is not 2"),
        ("/trees", json!({}), "it has no `trees`"),
        ("/trees/-", json!(null), "`trees[1]` has no `nodes`"),
        ("/trees/0/edges", json!(null), "`trees[0]` has no `edges`"),
        ("/trees/0/edges/-", circle, "`trees[0]` lead in a circle"),
        ("/trees/0/edges/-", itself, "`trees[0]` lead in a circle"),
        ("/trees/0/edges/-", lost, "`trees[0]` names the node `q`"),
        ("/trees/0/edges/1/sources", json!([]), "`edges[1]` of `trees[0]` has no sources"),
        ("/trees/0/edges/1/sources", json!([{}]), "`edges[1]` of `trees[0]` has no sources"),
        ("/trees/0/edges/1/targetNodeId", json!(null), "`edges[1]` of `trees[0]` has no `targetNodeId`"),
        ("/trees/0/rootNodeIds/-", json!("q"), "`trees[0]` names the node `q`"),
        ("/trees/0/nodes/a/editedFrom", json!("q"), "`trees[0]` names the node `q`"),
        ("/trees/0/nodes/a/editedFrom", json!("b"), "`trees[0]` lead in a circle"),
        ("/trees/0/nodes/a/content", json!("secret"), "the node `a` has no `content`"),
        ("/trees/0/nodes/a/author", json!("human"), "the node `a` has no known `author.role`"),
        ("/trees/0/nodes/\u{1b}[2J", json!({}), "in `trees[0]`, an id of a node"),
        ("/trees/0/nodes/q", json!(null), "the node `q` has no `content`"),
    ] {
        let error = refused(&with(place, value));
        assert!(error.contains(expected), "{error} is not {expected}");
        assert!(!error.contains("upon") && !error.contains("secret"), "{error}");
    }
    for text in ["", "null", "[]", "secret", "{\"format\": \"secret"] {
        let error = import(text).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
    // The reader of JSON ends at 128 levels, which need more than the stack of the long documents in a debug build.
    let deep = format!("{}{}", "[".repeat(LENGTH), "]".repeat(LENGTH));
    assert!(import(&deep).unwrap_err().to_string().contains("line 1"));
    // Two equal edges are two ways, as in a tree.
    let mut twice = minimal();
    let edge = twice["trees"][0]["edges"][0].clone();
    twice["trees"][0]["edges"].as_array_mut().unwrap().push(edge);
    let tree = imported(&twice);
    assert!(matches!(tree.path(&node("c"), &[]), Err(TreeError::Ambiguous { .. })));
    assert!(tree.path(&node("c"), &[node("a")]).is_ok());
}

#[test]
fn a_document_of_nulls_is_refused() {
    let all = pointers(&minimal());
    for place in all.iter().skip(1) {
        let mut document = minimal();
        *document.pointer_mut(place).unwrap() = Json::Null;
        let _ = import(&document.to_string());
    }
    for trees in [
        json!([null]),
        json!([{ "nodes": null, "edges": [null] }]),
        json!([{ "nodes": {}, "edges": [null] }]),
    ] {
        let error = refused(&json!({ "format": "open-loom", "version": "2.0", "trees": trees }));
        assert!(error.contains("`trees[0]`"), "{error}");
    }
}

/// A check of each node against the list of all roots took an hour.
#[test]
fn long_and_wide_documents_need_no_stack_and_no_time() {
    on_a_small_stack(|| {
        for is_chain in [true, false] {
            let (mut tree, mut dice) = (Tree::new(Mode::Buffer), dice(6));
            let mut edge = Edge::root();
            for _ in 0..LENGTH {
                let node = tree.append(&mut dice, edge, Author::Human, "text").unwrap();
                edge = if is_chain { Edge::from(&node) } else { Edge::root() };
            }
            let document = export(&tree, "long", "");
            assert_eq!(import(&document).unwrap().remove(0).tree, tree);
            // As another program would write it.
            let document = document.replace("\"number\"", "\"other\"");
            assert_eq!(import(&document).unwrap().remove(0).tree.roots().count(), tree.roots().count());
        }
    });
}

/// Each edge to a node that was there was looked up among all ancestors of its source: 6 MB took half a minute, and so did a
/// tree that was opened again.
#[test]
fn i10_documents_with_many_links_and_edits_need_no_time() {
    on_a_small_stack(|| {
        for mode in [Mode::Dialogue, Mode::Buffer] {
            let (mut tree, mut dice) = (Tree::new(mode), dice(8));
            let start = tree.append(&mut dice, Edge::root(), Author::Human, "text").unwrap();
            let mut last = start.clone();
            let mut ends = Vec::new();
            for _ in 0..LENGTH / 40 {
                last = tree.append(&mut dice, &last, Author::Human, "text").unwrap();
                // Nothing follows the node yet, so the link is cheap for the tree that makes it.
                let end = tree.append(&mut dice, &start, Author::Model, "text").unwrap();
                tree.link(&last, &end).unwrap();
                ends.push(end);
            }
            for end in &ends {
                tree.append(&mut dice, end, Author::Model, "text").unwrap();
            }
            let lone = tree.append(&mut dice, Edge::root(), Author::Human, "text").unwrap();
            let wide = ends.iter().map(|end| (Purpose::Context, end.clone()));
            tree.append(&mut dice, Edge::new(wide), Author::Model, "text").unwrap();
            let changes: Vec<Change> = tree.changes().collect();
            // All links after all nodes: each one would look through half of the tree.
            let (links, nodes): (Vec<_>, Vec<_>) =
                changes.into_iter().partition(|change| matches!(change, Change::Link { .. }));
            let edits = ends.iter().enumerate().map(|(at, end)| {
                let header = Header::new(node(&format!("edit {at}")), Author::Human).with_edge(end);
                Change::Node { header: header.with_edited_from(&lone), text: "text".into() }
            });
            let edits: Vec<Change> = edits.collect();
            let changes = nodes.into_iter().chain(edits).chain(links);
            let again = Tree::replay(mode, changes).unwrap();
            assert_eq!(again.len(), tree.len() + ends.len());
            let document = export(&again, "linked", "");
            let mut imported = import(&document).unwrap().remove(0).tree;
            assert_eq!(imported, again);
            // The whole tree is checked.
            let cycle = Change::Link { from: Edge::from(&ends[7]), node: ends[3].clone() };
            imported.apply(cycle).unwrap();
            let back = Change::Link { from: Edge::from(&ends[3]), node: ends[7].clone() };
            let error = Tree::replay(mode, imported.changes().chain([back])).unwrap_err();
            assert!(matches!(error, TreeError::Cycle { .. }), "{error}");
        }
    });
}
