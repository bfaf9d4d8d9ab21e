//! Tests below the public API of the store.

mod damage;
mod deletion;
mod log;

use std::cell::RefCell;
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::{fs, io};

use futures::channel::oneshot;
use rusqlite::Connection;
use tempfile::TempDir;

use super::SqliteStore;
use super::database::{FileLocation, resolve};
use super::error::SqliteError;
use super::lock::FlowLock;
use super::open_file::OpenFile;
use crate::declare::Name;
use crate::store::lock::FileLock;
use crate::store::thread::{HandleId, NewCell, PutRequest, Server};
use crate::store::{Entry, Put, Store, StoreError, StoredSteps};

struct Chats(TempDir);

impl Chats {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self) -> PathBuf {
        resolve(&self.0.path().join("chats.db")).expect("there is a folder")
    }

    fn open(&self) -> Result<Open, StoreError> {
        let mut open = Open { file: OpenFile::new(self.file()), flows: Vec::new(), definition: None };
        open.definition = open.open(self, "monday")?;
        Ok(open)
    }
}

/// A file without a thread, with some flows.
struct Open {
    file: OpenFile,
    flows: Vec<HandleId>,
    definition: Option<String>,
}

impl Open {
    fn open(&mut self, chats: &Chats, flow: &str) -> Result<Option<String>, StoreError> {
        self.flows.push(HandleId::new());
        self.file.open(self.flows[self.flows.len() - 1], &location(chats, flow))
    }

    /// Stores cells of the first flow.
    fn put(&mut self, cells: Vec<NewCell>) -> Vec<Result<Put, StoreError>> {
        self.put_each(cells.into_iter().map(|cell| (0, cell)).collect())
    }

    /// Stores cells of several flows together.
    fn put_each(&mut self, cells: Vec<(usize, NewCell)>) -> Vec<Result<Put, StoreError>> {
        let mut puts = Vec::new();
        let mut answers = Vec::new();
        for (flow, cell) in cells {
            let (answer, answered) = oneshot::channel();
            puts.push(PutRequest { handle: self.flows[flow], cell, answer });
            answers.push(answered);
        }
        self.file.put(puts);
        let answer = |mut answered: oneshot::Receiver<_>| {
            answered.try_recv().expect("it is sent").expect("it is there")
        };
        answers.into_iter().map(answer).collect()
    }

    fn stored_steps(&mut self, flow: usize) -> Result<StoredSteps, StoreError> {
        self.file.stored_steps(self.flows[flow], &name("user"))
    }

    fn load(&mut self, flow: usize) -> Result<Vec<(usize, Entry)>, StoreError> {
        Ok(self.file.load(self.flows[flow], &name("user"), 0..usize::MAX)?.entries)
    }

    fn limit_pages(&self, pages: u32) {
        self.file.db().expect("it is open").pragma_update(None, "max_page_count", pages).expect("a setting");
    }
}

/// Closes the flows, as handles do.
impl Drop for Open {
    fn drop(&mut self) {
        self.flows.iter().for_each(|flow| self.file.close(*flow));
    }
}

/// Whether all cells are stored.
fn stored(puts: &[Result<Put, StoreError>]) -> bool {
    puts.iter().all(|put| matches!(put, Ok(Put::Stored)))
}

fn location(chats: &Chats, flow: &str) -> FileLocation {
    FileLocation { file: chats.file(), flow: flow.into() }
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
        store.send(|handle| {
            handle.ask(move |file, _| {
                let db = file.db().expect("it is open");
                db.pragma_update(None, "max_page_count", pages).map_err(StoreError::other)
            })
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
    let mut open = chats.open().expect("it is new");
    assert!(stored(&open.put(cells(0..3))));
    open.limit_pages(12);
    let mut batch = cells(3..400);
    batch.extend([NewCell { column: name("other"), step: 0, entry: Entry::SKIPPED }]);
    assert!(open.put(batch).iter().all(Result::is_err), "there is no room for all of them");
    assert_eq!(open.stored_steps(0).expect("it can be read").prefix, 3);
    let other = open.file.stored_steps(open.flows[0], &name("other"));
    assert_eq!(other.expect("it can be read").prefix, 0);
    drop(open);
    let mut open = chats.open().expect("it is free");
    assert_eq!(open.load(0).expect("it can be read").len(), 3);
    assert!(matches!(open.put(cells(0..400))[3], Ok(Put::Stored)));
}

fn cell(flow: usize, step: usize) -> (usize, NewCell) {
    (flow, NewCell { column: name("user"), step, entry: Entry::from(text(step)) })
}

fn is_full(put: &Result<Put, StoreError>) -> bool {
    matches!(put, Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::StorageFull)
}

fn is_halted(put: &Result<Put, StoreError>) -> bool {
    matches!(put, Err(StoreError::Halted))
}

#[test]
fn s5_a_failed_write_halts_its_flows_and_opening_one_resumes_no_other() {
    let chats = Chats::new();
    let mut open = chats.open().expect("it is new");
    for flow in ["tuesday", "wednesday"] {
        open.open(&chats, flow).expect("it is free");
    }
    assert!(stored(&open.put_each(vec![cell(0, 0), cell(1, 0), cell(2, 0)])));
    open.limit_pages(12);
    let full = open.put_each((1..200).flat_map(|step| [cell(0, step), cell(1, step)]).collect());
    assert!(is_full(&full[0]) && is_full(&full[1]), "each flow has the error: {:?}", &full[..2]);
    assert!(full[2..].iter().all(is_halted), "its other cells have no other error");
    open.limit_pages(1000);
    let after = open.put_each(vec![cell(0, 1), cell(1, 1), cell(2, 1)]);
    assert!(is_halted(&after[0]) && is_halted(&after[1]) && after[2].is_ok(), "{after:?}");
    assert_eq!(open.load(0).expect("it can be read").len(), 1);

    open.file.open(open.flows[0], &location(&chats, "monday")).expect("it is its own");
    let after = open.put_each(vec![cell(0, 1), cell(1, 1)]);
    assert!(after[0].is_ok() && is_halted(&after[1]), "{after:?}");
}

/// Flows that are written at the same time share a transaction.
#[test]
fn s3_the_damage_of_a_flow_is_no_error_of_a_flow_that_is_written_with_it() {
    let chats = Chats::new();
    let mut open = chats.open().expect("it is new");
    open.open(&chats, "tuesday").expect("it is free");
    assert!(stored(&open.put_each(vec![cell(0, 0), cell(1, 0)])));
    let change = "update cell set sum = 1 where id = 1 << 32";
    assert_eq!(open.file.db().expect("it is open").execute(change, ()).expect("a change"), 1);
    let puts = open.put_each(vec![cell(1, 1), cell(0, 0), cell(0, 1), cell(1, 2)]);
    assert!(matches!(puts[1], Err(StoreError::Corrupt { step: 0, .. })), "{puts:?}");
    assert!(is_halted(&puts[2]), "{puts:?}");
    assert!(stored(&puts[..1]) && stored(&puts[3..]), "{puts:?}");
    assert_eq!(open.load(1).expect("it is sound").len(), 3);
    assert_eq!(open.stored_steps(0).expect("it can be read").prefix, 1);
}

#[tokio::test]
async fn a_panic_in_the_thread_of_a_file_costs_one_answer() {
    let chats = Chats::new();
    let stores = ["monday", "tuesday"].map(|flow| SqliteStore::new(chats.file(), flow));
    for store in &stores {
        store.open().await.expect("it is free");
    }
    let panicking = stores[0].send(|handle| {
        handle.ask(|file, _| {
            file.db().expect("it is open").execute_batch("no statement").expect("it panics");
            Ok(())
        })
    });
    assert!(panicking.await.is_err());
    for store in &stores {
        let put = store.put(name("user"), 0, Entry::from("hello")).await;
        assert_eq!(put.expect("the thread goes on"), Put::Stored);
        assert_eq!(store.load(name("user"), 0..9).await.expect("it is there").len(), 1);
    }
}

#[tokio::test]
async fn a_load_is_served_in_chunks() {
    let chats = Chats::new();
    let mut open = chats.open().expect("it is new");
    let new = |step, entry| NewCell { column: name("user"), step, entry };
    assert!(stored(&open.put((0..5000).map(|step| new(step, Entry::from("short"))).collect())));
    let large = Entry::from("x".repeat(700_000).as_str());
    assert!(stored(&open.put((5000..5005).map(|step| new(step, large.clone())).collect())));
    let mut steps = 10..9000;
    let mut chunks = Vec::new();
    while !steps.is_empty() {
        let chunk = open.file.load(open.flows[0], &name("user"), steps).expect("it can be read");
        steps = chunk.rest;
        chunks.push(chunk.entries);
    }
    assert_eq!(chunks.iter().map(Vec::len).collect::<Vec<_>>(), [4096, 896, 2, 1]);
    drop(open);

    let store = SqliteStore::new(chats.file(), "monday");
    store.open().await.expect("it is free");
    let all = store.load(name("user"), 10..9000).await.expect("it can be read");
    assert!(all.into_iter().eq(chunks.into_iter().flatten()), "a store joins them");
}

#[test]
fn s7_without_locks_the_store_cannot_be_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let unsupported = |_: &File| Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
    let lock = FlowLock::take_by(&folder.path().join("lock"), None, unsupported);
    assert_eq!(lock.map(|_| ()).expect_err("it is no lock").kind(), io::ErrorKind::Unsupported);
    let lock = FlowLock::take(&folder.path().join("none/lock"), None).map(|_| ());
    assert!(matches!(lock, Err(SqliteError::Store(StoreError::Io { .. }))), "the error has the path");
}

#[test]
fn s6_a_removed_lock_has_no_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lock");
    let first = RefCell::new(FlowLock::take(&path, None).ok().flatten());
    assert!(first.borrow().is_some());
    assert!(matches!(FlowLock::take(&path, None), Ok(None)), "the lock is held");
    // The owner goes when the file has been opened, and before it is locked.
    let second = FlowLock::take_by(&path, None, |file| {
        drop(first.take());
        file.try_lock()
    });
    assert!(second.as_ref().is_ok_and(Option::is_some) && path.exists());
    assert!(matches!(FlowLock::take(&path, None), Ok(None)), "it is the file that others find");
    drop(second);
    assert!(!path.exists());
}

/// A killed owner leaves several names of one file. The next owner of a flow locks that file for a moment, to remove a
/// name. At that moment another process was refused a flow that nobody had.
#[test]
fn s6_a_lock_that_is_held_for_a_moment_is_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let [monday, tuesday] = ["monday", "tuesday"].map(|flow| folder.path().join(flow));
    let other = RefCell::new(FileLock::take(&monday).ok());
    fs::hard_link(&monday, &tuesday).expect("it can be linked");
    let lock = FlowLock::take_by(&tuesday, None, |file| {
        let taken = file.try_lock();
        drop(other.take());
        taken
    });
    assert!(lock.as_ref().is_ok_and(Option::is_some), "nobody has the flow");
    assert!(matches!(FlowLock::take(&tuesday, None), Ok(None)), "it has an owner");
    assert!(matches!(FlowLock::take(&monday, None), Ok(Some(_))), "the other one is free");
}

/// The folder was moved away, and another process has a flow of the file that is at the path now.
#[test]
fn s10_a_lock_that_was_moved_away_removes_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lock");
    let take = || FlowLock::take(&path, None).ok().flatten();
    let moved = take().expect("it is free");
    fs::rename(&path, folder.path().join("aside")).expect("it can be moved");
    let other = take().expect("it is free");
    drop(moved);
    assert!(take().is_none(), "it has an owner");
    drop(other);
    assert!(take().is_some());
}

/// Opening continues at the stored length of the complete prefix.
#[test]
fn opening_reads_only_the_last_steps() {
    let chats = Chats::new();
    let mut open = chats.open().expect("it is new");
    for first in (0..5000).step_by(100) {
        assert!(stored(&open.put(cells(first..first + 100))));
    }
    let complete = || {
        let db = Connection::open(chats.file()).expect("a database");
        db.query_row("select complete from column", (), |row| row.get::<_, i64>(0)).expect("a column")
    };
    assert!(complete() > 5000 - 1200, "while it is open: {}", complete());
    drop(open);
    assert_eq!(complete(), 5000, "when it is closed");
}
