//! The rows of a flow and of the columns. The complete prefixes of columns are known without reading cells.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior};

use super::error::SqliteError;
use crate::declare::Name;
use crate::store::checksum::checksum;

const STEP_BITS: u32 = 32;
/// The limit of steps of a column.
pub(super) const STEPS: i64 = 1 << STEP_BITS;

/// The row of a flow.
pub(super) struct FlowRow {
    pub(super) id: i64,
    pub(super) definition: Option<String>,
    /// The number of columns.
    pub(super) columns: u32,
}

impl FlowRow {
    /// The id of the flow with this key. A missing flow is created.
    pub(super) fn find_or_make(db: &Connection, key: &str) -> Result<i64, SqliteError> {
        // Looked up without a write transaction, which would wait for the writers of other flows.
        if let Some(id) = find(db, key)? {
            return Ok(id);
        }
        let making = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
        // Another process may have created the flow meanwhile.
        let id = match find(&making, key)? {
            Some(id) => id,
            None => {
                // The checksum of the row includes the id, so the id is chosen before the row is inserted.
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
            let id = row.get("id")?;
            let columns = row.get::<_, u32>("columns")?;
            let sum: i32 = row.get("sum")?;
            Ok(definition.ok().map(|definition| (Self { id, definition, columns }, sum)))
        })?
        .filter(|(flow, sum)| flow.checksum(key) == *sum)
        .map(|(flow, _)| flow)
        .ok_or(SqliteError::Damaged("the row of the flow has a wrong checksum"))
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
        let id = self.id.to_le_bytes();
        let columns = self.columns.to_le_bytes();
        let definition = self.definition.as_ref().map(String::as_bytes);
        checksum([&id[..], key.as_bytes(), &columns].into_iter().chain(definition))
    }
}

/// The id of the flow with this key.
pub(super) fn find(db: &Connection, key: &str) -> Result<Option<i64>, SqliteError> {
    let find = "select id from flow where key = ?";
    Ok(db.query_row(find, [key], |row| row.get(0)).optional()?)
}

/// Fails unless the index of the keys leads to every flow: any other flow would be begun anew. Reads all flows.
pub(super) fn check_keys(db: &Connection) -> Result<(), SqliteError> {
    // `not indexed` reads the table and `indexed by` the index, so that both are compared.
    let lost = "select exists (select 1 from flow as known not indexed where not exists
        (select 1 from flow as found indexed by sqlite_autoindex_flow_1
        where found.key = known.key and found.id = known.id))";
    if db.query_row(lost, (), |row| row.get(0))? {
        return Err(SqliteError::Damaged("the index of the keys of its flows does not lead to all of them"));
    }
    Ok(())
}

/// The keys of all flows, in order.
pub(super) fn keys(db: &Connection) -> Result<Vec<String>, SqliteError> {
    let mut keys = db.prepare("select key from flow order by key")?;
    let keys = keys.query_map((), |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// The columns of a flow by name.
pub(super) struct ColumnRows {
    flow: i64,
    known: HashMap<Name, ColumnRow>,
}

/// A column of the flow.
#[derive(Clone, Copy)]
pub(super) struct ColumnRow {
    pub(super) id: i64,
    /// The length of the complete prefix: every step below was stored, so a missing step was removed from outside.
    pub(super) complete: i64,
}

impl ColumnRows {
    /// Reads all columns of a flow.
    pub(super) fn read(db: &Connection, flow: i64) -> Result<Self, SqliteError> {
        let mut read = db.prepare("select id, name, complete, sum from column where flow = ?")?;
        let rows = read.query_and_then([flow], |row| ColumnRow::read(row, flow))?;
        Ok(Self { flow, known: rows.collect::<Result<_, _>>()? })
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.known.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn get(&self, name: &Name) -> Option<ColumnRow> {
        self.known.get(name).copied()
    }

    /// The column of this name. A missing column is created.
    pub(super) fn make(&mut self, db: &Transaction<'_>, name: &Name) -> Result<ColumnRow, SqliteError> {
        if let Some(column) = self.get(name) {
            return Ok(column);
        }
        // The checksum of the row includes the id, so the id is chosen before the row is inserted.
        let id = db.query_row("select coalesce(max(id), 0) + 1 from column", (), |row| row.get(0))?;
        let column = ColumnRow { id, complete: 0 };
        let has_cells = "select exists (select 1 from cell where id >= ?)";
        if db.query_row(has_cells, [column.cell(0)], |row| row.get(0))? {
            return Err(SqliteError::Damaged("it has values of a column that is gone"));
        }
        // If the transaction fails, the backend drops all of `self`, so this entry does not outlive it.
        self.known.insert(name.clone(), column);
        column.write(db, self.flow, name)?;
        Ok(column)
    }

    /// Stores the current complete prefixes.
    pub(super) fn advance(&mut self, db: &Transaction<'_>) -> Result<(), SqliteError> {
        for (name, column) in &mut self.known {
            let complete = column.prefix(db)?;
            if complete > column.complete {
                column.complete = complete;
                column.write(db, self.flow, name)?;
            }
        }
        Ok(())
    }
}

impl ColumnRow {
    /// The row id of a cell: cells of a column are consecutive, and columns follow each other.
    pub(super) fn cell(self, step: i64) -> i64 {
        (self.id << STEP_BITS) + step
    }

    /// The first step that is not stored.
    pub(super) fn prefix(self, db: &Connection) -> Result<i64, SqliteError> {
        let mut prefix = self.complete;
        let mut find = db.prepare("select id from cell where id >= ? and id < ? order by id")?;
        let mut cells = find.query([self.cell(prefix), self.cell(STEPS)])?;
        while let Some(row) = cells.next()?
            && row.get::<_, i64>(0)? == self.cell(prefix)
        {
            prefix += 1;
        }
        Ok(prefix)
    }

    fn read(row: &Row<'_>, flow: i64) -> Result<(Name, Self), SqliteError> {
        let id = row.get("id")?;
        let complete = row.get("complete")?;
        let name: String = row.get("name")?;
        let column = Self { id, complete };
        match Name::new(&name) {
            Ok(name) if row.get::<_, i32>("sum")? == column.checksum(flow, &name) => Ok((name, column)),
            _ => Err(SqliteError::Damaged("the checksum of a column is another one")),
        }
    }

    fn write(self, db: &Transaction<'_>, flow: i64, name: &Name) -> Result<(), SqliteError> {
        let sum = self.checksum(flow, name);
        db.execute(
            "insert into column (id, flow, name, complete, sum) values (?, ?, ?, ?, ?)
             on conflict (id) do update set complete = excluded.complete, sum = excluded.sum",
            (self.id, flow, name.as_str(), self.complete, sum),
        )?;
        Ok(())
    }

    fn checksum(self, flow: i64, name: &Name) -> i32 {
        let [id, flow, complete] = [self.id, flow, self.complete].map(i64::to_le_bytes);
        checksum([&id[..], &flow, name.as_bytes(), &complete])
    }
}
