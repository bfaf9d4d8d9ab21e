//! What replies cost, and branches beside each other. The name of a test begins with its row of `tests/LOOM.md`.

use std::time::Duration;

use columnar::loom::{Author, Change, Edge, Header, Loom, Mark, Mode, NodeId, Turn, export, import};
use columnar::model::{End, Finish, Usage};
use columnar::store::{FileStore, Store};
use columnar::tokens::Estimate;
use columnar::usage::{Dollars, Receipt};
use serde_json::{Value as Json, json};

use super::long::dice;
use super::named::{Named, node};

fn receipt(input: u64, output: u64) -> Receipt {
    let end = End::new(Finish::Stop).with_usage(Usage::new(input, output)).with_id("reply-7");
    end.receipt("openai/gpt-5.4-mini", Duration::from_millis(640))
}

/// A question with two replies and their receipts, and a question after the first one; the ids of all four.
async fn asked(store: impl Store) -> (Loom, [NodeId; 4]) {
    let mut loom = Loom::open(store, Mode::Dialogue).await.unwrap().with_dice(dice(3));
    let question = loom.append(Edge::root(), Author::Human, "Who lives there?").await.unwrap();
    let ada = loom.append_reply(&question, "Ada.", &receipt(1_000, 8)).await.unwrap();
    let caroline = loom.append_reply(&question, "Caroline.", &receipt(2_000, 10)).await.unwrap();
    let why = loom.append(&ada, Author::Human, "Why?").await.unwrap();
    (loom, [question, ada, caroline, why])
}

#[tokio::test]
async fn l25_a_receipt_is_stored_with_its_node_and_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let (loom, [question, ada, caroline, why]) = asked(FileStore::new(folder.path())).await;
    let tree = loom.tree().clone();
    drop(loom);
    let mut loom = Loom::open(FileStore::new(folder.path()), Mode::Dialogue).await.unwrap();
    assert_eq!(*loom.tree(), tree);
    let of = |node: &NodeId| tree.node(node).unwrap().receipt();
    assert_eq!([of(&question), of(&ada), of(&why)], [None, Some(receipt(1_000, 8)), None]);
    assert_eq!(of(&caroline).unwrap().id.as_deref(), Some("reply-7"));

    let total = loom.usage();
    assert_eq!((total.cells, total.calls, total.usage), (2, 2, Usage::new(3_000, 18)));
    assert!(total.cost > Dollars::ZERO);
    // A path costs what led to it, also what is not shown any more.
    loom.mark(&ada, Mark::Excluded, true).await.unwrap();
    assert_eq!(loom.path(&why, &[]).unwrap().usage().usage, Usage::new(1_000, 8));
    assert_eq!(loom.path(&question, &[]).unwrap().usage().cells, 0);
    // An edited reply was written by a person.
    let edited = loom.edit(&ada, Author::Human, "Ada Lovelace.").await.unwrap();
    assert_eq!(loom.node(&edited).unwrap().receipt(), None);
}

#[tokio::test]
async fn l25_a_document_keeps_receipts_and_needs_none() {
    let (loom, [_, ada, ..]) = asked(columnar::store::MemoryStore::new()).await;
    let document = export(&loom, "t", "");
    let again = import(&document).unwrap().remove(0).tree;
    assert_eq!(again, *loom.tree());
    assert_eq!(again.usage(), loom.usage());

    let mut document: Json = serde_json::from_str(&document).unwrap();
    for (value, expected) in [
        (json!({ "calls": 2, "later": [] }), Some(2)),
        (json!({ "calls": -1 }), None),
        (json!("a text"), None),
        (Json::Null, None),
    ] {
        *document.pointer_mut(&format!("/trees/0/nodes/{ada}/extensions/columnar/receipt")).unwrap() = value;
        let tree = import(&document.to_string()).unwrap().remove(0).tree;
        assert_eq!(tree.node(&ada).unwrap().receipt().map(|receipt| receipt.calls), expected);
        assert_eq!(tree.len(), loom.len());
    }
}

#[test]
fn l25_a_stored_header_without_a_receipt_is_read_as_before() {
    let old = r#"{"id":"b","author":"model","from":[["a"]],"edited_from":"c"}"#;
    let header = Header::parse(old).unwrap();
    assert_eq!((header.to_json().as_str(), header.receipt()), (old, None));
    let new = header.with_receipt(&receipt(1, 2));
    assert_eq!(Header::parse(&new.to_json()).unwrap(), new);
    // What a later version writes more is kept.
    let later = r#"{"id":"b","author":"model","receipt":{"calls":1,"later":[1,{"a":null}]}}"#;
    assert_eq!(Header::parse(later).unwrap().to_json(), later);
    assert_eq!(Header::parse(later).unwrap().receipt().map(|receipt| receipt.calls), Some(1));
}

#[tokio::test]
async fn l26_a_comparison_says_where_branches_part_and_what_each_has() {
    let (mut loom, [question, ada, caroline, why]) = asked(columnar::store::MemoryStore::new()).await;
    let [left, right] = [&why, &caroline].map(|node| loom.path(node, &[]).unwrap());
    let compared = left.compare(&right, &Estimate);
    assert_eq!(compared.ancestor.map(|node| node.id()), Some(&question));
    let ids: Vec<&NodeId> = compared.left.turns.iter().map(Turn::id).collect();
    assert_eq!(ids, [&ada, &why]);
    assert_eq!((compared.left.tokens, compared.right.tokens), (2, 3));
    assert_eq!((compared.left.usage.usage, compared.right.usage.cells), (Usage::new(1_000, 8), 1));
    let text = compared.to_string();
    assert!(text.contains("left: 2 nodes, 2 tokens\n  1 call, 1,000 tokens in, 8 out, $"), "{text}");
    // One path ends on the other.
    let compared = left.compare(&loom.path(&ada, &[]).unwrap(), &Estimate);
    assert_eq!((compared.ancestor.unwrap().id(), compared.right.turns.len()), (&ada, 0));
    // A node that is left out has no tokens, and says so.
    loom.mark(&ada, Mark::Excluded, true).await.unwrap();
    let [left, right] = [&why, &caroline].map(|node| loom.path(node, &[]).unwrap());
    let compared = left.compare(&right, &Estimate);
    assert_eq!((compared.left.turns.len(), compared.left.tokens), (2, 1));
    assert!(compared.to_string().contains(" model (excluded)  Ada."), "{compared}");
}

/// Sources beside a question, versions of a text, and ways that meet again.
#[test]
fn l26_branches_are_compared_by_the_ways_of_their_paths() {
    let mut tree = Named::new(Mode::Buffer);
    let root = tree.root("a");
    let photo = tree.aside("photo");
    let one = tree.append("one", Edge::from(&root).context(&photo));
    let two = tree.append("two", &root);
    let edited = tree.edit("one-2", &one);
    let end = tree.append("end", &one);
    tree.0.link(&two, &end).unwrap();
    let other = tree.root("b");
    let path = |to: &NodeId, chosen: &[&NodeId]| {
        let chosen: Vec<NodeId> = chosen.iter().map(|node| (*node).clone()).collect();
        tree.0.path(to, &chosen).unwrap()
    };
    for (left, right, ancestor, only_left, only_right) in [
        (path(&end, &[&one]), path(&end, &[&two]), Some("a"), vec!["photo", "one"], vec!["two"]),
        (path(&end, &[&one]), path(&end, &[&edited]), Some("a"), vec!["one"], vec!["one-2"]),
        (path(&root, &[]), path(&other, &[]), None, vec!["a"], vec!["b"]),
        (path(&two, &[]), path(&two, &[]), Some("two"), vec![], vec![]),
    ] {
        let compared = left.compare(&right, &Estimate);
        assert_eq!(compared.ancestor.map(|node| node.id().as_str()), ancestor);
        let [left, right] = [&compared.left, &compared.right]
            .map(|branch| branch.turns.iter().map(|turn| turn.id().as_str()).collect::<Vec<_>>());
        assert_eq!((left, right), (only_left, only_right), "{compared}");
    }
}

/// Long texts and ids, wide letters, and characters that control a terminal.
#[test]
fn l26_a_comparison_fits_a_terminal() {
    let mut tree = Named::new(Mode::Dialogue);
    let root = tree.root("root");
    let mut ends = [root.clone(), root];
    for (at, text) in ["漢字".repeat(500), "word ".repeat(500), "\u{1b}[2J\n".repeat(500)]
        .iter()
        .cycle()
        .take(40)
        .enumerate()
    {
        let id = node(&"i".repeat(1 + at));
        let header = Header::new(id.clone(), Author::Model).with_edge(&ends[at % 2]);
        tree.0.apply(Change::Node { header, text: text.as_str().into() }).unwrap();
        ends[at % 2] = id;
    }
    let [left, right] = [&ends[0], &ends[1]].map(|node| tree.0.path(node, &[]).unwrap());
    let text = left.compare(&right, &Estimate).to_string();
    assert!(text.lines().count() < 24 && text.contains("\n  … and 12 more"), "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    for line in text.lines() {
        let width: usize = line.chars().map(|c| if c >= '漢' { 2 } else { 1 }).sum();
        assert!(width <= 80, "{width}: {line}");
    }
}
