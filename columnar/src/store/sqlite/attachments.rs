//! The attachments of the flows of a file. Each is stored once, and is removed when no flow has it.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::error::SqliteError;
use super::schema::{has_attachments, make_attachments};

/// The most attachments that a transaction removes.
const REMOVED: u32 = 8;

/// Stores an attachment of a flow.
pub(super) fn put(db: &Transaction<'_>, flow: i64, digest: &str, bytes: &[u8]) -> Result<(), SqliteError> {
    if !has_attachments(db)? {
        make_attachments(db)?;
    }
    // Most values have an attachment that is stored, and handing the bytes to SQLite copies the bytes.
    let known = "select exists (select 1 from attachment where digest = ?)";
    if !db.query_row(known, [digest], |row| row.get(0))? {
        db.execute("insert into attachment (digest, bytes) values (?, ?)", (digest, bytes))?;
    }
    db.execute("insert or ignore into flow_attachment (digest, flow) values (?, ?)", (digest, flow))?;
    Ok(())
}

/// The bytes of an attachment of a flow.
pub(super) fn load(db: &Connection, flow: i64, digest: &str) -> Result<Option<Arc<[u8]>>, SqliteError> {
    if !has_attachments(db)? {
        return Ok(None);
    }
    let load =
        "select bytes from attachment join flow_attachment using (digest) where digest = ? and flow = ?";
    // An edit by hand may have stored text or a number; whoever loads compares the digest.
    let bytes =
        db.query_row(load, (digest, flow), |row| Ok(row.get_ref(0)?.as_bytes().unwrap_or_default().into()));
    Ok(bytes.optional()?)
}

/// Takes the attachments from a flow that is deleted.
pub(super) fn forget(db: &Transaction<'_>, flow: i64) -> Result<(), SqliteError> {
    if has_attachments(db)? {
        db.execute("delete from flow_attachment where flow = ?", [flow])?;
    }
    Ok(())
}

/// Removes attachments that no flow has, and returns whether some are left.
pub(super) fn purge(db: &Transaction<'_>) -> Result<bool, SqliteError> {
    if !has_attachments(db)? {
        return Ok(false);
    }
    // The digests are in an index, so the bytes of other attachments are not read.
    let remove = "delete from attachment where id in (select id from attachment where digest not in
        (select digest from flow_attachment) limit ?)";
    Ok(db.execute(remove, [REMOVED])? > 0)
}

/// Whether attachments that no flow has are left.
pub(super) fn is_left(db: &Connection) -> Result<bool, SqliteError> {
    let left =
        "select exists (select 1 from attachment where digest not in (select digest from flow_attachment))";
    Ok(has_attachments(db)? && db.query_row(left, (), |row| row.get(0))?)
}
