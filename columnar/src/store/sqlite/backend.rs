//! The backend of the SQLite store: an open flow of a file.

use std::ops::Range;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::cells;
use super::database::{self, Location, Lock};
use super::error::SqliteError;
use super::flow::Columns;
use super::flow::Flow;
use crate::declare::Name;
use crate::store::worker::{self, NewCell};
use crate::store::{Entry, Put, StoreError, StoredSteps};

/// After this many cells the complete prefixes of columns are stored. So opening a flow reads at most as many rows,
/// and those of steps beyond the prefix.
const ADVANCE_INTERVAL: usize = 1024;

/// An open flow. Fields are dropped in this order, so the lock is released last.
pub(crate) struct SqliteBackend {
    location: Location,
    /// `None` after a failed write, whose changes here are not stored.
    columns: Option<Columns>,
    /// The number of cells since the prefixes were stored.
    since_advance: usize,
    pub(super) db: Connection,
    _lock: Lock,
}

impl SqliteBackend {
    fn begin(location: &Location) -> Result<Self, SqliteError> {
        let (path, db) = database::open(location)?;
        let flow = Flow::find_or_make(&db, &location.flow)?;
        // Named by the id, since a key has any length, and characters that file names cannot have.
        let mut lock = path.into_os_string();
        lock.push(format!("-lock-{flow}"));
        let Some(lock) = Lock::take(lock.as_ref())? else {
            return Err(StoreError::Locked { location: location.to_string() }.into());
        };
        let mut backend =
            Self { location: location.clone(), columns: None, since_advance: 0, db, _lock: lock };
        // After the lock: the last owner may have stored cells until it released it.
        backend.columns = Some(backend.take_columns()?);
        Ok(backend)
    }

    fn take_columns(&mut self) -> Result<Columns, SqliteError> {
        if let Some(columns) = self.columns.take() {
            return Ok(columns);
        }
        let flow = Flow::read(&self.db, &self.location.flow)?;
        let columns = Columns::read(&self.db, flow.id)?;
        // Without this count, a column whose row was deleted would look as if it had never been stored.
        if columns.count() == flow.columns {
            Ok(columns)
        } else {
            Err(SqliteError::Damaged("a column is gone"))
        }
    }

    fn read<T>(
        &mut self,
        read: impl FnOnce(&Connection, &Columns) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        let read = self.take_columns().and_then(|columns| read(&self.db, self.columns.insert(columns)));
        read.map_err(|error| error.into_store_error(&self.location, "reading"))
    }

    /// Writes in one transaction.
    fn write<T>(
        &mut self,
        write: impl FnOnce(&Transaction<'_>, &mut Columns, &str) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        let written = self.take_columns().and_then(|mut columns| {
            // It waits for other writers at its beginning; a transaction that has read already cannot wait.
            let writing = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
            let written = write(&writing, &mut columns, &self.location.flow)?;
            writing.commit()?;
            self.columns = Some(columns);
            Ok(written)
        });
        written.map_err(|error| {
            // The prefixes of this handle may include cells that are not stored.
            // With 0, `drop` does not store them, either.
            self.since_advance = 0;
            error.into_store_error(&self.location, "writing to")
        })
    }
}

impl worker::Backend for SqliteBackend {
    type Location = Location;

    fn open(location: &Location) -> Result<Self, StoreError> {
        Self::begin(location).map_err(|error| error.into_store_error(location, "opening"))
    }

    fn definition(&mut self) -> Result<Option<String>, StoreError> {
        let flow = Flow::read(&self.db, &self.location.flow)
            .map_err(|error| error.into_store_error(&self.location, "reading"))?;
        Ok(flow.definition)
    }

    fn define(&mut self, definition: &str) -> Result<(), StoreError> {
        self.write(|db, _, key| {
            let flow = Flow::read(db, key)?;
            Flow { definition: Some(definition.to_owned()), ..flow }.write(db, key)
        })
    }

    fn stored_steps(&mut self, column: &Name) -> Result<StoredSteps, StoreError> {
        self.read(|db, columns| {
            columns.get(column).map_or(Ok(StoredSteps::default()), |column| cells::stored_steps(db, column))
        })
    }

    fn load(&mut self, column: &Name, steps: Range<usize>) -> Result<Vec<(usize, Entry)>, StoreError> {
        self.read(|db, columns| match columns.get(column) {
            Some(known) => cells::load(db, column, known, steps),
            None => Ok(Vec::new()),
        })
    }

    fn put(&mut self, cells: Vec<NewCell>) -> Result<Vec<Put>, StoreError> {
        let since_advance = self.since_advance + cells.len();
        let puts = self.write(|db, columns, key| {
            let before = columns.count();
            let puts = put(db, columns, cells)?;
            if columns.count() > before {
                let flow = Flow::read(db, key)?;
                Flow { columns: columns.count(), ..flow }.write(db, key)?;
            }
            if since_advance >= ADVANCE_INTERVAL {
                columns.advance(db)?;
            }
            Ok(puts)
        })?;
        self.since_advance = if since_advance >= ADVANCE_INTERVAL { 0 } else { since_advance };
        Ok(puts)
    }
}

fn put(db: &Transaction<'_>, columns: &mut Columns, cells: Vec<NewCell>) -> Result<Vec<Put>, SqliteError> {
    let puts = cells.into_iter().map(|NewCell { column: name, step, entry }| {
        let column = columns.make(db, &name)?;
        if cells::put(db, column, step, &entry)? {
            return Ok(Put::Stored);
        }
        let there = cells::load(db, &name, column, step..step.saturating_add(1))?.pop();
        there
            .map(|(_, entry)| Put::Exists(entry))
            .ok_or(SqliteError::Damaged("a cell exists and cannot be read"))
    });
    puts.collect()
}

impl Drop for SqliteBackend {
    fn drop(&mut self) {
        // If this fails, the next `open` reads more rows. It is not worth waiting for.
        if self.since_advance > 0 && self.db.busy_timeout(Duration::ZERO).is_ok() {
            let _ = self.write(|db, columns, _| columns.advance(db));
        }
    }
}
