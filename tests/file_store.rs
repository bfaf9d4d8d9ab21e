//! A store in files, seen from outside: its folder, and what people, programs and disks do to it.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use columnar::store::{Entry, FileStore, Put, Store, StoreError};
use columnar::testing::conformance;
use columnar::{Name, Value};
use tempfile::TempDir;

fn name(name: &str) -> Name {
    Name::new(name).expect("a name")
}

fn value(text: &str) -> Entry {
    Entry::Value(Value::from(text))
}

async fn put(store: &FileStore, column: &str, step: usize, entry: Entry) {
    assert_eq!(store.put(name(column), step, entry).await.expect("it is stored"), Put::Stored);
}

async fn load(store: &FileStore, column: &str, step: usize) -> Result<Entry, StoreError> {
    let entries = store.load(name(column), step..step + 1).await?;
    let [(at, entry)] = &entries[..] else { panic!("there is one entry, not {entries:?}") };
    assert_eq!(*at, step);
    Ok(entry.clone())
}

async fn opened(folder: &Path) -> FileStore {
    let store = FileStore::new(folder);
    store.open().await.expect("it opens");
    store
}

async fn refused(folder: &Path) -> StoreError {
    FileStore::new(folder).open().await.expect_err("it cannot be opened")
}

/// A talk of three steps, whose last assistant is not there yet, and that skipped a note.
async fn talk() -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().canonicalize().expect("it is there").join("talk");
    let store = opened(&folder).await;
    store.define("talk".into()).await.expect("it is defined");
    for (step, text) in ["hello\n", "", "how are you?"].into_iter().enumerate() {
        put(&store, "user", step, value(text)).await;
    }
    put(&store, "assistant", 0, value("Hello!")).await;
    put(&store, "assistant", 1, value("?")).await;
    put(&store, "note", 0, Entry::Skipped).await;
    drop(store);
    (scratch, folder)
}

/// The files of a folder, by their paths in it.
fn files(folder: &Path) -> Vec<String> {
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

/// Loading this cell says what is wrong with it, as does looking at everything, which finds nothing else.
/// The other cells are as they were, and nothing is changed.
async fn is_corrupt(folder: &Path, column: &str, step: usize, what: &str) {
    let store = opened(folder).await;
    let before = files(folder);
    let said = load(&store, column, step).await.expect_err("it is not what was stored");
    assert!(
        matches!(&said, StoreError::Corrupt { column: at, step: of, .. } if at == column && *of == step),
        "{said:?}"
    );
    let path = folder.join(column).join(format!("{step}.txt"));
    assert_eq!(said.to_string(), format!("`{column}` at step {step} is damaged: {} {what}", path.display()));
    let defects: Vec<String> =
        store.verify().await.expect("it can be read").iter().map(ToString::to_string).collect();
    assert_eq!(defects, [said.to_string()]);
    for (other, at) in
        [("user", 0), ("user", 1), ("user", 2), ("assistant", 0), ("assistant", 1), ("note", 0)]
    {
        assert_eq!(load(&store, other, at).await.is_ok(), (other, at) != (column, step), "{other} {at}");
    }
    assert_eq!(files(folder), before);
}

const EDITED: &str = "was edited or damaged after it was stored; put back what it was";

#[tokio::test]
async fn a_store_in_files_keeps_the_contract() {
    let scratch = tempfile::tempdir().expect("a folder");
    let places = Cell::new(0);
    conformance(|| {
        places.set(places.get() + 1);
        let place = scratch.path().join(places.get().to_string());
        move || FileStore::new(&place)
    })
    .await;
    assert!(places.get() > 10);
}

#[tokio::test]
async fn the_folder_holds_the_values_and_one_folder_more() {
    let (_scratch, folder) = talk().await;
    assert_eq!(
        files(&folder),
        [
            ".columnar/cells",
            ".columnar/definition",
            ".columnar/format",
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
async fn nothing_is_touched_before_it_is_opened() {
    let scratch = tempfile::tempdir().expect("a folder");
    let store = FileStore::new(scratch.path().join("a/b"));
    assert!(store.verify().await.is_err(), "there is nothing to look at");
    drop(store);
    assert_eq!(fs::read_dir(scratch.path()).expect("a folder").count(), 0);
}

#[tokio::test]
async fn s1_values_that_are_cut_empty_or_zeroed_are_damaged() {
    let (_scratch, folder) = talk().await;
    let path = folder.join("user/2.txt");
    let whole = fs::read(&path).expect("it is there");
    let cut = (0..whole.len()).map(|len| whole[..len].to_vec());
    for bytes in cut.chain([vec![0; whole.len()], [&whole[..], b"\n"].concat(), vec![0; 1 << 20]]) {
        fs::write(&path, &bytes).expect("it can be written");
        is_corrupt(&folder, "user", 2, EDITED).await;
    }
    // An empty value is one.
    fs::write(&path, &whole).expect("it can be written");
    fs::write(folder.join("user/1.txt"), "\0").expect("it can be written");
    is_corrupt(&folder, "user", 1, EDITED).await;
}

#[tokio::test]
async fn s2_no_bit_of_a_value_can_be_flipped() {
    let (_scratch, folder) = talk().await;
    let text = "A value of 200 bytes. ".repeat(9) + "..";
    assert_eq!(text.len(), 200);
    let store = opened(&folder).await;
    put(&store, "long", 0, value(&text)).await;
    let path = folder.join("long/0.txt");
    let mut bytes = text.clone().into_bytes();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).expect("it can be written");
        assert!(matches!(load(&store, "long", 0).await, Err(StoreError::Corrupt { .. })), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    fs::write(&path, &bytes).expect("it can be written");
    assert_eq!(load(&store, "long", 0).await.expect("it is whole"), value(&text));
}

#[tokio::test]
async fn s2_no_bit_of_what_stands_beside_the_values_can_be_flipped() {
    let (_scratch, folder) = talk().await;
    let seen = async || -> Result<_, StoreError> {
        let store = FileStore::new(&folder);
        let definition = store.open().await?;
        let mut cells = Vec::new();
        for column in ["assistant", "note", "user"] {
            cells.extend(
                store.load(name(column), 0..9).await?.into_iter().map(|(step, entry)| (column, step, entry)),
            );
        }
        Ok((definition, cells))
    };
    let expected = seen().await.expect("it is whole");
    assert_eq!(expected.1.len(), 6);
    for file in ["cells", "definition", "format"] {
        let path = folder.join(".columnar").join(file);
        let mut bytes = fs::read(&path).expect("it is there");
        let mut refused = 0;
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &bytes).expect("it can be written");
            bytes[bit / 8] ^= 1 << (bit % 8);
            match seen().await {
                // What was not lost may be found again.
                Ok(seen) => assert_eq!(seen, expected, "bit {bit} of {file}"),
                Err(StoreError::Damaged { place, .. }) => {
                    assert_eq!(place, path.to_str().expect("text"));
                    refused += 1;
                }
                Err(StoreError::Unsupported { .. }) => {
                    assert_eq!(file, "format");
                    refused += 1;
                }
                Err(error) => panic!("bit {bit} of {file}: {error}"),
            }
        }
        fs::write(&path, &bytes).expect("it can be written");
        assert!(refused * 10 > bytes.len() * 8 * 5, "{refused} of {file}");
    }
}

#[tokio::test]
async fn s3_edits_at_rest_are_found() {
    // Tampered with.
    let (_scratch, folder) = talk().await;
    fs::write(folder.join("assistant/0.txt"), "Hello?").expect("it can be written");
    is_corrupt(&folder, "assistant", 0, EDITED).await;
    // The last one, and one in the middle, removed.
    for (column, step) in [("assistant", 1), ("user", 1)] {
        let (_scratch, folder) = talk().await;
        fs::remove_file(folder.join(column).join(format!("{step}.txt"))).expect("it can be removed");
        is_corrupt(&folder, column, step, "is not there any more; put it back").await;
    }
    // Two of the same length, swapped.
    let (_scratch, folder) = talk().await;
    let store = opened(&folder).await;
    for (step, text) in [(0, "to be"), (1, "or so")] {
        put(&store, "map", step, value(text)).await;
    }
    fs::rename(folder.join("map/0.txt"), folder.join("map/x")).expect("it can be renamed");
    fs::rename(folder.join("map/1.txt"), folder.join("map/0.txt")).expect("it can be renamed");
    fs::rename(folder.join("map/x"), folder.join("map/1.txt")).expect("it can be renamed");
    for step in 0..2 {
        assert!(matches!(load(&store, "map", step).await, Err(StoreError::Corrupt { .. })));
    }
    // Put back, all is well: what is there is the same.
    fs::write(folder.join("map/0.txt"), "to be").expect("it can be written");
    assert_eq!(load(&store, "map", 0).await.expect("it is as it was"), value("to be"));
}

#[tokio::test]
async fn s3_what_lost_its_log_or_its_format_is_refused() {
    for file in ["cells", "format"] {
        let (_scratch, folder) = talk().await;
        let path = folder.join(".columnar").join(file);
        fs::remove_file(&path).expect("it can be removed");
        let said = refused(&folder).await;
        assert_eq!(said.to_string(), format!("{} is damaged: it is not there any more", path.display()));
    }
}

#[tokio::test]
async fn s3_a_log_that_was_emptied_zeroed_or_cut_is_not_taken_for_one_that_knows_nothing() {
    let (_scratch, folder) = talk().await;
    let path = folder.join(".columnar/cells");
    let whole = fs::read(&path).expect("it is there");
    for log in [Vec::new(), vec![0; whole.len()], b"all is well\n".to_vec()] {
        fs::write(&path, log).expect("it can be written");
        let said = refused(&folder).await;
        assert_eq!(
            said.to_string(),
            format!("{} is damaged: it does not begin as it should", path.display())
        );
    }
    // In the middle of a line: values that it may have known are not taken for texts of people.
    fs::write(&path, &whole[..whole.len() / 2]).expect("it can be written");
    let said = refused(&folder).await;
    assert!(said.to_string().contains("the log ends in the middle of a line"), "{said}");
    let defects = FileStore::new(&folder).verify().await.expect("it can be read");
    assert!(defects.iter().any(|defect| defect.to_string() == said.to_string()), "{defects:?}");
    // Where that is all that there is, they are.
    fs::rename(folder.join(".columnar"), folder.join("put aside")).expect("it can be renamed");
    let store = opened(&folder).await;
    assert_eq!(load(&store, "user", 2).await.expect("it is there"), value("how are you?"));
}

#[tokio::test]
async fn texts_of_people_are_taken_over_as_the_next_steps() {
    let (_scratch, folder) = talk().await;
    fs::write(folder.join("user/3.txt"), "by hand\n").expect("it can be written");
    fs::write(folder.join("user/4.txt"), "and another").expect("it can be written");
    fs::create_dir(folder.join("diary")).expect("it can be made");
    fs::write(folder.join("diary/0.txt"), "dear").expect("it can be written");
    let store = FileStore::new(&folder);
    assert!(store.verify().await.expect("it can be read").is_empty());
    store.open().await.expect("it opens");
    assert_eq!(store.extent(name("user")).await.expect("it is open").prefix, 5);
    assert_eq!(load(&store, "user", 3).await.expect("it is there"), value("by hand\n"));
    assert_eq!(load(&store, "diary", 0).await.expect("it is there"), value("dear"));
    drop(store);
    // It is a value like any other from then on.
    fs::write(folder.join("user/3.txt"), "changed").expect("it can be written");
    is_corrupt_beside(&folder, 3).await;
}

async fn is_corrupt_beside(folder: &Path, step: usize) {
    let store = opened(folder).await;
    assert!(matches!(load(&store, "user", step).await, Err(StoreError::Corrupt { .. })));
}

#[tokio::test]
async fn texts_of_people_at_other_steps_are_an_error_that_says_what_to_do() {
    for (file, said) in [
        (
            "user/4.txt",
            "`user` at step 4 is damaged: PATH was not put there by a flow, and the next step is 3; rename it, or move it away",
        ),
        (
            "other/1.txt",
            "`other` at step 1 is damaged: PATH was not put there by a flow, and the next step is 0; rename it, or move it away",
        ),
        ("user/03.txt", "PATH is damaged: no step is called that; rename it, or move it away"),
        (
            "user/99999999999999999999.txt",
            "PATH is damaged: no step is called that; rename it, or move it away",
        ),
    ] {
        let (_scratch, folder) = talk().await;
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        fs::write(&path, "by hand").expect("it can be written");
        let said = said.replace("PATH", path.to_str().expect("text"));
        assert_eq!(refused(&folder).await.to_string(), said);
        let defects = FileStore::new(&folder).verify().await.expect("it can be read");
        assert_eq!(defects.iter().map(ToString::to_string).collect::<Vec<_>>(), [said]);
        fs::remove_file(&path).expect("it can be removed");
        opened(&folder).await;
    }
    let (_scratch, folder) = talk().await;
    fs::create_dir(folder.join("user/3.txt")).expect("it can be made");
    let said = format!("{} is damaged: it is not a file; move it away", folder.join("user/3.txt").display());
    assert_eq!(refused(&folder).await.to_string(), said);
}

#[tokio::test]
async fn s14_files_that_are_no_steps_are_left_alone() {
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
    assert_eq!(store.extent(name("user")).await.expect("it is open").prefix, 3);
    put(&store, "user", 3, value("more")).await;
    assert!(store.verify().await.expect("it can be read").is_empty());
    for file in odd {
        assert_eq!(fs::read_to_string(folder.join(file)).expect("it is there"), "odd");
    }
}

#[tokio::test]
async fn s13_what_a_later_version_wrote_is_refused_before_anything_is_written() {
    let scratch = tempfile::tempdir().expect("a folder");
    fs::create_dir(scratch.path().join(".columnar")).expect("it can be made");
    fs::write(scratch.path().join(".columnar/format"), "2\n").expect("it can be written");
    let said = refused(scratch.path()).await;
    assert!(matches!(said, StoreError::Unsupported { found: 2, known: 1, .. }), "{said}");
    assert!(FileStore::new(scratch.path()).verify().await.is_err());
    assert_eq!(files(scratch.path()), [".columnar/format"]);
    fs::write(scratch.path().join(".columnar/format"), "one").expect("it can be written");
    assert!(matches!(refused(scratch.path()).await, StoreError::Damaged { .. }));
    assert_eq!(files(scratch.path()), [".columnar/format"]);
}

#[tokio::test]
async fn i2_bytes_that_are_no_text_are_never_made_one() {
    let (_scratch, folder) = talk().await;
    let path = folder.join("user/3.txt");
    fs::write(&path, b"caf\xe9").expect("it can be written");
    let said = refused(&folder).await.to_string();
    assert_eq!(
        said,
        format!("`user` at step 3 is damaged: {} is not UTF-8; write it in UTF-8", path.display())
    );
    assert_eq!(fs::read(&path).expect("it is there"), b"caf\xe9");
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
async fn x2_no_error_says_what_was_said() {
    let secret = "a secret that nobody may read";
    let (_scratch, folder) = talk().await;
    let store = opened(&folder).await;
    store.define(secret.into()).await.expect("it is defined");
    put(&store, "user", 3, value(secret)).await;
    let mut said = vec![format!("{store:?}")];
    fs::write(folder.join("user/3.txt"), format!("{secret}!")).expect("it can be written");
    let errors = [load(&store, "user", 3).await.err(), store.put(name("user"), 3, value(secret)).await.err()];
    said.extend(
        errors.into_iter().map(|error| format!("{error:?} {}", error.as_ref().expect("it is damaged"))),
    );
    drop(store);
    fs::write(folder.join("user/9.txt"), secret).expect("it can be written");
    said.push(format!("{:?}", refused(&folder).await));
    fs::remove_file(folder.join("user/9.txt")).expect("it can be removed");
    for file in ["definition", "cells", "format"] {
        let path = folder.join(".columnar").join(file);
        let kept = fs::read(&path).expect("it is there");
        fs::write(&path, secret).expect("it can be written");
        let defects = FileStore::new(&folder).verify().await.expect("it can be read");
        said.push(format!("{:?} {defects:?}", refused(&folder).await));
        fs::write(&path, kept).expect("it can be written");
    }
    assert_eq!(said.len(), 7);
    for said in said {
        assert!(!said.contains("secret") && !said.contains("nobody"), "{said}");
    }
}
