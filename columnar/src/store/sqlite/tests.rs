//! Tests below the public API of the store.

use std::cell::RefCell;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;

use super::SqliteStore;
use super::backend::SqliteBackend;
use super::database::{Location, Lock};
use super::error::SqliteError;
use crate::declare::Name;
use crate::store::checksum::checksum;
use crate::store::worker::{Backend as _, NewCell};
use crate::store::{Entry, Put, Store, StoreError};

struct Chats(TempDir);

impl Chats {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("chats.db")
    }

    fn open(&self) -> Result<SqliteBackend, StoreError> {
        SqliteBackend::open(&Location { file: self.file(), flow: "monday".into() })
    }
}

fn name(column: &str) -> Name {
    Name::new(column).expect("a name")
}

fn cells(steps: std::ops::Range<usize>) -> Vec<NewCell> {
    steps.map(|step| NewCell { column: name("user"), step, entry: Entry::from(text(step)) }).collect()
}

fn text(step: usize) -> crate::history::Value {
    format!("{step:>200}").into()
}

/// Opens the file and reads all that the flow has.
#[tokio::test]
async fn s4_s5_a_full_disk_is_an_error_and_halts_the_store_until_it_is_reopened() {
    let chats = Chats::new();
    let store = SqliteStore::new(chats.file(), "monday");
    store.open().await.expect("the store is free");
    let limit = |pages: &'static str| {
        store.worker.read(move |backend| {
            backend.db.pragma_update(None, "max_page_count", pages).map_err(StoreError::other)
        })
    };
    limit("12").await.expect("it can be read");
    let mut step = 0;
    let error = loop {
        match store.put(name("user"), step, Entry::from(text(step))).await {
            Ok(put) => assert_eq!(put, Put::Stored),
            Err(error) => break error,
        }
        step += 1;
    };
    assert!(step > 10, "there was room for {step}");
    let StoreError::Io { operation, source } = &error else { unreachable!("{error:?}") };
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    assert!(operation.starts_with("writing to the flow `monday` in "), "{operation}");

    limit("1000").await.expect("it can be read");
    let refused = store.put(name("user"), step, Entry::SKIPPED).await;
    assert!(matches!(refused, Err(StoreError::Halted)), "there is room again, and it goes on: {refused:?}");
    let defined = store.define("{}".into()).await;
    assert!(matches!(defined, Err(StoreError::Halted)), "{defined:?}");
    let kept = store.load(name("user"), 0..usize::MAX).await.expect("it can be read all the same");
    assert_eq!(kept.len(), step);
    assert_eq!(store.stored_steps(name("user")).await.expect("it can be read").prefix, step);

    store.open().await.expect("it is its own");
    let kept = store.load(name("user"), 0..usize::MAX).await.expect("it can be read");
    assert!(kept.into_iter().eq((0..step).map(|step| (step, Entry::from(text(step))))));
    assert_eq!(store.put(name("user"), step, Entry::SKIPPED).await.expect("there is room"), Put::Stored);
}

#[test]
fn a_batch_is_stored_as_a_whole_or_not_at_all() {
    let chats = Chats::new();
    let mut backend = chats.open().expect("it is new");
    backend.put(cells(0..3)).expect("there is room");
    backend.db.pragma_update(None, "max_page_count", 12).expect("a setting");
    let mut batch = cells(3..400);
    batch.extend([NewCell { column: name("other"), step: 0, entry: Entry::SKIPPED }]);
    backend.put(batch).expect_err("there is no room for all of them");
    assert_eq!(backend.stored_steps(&name("user")).expect("it can be read").prefix, 3);
    assert_eq!(backend.stored_steps(&name("other")).expect("it can be read").prefix, 0);
    drop(backend);
    let mut backend = chats.open().expect("it is free");
    assert_eq!(backend.load(&name("user"), 0..1000).expect("it can be read").len(), 3);
    assert_eq!(backend.put(cells(0..400)).expect("there is room")[3], Put::Stored);
}

#[test]
fn s7_without_locks_the_store_cannot_be_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let unsupported = |_: &File| Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
    let lock = Lock::take_by(&folder.path().join("lock"), unsupported);
    assert_eq!(lock.map(|_| ()).expect_err("it is no lock").kind(), io::ErrorKind::Unsupported);
    let lock = Lock::take(&folder.path().join("none/lock")).map(|_| ());
    assert!(matches!(lock, Err(SqliteError::Store(StoreError::Io { .. }))), "the error has the path");
}

#[test]
fn s6_a_removed_lock_has_no_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lock");
    let first = RefCell::new(Lock::take(&path).ok().flatten());
    assert!(first.borrow().is_some());
    assert!(matches!(Lock::take(&path), Ok(None)), "the lock is held");
    // Its owner goes when the file has been opened, and before it is locked.
    let second = Lock::take_by(&path, |file| {
        drop(first.take());
        file.try_lock()
    });
    assert!(second.as_ref().is_ok_and(Option::is_some) && path.exists());
    assert!(matches!(Lock::take(&path), Ok(None)), "it is the file that others find");
    drop(second);
    assert!(!path.exists());
}

/// Opening continues at the stored length of the complete prefix.
#[test]
fn opening_reads_only_the_last_steps() {
    let chats = Chats::new();
    let mut backend = chats.open().expect("it is new");
    for first in (0..5000).step_by(100) {
        backend.put(cells(first..first + 100)).expect("there is room");
    }
    let complete = || {
        let db = Connection::open(chats.file()).expect("a database");
        db.query_row("select complete from column", (), |row| row.get::<_, i64>(0)).expect("a column")
    };
    assert!(complete() > 5000 - 1200, "while it is open: {}", complete());
    drop(backend);
    assert_eq!(complete(), 5000, "when it is closed");
}

/// All that the flow has.
type All = (Option<String>, Vec<(usize, Entry)>);

fn read(chats: &Chats) -> Result<All, StoreError> {
    let mut backend = chats.open()?;
    let stored_steps = backend.stored_steps(&name("user"))?;
    let entries = backend.load(&name("user"), 0..usize::MAX)?;
    let known = entries.iter().map(|(step, _)| *step).collect();
    if stored_steps != known {
        return Err(StoreError::other("a step is there and is not"));
    }
    Ok((backend.definition()?, entries))
}

/// The same without the checksums.
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

/// Which bits of a file that is closed can be turned so that something else is read, as they are counted in it.
fn accepted<E>(chats: &Chats, read: impl Fn(&Chats) -> Result<All, E>) -> Vec<usize> {
    let bytes = fs::read(chats.file()).expect("it is there");
    let stored = read(chats).ok().expect("it is sound");
    let changed = |bit: &usize| {
        let mut turned = bytes.clone();
        turned[bit / 8] ^= 1 << (bit % 8);
        // Overwrites the file, since some file systems wait for the disk when a file is truncated.
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
    let mut backend = chats.open().expect("it is new");
    backend.put(cells(0..2)).expect("there is room");
    backend
        .put(vec![NewCell { column: name("user"), step: 2, entry: Entry::SKIPPED.with_receipt("{}") }])
        .expect("there is room");
    let paid = Entry::from("so").with_receipt("{\"calls\":1}");
    backend.put(vec![NewCell { column: name("user"), step: 3, entry: paid }]).expect("there is room");
    backend.define("defined").expect("there is room");
    drop(backend);
    let found = accepted(&chats, |chats| match read(chats) {
        // Where flows are looked for, the key was turned: there is no such flow, as there is none of another key.
        Ok((None, entries)) if entries.is_empty() => Err(None),
        read => read.map_err(Some),
    });
    assert_eq!(found, [0; 0]);
}

#[test]
fn s2_without_checksums_flipped_bits_are_not_detected() {
    let chats = Chats::new();
    let mut backend = chats.open().expect("it is new");
    backend.put(cells(0..1)).expect("there is room");
    drop(backend);
    assert!(accepted(&chats, believe).len() > 200 * 8 / 2);
}

#[test]
fn i2_invalid_utf8_is_an_error() {
    let chats = Chats::new();
    let mut backend = chats.open().expect("it is new");
    backend.put(cells(0..2)).expect("there is room");
    let (cell, bytes) = ((1_i64 << 32) + 1, b"no \xff text");
    let forged = checksum(&[&cell.to_le_bytes(), bytes]);
    let change = "update cell set bytes = ?, sum = ? where id = ?";
    assert_eq!(backend.db.execute(change, (&bytes[..], forged, cell)).expect("a change"), 1);
    let error = backend.load(&name("user"), 0..2).expect_err("it is no text");
    assert_eq!(error.to_string(), "`user` at step 1 is damaged: it is no text");
}
