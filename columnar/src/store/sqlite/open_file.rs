//! A file with the flows that this process has open in it. The flows share a connection, and flows that are written at
//! the same time share a transaction.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::attachments;
use super::cells::{self, RowChunk};
use super::database::{self, FileLocation};
use super::deletion;
use super::error::SqliteError;
use super::flow::{ColumnRow, check_keys, find, keys};
use super::lock::FlowLock;
use super::log;
use super::names::FileNames;
use super::open_flow::{OpenFlow, advance, lock_path};
use crate::declare::Name;
use crate::declare::default_limits::SQLITE_BUSY;
use crate::declare::error::shown;
use crate::store::thread::{CellWrite, HandleId, PutRequest, Server, answer_all, by_handle};
use crate::store::{Put, StoreError, StoredSteps};

/// The number of closed flows whose prefixes are stored together.
const BEHIND: usize = 64;

/// The state of the thread of a file.
pub(super) struct OpenFile {
    /// The path without links.
    path: PathBuf,
    flows: HashMap<HandleId, OpenFlow>,
    /// Closed flows whose complete prefixes are not stored.
    behind: Vec<i64>,
    /// The connection, while a flow is open.
    connected: Option<Connected>,
}

struct Connected {
    db: Connection,
    names: FileNames,
    /// Whether the index of the keys is known to lead to all flows.
    are_keys_checked: Cell<bool>,
    /// Whether this process may have written to the log since it was written back to the file.
    is_log_used: bool,
}

impl OpenFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, flows: HashMap::new(), behind: Vec::new(), connected: None }
    }

    /// Opens a flow for a handle, which gives up any flow that it has open. Returns the definition.
    pub(super) fn open(
        &mut self,
        handle: HandleId,
        location: &FileLocation,
    ) -> Result<Option<String>, StoreError> {
        self.close(handle);
        let opened = self.with_connection(location, "opening", |file, db| {
            file.find(db, &location.flow)?;
            OpenFlow::open(db, &file.path, location.clone(), |path| file.lock(path))
        });
        self.set_log_used();
        self.keep(handle, opened)
    }

    /// Opens a flow for a handle to be read beside its owner. Returns the definition.
    pub(super) fn open_to_read(
        &mut self,
        handle: HandleId,
        location: &FileLocation,
    ) -> Result<Option<String>, StoreError> {
        self.close(handle);
        let opened = self.with_connection(location, "reading", |file, db| {
            file.find(db, &location.flow)?;
            OpenFlow::open_to_read(db, location.clone())
        });
        self.keep(handle, opened)
    }

    fn keep(
        &mut self,
        handle: HandleId,
        opened: Result<(OpenFlow, Option<String>), StoreError>,
    ) -> Result<Option<String>, StoreError> {
        let definition = opened.map(|(flow, definition)| {
            self.flows.insert(handle, flow);
            definition
        });
        self.disconnect_if_unused();
        definition
    }

    /// Closes the flow of a handle, which is free then.
    pub(super) fn close(&mut self, handle: HandleId) {
        let Some(flow) = self.flows.remove(&handle) else { return };
        self.behind.extend(flow.behind());
        if self.behind.len() >= BEHIND {
            self.advance();
        }
        self.disconnect_if_unused();
    }

    /// Writes for a flow in a transaction of its own.
    pub(super) fn write_alone(
        &mut self,
        handle: HandleId,
        write: impl FnOnce(&OpenFlow, &Transaction<'_>) -> Result<(), SqliteError>,
    ) -> Result<(), StoreError> {
        self.set_log_used();
        let (Connected { db, names, .. }, flow) = self.flow(handle)?;
        flow.check_writable()?;
        // Halted until the outcome is known, also after a panic.
        flow.is_halted = true;
        let written = transact(db, |writing| {
            names.check_for_write()?;
            write(flow, writing)
        });
        flow.is_halted = written.is_err();
        written.map_err(|failed| failed.error.into_store_error(&flow.location, "writing to"))
    }

    /// Loads an attachment of a flow.
    pub(super) fn load_blob(
        &mut self,
        handle: HandleId,
        digest: &str,
    ) -> Result<Option<Arc<[u8]>>, StoreError> {
        let (Connected { db, .. }, flow) = self.flow(handle)?;
        let loaded = attachments::load(db, flow.id, digest);
        loaded.map_err(|error| error.into_store_error(&flow.location, "reading"))
    }

    pub(super) fn stored_steps(
        &mut self,
        handle: HandleId,
        column: &Name,
    ) -> Result<StoredSteps, StoreError> {
        self.read(handle, column, cells::stored_steps)
    }

    /// Loads the first of these entries. Other requests need not wait for all entries.
    pub(super) fn load(
        &mut self,
        handle: HandleId,
        column: &Name,
        steps: Range<usize>,
    ) -> Result<RowChunk, StoreError> {
        self.read(handle, column, |db, known| cells::load(db, column, known, steps))
    }

    /// Reads from a column of a flow; a column without a row has nothing.
    fn read<T: Default>(
        &mut self,
        handle: HandleId,
        column: &Name,
        read: impl FnOnce(&Connection, ColumnRow) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        let (Connected { db, .. }, flow) = self.flow(handle)?;
        let done = flow.columns(db).and_then(|columns| match columns.get(column) {
            Some(known) => read(db, known),
            None => Ok(T::default()),
        });
        done.map_err(|error| error.into_store_error(&flow.location, "reading"))
    }

    /// The keys of all flows, open or not.
    pub(super) fn keys(&mut self) -> Result<Vec<String>, StoreError> {
        let path = self.path.clone();
        let keys = self.with_connection(&shown(&path), "reading", |_, db| {
            check_keys(db)?;
            keys(db)
        });
        self.disconnect_if_unused();
        keys
    }

    /// Deletes a flow that nobody has open, if there is one. Returns whether [`purge`](Self::purge) has more to do.
    pub(super) fn delete(&mut self, location: &FileLocation) -> Result<bool, StoreError> {
        let deleted = self.with_connection(location, "deleting", |file, db| {
            // An earlier deletion may have been interrupted.
            let Some(flow) = file.find(db, &location.flow)? else { return deletion::is_left(db) };
            let Some(_lock) = file.lock(&lock_path(&file.path, flow))? else {
                return Err(StoreError::locked(location).into());
            };
            // Another process may have deleted the flow before the lock was taken.
            let is_there = find(db, &location.flow)? == Some(flow);
            if is_there { Ok(transact(db, |writing| deletion::delete(writing, flow))?) } else { Ok(false) }
        });
        self.set_log_used();
        self.disconnect_if_unused();
        deleted
    }

    /// Removes the next rows of deleted flows, and returns whether there are more.
    pub(super) fn purge(&mut self, location: &FileLocation) -> Result<bool, StoreError> {
        let purged = self.with_connection(location, "deleting", |_, db| Ok(transact(db, deletion::purge)?));
        self.set_log_used();
        self.disconnect_if_unused();
        purged
    }

    /// Takes a lock, as another name of the file that is locked here.
    fn lock(&self, path: &Path) -> Result<Option<FlowLock>, SqliteError> {
        FlowLock::take(path, self.flows.values().find_map(|flow| flow.lock.as_ref()))
    }

    /// The id of a flow. `None` is believed only after the index has been checked.
    fn find(&self, db: &Connection, key: &str) -> Result<Option<i64>, SqliteError> {
        let found = find(db, key)?;
        if found.is_none()
            && let Some(Connected { are_keys_checked, .. }) = &self.connected
            && !are_keys_checked.get()
        {
            check_keys(db)?;
            are_keys_checked.set(true);
        }
        Ok(found)
    }

    #[cfg(test)]
    pub(super) fn db(&self) -> Option<&Connection> {
        self.connected.as_ref().map(|open| &open.db)
    }

    /// The connection, and the flow of a handle.
    fn flow(&mut self, handle: HandleId) -> Result<(&Connected, &mut OpenFlow), StoreError> {
        self.connected.as_ref().zip(self.flows.get_mut(&handle)).ok_or(StoreError::Closed)
    }

    /// Connects if no flow is open, and runs.
    fn with_connection<T>(
        &mut self,
        location: &dyn fmt::Display,
        operation: &str,
        run: impl FnOnce(&Self, &Connection) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        let done = self.connect(location).and_then(|()| match &self.connected {
            Some(Connected { db, .. }) => run(self, db),
            None => Err(StoreError::Closed.into()),
        });
        done.map_err(|error| error.into_store_error(location, operation))
    }

    fn connect(&mut self, location: &dyn fmt::Display) -> Result<(), SqliteError> {
        if let Some(Connected { names, .. }) = &self.connected {
            return names.check();
        }
        let db = database::open(&self.path, location)?;
        let page = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let names = FileNames::of(&self.path, page)?;
        self.connected =
            Some(Connected { db, names, are_keys_checked: Cell::new(false), is_log_used: false });
        Ok(())
    }

    /// Closes an unused connection. So a file without open flows has no log beside it, and may be replaced.
    fn disconnect_if_unused(&mut self) {
        if self.flows.is_empty() {
            // Closing the connection writes back only if no other process has the file open.
            self.write_back();
            self.connected = None;
            log::forget_index(&self.path);
        }
    }

    fn set_log_used(&mut self) {
        if let Some(connected) = &mut self.connected {
            connected.is_log_used = true;
        }
    }

    /// Writes the log back to the file and empties it, so a copy of the file alone is whole. Waits for nobody: if
    /// others use the log, it stays used. The complete prefixes are stored before, so each value that is in the file
    /// alone is counted.
    fn write_back(&mut self) {
        let Some(Connected { names, is_log_used, .. }) = &mut self.connected else { return };
        // Another process may have written the file back from another log.
        *is_log_used &= names.check().is_ok();
        if !*is_log_used || !self.advance() {
            return;
        }
        if let Self { path, connected: Some(Connected { db, is_log_used, .. }), .. } = self {
            let _ = db.busy_timeout(Duration::ZERO);
            // The first checkpoint does the work beside writers, the second one excludes writers for a moment.
            let behind = db.query_row("pragma wal_checkpoint(passive)", (), |row| {
                Ok(row.get::<_, i64>(1)? != row.get::<_, i64>(2)?)
            });
            if matches!(behind, Ok(false)) {
                let _ = log::sync_index(path);
                let truncated = db.query_row("pragma wal_checkpoint(truncate)", (), |row| row.get(0));
                *is_log_used = truncated.unwrap_or(true);
            }
            let _ = db.busy_timeout(SQLITE_BUSY);
        }
    }

    /// Stores the complete prefixes of all flows, with one wait for the disk. Returns whether that is done.
    fn advance(&mut self) -> bool {
        let is_due = !self.behind.is_empty() || self.flows.values().any(|flow| flow.behind().is_some());
        if !is_due {
            return true;
        }
        self.set_log_used();
        let Self { connected: Some(Connected { db, names, .. }), flows, behind, .. } = self else {
            return false;
        };
        // After a failure, the next `open` of these flows reads more rows. So this write is not worth a wait.
        let _ = db.busy_timeout(Duration::ZERO);
        let advanced = transact(db, |writing| {
            names.check_for_write()?;
            // A flow that is damaged does not concern the others.
            behind.iter().for_each(|flow| drop(advance(writing, *flow)));
            flows.values_mut().for_each(|flow| drop(flow.advance(writing)));
            Ok(())
        });
        let _ = db.busy_timeout(SQLITE_BUSY);
        match advanced {
            Ok(()) => behind.clear(),
            Err(_) => flows.values_mut().for_each(OpenFlow::undo),
        }
        advanced.is_ok()
    }

    /// Stores the cells of flows. Returns the outcome of each flow.
    fn write(&mut self, writes: &[CellWrite]) -> Vec<Result<Vec<Put>, StoreError>> {
        if writes.is_empty() {
            return Vec::new();
        }
        // Halted until the outcome is known, also after a panic.
        self.set_halted(writes, true);
        match (self.write_together(writes), writes) {
            (Ok(puts), _) => {
                self.set_halted(writes, false);
                puts.into_iter().map(Ok).collect()
            }
            (Err(Failed { error, .. }), [write]) => {
                let flow = self.flows.get(&write.handle);
                let error = flow.map(|flow| error.into_store_error(&flow.location, "writing to"));
                vec![Err(error.unwrap_or(StoreError::Closed))]
            }
            // Nothing is stored. Only its own defect may halt a flow, so each flow is written alone.
            (Err(Failed { error, is_undone: true }), writes) if error.is_of_one_flow() => {
                writes.chunks(1).flat_map(|write| self.write(write)).collect()
            }
            (Err(Failed { error, .. }), writes) => {
                let flows = writes.iter().map(|write| self.flows.get(&write.handle));
                let errors = flows.map(|flow| Some(error.to_store_error(&flow?.location, "writing to")));
                errors.map(|error| Err(error.unwrap_or(StoreError::Closed))).collect()
            }
        }
    }

    fn write_together(&mut self, writes: &[CellWrite]) -> Result<Vec<Vec<Put>>, Failed> {
        self.set_log_used();
        let Self { connected: Some(Connected { db, names, .. }), flows, .. } = self else {
            return Err(SqliteError::from(StoreError::Closed).into());
        };
        let written = transact(db, |writing| {
            // Checked while no other process writes.
            names.check_for_write()?;
            let puts = writes.iter().map(|CellWrite { handle, cells }| match flows.get_mut(handle) {
                Some(flow) => flow.put(writing, cells),
                None => Err(StoreError::Closed.into()),
            });
            puts.collect()
        });
        if written.is_err() {
            for CellWrite { handle, .. } in writes {
                flows.entry(*handle).and_modify(OpenFlow::undo);
            }
        }
        written
    }

    fn set_halted(&mut self, writes: &[CellWrite], is_halted: bool) {
        for CellWrite { handle, .. } in writes {
            self.flows.entry(*handle).and_modify(|flow| flow.is_halted = is_halted);
        }
    }
}

impl Server for OpenFile {
    fn has_idle_work(&self) -> bool {
        self.connected.as_ref().is_some_and(|connected| connected.is_log_used)
    }

    fn idle(&mut self) {
        self.write_back();
    }

    fn put(&mut self, puts: Vec<PutRequest>) {
        let (writes, answers) = by_handle(puts, |handle| {
            self.flows.get(&handle).ok_or(StoreError::Closed).and_then(OpenFlow::check_writable)
        });
        for (outcome, answers) in self.write(&writes).into_iter().zip(answers) {
            answer_all(answers, outcome);
        }
    }
}

/// A transaction that failed.
pub(super) struct Failed {
    error: SqliteError,
    /// Whether it is certain that nothing is stored.
    is_undone: bool,
}

impl From<SqliteError> for Failed {
    fn from(error: SqliteError) -> Self {
        Self { error, is_undone: true }
    }
}

impl From<Failed> for SqliteError {
    fn from(failed: Failed) -> Self {
        failed.error
    }
}

/// Writes in one transaction.
pub(super) fn transact<T>(
    db: &Connection,
    write: impl FnOnce(&Transaction<'_>) -> Result<T, SqliteError>,
) -> Result<T, Failed> {
    // An immediate transaction waits for other writers at its beginning; a transaction that has read already cannot
    // wait.
    let writing =
        Transaction::new_unchecked(db, TransactionBehavior::Immediate).map_err(SqliteError::from)?;
    let written = write(&writing)?;
    writing.commit().map_err(|error| Failed { error: error.into(), is_undone: false })?;
    Ok(written)
}
