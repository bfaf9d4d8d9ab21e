//! Changes that come from a store or an import. The name of a test begins with its row of `tests/LOOM.md`.

use columnar::loom::{Change, Mark, Mode, NodeIdFault, Tree, TreeError};

use super::named::{Named, node};

/// A store or an import is checked as the verbs are.
#[test]
fn l02_damaged_changes_are_refused() {
    let mut tree = Named::new(Mode::Dialogue);
    let a = tree.root("a");
    let b = tree.append("b", &a);
    tree.0.mark(&a, Mark::Excluded, true).unwrap();
    tree.append("c", &b);
    let changes: Vec<Change> = tree.0.changes().collect();
    for gone in [0, 1] {
        let mut changes = changes.clone();
        changes.remove(gone);
        let error = Tree::replay(Mode::Dialogue, changes).expect_err("a node is missing");
        assert!(matches!(error, TreeError::UnknownNode { .. }), "{error}");
    }
    let nodes = || tree.0.nodes().map(|node| (node.header(), node.shared_text()));
    let further: Vec<(usize, Change)> =
        tree.0.further_changes().map(|(before, change)| (before, change.clone())).collect();
    assert_eq!(Tree::rebuild(Mode::Dialogue, nodes(), further.clone()).as_ref(), Ok(&tree.0));
    let error = Tree::rebuild(Mode::Dialogue, nodes().take(1), further.clone());
    assert_eq!(error, Err(TreeError::OutOfOrder { expected: 2, nodes: 1 }));
    let mut swapped = [further.clone(), further].concat();
    swapped[1].0 = 1;
    let error = Tree::rebuild(Mode::Dialogue, nodes(), swapped);
    assert_eq!(error, Err(TreeError::OutOfOrder { expected: 1, nodes: 2 }));
}

#[test]
fn l02_json_that_is_no_change_names_the_key() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (json, part) in [
        ("", "json"),
        ("[]", "json"),
        (deep.as_str(), "json"),
        ("{}", "system"),
        (r#"{"system":3}"#, "system"),
        (r#"{"system":null,"more":1}"#, "an unknown key"),
        (r#"{"id":"a"}"#, "author"),
        (r#"{"id":"a","author":"robot","text":""}"#, "author"),
        (r#"{"id":"a","author":"human"}"#, "text"),
        (r#"{"id":"a","author":"human","text":"","root":false}"#, "root"),
        (r#"{"id":"a","author":"human","text":"","root":true,"from":[["b"]]}"#, "root"),
        (r#"{"id":"a","author":"human","text":"","from":[]}"#, "from"),
        (r#"{"id":"a","author":"human","text":"","from":["b"]}"#, "from"),
        (r#"{"id":"a","author":"human","text":"","from":[[["b"]]]}"#, "from"),
        (r#"{"id":"a","author":"human","text":"","from":[[["b","primary"]]]}"#, "from"),
        (r#"{"id":"a","author":"human","text":"","edited_from":3}"#, "edited_from"),
        (r#"{"link":"a"}"#, "from"),
        (r#"{"mark":"lost","node":"a","set":true}"#, "mark"),
        (r#"{"mark":"pruned","node":"a","set":"yes"}"#, "set"),
        (r#"{"prune_one":"a"}"#, "set"),
        (r#"{"system_in_buffer":null}"#, "system_in_buffer"),
    ] {
        assert_eq!(Change::parse(json), Err(TreeError::Damaged { part }), "{json:.60}");
    }
    let error = Change::parse(r#"{"prune_one":"","set":true}"#).expect_err("no id");
    assert!(matches!(&error, TreeError::BadId(error) if error.fault() == NodeIdFault::Empty), "{error}");
    // An edge without a source is read, and refused by the tree.
    let change = Change::parse(r#"{"id":"a","author":"human","text":"","from":[[]]}"#).unwrap();
    assert_eq!(Tree::new(Mode::Dialogue).apply(change), Err(TreeError::NoSource { node: Some(node("a")) }));
}
