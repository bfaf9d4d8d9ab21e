//! The row of a flow.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::error::SqliteError;
use crate::store::checksum::checksum;

/// The row of a flow.
pub(super) struct Flow {
    pub(super) id: i64,
    pub(super) definition: Option<String>,
    /// The number of its columns.
    pub(super) columns: u32,
}

impl Flow {
    /// The id of the flow with this key, which is created if it is missing.
    pub(super) fn find_or_make(db: &Connection, key: &str) -> Result<i64, SqliteError> {
        if let Some(id) = find(db, key)? {
            return Ok(id);
        }
        let making = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
        // Another process may have created it meanwhile.
        let id = match find(&making, key)? {
            Some(id) => id,
            None => {
                let next = "select coalesce(max(id), 0) + 1 from flow";
                let flow =
                    Self { id: making.query_row(next, (), |row| row.get(0))?, definition: None, columns: 0 };
                flow.write(&making, key)?;
                flow.id
            }
        };
        making.commit()?;
        Ok(id)
    }

    pub(super) fn read(db: &Connection, key: &str) -> Result<Self, SqliteError> {
        let mut read = db.prepare("select id, definition, columns, sum from flow where key = ?")?;
        read.query_row([key], |row| {
            let definition: Option<Vec<u8>> = row.get("definition")?;
            let definition = definition.map(String::from_utf8).transpose();
            let (id, columns) = (row.get("id")?, row.get::<_, u32>("columns")?);
            let sum: i32 = row.get("sum")?;
            Ok(definition.ok().map(|definition| (Self { id, definition, columns }, sum)))
        })?
        .filter(|(flow, sum)| flow.checksum(key) == *sum)
        .map(|(flow, _)| flow)
        .ok_or(SqliteError::Damaged("what is kept of the flow has another checksum"))
    }

    pub(super) fn write(&self, db: &Transaction<'_>, key: &str) -> Result<(), SqliteError> {
        let definition = self.definition.as_ref().map(String::as_bytes);
        db.execute(
            "insert into flow (id, key, definition, columns, sum) values (?, ?, ?, ?, ?) on conflict (id) do update
             set definition = excluded.definition, columns = excluded.columns, sum = excluded.sum",
            (self.id, key, definition, self.columns, self.checksum(key)),
        )?;
        Ok(())
    }

    fn checksum(&self, key: &str) -> i32 {
        let (id, columns) = (self.id.to_le_bytes(), self.columns.to_le_bytes());
        match &self.definition {
            Some(definition) => checksum(&[&id, key.as_bytes(), &columns, definition.as_bytes()]),
            None => checksum(&[&id, key.as_bytes(), &columns]),
        }
    }
}

fn find(db: &Connection, key: &str) -> Result<Option<i64>, SqliteError> {
    let find = "select id from flow where key = ?";
    Ok(db.query_row(find, [key], |row| row.get(0)).optional()?)
}
