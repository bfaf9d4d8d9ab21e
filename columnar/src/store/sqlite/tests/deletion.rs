//! The deletion of flows.

use std::fs;

use rusqlite::Connection;

use super::super::SqliteStore;
use super::super::database;
use super::super::lock::FlowLock;
use super::super::open_file::OpenFile;
use super::super::open_flow::OpenFlow;
use super::{Chats, cell, cells, location, name, stored};
use crate::store::thread::{HandleId, NewCell};
use crate::store::{Entry, Store};

/// Fills the flow `monday` of a file, so that the deletion takes several transactions, and closes it.
fn filled(chats: &Chats) {
    let mut open = chats.open().expect("it is new");
    open.open(chats, "tuesday").expect("it is free");
    let receipts = (0..2000).map(|step| {
        (0, NewCell { column: name("answer"), step, entry: Entry::from(CANARY).with_receipt("{}") })
    });
    let cells = (0..2000).map(|step| cell(0, step)).chain(receipts).chain([cell(1, 0)]);
    assert!(stored(&open.put_each(cells.collect())));
}

const CANARY: &str = "said by a person who wants it to be forgotten";

/// The numbers of rows.
fn rows(chats: &Chats) -> [i64; 4] {
    let db = Connection::open(chats.file()).expect("a database");
    let tables = [
        "select count(*) from flow",
        "select count(*) from column",
        "select count(*) from cell",
        "select count(*) from receipt",
    ];
    tables.map(|count| db.query_row(count, (), |row| row.get(0)).expect("a table"))
}

#[test]
fn s16_the_rest_of_an_interrupted_deletion_is_removed_by_the_next_one() {
    let chats = Chats::new();
    filled(&chats);
    assert_eq!(rows(&chats), [2, 3, 4001, 2000]);
    let mut file = OpenFile::new(chats.file());
    assert!(file.delete(&location(&chats, "monday")).expect("it is closed"), "one transaction is not enough");
    assert_eq!(file.keys().expect("it can be read"), ["tuesday"]);
    let [flows, columns, left, _] = rows(&chats);
    assert!(flows == 1 && columns == 3 && left > 1, "it is interrupted here");
    drop(file);

    let mut open = chats.open().expect("the key is free");
    assert_eq!(open.load(0).expect("it can be read"), [], "it is another flow");
    assert!(stored(&open.put(cells(0..1))), "its columns are others, too");
    drop(open);
    let mut file = OpenFile::new(chats.file());
    let mut is_due = file.delete(&location(&chats, "tuesday")).expect("it is closed");
    while is_due {
        is_due = file.purge(&location(&chats, "tuesday")).expect("nobody writes");
    }
    assert_eq!(rows(&chats), [1, 1, 1, 0]);
    assert_eq!(chats.open().expect("it is free").load(0).expect("it is sound").len(), 1);
}

/// A program that was killed during the deletion of a flow does not know what is deleted, and deletes it again.
#[tokio::test]
async fn s16_a_deletion_that_is_repeated_removes_the_rest() {
    let chats = Chats::new();
    filled(&chats);
    let mut file = OpenFile::new(chats.file());
    assert!(file.delete(&location(&chats, "monday")).expect("it is closed"), "it is interrupted here");
    drop(file);
    SqliteStore::new(chats.file(), "monday").delete().await.expect("it is gone");
    assert_eq!(rows(&chats), [1, 1, 1, 0]);
}

#[tokio::test]
async fn s16_the_text_of_a_deleted_flow_is_overwritten() {
    let chats = Chats::new();
    filled(&chats);
    let found = || {
        let bytes = fs::read(chats.file()).expect("it is there");
        bytes.windows(CANARY.len()).filter(|bytes| *bytes == CANARY.as_bytes()).count()
    };
    assert_eq!(found(), 2000);
    SqliteStore::new(chats.file(), "monday").delete().await.expect("it is closed");
    assert_eq!((found(), rows(&chats)), (0, [1, 1, 1, 0]));
}

/// Another process deletes the flow after the row was found and before the lock is taken.
#[test]
fn s16_a_flow_that_is_deleted_while_it_is_opened_is_made_again() {
    let chats = Chats::new();
    drop(chats.open().expect("it is new"));
    let file = chats.file();
    let monday = location(&chats, "monday");
    let db = database::open(&file, &monday).ok().expect("it is there");
    let mut takes = 0;
    let opened = OpenFlow::open(&db, &file, monday, |path| {
        takes += 1;
        if takes == 1 {
            let mut other = OpenFile::new(chats.file());
            other.delete(&location(&chats, "monday")).expect("it is not locked");
            // The next flow gets the id of the deleted flow.
            other.open(HandleId::new(), &location(&chats, "tuesday")).expect("it is new");
        }
        FlowLock::take(path, None)
    });
    let (_, definition) = opened.ok().expect("it is made again");
    assert_eq!((takes, definition), (2, None));
    assert_eq!(rows(&chats)[0], 2);
}
