//! Bits that are flipped in a file, closed and after the death of its process.

use std::fs::{self, File};
use std::io::Write;

use rusqlite::Connection;

use super::super::open_file::OpenFile;
use super::log::Image;
use super::{Chats, Open, cell, cells, location, name, stored};
use crate::store::checksum::checksum;
use crate::store::thread::{NewCell, Server};
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
    open.file
        .write_alone(open.flows[0], |flow, db| flow.define(db, "defined".to_owned()))
        .expect("there is room");
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

/// The bytes in use of the pages that hold no values, as the bytes of the file tell. `roots` are the root pages of all
/// tables and indexes.
fn without_values(bytes: &[u8], roots: &[usize]) -> Vec<usize> {
    let number = |at: usize| usize::from(bytes[at]) * 256 + usize::from(bytes[at + 1]);
    let pages = (0..bytes.len() / 8192).filter(|page| {
        let is_leaf_of_a_table = bytes[page * 8192] == 13;
        *page == 0 || !is_leaf_of_a_table || roots.contains(&(page + 1))
    });
    let used = pages.flat_map(|page| {
        let start = page * 8192;
        let header = start + if page == 0 { 100 } else { 0 };
        let header_length = if [2, 5].contains(&bytes[header]) { 12 } else { 8 };
        let cells = header + header_length + 2 * number(header + 3);
        (start..cells).chain(start + number(header + 5)..start + 8192)
    });
    used.collect()
}

/// The definitions and the entries of all flows.
fn read_all(chats: &Chats) -> Result<Vec<All>, StoreError> {
    let mut open = chats.open()?;
    let mut all = vec![(open.definition.take(), open.load(0)?)];
    let definition = open.open(chats, "tuesday")?;
    all.push((definition, open.load(1)?));
    for (flow, (_, entries)) in all.iter().enumerate() {
        if open.stored_steps(flow)? != entries.iter().map(|(step, _)| *step).collect() {
            return Err(StoreError::other("a step is there and is not"));
        }
    }
    // Closing would wait for the disk.
    open.file.db().expect("it is open").pragma_update(None, "synchronous", "off").expect("a setting");
    Ok(all)
}

/// A writer with a tree of values of several pages, and the root pages of the file.
fn with_trees(chats: &Chats) -> (Open, Vec<usize>) {
    let mut open = chats.open().expect("it is new");
    open.open(chats, "tuesday").expect("it is free");
    for flow in 0..2 {
        open.file
            .write_alone(open.flows[flow], |flow, db| flow.define(db, "defined".to_owned()))
            .expect("there is room");
        let cells = cells(0..60).into_iter().map(|cell| (flow, cell));
        assert!(stored(&open.put_each(cells.collect())));
    }
    let paid = Entry::SKIPPED.with_receipt("{}");
    assert!(stored(&open.put(vec![NewCell { column: name("user"), step: 60, entry: paid }])));
    let roots = {
        let db = open.file.db().expect("it is open");
        let mut roots = db.prepare("select rootpage from sqlite_schema").expect("a query");
        let roots = roots.query_map((), |row| Ok(row.get::<_, u32>(0)? as usize)).expect("it can be read");
        roots.collect::<rusqlite::Result<_>>().expect("it can be read")
    };
    (open, roots)
}

/// The bits of the pages without values that can be flipped so that something else is read, by number. One in `stride` bits
/// is flipped.
fn accepted_without_values(image: &Image, roots: &[usize], stride: usize) -> Vec<usize> {
    let target = Chats::new();
    image.write(&target);
    let stored = read_all(&target).expect("it is sound");
    assert!(stored.iter().all(|(definition, entries)| definition.is_some() && entries.len() >= 60));
    let bytes = without_values(&image.file, roots);
    assert!(bytes.len() > 1400, "{} bytes", bytes.len());
    let mut damaged = image.clone();
    let mut accepted = Vec::new();
    let mut errors = 0;
    for bit in bytes.iter().flat_map(|byte| byte * 8..byte * 8 + 8).step_by(stride) {
        damaged.file[bit / 8] ^= 1 << (bit % 8);
        damaged.write(&target);
        match read_all(&target) {
            Ok(read) if read == stored => {}
            Ok(_) => accepted.push(bit),
            Err(_) => errors += 1,
        }
        damaged.file[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(errors > bytes.len() * 2 / stride, "{errors} of {} bits are noticed", bytes.len() * 8);
    accepted
}

/// A flipped bit in `integer primary key` opened the flow with no steps, and the next push began it anew over confirmed
/// values: the schema was believed, and after a kill no count is newer than the values.
#[test]
fn s2_every_flipped_bit_of_what_a_closed_file_says_about_itself_is_harmless_or_an_error() {
    let source = Chats::new();
    let (open, roots) = with_trees(&source);
    drop(open);
    let closed = Image { file: fs::read(source.file()).expect("it is there"), log: None, index: None };
    assert_eq!(accepted_without_values(&closed, &roots, 1), [0; 0]);
}

#[test]
fn s2_every_flipped_bit_of_what_a_killed_file_says_about_itself_is_harmless_or_an_error() {
    let source = Chats::new();
    let (mut open, roots) = with_trees(&source);
    open.file.idle();
    let idle = Image::of(&source);
    assert_eq!(idle.log.as_deref(), Some(&[][..]));
    // All other pages are in the file, and the log has two later values.
    let [mut first, mut second] = [cell(0, 61), cell(1, 60)];
    (first.1.entry, second.1.entry) = (Entry::from("so"), Entry::SKIPPED);
    assert!(stored(&open.put_each(vec![first, second])));
    let busy = Image::of(&source);
    drop(open);
    assert_eq!(accepted_without_values(&idle, &roots, 1), [0; 0], "while it was idle");
    assert_eq!(accepted_without_values(&busy, &roots, 5), [0; 0], "while it was written");
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

/// A new column would have got the id of the one that is gone, and its values.
#[test]
fn s3_values_of_a_column_that_is_gone_are_no_values_of_a_new_column() {
    let chats = Chats::new();
    let mut open = chats.open().expect("it is new");
    open.open(&chats, "tuesday").expect("it is free");
    assert!(stored(&open.put_each(vec![cell(0, 0)])));
    let db = open.file.db().expect("it is open");
    assert_eq!(db.execute("delete from column", ()).expect("a change"), 1);
    let put = open.put_each(vec![cell(1, 0)]).pop().expect("there is one");
    let error = put.expect_err("the values belong to another flow").to_string();
    assert!(error.ends_with("is damaged: it has values of a column that is gone"), "{error}");
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
