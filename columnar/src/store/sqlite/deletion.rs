//! Deletes a flow. The row of the flow and the names of its columns go first, in one transaction. Then the cells go,
//! to which nothing leads any more, in several transactions, so that other flows need not wait for the whole deletion.

use rusqlite::{Connection, Transaction};

use super::attachments;
use super::error::SqliteError;
use super::flow::{ColumnRow, STEPS};

/// The most rows that a transaction removes.
const CHUNK_ROWS: usize = 1024;

/// Deletes a flow, and returns whether cells of deleted flows are left.
pub(super) fn delete(db: &Transaction<'_>, flow: i64) -> Result<bool, SqliteError> {
    db.execute("delete from flow where id = ?", [flow])?;
    // A new flow may get the id.
    attachments::forget(db, flow)?;
    // No flow has a negative id, and the columns of a flow have different ones.
    db.execute("update column not indexed set flow = -id where flow = ?", [flow])?;
    purge(db)
}

/// Removes cells and attachments of deleted flows, and returns whether some are left.
pub(super) fn purge(db: &Transaction<'_>) -> Result<bool, SqliteError> {
    let mut rows = CHUNK_ROWS;
    for column in deleted_columns(db)? {
        for remove in [
            "delete from receipt where id in (select id from receipt where id >= ? and id < ? limit ?)",
            "delete from cell where id in (select id from cell where id >= ? and id < ? limit ?)",
        ] {
            let limit = i64::try_from(rows).unwrap_or(i64::MAX);
            rows -= db.execute(remove, [column.cell(0), column.cell(STEPS), limit])?.min(rows);
        }
        if rows == 0 {
            return Ok(true);
        }
        // Deleted last, since a new column may get the id.
        db.execute("delete from column where id = ?", [column.id])?;
    }
    attachments::purge(db)
}

/// Whether columns or attachments of deleted flows are left.
pub(super) fn is_left(db: &Connection) -> Result<bool, SqliteError> {
    Ok(!deleted_columns(db)?.is_empty() || attachments::is_left(db)?)
}

/// The columns of deleted flows. All rows are read: a damaged index may not lead to a column, whose cells would then
/// stay for good.
fn deleted_columns(db: &Connection) -> Result<Vec<ColumnRow>, SqliteError> {
    let mut find = db.prepare("select id from column not indexed where flow < 0")?;
    let columns = find.query_map((), |row| Ok(ColumnRow { id: row.get(0)?, complete: 0 }))?;
    Ok(columns.collect::<Result<_, _>>()?)
}
