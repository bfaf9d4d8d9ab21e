//! The tables of the file, and checks of what the file says about itself.
//!
//! SQLite believes the schema, the header and the pages that lead to others. A changed bit there reads other rows, or
//! none, and a flow without rows would be begun anew. So a file is compared with what the library writes.
//! The texts of the schema and the number of pages are compared at each opening.
//!
//! A row to which no page leads is missed by the counts in the rows of flows and columns, which are exact before the log
//! is emptied. Rows that are newer than the counts are in the log, or were written back from a log that was left. In that
//! case all pages are read.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use rusqlite::{Connection, Transaction};

use super::error::SqliteError;
use super::log;
use crate::declare::error::shown;
use crate::store::StoreError;

/// The application id in the header of the file: `clmn`.
pub(super) const APPLICATION: i32 = 0x636c_6d6e;
/// The format that is written, which is the user version in the header.
pub(super) const FORMAT: u32 = 2;
/// The format of a file with attachments, which earlier versions do not see. The other tables are the same.
pub(super) const WITH_ATTACHMENTS: u32 = 3;

/// The size of a page. A cell is found by one number, made of the column and the step. So a cell is one row of one
/// tree, and a write changes one page. Ten cells of 800 bytes fill a page of this size, and four cells a page of half
/// the size. Where values are of any length, a page of this size leaves less room empty than a smaller page, and a
/// larger page makes a flow of a few steps large.
pub(super) const PAGE: u32 = 8192;
const TABLES: &str = "
    create table flow (
        id integer primary key, key text not null unique, definition blob, columns integer not null,
        sum integer not null
    );
    create table column (
        id integer primary key, flow integer not null, name text not null, complete integer not null,
        sum integer not null, unique (flow, name)
    );
    create table cell (id integer primary key, sum integer not null, bytes blob);
";
/// Receipts, by the id of the cell. Receipts have a separate table, so a cell without a receipt takes not a byte more,
/// and receipts are summed up without reading values.
const RECEIPTS: &str = "
    create table receipt (id integer primary key, bytes blob not null);
    create view cells as
        select flow.key as flow, column.name as column, cell.id & 0xffffffff as step,
            cast(cell.bytes as text) as value, cast(receipt.bytes as text) as receipt
        from flow join column on column.flow = flow.id
            join cell on cell.id between column.id << 32 and (column.id << 32) + 0xffffffff
            left join receipt on receipt.id = cell.id;
";
/// The attachments of all flows, each once, and the flows that have each. Made with the first attachment, so a file without
/// attachments takes not a byte more.
const ATTACHMENTS: &str = "
    create table attachment (id integer primary key, digest text not null unique, bytes blob not null);
    create table flow_attachment (digest text not null, flow integer not null, primary key (digest, flow))
        without rowid;
";

/// Makes the tables of attachments.
pub(super) fn make_attachments(db: &Transaction<'_>) -> Result<(), SqliteError> {
    db.execute_batch(ATTACHMENTS)?;
    db.pragma_update(None, "user_version", WITH_ATTACHMENTS)?;
    Ok(())
}

/// Whether the file has the tables of attachments.
pub(super) fn has_attachments(db: &Connection) -> Result<bool, SqliteError> {
    let format: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(format >= WITH_ATTACHMENTS)
}

/// Makes the tables of an empty file.
pub(super) fn make(db: &Transaction<'_>) -> Result<(), SqliteError> {
    db.execute_batch(TABLES)?;
    upgrade(db)
}

/// Upgrades from format 1, which had no receipts. No cell is rewritten, since cells without a receipt did not change.
pub(super) fn upgrade(db: &Transaction<'_>) -> Result<(), SqliteError> {
    db.execute_batch("drop view if exists cells")?;
    db.execute_batch(RECEIPTS)?;
    db.pragma_update(None, "application_id", APPLICATION)?;
    db.pragma_update(None, "user_version", FORMAT)?;
    Ok(())
}

/// Fails if the file has another schema than the one that is written here, or another length than its header says.
pub(super) fn check(db: &Connection, path: &Path) -> Result<(), SqliteError> {
    // Tables, indexes and views that other programs have added do no harm.
    static PLAIN: OnceLock<SchemaObjects> = OnceLock::new();
    static ATTACHED: OnceLock<SchemaObjects> = OnceLock::new();
    let is_written = if has_attachments(db)? {
        written(&ATTACHED, &[TABLES, RECEIPTS, ATTACHMENTS])?.is_subset(&objects(db)?)
    } else {
        written(&PLAIN, &[TABLES, RECEIPTS])?.is_subset(&objects(db)?)
    };
    if !is_written {
        return Err(SqliteError::Damaged("its schema is not as written"));
    }
    // Nobody writes the file back from an empty log while this transaction reads from the file.
    let _reading = db.unchecked_transaction()?;
    let length = "select page_count * page_size from pragma_page_count, pragma_page_size";
    let length: i64 = db.query_row(length, (), |row| row.get(0))?;
    let unreadable = |error| SqliteError::io(format!("looking at {}", shown(path)), error);
    let is_log_empty = log::is_empty(&log::log_path(path)).map_err(unreadable)?;
    if is_log_empty && u64::try_from(length) != Ok(fs::metadata(path).map_err(unreadable)?.len()) {
        return Err(SqliteError::Damaged("it has another length than its header says"));
    }
    Ok(())
}

/// The type, the name, the table and the words of the definition of each table, index and view.
type SchemaObjects = HashSet<[String; 4]>;

/// The schema that these statements write.
fn written(
    known: &'static OnceLock<SchemaObjects>,
    statements: &[&str],
) -> Result<&'static SchemaObjects, SqliteError> {
    if let Some(written) = known.get() {
        return Ok(written);
    }
    let db = Connection::open_in_memory()?;
    db.execute_batch(&statements.concat())?;
    let written = objects(&db)?;
    Ok(known.get_or_init(|| written))
}

fn objects(db: &Connection) -> Result<SchemaObjects, SqliteError> {
    let mut read = db.prepare("select type, name, tbl_name, ifnull(sql, '') from sqlite_schema")?;
    let objects = read.query_map((), |row| {
        let sql: String = row.get(3)?;
        let words: Vec<&str> = sql.split_ascii_whitespace().collect();
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, words.join(" ")])
    })?;
    Ok(objects.collect::<Result<_, _>>()?)
}

/// Fails unless every page has its place and every row can be found. Reads the whole file.
pub(super) fn check_pages(db: &Connection, path: &Path) -> Result<(), SqliteError> {
    let found: String = db.query_row("pragma integrity_check(1)", (), |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    let file = shown(path).to_string();
    let reason = format!(
        "the process that wrote it was killed, and confirmed values may have no page that leads to them; restore it and \
         its log from a backup, or, to go on without these values, copy the files and run `sqlite3 {file} 'pragma \
         wal_checkpoint(truncate)'`"
    );
    Err(StoreError::damaged(&file, reason).into())
}
