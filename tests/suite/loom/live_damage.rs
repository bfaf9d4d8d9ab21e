//! Trees on stores that are damaged, edited by hand, or whose process is killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use columnar::Name;
use columnar::loom::{Author, Edge, Loom, Mode, NodeId};
use columnar::store::{Entry, FileStore, MemoryStore, Store};
use columnar_tests::process::test_alone;

const DEFINITION: &str = "{\"columnar_loom\":1,\"mode\":\"dialogue\"}\n";
const ROOT: &str = r#"{"id":"a","author":"human","root":true}"#;
/// The name of an attachment is none, or there is none.
const NAMELESS: &str = r#"{"id":"a","author":"human","root":true,"attachments":[{"sha256":"x"}]}"#;
const EMPTY: &str = r#"{"id":"a","author":"human","root":true,"attachments":[]}"#;
const NEXT: &str = r#"{"id":"b","author":"model","from":[["a"]]}"#;

/// A store with these nodes, as steps and headers, and these changes.
async fn stored(definition: Option<&str>, nodes: &[(usize, &str)], changes: &[(usize, &str)]) -> MemoryStore {
    let memory = MemoryStore::new();
    let store = memory.clone();
    store.open().await.unwrap();
    if let Some(definition) = definition {
        store.define(definition.to_owned()).await.unwrap();
    }
    for (step, header) in nodes {
        let entry = match *header {
            "skipped" => Entry::SKIPPED,
            "" => Entry::from("secret words"),
            header => Entry::from("secret words").with_receipt(header),
        };
        store.put(Name::new("node").unwrap(), *step, entry).await.unwrap();
    }
    for (step, change) in changes {
        store.put(Name::new("change").unwrap(), *step, Entry::from(*change)).await.unwrap();
    }
    memory
}

#[tokio::test]
async fn damage_is_named_and_nothing_is_lost() {
    let system = r#"{"after":2,"change":{"system":"secret words"}}"#;
    let good = [(0, ROOT), (1, NEXT)];
    for (definition, nodes, changes, expected) in [
        (Some("no json"), &good[..], &[][..], "the definition of the tree in the store"),
        (Some("{\"columnar_loom\":1}"), &good, &[], "it has no mode"),
        (
            Some("{\"columnar_loom\":2,\"mode\":\"dialogue\"}"),
            &good,
            &[],
            "the definition of the tree in the store",
        ),
        (None, &good, &[], "the definition of the stored tree is damaged: it is missing"),
        (Some(DEFINITION), &[(0, ROOT), (1, "no json")], &[], "node 1 of the stored tree is damaged"),
        (Some(DEFINITION), &[(0, ROOT), (1, "")], &[], "node 1 of the stored tree is damaged"),
        (Some(DEFINITION), &[(0, "skipped")], &[], "node 0 of the stored tree is damaged"),
        (
            Some(DEFINITION),
            &[(0, ROOT), (2, NEXT)],
            &[],
            "node 1 of the stored tree is damaged: it is missing",
        ),
        (Some(DEFINITION), &[(0, NAMELESS)], &[], "the JSON of a change is damaged at `attachments`"),
        (Some(DEFINITION), &[(0, EMPTY)], &[], "the JSON of a change is damaged at `attachments`"),
        (Some(DEFINITION), &[(0, NEXT)], &[], "`a` is no node of this tree"),
        (Some(DEFINITION), &[(0, ROOT), (1, ROOT)], &[], "`a` is in the tree already"),
        (Some(DEFINITION), &good, &[(0, "no json")], "change 0 of the stored tree is damaged"),
        (Some(DEFINITION), &good, &[(0, r#"{"change":{"system":null}}"#)], "change 0 of the stored tree"),
        (
            Some(DEFINITION),
            &good,
            &[(0, r#"{"after":2,"change":{"new":null}}"#)],
            "change 0 of the stored tree",
        ),
        (
            Some(DEFINITION),
            &good,
            &[(0, system), (2, system)],
            "change 1 of the stored tree is damaged: it is missing",
        ),
        (
            Some(DEFINITION),
            &good,
            &[(0, r#"{"after":3,"change":{"system":null}}"#)],
            "had 3 nodes, and it has 2",
        ),
        (
            Some(DEFINITION),
            &good,
            &[(0, r#"{"after":2,"change":{"link":"a","from":["b"]}}"#)],
            "`a` cannot follow `b`",
        ),
    ] {
        let memory = stored(definition, nodes, changes).await;
        let error = Loom::open(memory.clone(), Mode::Dialogue).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error} is not {expected}");
        assert!(!error.contains("secret"), "{error}");
        // All is there as it was.
        let store = memory.clone();
        assert_eq!(store.open().await.unwrap().as_deref(), definition);
        for (name, count) in [("node", nodes.len()), ("change", changes.len())] {
            assert_eq!(store.load(Name::new(name).unwrap(), 0..10).await.unwrap().len(), count);
        }
    }
    Loom::open(stored(Some(DEFINITION), &good, &[(0, system)]).await, Mode::Dialogue).await.unwrap();
}

/// A folder with a tree of three nodes.
async fn folder(path: &Path) {
    let mut loom = Loom::open(FileStore::new(path), Mode::Dialogue).await.unwrap();
    let mut edge = Edge::root();
    for text in ["Why?\n", "Because.", "Why is that?"] {
        edge = Edge::from(&loom.append(edge, Author::Human, text).await.unwrap());
    }
}

#[tokio::test]
async fn a_folder_can_be_read_and_an_edit_by_hand_is_found() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("tree");
    folder(&path).await;
    assert_eq!(fs::read_to_string(path.join("node/0.txt")).unwrap(), "Why?\n");
    let refused = async || Loom::open(FileStore::new(&path), Mode::Dialogue).await.unwrap_err().to_string();

    fs::write(path.join("node/1.txt"), "Because!").unwrap();
    let error = refused().await;
    assert!(error.contains("`node` at step 1") && !error.contains("Because"), "{error}");
    fs::remove_file(path.join("node/1.txt")).unwrap();
    let error = refused().await;
    assert!(error.contains("`node` at step 1"), "{error}");
    fs::write(path.join("node/1.txt"), "Because.").unwrap();

    fs::write(path.join("node/3.txt"), "By hand.").unwrap();
    let error = refused().await;
    assert!(error.starts_with("node 3 of the stored tree is damaged"), "{error}");
    fs::remove_file(path.join("node/3.txt")).unwrap();
    assert_eq!(Loom::open(FileStore::new(&path), Mode::Dialogue).await.unwrap().len(), 3);
}

/// The variable that tells a process that it is to be killed, and names its store.
const CHILD: &str = "COLUMNAR_LOOM_CHILD";

/// Appends nodes and sets system texts until it is killed, and prints each node that is confirmed.
async fn write_until_killed(store: impl Store) {
    let mut loom = Loom::open(store, Mode::Buffer).await.unwrap();
    let mut edge = Edge::root();
    for number in 0.. {
        let node = loom.append(edge, Author::Model, format!("text {number}")).await.unwrap();
        println!("\nconfirmed {node} text {number}");
        loom.set_system(Some(&format!("system {number}"))).await.unwrap();
        edge = Edge::from(&node);
    }
}

/// Starts a test of this program, kills it after some nodes, and opens its tree.
async fn check_killed<S: Store>(test: &str, path: &Path, handle: impl Fn() -> S) {
    let mut confirmed = Vec::new();
    for count in [1, 7, 23] {
        let _ = fs::remove_dir_all(path);
        let mut command = test_alone(module_path!(), test);
        let mut child = command.env(CHILD, path).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        confirmed.clear();
        while confirmed.len() < count {
            let line = lines.next().expect("it ended").unwrap();
            confirmed.extend(line.strip_prefix("confirmed ").map(ToOwned::to_owned));
        }
        child.kill().unwrap();
        // Those that it printed before it was killed are confirmed, too.
        let rest = lines.map_while(Result::ok);
        confirmed.extend(rest.filter_map(|line| line.strip_prefix("confirmed ").map(ToOwned::to_owned)));
        child.wait().unwrap();

        let mut loom = Loom::open(handle(), Mode::Buffer).await.unwrap();
        for line in &confirmed {
            // The last line may be torn.
            let Some((id, text)) = line.split_once(" text ") else { continue };
            let node = loom.node(&NodeId::new(id).unwrap()).expect("it was confirmed");
            assert!(node.text().starts_with(&format!("text {text}")));
        }
        let (nodes, changes) = (loom.len(), loom.further_changes().len());
        assert!((confirmed.len()..=confirmed.len() + 1).contains(&nodes), "{nodes}");
        assert!((nodes - 1..=nodes).contains(&changes), "{changes} of {nodes}");
        loom.append(Edge::root(), Author::Human, "after it").await.unwrap();
        drop(loom);
    }
}

#[tokio::test]
async fn what_was_confirmed_in_a_folder_survives_a_kill() {
    if let Some(path) = std::env::var_os(CHILD) {
        return write_until_killed(FileStore::new(path)).await;
    }
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("tree");
    let test = "what_was_confirmed_in_a_folder_survives_a_kill";
    check_killed(test, &path, || FileStore::new(&path)).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn what_was_confirmed_in_sqlite_survives_a_kill() {
    use columnar::store::SqliteStore;

    let store = |folder: &Path| {
        fs::create_dir_all(folder).unwrap();
        SqliteStore::new(folder.join("trees.db"), "one")
    };
    if let Some(path) = std::env::var_os(CHILD) {
        return write_until_killed(store(path.as_ref())).await;
    }
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("trees");
    let test = "what_was_confirmed_in_sqlite_survives_a_kill";
    check_killed(test, &path, || store(&path)).await;
}
