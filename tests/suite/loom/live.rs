//! Trees on stores: what is stored is what was made, whatever happens in between.

use std::future::Future;
use std::path::Path;

use columnar::budget::Budget;
use columnar::loom::{Agent, Author, Change, Edge, Loom, LoomError, Mark, Mode, NodeId, Tree};
use columnar::store::{FileStore, MemoryStore, Store};
use columnar_tests::store::{Fail, Faults, FaultyStore};
use futures::future::FutureExt;
use proptest::collection::vec;
use proptest::prelude::*;

use super::laws::{Draft, change, config, draft, mode};
use super::long::dice;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

/// The system text and the messages of each request, or its error: to each node, and the one that led to it.
pub(super) fn requests(tree: &Tree) -> Vec<String> {
    let agent = Agent::new("You write.").budget(Budget::of(2_000));
    let mut requests = Vec::new();
    for node in tree.nodes() {
        for path in [tree.path(node.id(), &[]), tree.asked(node.id(), &[])] {
            let path = match path {
                Ok(path) => path,
                Err(error) => {
                    requests.push(error.to_string());
                    continue;
                }
            };
            for asked in [path.dialogue(&agent), path.buffer(" and", &agent)] {
                requests.push(asked.map_or_else(
                    |error| error.to_string(),
                    |asked| format!("{:?} {}", asked.system(), asked.messages().to_json()),
                ));
            }
        }
    }
    requests
}

/// A loom that is closed and opened again at some changes equals a tree to which the same changes were applied.
async fn equals_a_tree<S: Store>(handle: impl Fn() -> S, mode: Mode, drafts: &[(Draft, bool)]) {
    let mut tree = Tree::new(mode);
    let mut loom = Loom::open(handle(), mode).await.unwrap();
    for (at, (draft, is_reopened)) in drafts.iter().enumerate() {
        let change = if at % 9 == 8 {
            Change::Budget { budget: Budget::of(50 * at).minimum_recent(at) }
        } else {
            change(&tree, draft)
        };
        match (tree.apply(change.clone()), loom.change(change).await) {
            (Ok(()), Ok(())) => {}
            (Err(expected), Err(LoomError::Tree(error))) => assert_eq!(error, expected),
            (expected, found) => panic!("{expected:?} and {found:?}"),
        }
        if *is_reopened {
            let before = requests(&loom);
            drop(loom);
            loom = Loom::open(handle(), mode).await.unwrap();
            assert_eq!(requests(&loom), before);
        }
        assert_eq!(*loom.tree(), tree);
    }
}

fn drafts() -> impl Strategy<Value = Vec<(Draft, bool)>> {
    vec((draft(), prop::bool::weighted(0.2)), 1..24)
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn a_loom_in_memory_equals_a_tree(mode in mode(), drafts in drafts()) {
        let memory = MemoryStore::new();
        block_on(equals_a_tree(|| memory.clone(), mode, &drafts));
    }

    #[test]
    fn a_loom_in_a_folder_equals_a_tree(mode in mode(), drafts in drafts()) {
        let folder = tempfile::tempdir().unwrap();
        block_on(equals_a_tree(|| FileStore::new(folder.path().join("tree")), mode, &drafts));
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn a_loom_in_sqlite_equals_a_tree(mode in mode(), drafts in drafts()) {
        let folder = tempfile::tempdir().unwrap();
        let handle = || columnar::store::SqliteStore::new(folder.path().join("trees.db"), "one");
        block_on(equals_a_tree(handle, mode, &drafts));
    }
}

/// Each verb of a loom is that of a tree.
#[tokio::test]
async fn the_verbs_of_a_loom_are_those_of_a_tree() {
    let memory = MemoryStore::new();
    let mut tree = Tree::new(Mode::Buffer);
    let mut loom = Loom::open(memory.clone(), Mode::Buffer).await.unwrap().with_dice(dice(3));
    let dice = &mut dice(3);
    let a = tree.append(dice, Edge::root(), Author::Human, "a").unwrap();
    assert_eq!(loom.append(Edge::root(), Author::Human, "a").await.unwrap(), a);
    let b = tree.append(dice, &a, Author::Model, "b").unwrap();
    assert_eq!(loom.append(&a, Author::Model, "b").await.unwrap(), b);
    let note = tree.annotate(dice, &b, Author::Human, "note").unwrap();
    assert_eq!(loom.annotate(&b, Author::Human, "note").await.unwrap(), note);
    let rule = tree.aside(dice, Author::Human, "rule").unwrap();
    assert_eq!(loom.aside(Author::Human, "rule").await.unwrap(), rule);
    let edit = tree.edit(dice, &b, Author::Human, "edit").unwrap();
    assert_eq!(loom.edit(&b, Author::Human, "edit").await.unwrap(), edit);
    tree.link(Edge::from(&a).instruction(&rule), &b).unwrap();
    loom.link(Edge::from(&a).instruction(&rule), &b).await.unwrap();
    for (node, mark) in [(&a, Mark::Excluded), (&b, Mark::Pruned), (&note, Mark::Bookmarked)] {
        tree.mark(node, mark, true).unwrap();
        loom.mark(node, mark, true).await.unwrap();
    }
    tree.prune_one(&b, false).unwrap();
    loom.prune_one(&b, false).await.unwrap();
    for text in [Some("a \"system\"\ntext"), None] {
        tree.set_system(text).unwrap();
        loom.set_system(text).await.unwrap();
    }
    tree.set_system_in_buffer(true).unwrap();
    loom.set_system_in_buffer(true).await.unwrap();
    tree.set_budget(Budget::of(100).low_water(0.5)).unwrap();
    loom.set_budget(Budget::of(100).low_water(0.5)).await.unwrap();
    assert_eq!(*loom.tree(), tree);
    drop(loom);
    assert_eq!(*Loom::open(memory, Mode::Buffer).await.unwrap().tree(), tree);
}

/// A store with faults, a second handle to the same memory, and a loom of one node.
async fn faulty() -> (FaultyStore, MemoryStore, Loom, NodeId) {
    let memory = MemoryStore::new();
    let store = FaultyStore::new(memory.clone(), Faults::default());
    let mut loom = Loom::open(store.clone(), Mode::Dialogue).await.unwrap();
    let first = loom.append(Edge::root(), Author::Human, "first").await.unwrap();
    (store, memory, loom, first)
}

/// The tree after it is closed and opened again is the one before.
async fn check_reopened(loom: Loom, store: FaultyStore, memory: MemoryStore) -> Tree {
    let (tree, before) = (loom.tree().clone(), requests(&loom));
    drop((loom, store));
    let loom = Loom::open(memory, Mode::Dialogue).await.unwrap();
    assert_eq!(*loom.tree(), tree);
    assert_eq!(requests(&loom), before);
    tree
}

#[tokio::test]
async fn a_refused_operation_stores_nothing() {
    let (store, memory, mut loom, first) = faulty().await;
    let second = loom.append(&first, Author::Model, "second").await.unwrap();
    let (puts, nobody) = (store.puts(), NodeId::new("nobody").unwrap());
    for result in [
        loom.append(&nobody, Author::Human, "").await.map(drop),
        loom.append(Edge::new([]), Author::Human, "").await.map(drop),
        loom.annotate(&nobody, Author::Human, "").await.map(drop),
        loom.edit(&nobody, Author::Human, "").await.map(drop),
        loom.link(&second, &first).await,
        loom.link(&nobody, &first).await,
        loom.mark(&nobody, Mark::Pruned, true).await,
        loom.prune_one(&nobody, true).await,
    ] {
        assert!(matches!(result, Err(LoomError::Tree(_))), "{result:?}");
    }
    assert_eq!(store.puts(), puts);
    assert_eq!(check_reopened(loom, store, memory).await.len(), 2);
}

/// The entry of a dropped mark came to the store after the node of the next call. So a loom that was opened again had the
/// mark before the node, and the request that led to the node was another one.
#[tokio::test]
async fn a_dropped_call_comes_before_the_next_one() {
    let (store, memory, mut loom, first) = faulty().await;
    store.close();
    assert!(loom.mark(&first, Mark::Excluded, true).now_or_never().is_none());
    assert!(!loom.node(&first).unwrap().is_excluded(), "it is not stored yet");
    store.let_through(10);
    let second = loom.append(&first, Author::Model, "second").await.unwrap();
    assert!(loom.node(&first).unwrap().is_excluded());
    assert_eq!(loom.asked(&second, &[]).unwrap().turns().count(), 0);

    store.close();
    assert!(loom.append(&second, Author::Human, "third").now_or_never().is_none());
    // Neither does a second drop lose it.
    assert!(loom.set_system(Some("system")).now_or_never().is_none());
    store.let_through(10);
    loom.set_system(None).await.unwrap();
    assert_eq!((loom.len(), loom.further_changes().len()), (3, 2));
    check_reopened(loom, store, memory).await;
}

#[tokio::test]
async fn a_dropped_call_without_a_next_one_is_stored_or_not() {
    let (store, memory, mut loom, first) = faulty().await;
    store.close();
    assert!(loom.append(&first, Author::Model, "second").now_or_never().is_none());
    check_reopened(loom, store, memory).await;
}

#[tokio::test]
async fn a_failed_write_makes_no_change() {
    for is_node in [true, false] {
        let (store, memory, mut loom, first) = faulty().await;
        let tree = loom.tree().clone();
        store.fail_next(Fail::Before);
        let error = if is_node {
            loom.append(&first, Author::Model, "second").await.map(drop)
        } else {
            loom.mark(&first, Mark::Excluded, true).await
        };
        let error = error.unwrap_err().to_string();
        assert_eq!(error, "the store of the tree failed: the disk is full");
        assert_eq!(*loom.tree(), tree);
        loom.append(&first, Author::Model, "again").await.unwrap();
        assert_eq!(check_reopened(loom, store, memory).await.changes().count(), 2);
    }
}

/// The store has a change whose confirmation was lost. A node that was stored after it, in the other column, would have
/// been before it.
#[tokio::test]
async fn a_write_whose_confirmation_was_lost_comes_before_the_next_one() {
    for is_node in [true, false] {
        let (store, memory, mut loom, first) = faulty().await;
        store.fail_next(Fail::After);
        let error = if is_node {
            loom.append(&first, Author::Model, "second").await.map(drop)
        } else {
            loom.mark(&first, Mark::Excluded, true).await
        };
        assert!(matches!(error, Err(LoomError::Store(_))), "{error:?}");
        loom.append(&first, Author::Model, "next").await.unwrap();
        loom.set_system(Some("system")).await.unwrap();
        let tree = check_reopened(loom, store, memory).await;
        assert_eq!(tree.changes().count(), 4);
        assert_eq!(tree.len(), if is_node { 3 } else { 2 });
    }
}

#[tokio::test]
async fn a_second_owner_is_refused() {
    let memory = MemoryStore::new();
    let loom = Loom::open(memory.clone(), Mode::Dialogue).await.unwrap();
    let error = Loom::open(memory.clone(), Mode::Dialogue).await.unwrap_err();
    assert!(matches!(error, LoomError::Store(_)), "{error}");
    drop(loom);
    Loom::open(memory, Mode::Dialogue).await.unwrap();
}

#[tokio::test]
async fn the_other_mode_is_refused() {
    let memory = MemoryStore::new();
    drop(Loom::open(memory.clone(), Mode::Buffer).await.unwrap());
    let error = Loom::open(memory.clone(), Mode::Dialogue).await.unwrap_err();
    assert!(matches!(error, LoomError::Mode { stored: Mode::Buffer }), "{error}");
    Loom::open(memory, Mode::Buffer).await.unwrap();
}

/// The texts of a folder below `path`, by their names there.
fn texts(path: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap().path();
            if entry.is_dir() {
                open.push(entry);
            } else if entry.file_name().is_some_and(|name| name != "lock") {
                let text = std::fs::read_to_string(&entry).unwrap();
                found.push((entry.strip_prefix(path).unwrap().display().to_string(), text));
            }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn a_flow_is_no_tree_and_a_tree_no_flow() {
    use columnar::prelude::{Context, Flow, column, source};

    let upper = || column("node", source("user").latest(), |_: Context| async { "text" });
    let scratch = tempfile::tempdir().unwrap();
    let [flow, tree] = ["flow", "tree"].map(|name| scratch.path().join(name));
    drop(Flow::open(FileStore::new(&flow), [upper()]).await.unwrap());
    let mut loom = Loom::open(FileStore::new(&tree), Mode::Dialogue).await.unwrap();
    loom.append(Edge::root(), Author::Human, "text").await.unwrap();
    drop(loom);
    let before = [texts(&flow), texts(&tree)];

    let error = Loom::open(FileStore::new(&flow), Mode::Dialogue).await.unwrap_err();
    let expected = "the store of the tree failed: it holds a flow, and no tree: open it as a flow";
    assert_eq!(error.to_string(), expected);
    let error = Flow::open(FileStore::new(&tree), [upper()]).await.unwrap_err().to_string();
    assert!(error.ends_with("it holds a tree, and no flow: open it with `Loom::open`"), "{error}");
    assert_eq!([texts(&flow), texts(&tree)], before);
}
