//! The rules of trees, one by one. The name of a test begins with its row of `tests/LOOM.md`.

use columnar::Purpose;
use columnar::loom::{Author, Change, Edge, Header, Mark, Mode, Node, NodeId, Tree, TreeError};

use super::long::dice;
use super::named::{Named, ids, node};

#[test]
fn l01_a_node_has_an_id_an_author_a_text_and_its_original() {
    let (mut tree, mut dice) = (Tree::new(Mode::Dialogue), dice(3));
    let question = tree.append(&mut dice, Edge::root(), Author::Human, "Why?").unwrap();
    let answer = tree.append(&mut dice, &question, Author::Model, "Because.").unwrap();
    let edited = tree.edit(&mut dice, &answer, Author::Human, "Because of rain.").unwrap();
    let node = tree.node(&edited).unwrap();
    assert_eq!((node.author(), node.text()), (Author::Human, "Because of rain."));
    assert_eq!(node.edited_from(), Some(&answer));
    assert_eq!(node.edges(), [Edge::from(&question)]);
    assert_eq!(tree.node(&answer).unwrap().text(), "Because.");
    assert_eq!(tree.mode(), Mode::Dialogue);
    assert!(tree.node(&NodeId::new("nobody").unwrap()).is_none());
    let all: Vec<&NodeId> = tree.nodes().map(|node| node.id()).collect();
    assert_eq!(all, [&question, &answer, &edited]);
}

#[test]
fn l01_marks_are_set_and_removed() {
    let mut tree = Named::new(Mode::Dialogue);
    let a = tree.root("a");
    for mark in [Mark::Bookmarked, Mark::Pruned, Mark::Excluded] {
        tree.0.mark(&a, mark, true).unwrap();
        assert!(tree.0.node(&a).unwrap().has(mark));
    }
    tree.0.mark(&a, Mark::Pruned, false).unwrap();
    let node = tree.0.node(&a).unwrap();
    assert_eq!((node.is_bookmarked(), node.is_pruned(), node.is_excluded()), (true, false, true));
}

#[test]
fn l01_an_edge_has_sources_with_purposes_in_the_order_of_the_calls() {
    let mut tree = Named::new(Mode::Dialogue);
    let (a, photo, rule) = (tree.root("a"), tree.aside("photo"), tree.aside("rule"));
    let edge = Edge::from(&a).instruction(&rule).context(&photo);
    let b = tree.append("b", &edge);
    assert_eq!(tree.0.node(&b).unwrap().edges(), std::slice::from_ref(&edge));
    let purposes: Vec<Purpose> = edge.sources().iter().map(|(purpose, _)| *purpose).collect();
    assert_eq!(purposes, [Purpose::Primary, Purpose::Instruction, Purpose::Context]);
    let note = tree.make("note", |header| header.with_annotation_edge(&a));
    assert_eq!(tree.0.node(&note).unwrap().annotation_edges(), [Edge::from(&a)]);
    assert_eq!(tree.0.node(&note).unwrap().edges(), []);
    let roots: Vec<&NodeId> = tree.0.roots().map(|node| node.id()).collect();
    assert_eq!(roots, [&a], "an aside is no root");
}

/// The tree has the system text and whether buffers have it; a path has those of its moment.
#[test]
fn l01_a_tree_has_a_system_text() {
    let mut tree = Named::new(Mode::Buffer);
    assert_eq!((tree.0.system(), tree.0.is_system_in_buffer()), (None, false));
    let a = tree.root("a");
    tree.0.set_system(Some("Be brief.")).unwrap();
    let b = tree.append("b", &a);
    tree.0.set_system(None).unwrap();
    tree.0.set_system_in_buffer(true).unwrap();
    let c = tree.append("c", &b);
    let of = |node| {
        let path = tree.0.asked(node, &[]).unwrap();
        (path.system().map(ToOwned::to_owned), path.is_system_in_buffer())
    };
    assert_eq!(of(&a), (None, false));
    assert_eq!(of(&b), (Some("Be brief.".to_owned()), false));
    assert_eq!(of(&c), (None, true));
    assert_eq!(tree.0.path(&c, &[]).unwrap().mode(), Mode::Buffer);
}

#[test]
fn l02_a_path_runs_from_a_root_to_the_node() {
    let mut tree = Named::new(Mode::Dialogue);
    let a = tree.root("a");
    let (b, c) = (tree.append("b", &a), tree.append("c", &a));
    let d = tree.append("d", &c);
    let other = tree.root("other");
    assert_eq!(tree.path(&d, &[]), ["a", "c", "d"]);
    assert_eq!(tree.path(&b, &[]), ["a", "b"]);
    assert_eq!(tree.path(&other, &[]), ["other"]);
    assert_eq!(tree.path(Edge::root(), &[]), [""; 0]);
    assert_eq!(tree.0.depth(&d), Some(2));
    let continuations: Vec<&NodeId> = tree.0.continuations(&a).iter().map(Node::id).collect();
    assert_eq!(continuations, [&b, &c]);
}

/// Instructions, contexts, then the primary source, for each edge.
#[test]
fn l02_the_sources_of_an_edge_are_in_the_order_of_their_purposes() {
    let mut tree = Named::new(Mode::Dialogue);
    let a = tree.root("a");
    let [c1, c2, i1, i2] = ["c1", "c2", "i1", "i2"].map(|id| tree.aside(id));
    let edge = Edge::root().context(&c1).and(&a).instruction(&i1).context(&c2).instruction(&i2);
    assert_eq!(tree.path(&edge, &[]), ["i1", "i2", "c1", "c2", "a"]);
    let b = tree.append("b", edge);
    assert_eq!(tree.path(Edge::from(&b).context(&c1), &[]), ["i1", "i2", "c1", "c2", "a", "c1", "b"]);
    let path = tree.0.path(&b, &[]).unwrap();
    let purposes: Vec<&str> = path.turns().map(|turn| turn.purpose().as_str()).collect();
    assert_eq!(purposes, ["instruction", "instruction", "context", "context", "primary", "primary"]);
}

#[test]
fn l02_the_primary_source_is_the_first_one_if_none_has_that_purpose() {
    let mut tree = Named::new(Mode::Dialogue);
    let (a, b) = (tree.root("a"), tree.root("b"));
    let c = tree.append("c", Edge::root().context(&a).instruction(&b));
    let path = tree.0.path(&c, &[]).unwrap();
    let turns: Vec<_> = path.turns().map(|turn| (turn.id().to_string(), turn.purpose())).collect();
    let expected = [("b", Purpose::Instruction), ("a", Purpose::Primary), ("c", Purpose::Primary)];
    assert_eq!(turns, expected.map(|(id, purpose)| (id.to_owned(), purpose)));
    assert_eq!(tree.0.continuations(&b).len(), 0, "no path runs through it");
}

#[test]
fn l02_a_choice_decides_among_primary_sources() {
    let mut tree = Named::new(Mode::Dialogue);
    let (a, b) = (tree.root("a"), tree.root("b"));
    let c = tree.append("c", Edge::from(&a).and(&b));
    assert_eq!(tree.path(&c, &[]), ["a", "c"]);
    assert_eq!(tree.path(&c, &[&b]), ["b", "c"]);
    assert_eq!(tree.path(Edge::from(&a).and(&b), &[&b]), ["b"]);
    assert_eq!(tree.error(&c, &[&a, &b]), TreeError::NotOnPath { node: b });
}

#[test]
fn l02_several_incoming_edges_need_a_choice() {
    let mut tree = Named::new(Mode::Dialogue);
    let (a, b) = (tree.root("a"), tree.root("b"));
    let c = tree.append("c", &a);
    let d = tree.append("d", &c);
    tree.0.link(&b, &c).unwrap();
    let error = tree.error(&d, &[]);
    assert_eq!(error, TreeError::Ambiguous { node: c.clone(), ways: vec![a.clone(), b.clone()] });
    assert_eq!(error.to_string(), "`c` has 2 incoming edges, from `a`, `b`: choose a source of one of them");
    assert_eq!(tree.path(&d, &[&a]), ["a", "c", "d"]);
    assert_eq!(tree.path(&d, &[&b]), ["b", "c", "d"]);
    // A root that is linked is one no more.
    tree.0.link(&b, &a).unwrap();
    assert_eq!(tree.path(&d, &[&a]), ["b", "a", "c", "d"]);
    assert_eq!(tree.error(&d, &[&b, &a]), TreeError::NotOnPath { node: a });
    assert_eq!(tree.0.roots().count(), 1);
}

/// Edges from the same source differ by another one.
#[test]
fn l02_a_context_source_can_choose_an_edge() {
    let mut tree = Named::new(Mode::Dialogue);
    let (a, photo) = (tree.root("a"), tree.aside("photo"));
    let b = tree.append("b", &a);
    tree.0.link(Edge::from(&a).context(&photo), &b).unwrap();
    assert_eq!(tree.path(&b, &[&a]), ["a", "b"]);
    assert_eq!(tree.path(&b, &[&a, &photo]), ["photo", "a", "b"]);
    assert_eq!(tree.path(&b, &[&photo]), ["photo", "a", "b"]);
}

#[test]
fn l02_errors_are_of_their_kind_and_name_the_node() {
    let mut tree = Named::new(Mode::Dialogue);
    let a = tree.root("a");
    let (b, other) = (tree.append("b", &a), tree.root("other"));
    let unknown = node("x");
    let before = tree.0.clone();

    assert_eq!(tree.error(&unknown, &[]), TreeError::UnknownNode { node: unknown.clone() });
    assert_eq!(tree.error(&a, &[&unknown]), TreeError::UnknownNode { node: unknown.clone() });
    assert_eq!(tree.error(&a, &[&b]), TreeError::NotOnPath { node: b.clone() });
    assert_eq!(tree.error(Edge::new([]), &[]), TreeError::NoSource { node: None });
    let unknown_error = TreeError::UnknownNode { node: unknown.clone() };
    let mut dice = dice(4);
    assert_eq!(tree.0.append(&mut dice, &unknown, Author::Human, ""), Err(unknown_error.clone()));
    assert_eq!(tree.0.annotate(&mut dice, &unknown, Author::Human, ""), Err(unknown_error.clone()));
    assert_eq!(tree.0.edit(&mut dice, &unknown, Author::Human, ""), Err(unknown_error.clone()));
    assert_eq!(tree.0.mark(&unknown, Mark::Pruned, true), Err(unknown_error.clone()));
    assert_eq!(tree.0.prune_one(&unknown, true), Err(unknown_error.clone()));
    assert_eq!(tree.0.link(&a, &unknown), Err(unknown_error.clone()));
    assert_eq!(tree.0.link(&unknown, &a), Err(unknown_error));
    let no_source = Err(TreeError::NoSource { node: Some(a.clone()) });
    assert_eq!(tree.0.link(Edge::new([]), &a), no_source);
    assert_eq!(tree.0.link(Edge::root(), &a), no_source);
    for source in [&a, &b] {
        let cycle = TreeError::Cycle { node: a.clone(), source_node: source.clone() };
        assert_eq!(tree.0.link(source, &a), Err(cycle.clone()));
        assert_eq!(tree.0.link(Edge::from(&other).context(source), &a), Err(cycle));
    }
    let again = Change::Node { header: Header::new(a.clone(), Author::Human), text: "".into() };
    assert_eq!(tree.0.apply(again), Err(TreeError::DuplicateNode { node: a }));
    assert_eq!(tree.0, before, "nothing changed");
}

#[test]
fn l02_an_error_says_what_to_do_and_no_text() {
    let (a, b) = (node("a"), node("b"));
    let many: Vec<NodeId> = (0..10).map(|number| node(&number.to_string())).collect();
    for (error, message) in [
        (
            TreeError::Cycle { node: a.clone(), source_node: b },
            "`a` cannot follow `b`, which follows it already: link it from another node",
        ),
        (TreeError::NoSource { node: Some(a.clone()) }, "an edge to `a` has no source: name one"),
        (TreeError::NoSource { node: None }, "an edge has no source: name one, or begin with `Edge::root()`"),
        (
            TreeError::NotOnPath { node: a.clone() },
            "`a` is not on this path: choose among the sources and versions on the way",
        ),
        (
            TreeError::UnknownNode { node: node("\u{200b}") },
            "`\\u{200b}` is no node of this tree: name one that was made before",
        ),
        (
            TreeError::Ambiguous { node: a, ways: many },
            "`a` has 10 incoming edges, from `0`, `1`, `2`, `3`, `4`, `5`, `6`, `7` and 2 more: choose a source of one of them",
        ),
    ] {
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn l03_in_dialogue_mode_an_edit_is_a_sibling() {
    let mut tree = Named::new(Mode::Dialogue);
    let a = tree.root("a");
    let b = tree.append("b", &a);
    let c = tree.append("c", &b);
    let edited = tree.edit("b2", &b);
    assert_eq!(tree.path(&c, &[]), ["a", "b", "c"]);
    assert_eq!(tree.path(&edited, &[]), ["a", "b2"]);
    assert_eq!(tree.error(&c, &[&edited]), TreeError::NotOnPath { node: edited.clone() });
    assert_eq!(tree.0.continuations(&edited).len(), 0);
    assert_eq!(tree.0.versions(&b).len(), 2);
}

#[test]
fn l03_in_buffer_mode_a_path_takes_the_latest_version() {
    let mut tree = Named::new(Mode::Buffer);
    let a = tree.root("a");
    let b = tree.append("b", &a);
    let c = tree.append("c", &b);
    let b2 = tree.edit("b2", &b);
    assert_eq!(tree.path(&c, &[]), ["a", "b2", "c"]);
    // An edit of the edit, then another one of the original.
    let (b3, b4) = (tree.edit("b3", &b2), tree.edit("b4", &b));
    assert_eq!(tree.path(&c, &[]), ["a", "b4", "c"]);
    for version in [&b, &b2, &b3, &b4] {
        assert_eq!(tree.path(&c, &[version]), ["a", version.as_str(), "c"]);
        // A path to a node ends with that node.
        assert_eq!(tree.path(version, &[]), ["a", version.as_str()]);
        assert_eq!(tree.0.continuations(version)[0].id(), &c);
    }
    assert_eq!(tree.error(&c, &[&b, &b2]), TreeError::NotOnPath { node: b2 });
}

/// The edge of an imported node may list the versions.
#[test]
fn l03_versions_in_one_edge_are_alternatives() {
    let mut tree = Named::new(Mode::Buffer);
    let a = tree.root("a");
    let b = tree.append("b", &a);
    let b2 = tree.edit("b2", &b);
    let c = tree.append("c", Edge::from(&b).and(&b2));
    let b3 = tree.edit("b3", &b);
    assert_eq!(tree.path(&c, &[]), ["a", "b3", "c"]);
    assert_eq!(tree.path(&c, &[&b2]), ["a", "b2", "c"]);
    assert_eq!(tree.path(&c, &[&b3]), ["a", "b3", "c"]);
}

#[test]
fn l03_a_context_source_has_versions_too() {
    let mut tree = Named::new(Mode::Buffer);
    let (a, rule) = (tree.root("a"), tree.aside("rule"));
    let b = tree.append("b", Edge::from(&a).instruction(&rule));
    let stricter = tree.edit("rule2", &rule);
    assert_eq!(tree.path(&b, &[]), ["rule2", "a", "b"]);
    assert_eq!(tree.path(&b, &[&rule]), ["rule", "a", "b"]);
    assert_eq!(tree.0.roots().count(), 1, "{stricter} is an aside, as the original");
    assert_eq!(tree.asked(&b), ["rule", "a"]);
}

/// A version counts as its original where a cycle would close.
#[test]
fn l03_versions_close_no_cycle() {
    let mut tree = Named::new(Mode::Buffer);
    let a = tree.root("a");
    let b = tree.append("b", &a);
    let c = tree.append("c", &b);
    let b2 = tree.edit("b2", &b);
    let cycle = TreeError::Cycle { node: b2.clone(), source_node: c.clone() };
    assert_eq!(tree.0.link(&c, &b2), Err(cycle));
    assert!(tree.0.link(&b2, &b).is_err(), "it would follow its own version");
    let after = tree.append("after", &b2);
    assert_eq!(
        tree.0.link(&after, &b),
        Err(TreeError::Cycle { node: b.clone(), source_node: after.clone() }),
        "what follows an edit follows the original"
    );
    let header = Header::new(node("b3"), Author::Human).with_edge(&c).with_edited_from(&b);
    let error = tree.0.apply(Change::Node { header, text: "".into() });
    assert_eq!(error, Err(TreeError::Cycle { node: node("b3"), source_node: c }));
    assert_eq!(tree.0.len(), 5);
}

#[test]
fn l03_an_edit_has_the_edges_of_its_original() {
    let mut tree = Named::new(Mode::Dialogue);
    let (a, b, photo) = (tree.root("a"), tree.root("b"), tree.aside("photo"));
    let c = tree.append("c", Edge::from(&a).context(&photo));
    tree.0.link(&b, &c).unwrap();
    let edited = tree.edit("c2", &c);
    assert_eq!(tree.path(&edited, &[&a]), ["photo", "a", "c2"]);
    assert_eq!(tree.path(&edited, &[&b]), ["b", "c2"]);
    let edited = tree.edit("a2", &a);
    assert!(tree.0.roots().any(|node| node.id() == &edited));
    let note = tree.make("note", |header| header.with_annotation_edge(&a));
    let edited = tree.edit("note2", &note);
    assert_eq!(tree.0.node(&edited).unwrap().annotation_edges(), [Edge::from(&a)]);
}

#[test]
fn l04_excluded_nodes_drop_out_and_what_follows_stays() {
    let mut tree = Named::new(Mode::Dialogue);
    let a = tree.root("a");
    let b = tree.append("b", &a);
    let c = tree.append("c", &b);
    tree.0.mark(&b, Mark::Excluded, true).unwrap();
    assert_eq!(tree.path(&c, &[]), ["a", "c"]);
    let path = tree.0.path(&c, &[]).unwrap();
    let dropped: Vec<_> = path.dropped().map(|turn| (turn.id().clone(), turn.dropped_by())).collect();
    assert_eq!(dropped, [(b.clone(), Some(Mark::Excluded))]);
    assert_eq!(path.all().count(), 3);
    tree.0.mark(&b, Mark::Excluded, false).unwrap();
    assert_eq!(tree.path(&c, &[]), ["a", "b", "c"]);
    // Sources drop out as well.
    let photo = tree.aside("photo");
    let edge = Edge::from(&c).context(&photo);
    tree.0.mark(&photo, Mark::Excluded, true).unwrap();
    tree.0.mark(&c, Mark::Bookmarked, true).unwrap();
    assert_eq!(tree.path(&edge, &[]), ["a", "b", "c"]);
}

#[test]
fn l04_pruning_marks_all_that_follows_or_one_node() {
    let mut tree = Named::new(Mode::Dialogue);
    let a = tree.root("a");
    let b = tree.append("b", &a);
    let (c, d) = (tree.append("c", &b), tree.append("d", &b));
    let last = tree.append("last", &d);
    let other = tree.append("other", &a);
    tree.0.mark(&b, Mark::Pruned, true).unwrap();
    let pruned = |tree: &Named| -> Vec<String> {
        tree.0.nodes().filter(Node::is_pruned).map(|node| node.id().to_string()).collect()
    };
    assert_eq!(pruned(&tree), ["b", "c", "d", "last"]);
    assert_eq!(tree.path(&last, &[]), ["a"]);
    assert_eq!(tree.path(&other, &[]), ["a", "other"]);
    // Later nodes are not marked.
    let later = tree.append("later", &c);
    assert_eq!(tree.path(&later, &[]), ["a", "later"]);
    tree.0.mark(&d, Mark::Pruned, false).unwrap();
    assert_eq!(pruned(&tree), ["b", "c"]);
    tree.0.mark(&b, Mark::Pruned, false).unwrap();
    assert_eq!(pruned(&tree), [""; 0]);
    tree.0.prune_one(&b, true).unwrap();
    assert_eq!(pruned(&tree), ["b"]);
    assert_eq!(tree.path(&last, &[]), ["a", "d", "last"]);
    tree.0.prune_one(&b, false).unwrap();
    assert_eq!(tree.path(&last, &[]), ["a", "b", "d", "last"]);
}

#[test]
fn l04_an_annotation_is_shown_only_if_it_is_included() {
    let mut tree = Named::new(Mode::Dialogue);
    let a = tree.root("a");
    let b = tree.append("b", &a);
    let [first, second] =
        ["note1", "note2"].map(|id| tree.make(id, |header| header.with_annotation_edge(&a)));
    let nested = tree.make("nested", |header| header.with_annotation_edge(&first));
    let elsewhere = tree.root("elsewhere");
    let far = tree.make("far", |header| header.with_annotation_edge(&elsewhere));
    assert_eq!(tree.path(&b, &[]), ["a", "b"]);

    let mut path = tree.0.path(&b, &[]).unwrap();
    for note in [&second, &first, &nested, &first] {
        path.include(note).unwrap();
    }
    assert_eq!(ids(&path), ["a", "note1", "note2", "nested", "b"]);
    let annotations: Vec<bool> = path.turns().map(|turn| turn.is_annotation()).collect();
    assert_eq!(annotations, [false, true, true, true, false]);
    assert_eq!(path.include(&far), Err(TreeError::NotAnAnnotation { node: far.clone() }));
    assert_eq!(path.include(&a), Err(TreeError::NotAnAnnotation { node: a.clone() }));
    let unknown = node("x");
    assert_eq!(path.include(&unknown), Err(TreeError::UnknownNode { node: unknown.clone() }));
    assert_eq!(ids(&path).len(), 5);

    // It was made later than that request, and it drops out as any other node.
    assert!(tree.0.asked(&b, &[]).unwrap().include(&first).is_err());
    tree.0.mark(&first, Mark::Excluded, true).unwrap();
    let mut path = tree.0.path(&b, &[]).unwrap();
    path.include(&first).unwrap();
    assert_eq!((ids(&path).len(), path.dropped().count()), (2, 1));
    let notes: Vec<&NodeId> = tree.0.annotations(&a).iter().map(Node::id).collect();
    assert_eq!(notes, [&first, &second]);
    // The request for an annotation was about its target.
    assert_eq!(tree.asked(&second), ["a"]);
}

/// Marks, links, edits and choices as they were.
#[test]
fn l04_a_request_is_seen_as_it_was() {
    let mut tree = Named::new(Mode::Buffer);
    let a = tree.root("a");
    let b = tree.append("b", &a);
    tree.0.mark(&a, Mark::Excluded, true).unwrap();
    let c = tree.append("c", &b);
    tree.0.mark(&a, Mark::Excluded, false).unwrap();
    let b2 = tree.edit("b2", &b);
    let d = tree.append("d", &c);
    let other = tree.root("other");
    tree.0.link(&other, &c).unwrap();
    tree.0.mark(&other, Mark::Pruned, true).unwrap();

    let latest = tree.edit("b3", &b);
    assert_eq!(tree.path(&d, &[&latest]), ["a", "b3"], "the others follow a pruned node, too");
    assert_eq!(tree.asked(&a), [""; 0]);
    assert_eq!(tree.asked(&b), ["a"]);
    assert_eq!(tree.asked(&c), ["b"], "without the excluded node, and before the edit");
    assert_eq!(tree.asked(&b2), ["a"]);
    assert_eq!(tree.asked(&d), ["a", "b2", "c"]);
    assert_eq!(tree.0.asked(&d, &[b]).unwrap().turns().count(), 3);
    assert!(matches!(tree.error(&d, &[]), TreeError::Ambiguous { .. }), "now there are two ways");
    assert_eq!(
        tree.0.asked(&d, std::slice::from_ref(&other)).unwrap_err(),
        TreeError::NotOnPath { node: other }
    );
}

/// The reply to a request from an earlier version was not asked with the later one.
#[test]
fn l04_a_request_from_an_earlier_version_is_seen_as_it_was() {
    let mut tree = Named::new(Mode::Buffer);
    let a = tree.root("a");
    let edited = tree.edit("a2", &a);
    let request = tree.path(&a, &[]);
    let b = tree.append("b", &a);
    assert_eq!(tree.asked(&b), request);
    assert_eq!(tree.path(&b, &[]), [edited.as_str(), "b"]);
}
