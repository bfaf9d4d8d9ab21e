//! A flow of a file, and its owner.

use std::ops::Range;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::cells;
use super::columns::Columns;
use super::fault::Fault;
use super::flow::Flow;
use super::lock::Lock;
use super::{Place, database};
use crate::declare::Name;
use crate::store::worker::{self, NewCell};
use crate::store::{Entry, Put, StoreError, StoredSteps};

/// After so many cells it is written down how far columns are complete. So opening a flow reads no more than these,
/// and what was computed ahead.
const STRIDE: usize = 1024;

/// A flow that is open. The fields are dropped in this order: the lock is the last of them.
pub(super) struct Medium {
    place: Place,
    /// `None` where a write failed: what it changed here is not what is stored.
    columns: Option<Columns>,
    /// How many cells have come since it was written down how far columns are complete.
    ahead: usize,
    pub(super) db: Connection,
    _lock: Lock,
}

impl Medium {
    fn begin(place: &Place) -> Result<Self, Fault> {
        let (path, db) = database::open(place)?;
        let flow = Flow::find_or_make(&db, &place.flow)?;
        let mut lock = path.into_os_string();
        lock.push(format!("-lock-{flow}"));
        let Some(lock) = Lock::take(lock.as_ref())? else {
            return Err(StoreError::Locked { place: place.to_string() }.into());
        };
        let mut medium = Self { place: place.clone(), columns: None, ahead: 0, db, _lock: lock };
        medium.columns = Some(medium.take_columns()?);
        Ok(medium)
    }

    fn take_columns(&mut self) -> Result<Columns, Fault> {
        if let Some(columns) = self.columns.take() {
            return Ok(columns);
        }
        let flow = Flow::read(&self.db, &self.place.flow)?;
        let columns = Columns::read(&self.db, flow.id)?;
        if columns.count() == flow.columns { Ok(columns) } else { Err(Fault::Damage("a column is gone")) }
    }

    fn read<T>(
        &mut self,
        read: impl FnOnce(&Connection, &Columns) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let read = self.take_columns().and_then(|columns| read(&self.db, self.columns.insert(columns)));
        read.map_err(|fault| fault.at(&self.place, "reading"))
    }

    /// Changes the file as a whole or not at all.
    fn write<T>(
        &mut self,
        write: impl FnOnce(&Transaction<'_>, &mut Columns, &str) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let written = self.take_columns().and_then(|mut columns| {
            let writing = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
            let written = write(&writing, &mut columns, &self.place.flow)?;
            writing.commit()?;
            self.columns = Some(columns);
            Ok(written)
        });
        written.map_err(|fault| {
            // Nothing is written down any more of what may not have arrived.
            self.ahead = 0;
            fault.at(&self.place, "writing to")
        })
    }
}

impl worker::Medium for Medium {
    type Place = Place;

    fn open(place: &Place) -> Result<Self, StoreError> {
        Self::begin(place).map_err(|fault| fault.at(place, "opening"))
    }

    fn definition(&mut self) -> Result<Option<String>, StoreError> {
        let flow =
            Flow::read(&self.db, &self.place.flow).map_err(|fault| fault.at(&self.place, "reading"))?;
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
        let ahead = self.ahead + cells.len();
        let puts = self.write(|db, columns, key| {
            let before = columns.count();
            let puts = put(db, columns, cells)?;
            if columns.count() > before {
                let flow = Flow::read(db, key)?;
                Flow { columns: columns.count(), ..flow }.write(db, key)?;
            }
            if ahead >= STRIDE {
                columns.advance(db)?;
            }
            Ok(puts)
        })?;
        self.ahead = if ahead >= STRIDE { 0 } else { ahead };
        Ok(puts)
    }
}

fn put(db: &Transaction<'_>, columns: &mut Columns, cells: Vec<NewCell>) -> Result<Vec<Put>, Fault> {
    let puts = cells.into_iter().map(|NewCell { column: name, step, entry }| {
        let column = columns.make(db, &name)?;
        if cells::put(db, column, step, &entry)? {
            return Ok(Put::Stored);
        }
        let there = cells::load(db, &name, column, step..step.saturating_add(1))?.pop();
        there.map(|(_, entry)| Put::Exists(entry)).ok_or(Fault::Damage("a cell is there and is not"))
    });
    puts.collect()
}

impl Drop for Medium {
    fn drop(&mut self) {
        // Where it fails, whoever opens the flow next reads more. It is not worth any waiting.
        if self.ahead > 0 && self.db.busy_timeout(Duration::ZERO).is_ok() {
            let _ = self.write(|db, columns, _| columns.advance(db));
        }
    }
}
