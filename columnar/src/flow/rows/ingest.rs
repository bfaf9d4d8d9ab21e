//! Stores rows of any format: all rows are checked before the first one is stored.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::options::RowOptions;
use super::table::{ATTACHMENTS, InvalidRow, REASONS, RowsError, SKIPPED, STEP};
use crate::declare::Name;
use crate::history::SkipReason;
use crate::model::usage::CellReceipt;
use crate::run::reopen::FlowDefinition;
use crate::store::{BYTES, CHUNK, Entry, Store, put_cells};

/// The members of a row by the names of columns, before the checks.
pub(super) type RowMembers = Vec<(String, Json)>;

/// A file of rows, which is read twice: before the first write, and to write.
pub(super) trait RowFile {
    /// The next row, or the reason why it is invalid.
    fn next_row(&mut self) -> Result<Option<Result<RowMembers, InvalidRow>>, RowsError>;

    /// Goes back to the first row.
    fn rewind(&mut self) -> Result<(), RowsError>;
}

/// The checked cells of a row.
struct CheckedRow {
    /// `None` for the cells of a row that has no step of its own.
    step: Option<usize>,
    /// Nulls as `None`.
    cells: Vec<(Name, Option<Entry>)>,
}

impl RowOptions {
    /// Stores all rows of a file, and returns their number.
    pub(super) async fn import(
        &self,
        store: &impl Store,
        mut file: impl RowFile,
    ) -> Result<usize, RowsError> {
        let definition = store.open().await?;
        let definition = definition.as_deref().map(FlowDefinition::parse).transpose()?.unwrap_or_default();
        let mut nulls = NullCheck::new(self).map_err(|source| RowsError::Row { row: 1, source })?;
        while let Some(row) = file.next_row()? {
            let checked = row.and_then(CheckedRow::of);
            nulls.row(&checked.map_err(|source| RowsError::Row { row: nulls.rows + 1, source })?);
        }
        nulls.finish(|column| match self.is_source(column) {
            Some(true) => Some(true),
            named => definition.is_source(column).or(named),
        })?;
        file.rewind()?;
        store_rows(store, &definition, file).await
    }
}

async fn store_rows(
    store: &impl Store,
    definition: &FlowDefinition,
    mut file: impl RowFile,
) -> Result<usize, RowsError> {
    let mut pending = Vec::new();
    let mut bytes = 0;
    let mut rows = 0;
    while let Some(row) = file.next_row()? {
        // Valid unless the file has changed since.
        let row = row.and_then(CheckedRow::of).map_err(|source| RowsError::Row { row: rows + 1, source })?;
        let step = row.step.unwrap_or(rows);
        for (column, entry) in row.cells {
            let Some(entry) = entry else { continue };
            bytes += entry.len();
            // By the key: a renamed column is stored under its first name.
            pending.push((definition.key(&column), step, entry));
        }
        rows += 1;
        if rows.is_multiple_of(CHUNK) || bytes > BYTES {
            put_cells(store, std::mem::take(&mut pending), has_value_of).await?;
            bytes = 0;
        }
    }
    put_cells(store, pending, has_value_of).await?;
    Ok(rows)
}

impl CheckedRow {
    fn of(members: RowMembers) -> Result<Self, InvalidRow> {
        let mut row = Self { step: None, cells: Vec::new() };
        let reasons = members.iter().find(|(member, _)| member == REASONS);
        let reasons = reasons.and_then(|(_, reasons)| reasons.as_array().cloned()).unwrap_or_default();
        for (member, found) in members {
            match (member.as_str(), found) {
                (STEP, step) => {
                    let step = step.as_u64().and_then(|step| step.try_into().ok());
                    row.step = Some(step.ok_or(InvalidRow::Step)?);
                }
                (SKIPPED | REASONS, Json::Null) | (REASONS, Json::Array(_)) => {}
                (SKIPPED, Json::Array(columns)) if columns.iter().all(Json::is_string) => {
                    for (at, column) in columns.iter().filter_map(Json::as_str).enumerate() {
                        row.cells.push((Name::new(column)?, Some(skipped(reasons.get(at)))));
                    }
                }
                // The rows have no bytes, so the texts are stored alone.
                (ATTACHMENTS, _) => {}
                (SKIPPED, _) => return Err(InvalidRow::Skipped),
                (REASONS, _) => return Err(InvalidRow::Reasons),
                // Other programs add columns of their own, which may be empty.
                (column, Json::Null) => row.cells.extend(Name::new(column).ok().map(|column| (column, None))),
                (column, Json::String(text)) => row.cells.push((Name::new(column)?, Some(Entry::from(text)))),
                (column, _) => return Err(InvalidRow::NotText { column: Name::new(column)? }),
            }
        }
        Ok(row)
    }
}

/// Whether an entry has the value of a row. The row of a skipped cell has the reason, and not the calls.
fn has_value_of(existing: &Entry, row: &Entry) -> bool {
    existing.value == row.value
}

/// The entry of a skipped cell with the reason, if there is one.
fn skipped(reason: Option<&Json>) -> Entry {
    let reason = reason.and_then(|reason| SkipReason::parse(reason.as_str()?));
    reason.map_or(Entry::SKIPPED, |reason| {
        Entry::SKIPPED.with_receipt(CellReceipt::skipped(reason).to_string())
    })
}

/// Finds the sources that lack a value.
///
/// A table that a flow wrote has `_step`, and nulls at the end of a source that is behind others. In any other table, a
/// null at the end would lose rows without a word.
struct NullCheck {
    rows: usize,
    has_steps: bool,
    columns: BTreeMap<Name, ColumnNulls>,
}

/// The rows without a value of a column.
#[derive(Default)]
struct ColumnNulls {
    /// The row after the last one that has the column.
    next: usize,
    /// The first row that does not have the column.
    absent: Option<usize>,
    /// The null of the earliest step, and its row.
    null: Option<(usize, usize)>,
    /// The latest step with a value.
    last: Option<usize>,
}

impl NullCheck {
    fn new(options: &RowOptions) -> Result<Self, InvalidRow> {
        let columns = options.expected().map(|column| Ok((Name::new(column)?, ColumnNulls::default())));
        Ok(Self { rows: 0, has_steps: false, columns: columns.collect::<Result<_, InvalidRow>>()? })
    }

    fn row(&mut self, row: &CheckedRow) {
        self.has_steps |= row.step.is_some();
        let step = row.step.unwrap_or(self.rows);
        for (name, entry) in &row.cells {
            let column = self.columns.entry(name.clone()).or_default();
            if self.rows > column.next {
                column.absent.get_or_insert(column.next);
            }
            column.next = self.rows + 1;
            match entry {
                Some(_) => column.last = column.last.max(Some(step)),
                None => column.null = Some(column.null.unwrap_or((step, self.rows)).min((step, self.rows))),
            }
        }
        self.rows += 1;
    }

    /// Returns an error for the first row in which a source lacks a value. A column of which nobody knows whether it is a
    /// source counts as one if the table has no steps.
    fn finish(&self, is_source: impl Fn(&Name) -> Option<bool>) -> Result<(), RowsError> {
        let faults = self.columns.iter().filter_map(|(name, column)| {
            let is_checked = is_source(name).unwrap_or(!self.has_steps);
            Some((self.fault(column).filter(|_| is_checked)?, name))
        });
        match faults.min() {
            None => Ok(()),
            Some((row, column)) => {
                let source = InvalidRow::NoValue { column: column.clone() };
                Err(RowsError::Row { row: row + 1, source })
            }
        }
    }

    fn fault(&self, column: &ColumnNulls) -> Option<usize> {
        let null = column.null;
        if self.has_steps {
            return null.filter(|(step, _)| column.last > Some(*step)).map(|(_, row)| row);
        }
        let absent = column.absent.or((column.next < self.rows).then_some(column.next));
        null.map(|(_, row)| row).into_iter().chain(absent).min()
    }
}
