//! Bits that are flipped in a closed file.

use std::fs::{self, File};
use std::io::Write;

use rusqlite::Connection;

use super::super::open_file::OpenFile;
use super::{Chats, cell, cells, location, name, stored};
use crate::store::checksum::checksum;
use crate::store::thread::NewCell;
use crate::store::{Entry, StoreError};

/// The definition and the entries of the flow.
type All = (Option<String>, Vec<(usize, Entry)>);

fn read(chats: &Chats) -> Result<All, StoreError> {
    let mut open = chats.open()?;
    let stored_steps = open.stored_steps(0)?;
    let entries = open.load(0)?;
    let known = entries.iter().map(|(step, _)| *step).collect();
    if stored_steps != known {
        return Err(StoreError::other("a step is there and is not"));
    }
    Ok((open.definition.take(), entries))
}

/// Reads a flow without checking the checksums.
fn believe(chats: &Chats) -> rusqlite::Result<All> {
    let db = Connection::open(chats.file())?;
    let definition =
        db.query_row("select definition from flow where key = 'monday'", (), |row| row.get(0))?;
    let mut cells = db.prepare("select step, cast(value as blob) from cells where flow = 'monday'")?;
    let entries = cells.query_map((), |row| {
        let bytes: Option<Vec<u8>> = row.get(1)?;
        let text = bytes.map(|bytes| String::from_utf8(bytes).unwrap_or_default());
        Ok((row.get::<_, u32>(0)? as usize, text.map_or(Entry::SKIPPED, Entry::from)))
    })?;
    let definition: Option<Vec<u8>> = definition;
    Ok((
        definition.map(|bytes| String::from_utf8(bytes).unwrap_or_default()),
        entries.collect::<Result<_, _>>()?,
    ))
}

/// The bits of a closed file that can be flipped so that something else is read, by number.
fn accepted<E>(chats: &Chats, read: impl Fn(&Chats) -> Result<All, E>) -> Vec<usize> {
    let bytes = fs::read(chats.file()).expect("it is there");
    let stored = read(chats).ok().expect("it is sound");
    let changed = |bit: &usize| {
        let mut turned = bytes.clone();
        turned[bit / 8] ^= 1 << (bit % 8);
        // The file is overwritten, since truncating it would wait for the disk on some file systems.
        let mut file = File::options().write(true).open(chats.file()).expect("it is there");
        file.write_all(&turned).and_then(|()| file.set_len(bytes.len() as u64)).expect("it can be written");
        drop(file);
        read(chats).is_ok_and(|read| read != stored)
    };
    used(&bytes).flat_map(|byte| (0..8).map(move |bit| byte * 8 + bit)).filter(changed).collect()
}

/// The bytes of the pages with data, without the text of the schema.
fn used(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let pages = bytes.chunks(8192).enumerate().skip(1);
    pages.flat_map(|(page, bytes)| {
        let [cells, content] = [3, 5].map(|at| usize::from(bytes[at]) * 256 + usize::from(bytes[at + 1]));
        (0..8 + 2 * cells).chain(content..8192).map(move |at| page * 8192 + at)
    })
}

#[test]
fn s2_every_flipped_bit_is_detected() {
    let chats = Chats::new();
    let mut open = chats.open().expect("it is new");
    assert!(stored(&open.put(cells(0..2))));
    let cell = |step, entry| vec![NewCell { column: name("user"), step, entry }];
    assert!(stored(&open.put(cell(2, Entry::SKIPPED.with_receipt("{}")))));
    assert!(stored(&open.put(cell(3, Entry::from("so").with_receipt("{\"calls\":1}")))));
    open.file.define(open.flows[0], "defined".to_owned()).expect("there is room");
    drop(open);
    let found = accepted(&chats, read);
    assert_eq!(found, [0; 0]);
}

#[test]
fn s2_without_checksums_flipped_bits_are_not_detected() {
    let chats = Chats::new();
    let mut open = chats.open().expect("it is new");
    assert!(stored(&open.put(cells(0..1))));
    drop(open);
    assert!(accepted(&chats, believe).len() > 200 * 8 / 2);
}

/// A column to which the index did not lead kept its cells after the deletion of the flow, and nothing removed these
/// cells.
#[test]
fn s3_a_deletion_with_a_damaged_index_is_whole_or_an_error() {
    let chats = Chats::new();
    let mut open = chats.open().expect("it is new");
    open.open(&chats, "tuesday").expect("it is free");
    assert!(stored(&open.put_each(vec![cell(0, 0), cell(1, 0)])));
    let root = "select rootpage from sqlite_schema where name = 'sqlite_autoindex_column_1'";
    let db = open.file.db().expect("it is open");
    let root = db.query_row(root, (), |row| row.get::<_, u32>(0)).expect("an index") as usize;
    drop(open);
    let bytes = fs::read(chats.file()).expect("it is there");
    let mut whole = 0;
    let mut refused = 0;
    for bit in used(&bytes).filter(|byte| byte / 8192 == root - 1).flat_map(|byte| byte * 8..byte * 8 + 8) {
        let mut turned = bytes.clone();
        turned[bit / 8] ^= 1 << (bit % 8);
        fs::write(chats.file(), &turned).expect("it can be written");
        let mut file = OpenFile::new(chats.file());
        if let Ok(is_left) = file.delete(&location(&chats, "monday")) {
            assert!(!is_left, "{bit}");
            drop(file);
            let db = Connection::open(chats.file()).expect("a database");
            let cells = "select count(*) from cell where id >> 32 = 1";
            let cells: i64 = db.query_row(cells, (), |row| row.get(0)).expect("a table");
            assert_eq!(cells, 0, "{bit}");
            whole += 1;
        } else {
            refused += 1;
        }
    }
    assert!(whole > 0 && refused > 0, "{whole} are whole, {refused} are refused");
}

#[test]
fn i2_invalid_utf8_is_an_error() {
    let chats = Chats::new();
    let mut open = chats.open().expect("it is new");
    assert!(stored(&open.put(cells(0..2))));
    let cell = (1_i64 << 32) + 1;
    let bytes = b"no \xff text";
    let forged = checksum([&cell.to_le_bytes()[..], bytes]);
    let change = "update cell set bytes = ?, sum = ? where id = ?";
    let db = open.file.db().expect("it is open");
    assert_eq!(db.execute(change, (&bytes[..], forged, cell)).expect("a change"), 1);
    let error = open.load(0).expect_err("it is no text");
    assert_eq!(error.to_string(), "`user` at step 1 is damaged: it is no text");
}
