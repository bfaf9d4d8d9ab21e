//! A store in files: its folder, its owner, and files that are added by hand.

mod attachments;
mod by_hand;
mod damage;
mod deletion;
mod folder;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod meanwhile;

use std::cell::Cell;
use std::io::{self, BufRead, BufReader};
use std::process::Stdio;
use std::{env, fs};

use columnar::Name;
use columnar::prelude::*;
use columnar::store::{FileStore, Store, StoreError};
use columnar::testing::{Cassette, Record, conformance};
use columnar_tests::process::test_alone;
use folder::{files, load, name, not_logged, opened, put, refused, talk, value};

#[tokio::test]
async fn the_file_store_conforms_to_the_contract() {
    let scratch = tempfile::tempdir().expect("a folder");
    let locations = Cell::new(0);
    conformance(|| {
        locations.set(locations.get() + 1);
        let folder = scratch.path().join(locations.get().to_string());
        move || FileStore::new(&folder)
    })
    .await;
    assert!(locations.get() > 10);
}

#[tokio::test]
async fn the_folder_has_the_values_and_one_other_folder() {
    let (_scratch, folder) = talk().await;
    assert_eq!(
        files(&folder),
        [
            ".columnar/cells",
            ".columnar/definition",
            ".columnar/format",
            ".columnar/known",
            ".columnar/lock",
            "assistant/0.txt",
            "assistant/1.txt",
            "user/0.txt",
            "user/1.txt",
            "user/2.txt",
        ]
    );
    assert_eq!(fs::read(folder.join("user/0.txt")).expect("it is there"), b"hello\n");
    assert_eq!(FileStore::new(&folder).folder(), folder);
}

#[tokio::test]
async fn no_file_is_touched_before_the_store_is_opened() {
    let scratch = tempfile::tempdir().expect("a folder");
    let store = FileStore::new(scratch.path().join("a/b"));
    assert!(store.verify().await.is_err(), "there is nothing to look at");
    drop(store);
    assert_eq!(fs::read_dir(scratch.path()).expect("a folder").count(), 0);
}

#[tokio::test]
async fn files_added_by_hand_are_adopted_as_the_next_steps() {
    let (_scratch, folder) = talk().await;
    fs::write(folder.join("user/3.txt"), "by hand\n").expect("it can be written");
    fs::write(folder.join("user/4.txt"), "and another").expect("it can be written");
    fs::create_dir(folder.join("diary")).expect("it can be made");
    fs::write(folder.join("diary/0.txt"), "dear").expect("it can be written");
    let store = FileStore::new(&folder);
    assert!(store.verify().await.expect("it can be read").is_empty());
    store.open().await.expect("it opens");
    assert_eq!(store.stored_steps(name("user")).await.expect("it is open").prefix, 5);
    assert_eq!(load(&store, "user", 3).await.expect("it is there"), value("by hand\n"));
    assert_eq!(load(&store, "diary", 0).await.expect("it is there"), value("dear"));
    drop(store);
    // Nothing was written yet, so it may be corrected.
    fs::write(folder.join("user/3.txt"), "corrected").expect("it can be written");
    let store = opened(&folder).await;
    assert_eq!(load(&store, "user", 3).await.expect("it is there"), value("corrected"));
    // The file is a value like any other from the next write on, and was so when that was confirmed.
    put(&store, "assistant", 2, value("indeed")).await;
    fs::write(folder.join("user/3.txt"), "changed").expect("it can be written");
    assert!(matches!(load(&store, "user", 3).await, Err(StoreError::Corrupt { .. })));
    drop(store);
    assert!(matches!(load(&opened(&folder).await, "user", 3).await, Err(StoreError::Corrupt { .. })));
}

#[tokio::test]
async fn files_added_by_hand_at_other_steps_are_an_error_with_a_remedy() {
    for (file, expected) in [
        ("user/4.txt", format!("`user` at step 4 is damaged: PATH {}", not_logged(3))),
        ("other/1.txt", format!("`other` at step 1 is damaged: PATH {}", not_logged(0))),
        ("user/03.txt", "PATH is damaged: no step is called that; rename it, or move it away".into()),
        ("note/0.txt", "PATH is damaged: the cell is empty for good; move it away".into()),
        (
            "user/99999999999999999999.txt",
            "PATH is damaged: no step is called that; rename it, or move it away".into(),
        ),
    ] {
        let (_scratch, folder) = talk().await;
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        fs::write(&path, "by hand").expect("it can be written");
        let expected = expected.replace("PATH", path.to_str().expect("text"));
        assert_eq!(refused(&folder).await.to_string(), expected);
        match FileStore::new(&folder).verify().await {
            Ok(defects) => {
                assert!(defects.len() == 1 && expected.ends_with(&defects[0].reason), "{defects:?}");
            }
            Err(error) => assert_eq!(error.to_string(), expected),
        }
        fs::remove_file(&path).expect("it can be removed");
        opened(&folder).await;
    }
    let (_scratch, folder) = talk().await;
    fs::create_dir(folder.join("user/3.txt")).expect("it can be made");
    let expected =
        format!("{} is damaged: it is not a file; move it away", folder.join("user/3.txt").display());
    assert_eq!(refused(&folder).await.to_string(), expected);
}

#[tokio::test]
async fn s14_files_that_are_not_steps_are_ignored() {
    let (_scratch, folder) = talk().await;
    let odd = [
        "user/.DS_Store",
        "user/.3.txt.swp",
        "user/3.txt~",
        "user/#3.txt#",
        "user/3.tmp",
        "user/3",
        "user/.txt",
        "README.md",
        "3.txt",
        "Notes/0.txt",
        ".git/0.txt",
        ".columnar/staged/.DS_Store",
        "user/x/0.txt",
    ];
    for file in odd {
        fs::create_dir_all(folder.join(file).parent().expect("it has one")).expect("it can be made");
        fs::write(folder.join(file), "odd").expect("it can be written");
    }
    let store = opened(&folder).await;
    assert_eq!(store.stored_steps(name("user")).await.expect("it is open").prefix, 3);
    put(&store, "user", 3, value("more")).await;
    assert!(store.verify().await.expect("it can be read").is_empty());
    for file in odd {
        assert_eq!(fs::read_to_string(folder.join(file)).expect("it is there"), "odd");
    }
}

#[tokio::test]
async fn s13_a_newer_format_is_rejected_before_anything_is_written() {
    let scratch = tempfile::tempdir().expect("a folder");
    fs::create_dir(scratch.path().join(".columnar")).expect("it can be made");
    fs::write(scratch.path().join(".columnar/format"), "3\n").expect("it can be written");
    let error = refused(scratch.path()).await;
    assert!(matches!(error, StoreError::Unsupported { found: 3, known: 2, .. }), "{error}");
    assert!(FileStore::new(scratch.path()).verify().await.is_err());
    assert_eq!(files(scratch.path()), [".columnar/format"]);
    fs::write(scratch.path().join(".columnar/format"), "one").expect("it can be written");
    assert!(matches!(refused(scratch.path()).await, StoreError::Damaged { .. }));
    assert_eq!(files(scratch.path()), [".columnar/format"]);
}

#[tokio::test]
async fn i4_nothing_is_written_outside_the_folder() {
    let (scratch, folder) = talk().await;
    for bad in ["..", "../x", "a/b", "/x", ".columnar", "", "a\0b", "A"] {
        assert!(Name::new(bad).is_err(), "{bad:?}");
    }
    let longest = ["x".repeat(64), "y".repeat(64), "z".repeat(64)].join(".");
    put(&opened(&folder).await, &longest, usize::MAX - 1, value("far")).await;
    assert_eq!(
        load(&opened(&folder).await, &longest, usize::MAX - 1).await.expect("it is there"),
        value("far")
    );
    assert_eq!(fs::read_dir(scratch.path()).expect("a folder").count(), 1);
}

#[tokio::test]
async fn x2_no_error_quotes_a_value() {
    let secret = "a secret of the conversation";
    let (_scratch, folder) = talk().await;
    let store = opened(&folder).await;
    store.define(secret.into()).await.expect("it is defined");
    put(&store, "user", 3, value(secret)).await;
    let mut texts = vec![format!("{store:?}")];
    fs::write(folder.join("user/3.txt"), format!("{secret}!")).expect("it can be written");
    let errors = [load(&store, "user", 3).await.err(), store.put(name("user"), 3, value(secret)).await.err()];
    texts.extend(
        errors.into_iter().map(|error| format!("{error:?} {}", error.as_ref().expect("it is damaged"))),
    );
    drop(store);
    fs::write(folder.join("user/9.txt"), secret).expect("it can be written");
    texts.push(format!("{:?}", refused(&folder).await));
    fs::remove_file(folder.join("user/9.txt")).expect("it can be removed");
    for file in ["definition", "cells", "format"] {
        let path = folder.join(".columnar").join(file);
        let kept = fs::read(&path).expect("it is there");
        fs::write(&path, secret).expect("it can be written");
        texts.push(format!("{:?} {:?}", refused(&folder).await, FileStore::new(&folder).verify().await));
        fs::write(&path, kept).expect("it can be written");
    }
    assert_eq!(texts.len(), 7);
    for text in texts {
        assert!(!text.contains("secret") && !text.contains("conversation"), "{text}");
    }
}

/// Marks the process that only holds a store open.
const HELD: &str = "COLUMNAR_HELD_FOLDER";

#[tokio::test]
async fn s6_a_second_process_is_locked_out_until_the_first_one_ends() {
    if let Some(folder) = env::var_os(HELD) {
        let _store = opened(folder.as_ref()).await;
        eprintln!("open");
        io::stdin().read_line(&mut String::new()).expect("it waits to be killed");
        return;
    }
    let (_scratch, folder) = talk().await;
    let test = "s6_a_second_process_is_locked_out_until_the_first_one_ends";
    let mut first = test_alone(module_path!(), test)
        .env(HELD, &folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(first.stderr.take().expect("it is piped")).read_line(&mut line).expect("text");
    assert_eq!(line, "open\n");
    for _ in 0..2 {
        let error = refused(&folder).await;
        assert!(
            matches!(&error, StoreError::Locked { location } if *location == folder.display().to_string()),
            "{error}"
        );
    }
    assert!(FileStore::new(&folder).verify().await.expect("no lock is needed").is_empty());
    first.kill().expect("it lives");
    first.wait().expect("it ends");
    let store = opened(&folder).await;
    assert_eq!(load(&store, "user", 0).await.expect("it is there"), value("hello\n"));
}

#[tokio::test]
async fn s10_nothing_is_written_if_the_folder_is_gone() {
    let (scratch, folder) = talk().await;
    let store = opened(&folder).await;
    let aside = scratch.path().join("aside");
    fs::rename(&folder, &aside).expect("it can be moved");
    let before = files(&aside);
    let error = store.put(name("user"), 3, value("x")).await.expect_err("it is gone").to_string();
    assert_eq!(error, format!("{} cannot be written to: it is missing", folder.display()));
    assert!(matches!(store.put(name("user"), 3, value("x")).await, Err(StoreError::Halted)));
    assert!(!folder.exists());
    assert_eq!(files(&aside), before);
}

#[cfg(unix)]
#[tokio::test]
async fn s10_nothing_is_written_if_the_folder_was_replaced() {
    let (scratch, folder) = talk().await;
    let (store, other) = (opened(&folder).await, scratch.path().join("other"));
    let another = opened(&other).await;
    put(&another, "user", 0, value("another")).await;
    drop(another);
    fs::rename(&folder, scratch.path().join("aside")).expect("it can be moved");
    std::os::unix::fs::symlink(&other, &folder).expect("it can be linked");
    let before = files(&other);
    let error = store.put(name("user"), 3, value("x")).await.expect_err("it is another").to_string();
    assert_eq!(
        error,
        format!("{} cannot be written to: it was replaced by another folder", folder.display())
    );
    assert_eq!(files(&other), before);
}

#[cfg(unix)]
#[tokio::test]
async fn s10_nothing_is_written_if_the_folder_of_a_column_is_a_link() {
    let (scratch, folder) = talk().await;
    let (store, aside) = (opened(&folder).await, scratch.path().join("aside"));
    fs::rename(folder.join("user"), &aside).expect("it can be moved");
    std::os::unix::fs::symlink(&aside, folder.join("user")).expect("it can be linked");
    let error = store.put(name("user"), 3, value("x")).await.expect_err("it is a link").to_string();
    assert_eq!(error, format!("{} cannot be written to: it is not a folder", folder.join("user").display()));
    assert_eq!(files(&aside), ["0.txt", "1.txt", "2.txt"]);
}

#[cfg(unix)]
#[tokio::test]
async fn x3_new_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let (_scratch, folder) = talk().await;
    let mode = |path: &std::path::Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    for file in files(&folder) {
        assert_eq!(mode(&folder.join(&file)), 0o600, "{file}");
    }
    for made in ["", "user", ".columnar", ".columnar/staged"] {
        assert_eq!(mode(&folder.join(made)), 0o700, "{made}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn x4_a_link_to_the_folder_is_followed_once() {
    use std::os::unix::fs::symlink;

    let (scratch, folder) = talk().await;
    let (link, other) = (scratch.path().join("link"), scratch.path().join("other"));
    symlink(&folder, &link).expect("it can be linked");
    let store = opened(&link).await;
    fs::create_dir(&other).expect("it can be made");
    fs::remove_file(&link).expect("it can be removed");
    symlink(&other, &link).expect("it can be linked");
    put(&store, "user", 3, value("x")).await;
    assert_eq!(fs::read_dir(&other).expect("a folder").count(), 0);
    assert!(folder.join("user/3.txt").exists());
    assert!(matches!(refused(&folder).await, StoreError::Locked { .. }), "by either path");
}

/// The errors of a store showed its path as it is, so the name of a folder could rename the window of a terminal.
#[tokio::test]
async fn x6_the_path_of_a_store_cannot_control_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("chat\u{1b}]0;title\u{7}\n\u{9b}2J\u{202e}gpj");
    let first = FileStore::new(&path);
    first.open().await.expect("it is new");
    let mut errors = vec![FileStore::new(&path).open().await.expect_err("it is locked").to_string()];
    #[cfg(feature = "sqlite")]
    {
        let store = columnar::store::SqliteStore::new(&path, "a\u{1b}c");
        errors.push(store.open().await.expect_err("it is a folder").to_string());
    }
    let cassette = Cassette::open(&path, Record::Nothing);
    let chat = flow([column("bot", source("user").latest(), prompt("Answer.").model(cassette))])
        .expect("it is sound");
    chat.push("user", "Hi").await.expect("in memory");
    errors.push(chat.run().await.expect_err("it is a folder").to_string());
    for error in errors {
        assert!(error.contains("chat\\u{1b}]0;title\\u{7}\\u{a}\\u{9b}2J\\u{202e}gpj"), "{error}");
        assert!(!error.contains(|c: char| c.is_control() || c == '\u{202e}'), "{error:?}");
    }
}
