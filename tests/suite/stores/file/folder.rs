//! Stores in files, and the contents of their folders.

use std::fs;
use std::path::{Path, PathBuf};

use columnar::store::{Entry, FileStore, Put, Store, StoreError};
use columnar::{Name, Value};
use tempfile::TempDir;

/// The remedies of a damaged log.
pub(crate) const ADOPT: &str = "restore it, or move the folder `.columnar` away to adopt the texts as they are, without receipts and skipped cells";

/// The defect of a file that the log does not have, if its column has this next step.
pub(crate) fn not_logged(next: usize) -> String {
    let by_hand = "if it was added by hand, rename it or move it away";
    let by_flow = ADOPT.trim_start_matches("restore it, or ");
    format!("is not in the log, and the next step is {next}; {by_hand}; if a flow stored it, {by_flow}")
}

/// A name.
pub(crate) fn name(name: &str) -> Name {
    Name::new(name).expect("a name")
}

/// An entry with this value.
pub(crate) fn value(text: &str) -> Entry {
    Entry::from(Value::from(text))
}

/// Stores a new entry.
pub(crate) async fn put(store: &FileStore, column: &str, step: usize, entry: Entry) {
    assert_eq!(store.put(name(column), step, entry).await.expect("it is stored"), Put::Stored);
}

/// The stored entry of a cell.
pub(crate) async fn load(store: &FileStore, column: &str, step: usize) -> Result<Entry, StoreError> {
    let entries = store.load(name(column), step..step + 1).await?;
    let mut entries = entries.into_iter();
    let (at, entry) = entries.next().expect("there is an entry");
    assert_eq!((at, entries.next()), (step, None));
    Ok(entry)
}

/// A store that is open.
pub(crate) async fn opened(folder: &Path) -> FileStore {
    let store = FileStore::new(folder);
    store.open().await.expect("it opens");
    store
}

/// The error of opening a store.
pub(crate) async fn refused(folder: &Path) -> StoreError {
    FileStore::new(folder).open().await.expect_err("it cannot be opened")
}

/// A chat of three steps without the last value of `assistant`, and with a skipped note.
pub(crate) async fn talk() -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().canonicalize().expect("it is there").join("talk");
    let store = opened(&folder).await;
    store.define("talk".into()).await.expect("it is defined");
    for (step, text) in ["hello\n", "", "how are you?"].into_iter().enumerate() {
        put(&store, "user", step, value(text)).await;
    }
    put(&store, "assistant", 0, value("Hello!")).await;
    put(&store, "assistant", 1, value("?")).await;
    put(&store, "note", 0, Entry::SKIPPED).await;
    drop(store);
    (scratch, folder)
}

/// The files of a folder, by their paths in it.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                open.push(path);
            } else {
                files.push(path.strip_prefix(folder).expect("inside").to_str().expect("text").to_owned());
            }
        }
    }
    files.sort();
    files
}

/// Copies a folder and its contents.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let copy = to.join(&file);
        fs::create_dir_all(copy.parent().expect("it has one")).expect("it can be made");
        fs::copy(from.join(file), copy).expect("it can be copied");
    }
}
