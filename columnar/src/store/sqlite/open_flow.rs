//! An open flow, whose rows are read and written on the connection of the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    id: i64,
    pub(super) location: FileLocation,
    pub(super) lock: FlowLock,
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
        let mut open = Self { id, location, lock, columns: None, since_advance: 0, is_halted: false };
        // Read after the lock is taken: the last owner may have stored cells until the release.
        open.columns(db)?;
        let definition = FlowRow::read(db, &open.location.flow)?.definition;
        Ok((open, definition))
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
        self.lock.check(&self.location)?;
        let flow = FlowRow::read(db, &self.location.flow)?;
        FlowRow { definition: Some(definition), ..flow }.write(db, &self.location.flow)
    }

    pub(super) fn put_blob(
        &self,
        db: &Transaction<'_>,
        digest: &str,
        bytes: &[u8],
    ) -> Result<(), SqliteError> {
        self.lock.check(&self.location)?;
        attachments::put(db, self.id, digest, bytes)
    }

    pub(super) fn load_blob(&self, db: &Connection, digest: &str) -> Result<Option<Arc<[u8]>>, SqliteError> {
        attachments::load(db, self.id, digest)
    }

    pub(super) fn put(&mut self, db: &Transaction<'_>, cells: &[NewCell]) -> Result<Vec<Put>, SqliteError> {
        self.lock.check(&self.location)?;
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
        self.lock.check(&self.location)?;
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
