//! An open flow, whose rows are read and written on the connection of the file.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction};

use super::attachments;
use super::cells;
use super::database::FileLocation;
use super::error::SqliteError;
use super::flow::{ColumnRows, FlowRow, find};
use super::lock::FlowLock;
use super::log::beside;
use crate::store::thread::NewCell;
use crate::store::{Put, StoreError};

/// The number of cells after which the complete prefixes of columns are stored. So opening a flow reads at most as
/// many rows, and the rows of steps beyond the prefix.
const ADVANCE_INTERVAL: usize = 1024;

/// An open flow.
pub(super) struct OpenFlow {
    pub(super) id: i64,
    pub(super) location: FileLocation,
    /// The lock of the owner; `None` for a reader.
    pub(super) lock: Option<FlowLock>,
    /// The columns; `None` after a failed write, whose changes here are not stored.
    columns: Option<ColumnRows>,
    /// The number of cells since the prefixes were stored.
    since_advance: usize,
    /// Whether a write has failed, or is under way.
    pub(super) is_halted: bool,
}

impl OpenFlow {
    /// Opens a flow, and creates a missing one. `take` takes the lock at a path. Returns the definition, too.
    pub(super) fn open(
        db: &Connection,
        file: &Path,
        location: FileLocation,
        mut take: impl FnMut(&Path) -> Result<Option<FlowLock>, SqliteError>,
    ) -> Result<(Self, Option<String>), SqliteError> {
        let (id, lock) = loop {
            let id = FlowRow::find_or_make(db, &location.flow)?;
            let lock = take(&lock_path(file, id))?;
            let lock = lock.ok_or_else(|| StoreError::locked(&location))?;
            // The flow may have been deleted before the lock was taken.
            if find(db, &location.flow)? == Some(id) {
                break (id, lock);
            }
        };
        // Read after the lock is taken: the last owner may have stored cells until the release.
        Self::read(db, id, location, Some(lock))
    }

    /// Opens a flow to be read beside its owner. Returns the definition, too.
    pub(super) fn open_to_read(
        db: &Connection,
        location: FileLocation,
    ) -> Result<(Self, Option<String>), SqliteError> {
        // One transaction, since the owner may add a column between two queries.
        let reading = db.unchecked_transaction()?;
        let id = find(&reading, &location.flow)?.ok_or_else(|| StoreError::absent(&location))?;
        Self::read(&reading, id, location, None)
    }

    fn read(
        db: &Connection,
        id: i64,
        location: FileLocation,
        lock: Option<FlowLock>,
    ) -> Result<(Self, Option<String>), SqliteError> {
        let mut open = Self { id, location, lock, columns: None, since_advance: 0, is_halted: false };
        open.columns(db)?;
        let definition = FlowRow::read(db, &open.location.flow)?.definition;
        Ok((open, definition))
    }

    /// Fails if nothing may be written by this handle.
    pub(super) fn check_writable(&self) -> Result<(), StoreError> {
        match self.lock {
            None => Err(StoreError::ReadOnly),
            Some(_) if self.is_halted => Err(StoreError::Halted),
            Some(_) => Ok(()),
        }
    }

    fn check_lock(&self) -> Result<(), SqliteError> {
        self.lock.as_ref().ok_or(StoreError::ReadOnly)?.check(&self.location)
    }

    /// The columns of the flow, which are read again after a failed write.
    pub(super) fn columns(&mut self, db: &Connection) -> Result<&mut ColumnRows, SqliteError> {
        let columns = match self.columns.take() {
            Some(columns) => columns,
            None => {
                let flow = FlowRow::read(db, &self.location.flow)?;
                let columns = ColumnRows::read(db, flow.id)?;
                // Without this count, a column whose row was deleted would look as if it had never been stored.
                if columns.count() != flow.columns {
                    return Err(SqliteError::Damaged("a column is gone"));
                }
                columns
            }
        };
        Ok(self.columns.insert(columns))
    }

    pub(super) fn define(&self, db: &Transaction<'_>, definition: String) -> Result<(), SqliteError> {
        self.check_lock()?;
        let flow = FlowRow::read(db, &self.location.flow)?;
        FlowRow { definition: Some(definition), ..flow }.write(db, &self.location.flow)
    }

    pub(super) fn put_blob(
        &self,
        db: &Transaction<'_>,
        digest: &str,
        bytes: &[u8],
    ) -> Result<(), SqliteError> {
        self.check_lock()?;
        attachments::put(db, self.id, digest, bytes)
    }

    pub(super) fn put(&mut self, db: &Transaction<'_>, cells: &[NewCell]) -> Result<Vec<Put>, SqliteError> {
        self.check_lock()?;
        self.since_advance += cells.len();
        let advances = self.since_advance >= ADVANCE_INTERVAL;
        let columns = self.columns(db)?;
        let before = columns.count();
        let puts = cells.iter().map(|cell| put(db, columns, cell)).collect::<Result<_, _>>()?;
        let after = columns.count();
        if advances {
            columns.advance(db)?;
            self.since_advance = 0;
        }
        if after > before {
            let flow = FlowRow::read(db, &self.location.flow)?;
            FlowRow { columns: after, ..flow }.write(db, &self.location.flow)?;
        }
        Ok(puts)
    }

    /// Forgets changes that are not stored.
    pub(super) fn undo(&mut self) {
        self.columns = None;
    }

    /// Stores the complete prefixes of columns, if these are longer than the stored ones.
    pub(super) fn advance(&mut self, db: &Transaction<'_>) -> Result<(), SqliteError> {
        if self.since_advance == 0 {
            return Ok(());
        }
        self.check_lock()?;
        self.columns(db)?.advance(db)?;
        self.since_advance = 0;
        Ok(())
    }

    /// The id of the flow, if the complete prefixes of columns are longer than the stored ones.
    pub(super) fn behind(&self) -> Option<i64> {
        (self.since_advance > 0).then_some(self.id)
    }
}

/// The path of the lock of a flow, named by the id: a key may have any length, and characters that file names cannot
/// have.
pub(super) fn lock_path(file: &Path, flow: i64) -> PathBuf {
    beside(file, &format!("-lock-{flow}"))
}

/// Stores the complete prefixes of the columns of a flow, which need not be open.
pub(super) fn advance(db: &Transaction<'_>, flow: i64) -> Result<(), SqliteError> {
    ColumnRows::read(db, flow)?.advance(db)
}

fn put(db: &Transaction<'_>, columns: &mut ColumnRows, cell: &NewCell) -> Result<Put, SqliteError> {
    let NewCell { column: name, step, entry } = cell;
    let column = columns.make(db, name)?;
    if cells::put(db, column, *step, entry)? {
        return Ok(Put::Stored);
    }
    let there = cells::load(db, name, column, *step..step.saturating_add(1))?.entries.pop();
    there.map(|(_, entry)| Put::Exists(entry)).ok_or(SqliteError::Damaged("a cell exists and cannot be read"))
}
