//! The own files of a store that are moved, replaced or linked while it is open.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use columnar::store::{FileStore, Store, StoreError};

use super::folder::{files, name, opened, put, talk, value};

/// A change of the files of a store: its name, the path that it is about, and the reason in the error.
type Change = (&'static str, &'static str, &'static str, fn(&Path, &Path));

const LOG: &str = ".columnar/cells";
const STAGED: &str = ".columnar/staged";
const NO_FILE: &str = "it is a link, a folder, a pipe or a device, and no file";

/// Each gets the folder of the store, and another one.
const CHANGES: [Change; 13] = [
    ("log removed", LOG, "it is missing", |folder, _| {
        fs::remove_file(folder.join(LOG)).expect("it is there");
    }),
    ("log emptied", LOG, "it was cut", |folder, _| {
        fs::write(folder.join(LOG), "").expect("it can be written");
    }),
    ("log without its last byte", LOG, "it was cut", |folder, _| {
        let log = fs::OpenOptions::new().write(true).open(folder.join(LOG)).expect("it is there");
        let len = log.metadata().expect("it is open").len();
        log.set_len(len - 1).expect("it can be cut");
    }),
    ("log replaced by a copy", LOG, "it was replaced by another file", |folder, other| {
        fs::copy(folder.join(LOG), other.join("copy")).expect("it can be copied");
        fs::rename(other.join("copy"), folder.join(LOG)).expect("it can be renamed");
    }),
    ("log with a second name", LOG, "it has a second name, a hard link", |folder, other| {
        fs::hard_link(folder.join(LOG), other.join("second")).expect("it can be linked");
    }),
    ("log moved, and a link to it", LOG, NO_FILE, |folder, other| {
        fs::rename(folder.join(LOG), other.join("moved")).expect("it can be moved");
        symlink(other.join("moved"), folder.join(LOG)).expect("it can be linked");
    }),
    ("log replaced by a pipe", LOG, NO_FILE, |folder, _| {
        fs::remove_file(folder.join(LOG)).expect("it is there");
        let made = Command::new("mkfifo").arg(folder.join(LOG)).status().expect("`mkfifo` is there");
        assert!(made.success());
    }),
    ("log with a line of another program", LOG, "another program wrote to it", |folder, _| {
        let whole = fs::read_to_string(folder.join(LOG)).expect("it is there");
        fs::write(folder.join(LOG), whole + "a note\n").expect("it can be written");
    }),
    ("staged removed", STAGED, "it is missing", |folder, _| {
        fs::remove_dir_all(folder.join(STAGED)).expect("it is there");
    }),
    ("staged replaced by a link", STAGED, "it is not a folder", |folder, other| {
        fs::remove_dir_all(folder.join(STAGED)).expect("it is there");
        symlink(other, folder.join(STAGED)).expect("it can be linked");
    }),
    ("staged moved, and a link to it", STAGED, "it is not a folder", |folder, other| {
        fs::rename(folder.join(STAGED), other.join("moved")).expect("it can be moved");
        symlink(other.join("moved"), folder.join(STAGED)).expect("it can be linked");
    }),
    ("staged replaced by a folder", STAGED, "it was replaced by another folder", |folder, other| {
        fs::rename(folder.join(STAGED), other.join("moved")).expect("it can be moved");
        fs::create_dir(folder.join(STAGED)).expect("it can be made");
    }),
    ("`.columnar` moved, and a link to it", ".columnar", "it is not a folder", |folder, other| {
        fs::rename(folder.join(".columnar"), other.join("moved")).expect("it can be moved");
        symlink(other.join("moved"), folder.join(".columnar")).expect("it can be linked");
    }),
];

/// A store that is open, with cells that it has stored since.
async fn at_work() -> (tempfile::TempDir, std::path::PathBuf, FileStore) {
    let (scratch, folder) = talk().await;
    fs::create_dir(scratch.path().join("other")).expect("it can be made");
    let store = opened(&folder).await;
    put(&store, "assistant", 2, value("fine").with_receipt("{}")).await;
    (scratch, folder, store)
}

/// A store went on confirming after its log was removed, cut, replaced or linked, or a link was in the place of its staged
/// files: values were confirmed whose lines, with receipts and skipped cells, were lost, or were written elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn s10_x4_nothing_is_confirmed_after_the_log_or_the_staged_files_were_changed() {
    for (change, path, reason, apply) in CHANGES {
        for defines in [false, true] {
            let (scratch, folder, store) = at_work().await;
            let other = scratch.path().join("other");
            apply(&folder, &other);
            let before = (files(&folder), files(&other));
            let refused = if defines {
                store.define("another".into()).await
            } else {
                store.put(name("user"), 3, value("x")).await.map(drop)
            };
            let expected = format!("{} cannot be written to: {reason}", folder.join(path).display());
            assert_eq!(refused.expect_err(change).to_string(), expected, "{change}");
            let refused = store.put(name("user"), 3, value("x")).await;
            assert!(matches!(refused, Err(StoreError::Halted)), "{change}: {refused:?}");
            drop(store);
            assert_eq!((files(&folder), files(&other)), before, "{change}: nothing is written");
        }
    }
}

/// Each confirmed value is there when its store is opened again, whatever was confirmed beside it.
#[tokio::test(flavor = "multi_thread")]
async fn s10_a_store_whose_files_are_left_alone_goes_on() {
    let (_scratch, folder, store) = at_work().await;
    for step in 3..40 {
        put(&store, "user", step, value("x")).await;
        store.define(format!("definition {step}")).await.expect("it is defined");
    }
    drop(store);
    assert_eq!(opened(&folder).await.stored_steps(name("user")).await.expect("it is open").prefix, 40);
}
