//! The cells of a column.

use std::ops::Range;

use rusqlite::{Connection, Row, Statement, Transaction};

use super::columns::Column;
use super::fault::Fault;
use crate::name::Name;
use crate::store::sum::sum;
use crate::store::{Entry, Extent, StoreError};

const LOAD: &str = "
    select cell.step, cell.sum, cell.value, value.bytes
    from cell left join value on value.id = cell.value
    where cell.column = ? and cell.step >= ? and cell.step < ? order by cell.step";

/// Which steps are stored.
pub(super) fn extent(db: &Connection, column: Column) -> Result<Extent, Fault> {
    let prefix = column.prefix(db)?;
    let mut find = db.prepare("select step from cell where column = ? and step > ? order by step")?;
    let beyond = find.query_and_then([column.id, prefix], |row| Ok(from_row(row.get(0)?)))?;
    Ok(Extent { prefix: from_row(prefix), beyond: beyond.collect::<Result<_, Fault>>()? })
}

/// What is stored in these steps. One that was stored and is not there is an error.
pub(super) fn load(
    db: &Connection,
    name: &Name,
    column: Column,
    steps: Range<usize>,
) -> Result<Vec<(usize, Entry)>, Fault> {
    let corrupt = |step, what: &str| {
        let (column, step) = (name.clone(), from_row(step));
        Fault::Store(StoreError::Corrupt { column, step, what: what.to_owned() })
    };
    let (start, end) = (to_row(steps.start), to_row(steps.end));
    let mut load = db.prepare(LOAD)?;
    let mut rows = load.query([column.id, start, end])?;
    let (mut next, mut entries) = (start, Vec::new());
    loop {
        let row = rows.next().map_err(Fault::from);
        let row =
            row.map_err(|fault| if fault.is_damage() { corrupt(next, "it cannot be read") } else { fault })?;
        let step = match row {
            Some(row) => row.get(0)?,
            None => end.max(next),
        };
        if next < step.min(column.complete) {
            return Err(corrupt(next, "it was stored and is gone"));
        }
        let Some(row) = row else { return Ok(entries) };
        entries.push((from_row(step), entry(row, column, step).map_err(|what| corrupt(step, what))?));
        next = step.saturating_add(1);
    }
}

/// The entry of a row of [`LOAD`], or what is wrong with it.
fn entry(row: &Row<'_>, column: Column, step: i64) -> Result<Entry, &'static str> {
    let strange = |_| "it is of another type";
    let is_skipped = row.get_ref("value").map_err(strange)? == rusqlite::types::ValueRef::Null;
    let bytes =
        row.get_ref("bytes").map_err(strange)?.as_blob_or_null().map_err(|_| "its value is no blob")?;
    if bytes.is_none() != is_skipped {
        return Err("its value is gone");
    }
    if row.get::<_, i32>("sum").map_err(strange)? != sum_of(column, step, bytes) {
        return Err("its checksum is another one");
    }
    let Some(bytes) = bytes else { return Ok(Entry::Skipped) };
    let text = std::str::from_utf8(bytes).map_err(|_| "it is no text")?;
    Ok(Entry::Value(text.into()))
}

/// What puts cells, prepared.
pub(super) struct Putting<'a> {
    find: Statement<'a>,
    add_value: Statement<'a>,
    add_cell: Statement<'a>,
}

impl<'a> Putting<'a> {
    pub(super) fn new(db: &'a Transaction<'_>) -> Result<Self, Fault> {
        Ok(Self {
            find: db.prepare("select 1 from cell where column = ? and step = ?")?,
            add_value: db.prepare("insert into value (bytes) values (?)")?,
            add_cell: db.prepare("insert into cell (column, step, value, sum) values (?, ?, ?, ?)")?,
        })
    }

    /// Stores an entry, unless the cell has one.
    pub(super) fn put(&mut self, column: Column, step: usize, entry: &Entry) -> Result<bool, Fault> {
        let step = i64::try_from(step).map_err(StoreError::other)?;
        if self.find.exists((column.id, step))? {
            return Ok(false);
        }
        let bytes = match entry {
            Entry::Value(value) => Some(value.as_bytes()),
            Entry::Skipped => None,
        };
        let value = bytes.map(|bytes| self.add_value.insert([bytes])).transpose()?;
        self.add_cell.execute((column.id, step, value, sum_of(column, step, bytes)))?;
        Ok(true)
    }
}

/// Knows where the cell is, so what was moved is found out as well as what was changed.
fn sum_of(column: Column, step: i64, bytes: Option<&[u8]>) -> i32 {
    let (column, step) = (column.id.to_le_bytes(), step.to_le_bytes());
    match bytes {
        Some(bytes) => sum(&[&column, &step, bytes]),
        None => sum(&[&column, &step]),
    }
}

/// No step of a file is greater than this can say.
fn to_row(step: usize) -> i64 {
    i64::try_from(step).unwrap_or(i64::MAX)
}

/// No step that is asked for is negative.
fn from_row(step: i64) -> usize {
    usize::try_from(step).unwrap_or_default()
}
