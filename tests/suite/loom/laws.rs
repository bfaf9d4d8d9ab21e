//! Laws of trees, on random changes.

use std::sync::Arc;

use columnar::loom::{Author, Change, Edge, Header, Mark, Mode, NodeId, Tree, TreeError};
use columnar::{Attachment, Purpose, Text, Value};
use columnar_tests::pictures::picture;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::naive::{Naive, check_nodes, shown};

/// A change, whose nodes are drawn from those that are there.
#[derive(Clone, Debug)]
pub(super) enum Draft {
    Root,
    Aside,
    Append(Vec<(Purpose, Index)>),
    Annotate(Index),
    Edit(Index),
    /// An edited node with sources of its own, as an import may have it.
    Import(Index, Vec<(Purpose, Index)>),
    Link(Vec<(Purpose, Index)>, Index),
    /// An edge from the node that was made last.
    LinkLast(Index),
    Mark(Index, Mark, bool),
    PruneOne(Index, bool),
    System(Option<String>),
    SystemInBuffer(bool),
    /// An id that no node has, and one that a node has already.
    Unknown,
    Duplicate(Index),
}

fn purpose() -> impl Strategy<Value = Purpose> {
    prop_oneof![6 => Just(Purpose::Primary), 1 => Just(Purpose::Context), 1 => Just(Purpose::Instruction)]
}

fn sources() -> impl Strategy<Value = Vec<(Purpose, Index)>> {
    let source = || (purpose(), any::<Index>());
    prop_oneof![6 => vec(source(), 1), 3 => vec(source(), 2..5), 1 => vec(source(), 0)]
}

fn mark() -> impl Strategy<Value = Mark> {
    prop_oneof![1 => Just(Mark::Bookmarked), 2 => Just(Mark::Pruned), 2 => Just(Mark::Excluded)]
}

pub(super) fn draft() -> impl Strategy<Value = Draft> {
    let node = any::<Index>;
    prop_oneof![
        1 => Just(Draft::Root),
        1 => Just(Draft::Aside),
        12 => sources().prop_map(Draft::Append),
        2 => node().prop_map(Draft::Annotate),
        4 => node().prop_map(Draft::Edit),
        1 => (node(), sources()).prop_map(|(node, sources)| Draft::Import(node, sources)),
        2 => (sources(), node()).prop_map(|(sources, node)| Draft::Link(sources, node)),
        1 => node().prop_map(Draft::LinkLast),
        4 => (node(), mark(), any::<bool>()).prop_map(|(node, mark, is_set)| Draft::Mark(node, mark, is_set)),
        1 => (node(), any::<bool>()).prop_map(|(node, is_set)| Draft::PruneOne(node, is_set)),
        1 => proptest::option::of("[a-z]{0,4}").prop_map(Draft::System),
        1 => any::<bool>().prop_map(Draft::SystemInBuffer),
        1 => Just(Draft::Unknown),
        1 => node().prop_map(Draft::Duplicate),
    ]
}

pub(super) fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Dialogue), Just(Mode::Buffer)]
}

pub(super) fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    vec(draft(), 1..28)
}

fn pick(tree: &Tree, at: Index) -> NodeId {
    let nodes: Vec<NodeId> = tree.nodes().map(|node| node.id().clone()).collect();
    if nodes.is_empty() { NodeId::new("nobody").unwrap() } else { at.get(&nodes).clone() }
}

fn edge(tree: &Tree, sources: &[(Purpose, Index)]) -> Edge {
    Edge::new(sources.iter().map(|(purpose, at)| (*purpose, pick(tree, *at))))
}

/// The text of the node with a number. Some nodes have attachments, and some of these have no text.
fn text(number: usize) -> Value {
    let side = u32::try_from(number).unwrap() + 8;
    let words = format!("text \"{number}\"\n");
    match number % 8 {
        2 => Text::new(words).with(picture(side, 8)).into(),
        4 => Text::new("").with(picture(8, 8).alt(words)).into(),
        7 => Text::new(words.clone()).with(Attachment::new(words).unwrap()).with(picture(8, 8)).into(),
        _ => words.into(),
    }
}

/// The change that a draft means for a tree.
pub(super) fn change(tree: &Tree, draft: &Draft) -> Change {
    let mut number = tree.len() as u64;
    let id = tree.new_id(&mut || {
        number += 1;
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    let author = if tree.len().is_multiple_of(2) { Author::Human } else { Author::Model };
    let text = text(tree.len());
    let mut header = Header::new(id.clone(), author);
    if author == Author::Model {
        let receipt = format!(r#"{{"model":"m","calls":1,"input":{}}}"#, tree.len());
        header = header.with_receipt(&receipt.parse().unwrap());
    }
    let made = |header| Change::Node { header, text: text.clone() };
    match draft {
        Draft::Root => made(header.with_edge(Edge::root())),
        Draft::Aside => made(header),
        Draft::Append(sources) => made(header.with_edge(edge(tree, sources))),
        Draft::Annotate(at) => made(header.with_annotation_edge(&pick(tree, *at))),
        Draft::Edit(at) => match tree.header_of_edit(id, author, &pick(tree, *at)) {
            Ok(header) => made(header),
            Err(_) => made(header.with_edited_from(&pick(tree, *at))),
        },
        Draft::Import(at, sources) => {
            made(header.with_edge(edge(tree, sources)).with_edited_from(&pick(tree, *at)))
        }
        Draft::Link(sources, at) => Change::Link { from: edge(tree, sources), node: pick(tree, *at) },
        Draft::LinkLast(at) => {
            let last = tree
                .nodes()
                .next_back()
                .map_or_else(|| NodeId::new("nobody").unwrap(), |node| node.id().clone());
            Change::Link { from: Edge::from(&last), node: pick(tree, *at) }
        }
        Draft::Mark(at, mark, is_set) => Change::Mark { node: pick(tree, *at), mark: *mark, is_set: *is_set },
        Draft::PruneOne(at, is_set) => Change::PruneOne { node: pick(tree, *at), is_set: *is_set },
        Draft::System(text) => Change::System { text: text.as_deref().map(Arc::from) },
        Draft::SystemInBuffer(is_set) => Change::SystemInBuffer { is_set: *is_set },
        Draft::Unknown => made(header.with_edge(&NodeId::new("nobody").unwrap())),
        Draft::Duplicate(at) => made(Header::new(pick(tree, *at), author).with_edge(Edge::new([]))),
    }
}

/// The error without the source of a cycle, which may be any of the edge.
fn comparable(error: TreeError) -> TreeError {
    match error {
        TreeError::Cycle { node, .. } => TreeError::Cycle { source_node: node.clone(), node },
        error => error,
    }
}

pub(super) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(60))]

    /// The same changes are accepted, and paths to all nodes are those of the naive tree: now, and when they were asked for.
    #[test]
    fn the_tree_equals_the_naive_rules(mode in mode(), drafts in drafts(), wanted in vec(any::<Index>(), 0..4)) {
        let (mut tree, mut naive) = (Tree::new(mode), Naive::new(mode));
        for draft in &drafts {
            let change = change(&tree, draft);
            let before = tree.clone();
            let expected = naive.apply(&change);
            prop_assert_eq!(tree.check(&change).map_err(comparable), expected.clone());
            prop_assert_eq!(tree.apply(change).map_err(comparable), expected.clone());
            if expected.is_err() {
                // A refused change leaves no trace.
                prop_assert_eq!(&tree, &before);
            }
        }
        check_nodes(&tree, &naive);
        let chosen: Vec<NodeId> = wanted.iter().map(|at| pick(&tree, *at)).collect();
        for node in tree.nodes() {
            let id = node.id();
            for chosen in (0..=chosen.len()).map(|len| &chosen[..len]) {
                prop_assert_eq!(tree.path(id, chosen).map(|path| shown(&path)), naive.path(&id.into(), chosen));
                prop_assert_eq!(tree.asked(id, chosen).map(|path| shown(&path)), naive.asked(id, chosen));
                for edge in node.edges() {
                    let path = tree.path(&edge, chosen).map(|path| shown(&path));
                    prop_assert_eq!(path, naive.path(&edge, chosen));
                }
            }
            // A random choice is seldom on a path, so the nodes of a path are choices as well.
            let Ok(path) = tree.path(id, &[]) else { continue };
            let nodes: Vec<NodeId> = path.all().map(|turn| turn.id().clone()).collect();
            for at in &wanted {
                let versions: Vec<NodeId> =
                    tree.versions(at.get(&nodes)).iter().map(|node| node.id().clone()).collect();
                let chosen = [at.get(&versions).clone()];
                prop_assert_eq!(tree.path(id, &chosen).map(|path| shown(&path)), naive.path(&id.into(), &chosen));
            }
        }
    }

    /// A tree can be made again from its changes, from their JSON, and from the two sequences of a store.
    #[test]
    fn the_changes_of_a_tree_make_an_equal_one(mode in mode(), drafts in drafts()) {
        let mut tree = Tree::new(mode);
        let mut made = Vec::new();
        for draft in &drafts {
            let change = change(&tree, draft);
            match tree.apply(change.clone()) {
                Ok(()) => made.push(change),
                // Of many changes, cycles are found at the end, and by any of the edges.
                Err(error) => {
                    let changes = made.iter().cloned().chain([change]);
                    let found = Tree::replay(mode, changes).unwrap_err();
                    prop_assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(&error), "{}", found);
                }
            }
        }
        prop_assert_eq!(tree.changes().collect::<Vec<_>>(), made.clone());
        prop_assert_eq!(&Tree::replay(mode, made.clone()).unwrap(), &tree);

        let json: Vec<String> = made.iter().map(Change::to_json).collect();
        prop_assert!(json.iter().all(|json| !json.contains('\n')));
        let read: Vec<Change> = json.iter().map(|json| Change::parse(json).unwrap()).collect();
        prop_assert_eq!(&read, &made);

        let nodes = tree.nodes().map(|node| {
            (Header::parse(&node.header().to_json()).unwrap(), node.value())
        });
        let further: Vec<(usize, Change)> =
            tree.further_changes().map(|(before, change)| (before, change.clone())).collect();
        prop_assert_eq!(&Tree::rebuild(mode, nodes, further).unwrap(), &tree);
    }

    /// A path that was asked for stays as it was, whatever happens later.
    #[test]
    fn a_request_stays_as_it_was(mode in mode(), drafts in drafts()) {
        let mut tree = Tree::new(mode);
        let mut requests = Vec::new();
        for draft in &drafts {
            let change = change(&tree, draft);
            if let Change::Node { header, .. } = &change {
                let edges = [header.edges(), header.annotation_edges()].concat();
                let edge = match edges.as_slice() {
                    [] => Edge::root(),
                    [edge] => edge.clone(),
                    _ => continue,
                };
                let Ok(path) = tree.path(&edge, &[]).map(|path| shown(&path)) else { continue };
                let id = header.id().clone();
                if tree.apply(change).is_ok() {
                    requests.push((id, path));
                }
            } else {
                let _ = tree.apply(change);
            }
        }
        for (node, path) in requests {
            prop_assert_eq!(tree.asked(&node, &[]).map(|path| shown(&path)), Ok(path));
        }
    }
}
