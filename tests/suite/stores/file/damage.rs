//! Damaged values and metadata of a store in files.

use std::fs;
use std::path::Path;

use super::folder::{ADOPT, copy, files, load, name, not_logged, opened, put, refused, talk, value};
use columnar::store::{Defect, Entry, FileStore, Store, StoreError};

/// Asserts that loading this cell reports the defect, that `verify` reports nothing else, that the other cells are
/// readable, and that nothing changes.
async fn assert_corrupt(folder: &Path, column: &str, step: usize, reason: &str) {
    let store = opened(folder).await;
    let before = files(folder);
    let error = load(&store, column, step).await.expect_err("it is damaged");
    assert!(
        matches!(&error, StoreError::Corrupt { column: at, step: of, .. } if at == column && *of == step),
        "{error:?}"
    );
    let path = folder.join(column).join(format!("{step}.txt"));
    assert_eq!(
        error.to_string(),
        format!("`{column}` at step {step} is damaged: {} {reason}", path.display())
    );
    let reason = format!("{} {reason}", path.display());
    let defects = store.verify().await.expect("it can be read");
    assert_eq!(defects, [Defect { column: name(column), step, reason }]);
    for (other, at) in
        [("user", 0), ("user", 1), ("user", 2), ("assistant", 0), ("assistant", 1), ("note", 0)]
    {
        assert_eq!(load(&store, other, at).await.is_ok(), (other, at) != (column, step), "{other} {at}");
    }
    assert_eq!(files(folder), before);
}

const EDITED: &str = "was edited or damaged after it was stored; restore its content";

#[tokio::test]
async fn s1_truncated_emptied_and_zeroed_values_are_corrupt() {
    let (_scratch, folder) = talk().await;
    let path = folder.join("user/2.txt");
    let whole = fs::read(&path).expect("it is there");
    let truncated = (0..whole.len()).map(|len| whole[..len].to_vec());
    for bytes in truncated.chain([vec![0; whole.len()], [&whole[..], b"\n"].concat(), vec![0; 1 << 20]]) {
        fs::write(&path, &bytes).expect("it can be written");
        assert_corrupt(&folder, "user", 2, EDITED).await;
    }
    // An empty value is a value.
    fs::write(&path, &whole).expect("it can be written");
    fs::write(folder.join("user/1.txt"), "\0").expect("it can be written");
    assert_corrupt(&folder, "user", 1, EDITED).await;
}

#[tokio::test]
async fn s2_every_flipped_bit_of_a_value_is_detected() {
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
async fn s2_every_flipped_bit_of_the_metadata_is_detected() {
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
    // The tests of the log flip each of its bits; this test checks the values.
    for (file, every) in [("cells", 7), ("definition", 1), ("format", 1)] {
        let path = folder.join(".columnar").join(file);
        let mut bytes = fs::read(&path).expect("it is there");
        let (mut refused, mut tried) = (0, 0);
        for bit in (0..bytes.len() * 8).step_by(every) {
            tried += 1;
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &bytes).expect("it can be written");
            bytes[bit / 8] ^= 1 << (bit % 8);
            match seen().await {
                // Recovery may find the values.
                Ok(seen) => assert_eq!(seen, expected, "bit {bit} of {file}"),
                Err(StoreError::Damaged { location, .. }) => {
                    assert_eq!(location, path.to_str().expect("text"));
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
        assert!(refused * 2 > tried, "{refused} of {tried} in {file}");
    }
}

#[tokio::test]
async fn s3_edited_files_are_detected() {
    // Edited values.
    let (_scratch, folder) = talk().await;
    fs::write(folder.join("assistant/0.txt"), "Hello?").expect("it can be written");
    assert_corrupt(&folder, "assistant", 0, EDITED).await;
    // The last value and one in the middle, removed.
    for (column, step) in [("assistant", 1), ("user", 1)] {
        let (_scratch, folder) = talk().await;
        fs::remove_file(folder.join(column).join(format!("{step}.txt"))).expect("it can be removed");
        assert_corrupt(&folder, column, step, "is missing; restore it").await;
    }
    // Two values of the same length, swapped.
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
    // Restored, the store is sound and unchanged.
    fs::write(folder.join("map/0.txt"), "to be").expect("it can be written");
    assert_eq!(load(&store, "map", 0).await.expect("it is as it was"), value("to be"));
}

#[tokio::test]
async fn s3_a_folder_without_its_log_or_format_is_an_error() {
    for (file, remedy) in [("cells", format!("; {ADOPT}")), ("format", String::new())] {
        let (_scratch, folder) = talk().await;
        let path = folder.join(".columnar").join(file);
        fs::remove_file(&path).expect("it can be removed");
        let error = refused(&folder).await;
        assert_eq!(error.to_string(), format!("{} is damaged: it is missing{remedy}", path.display()));
    }
}

#[tokio::test]
async fn s3_an_emptied_zeroed_or_truncated_log_is_not_read_as_an_empty_one() {
    let (_scratch, folder) = talk().await;
    let path = folder.join(".columnar/cells");
    let whole = fs::read(&path).expect("it is there");
    for log in [Vec::new(), vec![0; whole.len()], b"all is well\n".to_vec()] {
        fs::write(&path, log).expect("it can be written");
        let error = refused(&folder).await;
        assert_eq!(
            error.to_string(),
            format!("{} is damaged: it does not begin as it should; {ADOPT}", path.display())
        );
    }
    // Cut in the middle of a line: values that the log may have listed are not adopted as files added by hand.
    fs::write(&path, &whole[..whole.len() / 2]).expect("it can be written");
    let error = refused(&folder).await;
    assert!(error.to_string().contains("its end is missing"), "{error}");
    // Also if it is not known how many there were, as in a folder of an earlier version.
    fs::remove_file(folder.join(".columnar/known")).expect("it is there");
    let error = refused(&folder).await;
    assert!(error.to_string().contains("the log ends in the middle of a line"), "{error}");
    let defects = FileStore::new(&folder).verify().await.expect("it can be read");
    assert!(error.to_string().ends_with(&defects[0].reason), "{defects:?}");
    // If the log has nothing else, they are adopted.
    fs::rename(folder.join(".columnar"), folder.join("put aside")).expect("it can be renamed");
    let store = opened(&folder).await;
    assert_eq!(load(&store, "user", 2).await.expect("it is there"), value("how are you?"));
}

/// The error of a log that lists fewer cells than it had.
fn lacking(folder: &Path, cells: usize, had: usize) -> String {
    let path = folder.join(".columnar/cells");
    format!(
        "{} is damaged: it lists {cells} cells, and it had {had}: its end is missing; {ADOPT}",
        path.display()
    )
}

/// The complete lines of the log up to each of them, with the number of their cells.
fn cuts(log: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let cells = |lines: &[&str]| lines.iter().filter(|line| !line.starts_with("done")).count();
    (1..lines.len()).map(|end| (lines[..end].concat(), cells(&lines[..end]))).collect()
}

/// A log that ends with a complete line is a valid one: its skipped cells were computed again, its receipts were gone, and
/// its values were adopted as if somebody had added them.
#[tokio::test]
async fn s1_a_log_that_is_cut_at_the_end_of_a_line_is_an_error() {
    let (_scratch, folder) = talk().await;
    let path = folder.join(".columnar/cells");
    let whole = fs::read_to_string(&path).expect("it is there");
    let cuts = cuts(&whole);
    assert!(cuts.len() > 10, "{whole}");
    for (cut, cells) in cuts {
        fs::write(&path, &cut).expect("it can be written");
        if cells == 6 {
            // Without its last `done`, which the others confirm.
            opened(&folder).await;
            continue;
        }
        for _ in 0..2 {
            assert_eq!(refused(&folder).await.to_string(), lacking(&folder, cells, 6));
            let verified = FileStore::new(&folder).verify().await.expect_err("it is damaged");
            assert_eq!(verified.to_string(), lacking(&folder, cells, 6));
            assert_eq!(fs::read_to_string(&path).expect("it is there"), cut, "nothing is mended");
        }
    }
    fs::write(&path, &whole).expect("it can be written");
    // Values that are added by hand are adopted as before, and count with the next write.
    fs::write(folder.join("user/3.txt"), "by hand").expect("it can be written");
    opened(&folder).await.define("talk".into()).await.expect("it is defined");
    fs::write(&path, &whole).expect("it can be written");
    assert_eq!(refused(&folder).await.to_string(), lacking(&folder, 6, 7));
}

/// A process that is killed writes nothing at its end, so what it had at its beginning is known.
#[tokio::test]
async fn s1_a_log_that_is_cut_after_a_kill_is_an_error_up_to_the_last_opening() {
    let (scratch, folder) = talk().await;
    let store = opened(&folder).await;
    put(&store, "note", 1, Entry::SKIPPED).await;
    put(&store, "user", 3, value("more")).await;
    // The files of a process that is killed now.
    let killed = scratch.path().canonicalize().expect("it is there").join("killed");
    copy(&folder, &killed);
    let path = killed.join(".columnar/cells");
    let whole = fs::read_to_string(&path).expect("it is there");
    for (cut, cells) in cuts(&whole) {
        let again = scratch.path().canonicalize().expect("it is there").join("again");
        copy(&killed, &again);
        fs::write(again.join(".columnar/cells"), cut).expect("it can be written");
        if cells < 6 {
            assert_eq!(refused(&again).await.to_string(), lacking(&again, cells, 6));
        } else {
            opened(&again).await;
        }
        fs::remove_dir_all(&again).expect("it is there");
    }
}

/// Folders of an earlier version have no number of known cells, and a loss of power may leave a part of it.
#[tokio::test]
async fn s1_a_folder_without_a_known_number_of_cells_can_be_opened() {
    let (_scratch, folder) = talk().await;
    let path = folder.join(".columnar/known");
    let whole = fs::read(&path).expect("it is there");
    for known in [None, Some(Vec::new()), Some(whole[..whole.len() / 2].to_vec()), Some(vec![0; whole.len()])]
    {
        match known {
            Some(known) => fs::write(&path, known).expect("it can be written"),
            None => fs::remove_file(&path).expect("it is there"),
        }
        opened(&folder).await;
        assert_eq!(fs::read(&path).expect("it is there again"), whole);
    }
}

/// Without its definition, a flow was opened as if it were new: with any columns, and without a word.
#[tokio::test]
async fn s21_a_missing_definition_is_an_error() {
    let (scratch, folder) = talk().await;
    let missing = |folder: &Path| {
        let path = folder.join(".columnar/definition");
        fs::remove_file(&path).expect("it is there");
        format!("{} is damaged: it is missing; {ADOPT}", path.display())
    };
    let expected = missing(&folder);
    assert_eq!(refused(&folder).await.to_string(), expected);
    let verified = FileStore::new(&folder).verify().await.expect_err("it is damaged");
    assert_eq!(verified.to_string(), expected);
    // The way that the error names.
    fs::rename(folder.join(".columnar"), folder.join("put aside")).expect("it can be renamed");
    let store = opened(&folder).await;
    assert_eq!(load(&store, "user", 2).await.expect("it is adopted"), value("how are you?"));
    drop(store);

    // Of a process that was killed before it closed the flow.
    let (first, killed) =
        (scratch.path().join("first"), scratch.path().canonicalize().expect("it is there").join("killed"));
    let store = opened(&first).await;
    store.define("talk".into()).await.expect("it is defined");
    put(&store, "user", 0, value("hello")).await;
    copy(&first, &killed);
    let expected = missing(&killed);
    assert_eq!(refused(&killed).await.to_string(), expected);

    // Nobody defined it, so none is missing.
    let undefined = scratch.path().join("undefined");
    put(&opened(&undefined).await, "user", 0, value("hello")).await;
    opened(&undefined).await;
}

#[tokio::test]
async fn i2_invalid_utf8_is_an_error_and_never_replaced() {
    let (_scratch, folder) = talk().await;
    let path = folder.join("user/3.txt");
    fs::write(&path, b"caf\xe9").expect("it can be written");
    let error = refused(&folder).await.to_string();
    assert_eq!(
        error,
        format!("`user` at step 3 is damaged: {} is not UTF-8; write it in UTF-8", path.display())
    );
    assert_eq!(fs::read(&path).expect("it is there"), b"caf\xe9");
}

/// The outcome for a copy of a folder of `tests/fixtures/file`.
async fn found(fixture: &str) -> String {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().canonicalize().expect("it is there");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/file").join(fixture), &folder);
    let mut found: Vec<String> = match FileStore::new(&folder).verify().await {
        Ok(defects) => defects.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    };
    let store = FileStore::new(&folder);
    let definition = match store.open().await {
        Ok(definition) => definition.expect("it was defined"),
        Err(error) => {
            found.push(format!("refused: {error}"));
            return found.join("; ").replace(folder.to_str().expect("text"), "…");
        }
    };
    assert_eq!(definition, "the definition\nof a flow");
    for column in ["debate.critic", "note", "user"] {
        let stored_steps = store.stored_steps(name(column)).await.expect("it is open");
        for step in (0..stored_steps.prefix).chain(stored_steps.beyond) {
            let (length, cost) = match load(&store, column, step).await {
                Ok(Entry { value, receipt }) => {
                    (value.map_or("skipped".into(), |value| value.len().to_string()), receipt)
                }
                Err(_) => ("error".into(), None),
            };
            found.push(format!("{column} {step}: {length}"));
            found.extend(cost.map(|cost| format!("for {cost}")));
        }
    }
    found.join("; ").replace(folder.to_str().expect("text"), "…")
}

#[tokio::test]
async fn s13_stores_of_format_1_are_readable() {
    let healthy =
        "debate.critic 0: 9; debate.critic 2: 13; note 1: skipped; user 0: 12; user 1: 0; user 2: 37";
    let by_hand = format!("{healthy}; user 3: 9");
    let edited = healthy.replace("user 2: 37", "user 2: error");
    let gone = healthy.replace("user 1: 0", "user 1: error");
    let stray = format!("`user` at step 8 is damaged: …/user/8.txt {}", not_logged(3));
    let stray = stray.as_str();
    let log = |reason: &str| {
        let refused = format!("…/.columnar/cells is damaged: {reason}; {ADOPT}");
        format!("{refused}; refused: {refused}")
    };
    for (fixture, expected) in [
        ("healthy", healthy),
        // The last write was interrupted, before and after its line.
        ("unfinished", healthy),
        ("torn", healthy),
        ("by_hand", &by_hand),
        ("edited", &format!("`user` at step 2: …/user/2.txt {EDITED}; {edited}")),
        ("gone", &format!("`user` at step 1: …/user/1.txt is missing; restore it; {gone}")),
        ("stray", &format!("{}; refused: {stray}", stray.replace(" is damaged", ""))),
        ("no_text", "refused: `user` at step 3 is damaged: …/user/3.txt is not UTF-8; write it in UTF-8"),
        ("log_changed", &log("line 4 is not as it was written")),
        ("log_empty", &log("it does not begin as it should")),
        (
            "later",
            "… has format 4, and this version reads formats up to 3: use a newer version; refused: … has format 4, and this version reads formats up to 3: use a newer version",
        ),
    ] {
        assert_eq!(found(fixture).await, expected, "{fixture}");
    }
}

/// Format 2 has receipts in its log.
#[tokio::test]
async fn s13_stores_of_format_2_are_readable() {
    let paid = r#"debate.critic 0: 9; for {"model":"a/b","calls":1,"attempts":1,"input":120,"output":8,"ms":640,"id":"\"7\""}; debate.critic 2: 13; note 1: skipped; for {"calls":3,"untold":3,"attempts":3,"ms":9000}; user 0: 12; user 1: 0; user 2: 37"#;
    let changed = format!("…/.columnar/cells is damaged: line 8 is not as it was written; {ADOPT}");
    for (fixture, expected) in [
        ("paid", paid),
        // The last write was interrupted in the middle of a receipt.
        (
            "paid_torn",
            &paid.replace(r#" note 1: skipped; for {"calls":3,"untold":3,"attempts":3,"ms":9000};"#, ""),
        ),
        // A receipt was edited.
        ("paid_changed", &format!("{changed}; refused: {changed}")),
    ] {
        assert_eq!(found(fixture).await, expected, "{fixture}");
    }
}

#[tokio::test]
async fn s13_stores_of_format_1_are_upgraded_and_earlier_versions_reject_them() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().canonicalize().expect("it is there");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/file/healthy"), &folder);
    let own = |file| fs::read_to_string(folder.join(".columnar").join(file)).expect("it is there");
    let (format, log) = (own("format"), own("cells"));
    assert_eq!(FileStore::new(&folder).verify().await.expect("it can be read"), []);
    assert_eq!((own("format"), own("cells")), (format, log.clone()), "looking changes nothing");

    let store = opened(&folder).await;
    assert_eq!((own("format").as_str(), own("cells")), ("2\n", log.clone()), "no line is another one");
    let paid = value("so?").with_receipt("{\"calls\":1}");
    put(&store, "debate.critic", 1, paid.clone()).await;
    drop(store);
    assert!(own("cells").starts_with(&log));
    let store = opened(&folder).await;
    assert_eq!(load(&store, "debate.critic", 1).await.expect("it is there"), paid);
    assert_eq!(load(&store, "user", 0).await.expect("it is there").receipt, None);
    assert_eq!(files(&folder).iter().filter(|file| file.contains("staged")).count(), 0);
}
