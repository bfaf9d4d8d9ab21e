//! Stores rows of any format, and checks the contents of each row.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::table::{InvalidRow, REASONS, RowsError, SKIPPED, STEP};
use crate::declare::Name;
use crate::history::SkipReason;
use crate::model::usage::CellReceipt;
use crate::run::reopen::FlowDefinition;
use crate::store::{BYTES, CHUNK, Entry, Store, StoreError, put_each};

/// The members of a row, before the checks.
pub(super) type RowMembers = Vec<(String, Json)>;

/// Stores rows, a chunk at a time.
pub(super) struct Ingest<'s, S> {
    store: &'s S,
    /// Maps the names of columns to the keys that they are stored under.
    definition: FlowDefinition,
    /// Entries that are not stored yet, by column.
    pending: BTreeMap<Name, Vec<(usize, Entry)>>,
    bytes: usize,
    rows: usize,
}

type RowCells = Vec<(Name, usize, Entry)>;

impl<'s, S: Store> Ingest<'s, S> {
    pub(super) async fn new(store: &'s S) -> Result<Self, StoreError> {
        let definition = store.open().await?;
        let definition = definition.as_deref().map(FlowDefinition::parse).transpose()?.unwrap_or_default();
        Ok(Self { store, definition, pending: BTreeMap::new(), bytes: 0, rows: 0 })
    }

    /// Takes the next row, or the reason why the row is invalid. Earlier rows are stored either way.
    pub(super) async fn row(&mut self, row: Result<RowMembers, InvalidRow>) -> Result<(), RowsError> {
        match row.and_then(|members| cells(members, self.rows)) {
            Ok(cells) => {
                for (column, step, entry) in cells {
                    self.bytes += entry.len();
                    self.pending.entry(column).or_default().push((step, entry));
                }
                self.rows += 1;
                if self.rows.is_multiple_of(CHUNK) || self.bytes > BYTES {
                    self.flush().await?;
                }
                Ok(())
            }
            Err(source) => {
                self.flush().await?;
                // Not before the earlier rows are stored: the error promises these rows.
                Err(RowsError::Row { row: self.rows + 1, source })
            }
        }
    }

    /// Stores the remaining rows, and returns the number of all rows.
    pub(super) async fn finish(mut self) -> Result<usize, StoreError> {
        self.flush().await?;
        Ok(self.rows)
    }

    async fn flush(&mut self) -> Result<(), StoreError> {
        self.bytes = 0;
        for (column, entries) in std::mem::take(&mut self.pending) {
            // By the key: a renamed column is stored under its first name.
            let key = self.definition.key(&column);
            // Without the receipts: the row of a skipped cell has the reason, and not the calls.
            put_each(self.store, &key, entries, |existing, row| existing.value == row.value).await?;
        }
        Ok(())
    }
}

/// The cells of a row, at this step unless the row has another.
fn cells(members: RowMembers, step: usize) -> Result<RowCells, InvalidRow> {
    // Before all other members, because `_step` may be the last of them.
    let step = match members.iter().find(|(member, _)| member == STEP) {
        None => step,
        Some((_, found)) => found.as_u64().and_then(|step| step.try_into().ok()).ok_or(InvalidRow::Step)?,
    };
    let reasons = members.iter().find(|(member, _)| member == REASONS);
    let reasons = reasons.and_then(|(_, reasons)| reasons.as_array().cloned()).unwrap_or_default();
    let mut cells = Vec::new();
    for (member, found) in members {
        match (member.as_str(), found) {
            (STEP, _) | (_, Json::Null) | (REASONS, Json::Array(_)) => {}
            (SKIPPED, Json::Array(columns)) if columns.iter().all(Json::is_string) => {
                for (at, column) in columns.iter().filter_map(Json::as_str).enumerate() {
                    let reason = reasons.get(at).and_then(|reason| SkipReason::parse(reason.as_str()?));
                    let skipped = reason.map_or(Entry::SKIPPED, |reason| {
                        Entry::SKIPPED.with_receipt(CellReceipt::skipped(reason).to_string())
                    });
                    cells.push((Name::new(column)?, step, skipped));
                }
            }
            (SKIPPED, _) => return Err(InvalidRow::Skipped),
            (REASONS, _) => return Err(InvalidRow::Reasons),
            (column, Json::String(text)) => cells.push((Name::new(column)?, step, Entry::from(text))),
            (column, _) => return Err(InvalidRow::NotText { column: Name::new(column)? }),
        }
    }
    Ok(cells)
}
