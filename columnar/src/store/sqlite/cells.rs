//! The cells of a column.

use std::ops::Range;
use std::path::Path;

use rusqlite::{Connection, Row, Transaction};

use super::error::SqliteError;
use super::flow::{ColumnRow, STEPS};
use crate::declare::Name;
use crate::declare::error::shown;
use crate::store::checksum::EntryBytes;
use crate::store::{Entry, StepEntries, StoreError, StoredSteps};

/// The stored steps of a column.
pub(super) fn stored_steps(db: &Connection, column: ColumnRow) -> Result<StoredSteps, SqliteError> {
    let mut stored_steps = StoredSteps { prefix: from_row(column.complete), beyond: Vec::new() };
    // One query, since the owner of a flow that is read may store cells between two.
    let mut find = db.prepare("select id from cell where id >= ? and id < ? order by id")?;
    let mut cells = find.query([column.cell(column.complete), column.cell(STEPS)])?;
    while let Some(row) = cells.next()? {
        let cell: i64 = row.get(0)?;
        match from_row(cell - column.cell(0)) {
            step if step == stored_steps.prefix => stored_steps.prefix += 1,
            step => stored_steps.beyond.push(step),
        }
    }
    Ok(stored_steps)
}

const LOAD: &str = "
    select cell.id as id, sum, cell.bytes as bytes, receipt.bytes as receipt
    from cell left join receipt on receipt.id = cell.id
    where cell.id >= ? and cell.id < ? order by cell.id";

/// The most rows and bytes of a chunk, unless a single entry has more bytes. Reading a chunk takes about as long as a
/// commit of another flow, which waits meanwhile.
const CHUNK_ROWS: usize = 4096;
const CHUNK_BYTES: usize = 1 << 20;

/// The first entries within a range.
#[derive(Default)]
pub(super) struct RowChunk {
    pub(super) entries: StepEntries,
    /// The steps whose entries are not loaded.
    pub(super) rest: Range<usize>,
}

/// Loads the first entries within a range. A missing entry below the complete prefix is an error.
pub(super) fn load(
    db: &Connection,
    name: &Name,
    column: ColumnRow,
    steps: Range<usize>,
) -> Result<RowChunk, SqliteError> {
    let corrupt = |step, reason: &str| SqliteError::Store(StoreError::corrupt(name, from_row(step), reason));
    let mut next = to_row(steps.start);
    let end = to_row(steps.end);
    let mut load = db.prepare_cached(LOAD)?;
    let mut rows = load.query([column.cell(next), column.cell(end)])?;
    let mut chunk = RowChunk::default();
    let mut bytes = 0;
    while chunk.entries.len() < CHUNK_ROWS && bytes < CHUNK_BYTES {
        let row = rows.next().map_err(SqliteError::from).map_err(|error| {
            // The first row that cannot be read.
            if !error.is_damage() {
                return error;
            }
            let file = shown(Path::new(db.path().unwrap_or_default()));
            corrupt(next, &format!("{file} or its log cannot be read there; restore both from a backup"))
        })?;
        let step = match row {
            Some(row) => row.get::<_, i64>(0)? - column.cell(0),
            None => end,
        };
        // Beyond the stored prefix a gap is no damage, since steps are stored in any order.
        if next < step.min(column.complete) {
            return Err(corrupt(next, "it was stored and is gone"));
        }
        let Some(row) = row else { return Ok(chunk) };
        let entry = entry(row).map_err(|reason| corrupt(step, reason))?;
        bytes += entry.len();
        chunk.entries.push((from_row(step), entry));
        next = step + 1;
    }
    chunk.rest = from_row(next)..steps.end;
    Ok(chunk)
}

/// The entry of a row, or its defect.
fn entry(row: &Row<'_>) -> Result<Entry, &'static str> {
    let bytes = EntryBytes { value: blob(row, "bytes")?, receipt: blob(row, "receipt")? };
    let cell: i64 = row.get("id").map_err(|_| STRANGE)?;
    if row.get::<_, i32>("sum").map_err(|_| STRANGE)? != bytes.checksum(&[&cell.to_le_bytes()]) {
        return Err("its checksum is wrong");
    }
    bytes.entry().map_err(|_| "it is no text")
}

const STRANGE: &str = "it is of another type";

/// The bytes in a column of SQLite, which takes values of any type: an edit by hand stores text.
fn blob<'r>(row: &'r Row<'_>, name: &str) -> Result<Option<&'r [u8]>, &'static str> {
    row.get_ref(name).map_err(|_| STRANGE)?.as_blob_or_null().map_err(|_| "it is no blob")
}

/// Stores an entry unless the cell has one, and returns whether this call stored it.
pub(super) fn put(
    db: &Transaction<'_>,
    column: ColumnRow,
    step: usize,
    entry: &Entry,
) -> Result<bool, SqliteError> {
    // A greater step would have the row id of a cell of the next column.
    let step = i64::try_from(step).ok().filter(|step| *step < STEPS);
    let cell = column.cell(step.ok_or_else(|| StoreError::other("there are no more than 2^32 steps"))?);
    let bytes = EntryBytes::of(entry);
    let mut put =
        db.prepare_cached("insert into cell (id, sum, bytes) values (?, ?, ?) on conflict do nothing")?;
    // The sum includes the address of the cell, so a moved value is detected as well as a changed one.
    let sum = bytes.checksum(&[&cell.to_le_bytes()]);
    let stored = put.execute((cell, sum, bytes.value))? == 1;
    if stored && let Some(receipt) = bytes.receipt {
        db.prepare_cached("insert into receipt (id, bytes) values (?, ?)")?.execute((cell, receipt))?;
    }
    Ok(stored)
}

/// The number of a step in SQLite. A step beyond the limit of SQLite's rows comes after all rows.
fn to_row(step: usize) -> i64 {
    i64::try_from(step).unwrap_or(STEPS).min(STEPS)
}

/// The step of a queried row, which is not negative.
fn from_row(step: i64) -> usize {
    usize::try_from(step).unwrap_or_default()
}
