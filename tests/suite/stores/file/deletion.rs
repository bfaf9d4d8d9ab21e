//! Deleting a flow of a folder that has other files, too.

use std::fs;

use columnar::store::{FileStore, Store, StoreError};

use super::folder::{files, load, name, opened, put, refused, talk, value};

#[tokio::test]
async fn s16_a_deletion_leaves_files_that_are_not_the_stores() {
    let (_scratch, folder) = talk().await;
    let others = [
        "README.md",
        "3.txt",
        "user/notes.txt",
        "user/.3.txt.swp",
        ".git/0.txt",
        "Notes/0.txt",
        ".columnar/mine",
    ];
    for file in others {
        fs::create_dir_all(folder.join(file).parent().expect("it has one")).expect("it can be made");
        fs::write(folder.join(file), "mine").expect("it can be written");
    }
    // The next flow would adopt it, or reject it.
    fs::write(folder.join("user/3.txt"), "by hand").expect("it can be written");
    FileStore::new(&folder).delete().await.expect("it is closed");
    let mut expected = others.to_vec();
    expected.sort_unstable();
    assert_eq!(files(&folder), expected);
    assert!(!folder.join("assistant").exists(), "a folder without files is removed");

    let store = opened(&folder).await;
    assert_eq!(store.stored_steps(name("user")).await.expect("it is open").prefix, 0);
    put(&store, "user", 0, value("another")).await;
    assert_eq!(load(&store, "user", 0).await.expect("it is there"), value("another"));
}

#[cfg(unix)]
#[tokio::test]
async fn s16_a_link_to_a_deleted_folder_can_be_opened_again() {
    let (scratch, folder) = talk().await;
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink(&folder, &link).expect("it can be linked");
    FileStore::new(&link).delete().await.expect("it is closed");
    assert_eq!(files(&folder), [""; 0]);
    put(&opened(&link).await, "user", 0, value("another")).await;
    assert_eq!(load(&opened(&folder).await, "user", 0).await.expect("it is there"), value("another"));
}

#[tokio::test]
async fn s13_a_store_of_another_format_is_not_deleted() {
    for format in ["4\n", "one"] {
        let (_scratch, folder) = talk().await;
        fs::write(folder.join(".columnar/format"), format).expect("it can be written");
        let before = files(&folder);
        let error = FileStore::new(&folder).delete().await.expect_err("it is unknown");
        assert!(matches!(error, StoreError::Unsupported { .. } | StoreError::Damaged { .. }), "{error}");
        assert_eq!(files(&folder), before);
    }
    // The file that says whether there is a store is gone, and its log is there.
    let (_scratch, folder) = talk().await;
    fs::remove_file(folder.join(".columnar/format")).expect("it is there");
    let (before, expected) = (files(&folder), refused(&folder).await.to_string());
    let error = FileStore::new(&folder).delete().await.expect_err("it is damaged");
    assert_eq!((error.to_string(), files(&folder)), (expected, before));
}

/// An earlier version must not take what is left for a store.
#[tokio::test]
async fn s16_an_interrupted_deletion_is_finished_by_the_next_flow() {
    let (_scratch, folder) = talk().await;
    fs::write(folder.join(".columnar/format"), "deleted\n").expect("it can be written");
    assert!(FileStore::new(&folder).verify().await.expect("there is no store").is_empty());
    let parent = folder.parent().expect("it has one");
    assert!(FileStore::flows(parent).await.expect("it can be read").is_empty());
    let store = FileStore::new(&folder);
    assert_eq!(store.open().await.expect("it is free"), None);
    assert_eq!(store.stored_steps(name("user")).await.expect("it is open").prefix, 0);
    assert_eq!(FileStore::flows(parent).await.expect("it can be read"), [folder]);
}
