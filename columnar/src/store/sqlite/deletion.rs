//! Deletes a flow. Its row and the names of its columns go first, in one transaction. Then the cells go, which nothing
//! leads to any more, in several, so that other flows need not wait for all of them.

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::error::SqliteError;
use super::flow::{Column, STEPS};

/// The most rows that a transaction removes.
const CHUNK_ROWS: usize = 1024;

/// Deletes a flow, and returns whether cells of deleted flows are left.
pub(super) fn delete(db: &Transaction<'_>, flow: i64) -> Result<bool, SqliteError> {
    db.execute("delete from flow where id = ?", [flow])?;
    // No flow has a negative id, and the columns of a flow have different ones.
    db.execute("update column set flow = -id where flow = ?", [flow])?;
    purge(db)
}

/// Removes cells of deleted flows, and returns whether some are left.
pub(super) fn purge(db: &Transaction<'_>) -> Result<bool, SqliteError> {
    let mut rows = CHUNK_ROWS;
    while let Some(column) = deleted_column(db)? {
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
        // Last, since a new column may get its id.
        db.execute("delete from column where id = ?", [column.id])?;
    }
    Ok(false)
}

/// Whether columns of deleted flows are left.
pub(super) fn is_left(db: &Connection) -> Result<bool, SqliteError> {
    Ok(deleted_column(db)?.is_some())
}

fn deleted_column(db: &Connection) -> Result<Option<Column>, SqliteError> {
    let id = db.query_row("select id from column where flow < 0 limit 1", (), |row| row.get(0)).optional()?;
    Ok(id.map(|id| Column { id, complete: 0 }))
}
