//! Damage of a file while it is closed.

use std::fs;

use columnar::prelude::*;
use columnar::reopen;
use columnar::store::{Defect, Entry, Put, SqliteStore, Store, StoreError, StoredSteps};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use futures::future::join_all;

use super::{Chats, conversation, load, name, put, read, value};

#[tokio::test]
async fn s1_a_truncated_or_emptied_file_is_an_error() {
    let chats = conversation().await;
    let whole = fs::read(chats.file()).expect("it is there");
    let mut stored = Vec::new();
    for column in ["user", "answer"] {
        stored.push((column, read(&chats.file(), column).await.expect("it is sound")));
    }
    assert!(stored.iter().all(|(_, entries)| entries.len() == 6));
    for length in (1..whole.len()).step_by(997) {
        fs::write(chats.file(), &whole[..length]).expect("it can be written");
        for (column, stored) in &stored {
            // A truncated page may be one that no query reads.
            match read(&chats.file(), column).await {
                Ok(read) => assert!(length > whole.len() - 8192 && read == *stored, "{length}: {read:?}"),
                Err(error) => assert!(
                    matches!(error, StoreError::Damaged { .. } | StoreError::Corrupt { .. }),
                    "{error:?}"
                ),
            }
        }
        let left = fs::read(chats.file()).expect("it is there");
        assert_eq!(left, whole[..length], "nothing is mended at {length}");
    }
    for page in 0..whole.len() / 8192 {
        let mut zeroed = whole.clone();
        zeroed[page * 8192..][..8192].fill(0);
        fs::write(chats.file(), &zeroed).expect("it can be written");
        for (column, stored) in &stored {
            match read(&chats.file(), column).await {
                Err(_) => {}
                Ok(read) => assert_eq!(read, *stored, "page {page}"),
            }
        }
    }
}

/// The error had the column and the step, and not the file.
#[tokio::test]
async fn s1_a_page_that_cannot_be_read_is_an_error_with_its_file() {
    let chats = conversation().await;
    let whole = fs::read(chats.file()).expect("it is there");
    let mut unreadable = 0;
    for page in 1..whole.len() / 8192 {
        let mut changed = whole.clone();
        changed[page * 8192..][..8192].fill(0x55);
        fs::write(chats.file(), &changed).expect("it can be written");
        let Err(StoreError::Corrupt { reason, .. }) = read(&chats.file(), "user").await else { continue };
        assert!(reason.contains("chats.db or its log cannot be read there; restore both"), "{reason}");
        unreadable += 1;
    }
    assert!(unreadable > 0);
}

#[tokio::test]
async fn s3_a_changed_moved_or_removed_value_is_an_error_of_its_cell() {
    // `user` is the first column, so its cells are those from 2^32 on.
    let cell = |step: i64| (1_i64 << 32) + step;
    let edits = [
        (
            format!("update cell set bytes = cast('else' as blob) where id = {}", cell(2)),
            2,
            "its checksum is wrong",
        ),
        (format!("update cell set bytes = null where id = {}", cell(3)), 3, "its checksum is wrong"),
        (format!("update cell set bytes = 'text' where id = {}", cell(1)), 1, "it is no blob"),
        (format!("delete from cell where id = {}", cell(5)), 5, "it was stored and is gone"),
        (format!("delete from cell where id = {}", cell(2)), 2, "it was stored and is gone"),
        (
            format!(
                "update cell set id = -1 where id = {a}; update cell set id = {a} where id = {b};
                 update cell set id = {b} where id = -1;",
                a = cell(1),
                b = cell(4)
            ),
            1,
            "its checksum is wrong",
        ),
        (
            format!(
                "delete from cell where id = {a}; update cell set id = {a} where id = {a} + (1 << 32)",
                a = cell(3)
            ),
            3,
            "its checksum is wrong",
        ),
        (
            format!("insert into cell (id, sum, bytes) values ({}, 0, cast('more' as blob))", cell(6)),
            6,
            "its checksum is wrong",
        ),
    ];
    for (edit, step, reason) in edits {
        let chats = conversation().await;
        chats.sql(&edit);
        let error = chats.refused("user").await;
        assert_eq!(error.to_string(), format!("`user` at step {step} is damaged: {reason}"), "{edit}");
        // All other entries are readable, and reading changes nothing.
        let store = chats.open().await;
        let before = store.load(name("user"), 0..step.min(5)).await.expect("earlier entries are readable");
        assert_eq!(before.len(), step.min(5));
        if !edit.contains("1 << 32") {
            assert_eq!(load(&store, "answer").await.expect("it is another column").len(), 6);
        }
        drop(store);
        assert_eq!(chats.refused("user").await.to_string(), error.to_string(), "{edit}, opened again");
    }
}

#[tokio::test]
async fn s21_a_definition_that_was_edited_or_removed_is_noticed() {
    for (edit, reason) in [
        ("update flow set definition = cast('{ }' as blob)", "the row of the flow has a wrong checksum"),
        ("update flow set definition = null", "the row of the flow has a wrong checksum"),
        ("update flow set columns = 1", "the row of the flow has a wrong checksum"),
        ("update column set complete = 1 << 31", "the checksum of a column is another one"),
        ("update column set complete = 2", "the checksum of a column is another one"),
        ("update column set name = 'usher' where name = 'user'", "the checksum of a column is another one"),
        ("delete from column where name = 'user'", "a column is gone"),
        ("drop table cell", "its schema is not as written"),
    ] {
        let chats = conversation().await;
        chats.sql(edit);
        let error = chats.refused("user").await;
        assert!(matches!(error, StoreError::Damaged { .. }), "{edit}: {error:?}");
        assert!(error.to_string().contains(reason), "{edit}: {error}");
    }
}

#[tokio::test]
async fn s3_sound_values_are_salvaged_into_another_flow_of_the_file() -> Result<()> {
    let (chats, log) = (Chats::new(), Log::default());
    let answer = column("answer", source("user").latest(), log.upper("answer"));
    let flow = Flow::open(chats.store("monday"), [&answer]).await?;
    push_all(&flow, "user", ["a", "b", "c"]).await?;
    flow.run().await?;
    drop(flow);
    // `answer` is the second column.
    chats.sql("update cell set bytes = cast('else' as blob) where id = (2 << 32) + 1");

    let (damaged, mended) = (chats.store("monday"), chats.store("mended"));
    let texts = |defects: &[Defect]| defects.iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected = ["`answer` at step 1: its checksum is wrong"];
    assert_eq!(texts(&reopen::verify(&damaged).await.expect("it can be read")), expected);
    assert_eq!(texts(&reopen::salvage(&damaged, &mended).await.expect("the file is free")), expected);
    drop((damaged, mended));

    let flow = Flow::open(chats.store("mended"), [&answer]).await?;
    flow.run().await?;
    assert_eq!(flow.get("answer", 1).as_deref(), Some("<USER>\nB\n</USER>"));
    assert_eq!(log.calls(), 4, "one is computed again");
    Ok(())
}

#[tokio::test]
async fn s13_a_file_of_another_format_or_program_is_rejected_unchanged() {
    let chats = Chats::new();
    for (make, expected) in [
        ("pragma application_id = 0x636c6d6e; pragma user_version = 4; create table t (x)", "has format 4"),
        ("pragma application_id = 0x636c6d6e; create table t (x)", "is damaged: it has no format"),
        ("create table t (x)", "is a database of another program"),
        ("pragma application_id = 7; vacuum", "is a database of another program"),
    ] {
        chats.sql(make);
        let before = fs::read(chats.file()).expect("it is there");
        let error = chats.refused("user").await;
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(
            matches!(error, StoreError::Unsupported { found: 4, known: 3, .. }),
            expected == "has format 4"
        );
        assert_eq!(fs::read(chats.file()).expect("it is there"), before, "{make}");
        fs::remove_file(chats.file()).expect("it is there");
    }
    fs::write(chats.file(), "Dear diary, ".repeat(1000)).expect("it can be written");
    let error = chats.refused("user").await;
    assert!(matches!(error, StoreError::Damaged { .. }) && !error.to_string().contains("diary"), "{error}");
    let error =
        read(&chats.folder.path().join("none/chats.db"), "user").await.expect_err("there is no folder");
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
}

/// Listing and deleting made tables in it.
#[tokio::test]
async fn an_empty_file_has_no_flows_and_stays_empty() {
    let chats = Chats::new();
    fs::write(chats.file(), "").expect("it can be written");
    assert_eq!(SqliteStore::flows(chats.file()).await.expect("it can be read"), [""; 0]);
    chats.store("monday").delete().await.expect("there is nothing to delete");
    assert_eq!(fs::metadata(chats.file()).expect("it is there").len(), 0);
    assert_eq!(fs::read_dir(chats.folder.path()).expect("it is there").count(), 1);
}

/// A flow that the index of the keys does not lead to was begun anew, and its values were gone.
#[tokio::test]
async fn s3_a_flow_that_the_index_of_the_keys_does_not_lead_to_is_not_begun_anew() {
    let chats = Chats::new();
    for key in ["monday", "tuesday"] {
        let store = chats.store(key);
        store.open().await.expect("it is new");
        put(&store, "user", 0, "hello").await;
    }
    let mut bytes = fs::read(chats.file()).expect("it is there");
    // The key is in the row, and in the index.
    let places: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"monday")).collect();
    assert_eq!(places.len(), 2);
    for place in places {
        bytes[place] ^= 0x20;
        fs::write(chats.file(), &bytes).expect("it can be written");
        let opened = read(&chats.file(), "user").await;
        let is_damaged = |error: &StoreError| matches!(error, StoreError::Damaged { .. });
        assert!(opened.as_ref().map_or_else(is_damaged, |found| found.len() == 1), "{opened:?}");
        for refused in
            [SqliteStore::flows(chats.file()).await.map(drop), chats.store("new").open().await.map(drop)]
        {
            let error = refused.expect_err("it could be a flow that the index does not lead to");
            assert!(error.to_string().contains("the index of the keys of its flows"), "{error}");
        }
        let deleted = chats.store("monday").delete().await;
        assert!(opened.is_ok() || deleted.is_err(), "{deleted:?}");
        bytes[place] ^= 0x20;
    }
}

/// A file of format 1, as SQL.
const FORMAT_1: &str = include_str!("../../../fixtures/sqlite/format-1.sql");
/// Damage of this file.
const BROKEN: &str = include_str!("../../../fixtures/sqlite/format-1-broken.sql");

#[tokio::test]
async fn s13_files_of_format_1_are_readable() {
    let chats = Chats::new();
    chats.sql(FORMAT_1);
    let store = chats.open().await;
    assert_eq!(store.open().await.expect("it is its own").as_deref(), Some("{\"columns\":[]}"));
    let user: Vec<_> = [(0, value("It is slow.")), (1, value("a\0b\r\n\u{1f469}")), (2, value(""))].into();
    assert_eq!(load(&store, "user").await.expect("it can be read"), user);
    let answer: Vec<_> = [(0, value("Since when?")), (1, Entry::SKIPPED), (3, value("ahead"))].into();
    assert_eq!(load(&store, "debate.answer").await.expect("it can be read"), answer);
    assert_eq!(
        store.stored_steps(name("debate.answer")).await.expect("it can be read"),
        StoredSteps { prefix: 2, beyond: vec![3] }
    );
    // A store that writes continues it.
    put(&store, "debate.answer", 2, "The backup.").await;
    drop(store);
    chats.sql(BROKEN);
    assert_eq!(chats.refused("user").await.to_string(), "`user` at step 1 is damaged: its checksum is wrong");
    assert_eq!(read(&chats.file(), "debate.answer").await.expect("it is another column").len(), 4);
}

/// A file of format 2, with receipts.
const FORMAT_2: &str = include_str!("../../../fixtures/sqlite/format-2.sql");
const PAID: &str = r#"{"model":"a/b","calls":1,"attempts":1,"input":120,"output":8,"ms":640,"id":"\"7\""}"#;
const IN_VAIN: &str = r#"{"calls":3,"untold":3,"attempts":3,"ms":9000}"#;

#[tokio::test]
async fn s13_files_of_format_2_are_readable() {
    let chats = Chats::new();
    chats.sql(FORMAT_2);
    let answer: Vec<_> = [
        (0, value("Since when?").with_receipt(PAID)),
        (1, Entry::SKIPPED.with_receipt(IN_VAIN)),
        (3, value("ahead")),
    ]
    .into();
    assert_eq!(read(&chats.file(), "debate.answer").await.expect("it can be read"), answer);
    let user = read(&chats.file(), "user").await.expect("it can be read");
    assert_eq!(user.iter().filter(|(_, entry)| entry.receipt.is_some()).count(), 0);
}

#[tokio::test]
async fn s13_a_file_of_format_1_gets_a_table_for_receipts_and_its_rows_do_not_change() {
    let chats = Chats::new();
    chats.sql(FORMAT_1);
    let rows = || {
        chats.all::<String>(
            "select group_concat(id || ' ' || sum || ' ' || ifnull(hex(bytes), '-')) from cell",
        )
    };
    let before = rows();
    // Many at once, as when a service restarts.
    let others: Vec<_> = (0..6).map(|flow| chats.store(&format!("{flow}"))).collect();
    for opened in join_all(others.iter().map(Store::open)).await {
        assert_eq!(opened.expect("it is known"), None);
    }
    let store = chats.open().await;
    assert_eq!(rows(), before);
    let paid = value("The backup.").with_receipt(PAID);
    assert_eq!(store.put(name("debate.answer"), 2, paid.clone()).await.expect("it can be"), Put::Stored);
    drop(store);
    assert_eq!(load(&chats.open().await, "debate.answer").await.expect("it is there")[2], (2, paid));
    // Other tools find it.
    let view = "select receipt from cells where flow = 'monday' and column = 'debate.answer' and step = 2";
    assert_eq!(chats.all::<String>(view), [PAID]);
    assert_eq!(chats.all::<u32>("pragma user_version"), [2]);
}

#[tokio::test]
async fn s3_a_changed_swapped_or_removed_receipt_is_an_error_of_its_cell() {
    // `debate.answer` is the second column.
    for (edit, step) in [
        ("delete from receipt where id = (2 << 32)", 0),
        ("update receipt set id = id + 3 where id = (2 << 32)", 0),
        ("delete from receipt where id = (2 << 32) + 1", 1),
        ("insert into receipt values ((2 << 32) + 3, x'')", 3),
        ("update receipt set bytes = (select bytes from receipt where id = (2 << 32) + 1)", 0),
        (
            "update cell set bytes = (select bytes from receipt) where id = (2 << 32) + 1; delete from receipt where id = (2 << 32) + 1",
            1,
        ),
        ("update cell set bytes = x'' where id = (2 << 32) + 1", 1),
    ] {
        let chats = Chats::new();
        chats.sql(FORMAT_2);
        chats.sql(edit);
        let error = chats.refused("debate.answer").await;
        let expected = format!("`debate.answer` at step {step} is damaged: its checksum is wrong");
        assert_eq!(error.to_string(), expected, "{edit}");
        assert_eq!(read(&chats.file(), "user").await.expect("it is another column").len(), 3);
    }
}

#[tokio::test]
async fn x2_errors_and_debug_texts_quote_no_value() {
    let chats = Chats::new();
    let store = chats.open().await;
    put(&store, "user", 0, "canary").await;
    assert!(!format!("{store:?}").contains("canary"));
    drop(store);
    chats.sql("update cell set sum = 1; pragma user_version = 2");
    let error = chats.refused("user").await;
    assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
}
