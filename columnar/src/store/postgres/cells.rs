//! The queries on a flow's rows, which can be repeated on any connection.

use std::ops::Range;
use std::pin::pin;

use futures::stream::TryStreamExt;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::super::checksum::EntryBytes;
use super::super::{Entry, StepEntries, StoreError, StoredSteps};
use super::error::PostgresError;
use super::session::Parameter;
use crate::declare::Name;

/// The identity of a flow's owner.
#[derive(Clone, Copy)]
pub(super) struct Ownership {
    pub(super) flow: i32,
    /// The number of owners so far, this one included.
    pub(super) owners: i64,
}

/// Becomes the next owner. Earlier owners cannot write any more.
pub(super) async fn take_ownership(client: &Client, flow: i32) -> Result<Ownership, PostgresError> {
    // The update waits for a write of the last owner that is under way, which has locked the row `for share`.
    const OWN: &str = "update columnar_flows set owners = owners + 1 where flow = $1 returning owners";
    let row = client.query_typed_one(OWN, &[(&flow, Type::INT4)]).await?;
    Ok(Ownership { flow, owners: row.try_get(0)? })
}

impl Ownership {
    pub(super) fn parameters(&self) -> [Parameter<'_>; 2] {
        [(&self.flow, Type::INT4), (&self.owners, Type::INT8)]
    }

    /// The stored steps of a column, which has the first `known` steps.
    pub(super) async fn stored_steps(
        &self,
        client: &Client,
        column: &Name,
        known: usize,
    ) -> Result<StoredSteps, PostgresError> {
        const EXTENT: &str = r#"select step from columnar_cells
            where flow = $1 and "column" = $2 and step >= $3 order by step"#;
        let first = number_of(column, known)?;
        let parameters: [Parameter<'_>; 3] =
            [(&self.flow, Type::INT4), (&column.as_str(), Type::TEXT), (&first, Type::INT8)];
        // Read as a stream: the rows of a long column are never in memory together.
        let mut rows = pin!(client.query_typed_raw(EXTENT, parameters).await?);
        let mut stored_steps = StoredSteps { prefix: known, beyond: Vec::new() };
        while let Some(row) = rows.try_next().await? {
            match step_of(column, row.try_get(0)?)? {
                step if step == stored_steps.prefix => stored_steps.prefix += 1,
                step => stored_steps.beyond.push(step),
            }
        }
        Ok(stored_steps)
    }

    pub(super) async fn load(
        &self,
        client: &Client,
        column: &Name,
        steps: Range<usize>,
    ) -> Result<StepEntries, PostgresError> {
        const LOAD: &str = r#"select step, value, receipt, sum from columnar_cells
            where flow = $1 and "column" = $2 and step between $3 and $4 order by step"#;
        let Some(last) = steps.end.checked_sub(1) else { return Ok(Vec::new()) };
        // The server has no steps beyond `i64::MAX`. `between` includes the end, so that step `i64::MAX` can be
        // loaded.
        let [first, last] = [steps.start, last].map(|step| i64::try_from(step).unwrap_or(i64::MAX));
        let parameters: [Parameter<'_>; 4] = [
            (&self.flow, Type::INT4),
            (&column.as_str(), Type::TEXT),
            (&first, Type::INT8),
            (&last, Type::INT8),
        ];
        let mut rows = pin!(client.query_typed_raw(LOAD, parameters).await?);
        let mut loaded = Vec::new();
        while let Some(row) = rows.try_next().await? {
            let step = step_of(column, row.try_get(0)?)?;
            loaded.push((step, entry(&row, 1, column, step)?));
        }
        Ok(loaded)
    }
}

/// A step as a number of the server.
pub(super) fn number_of(column: &Name, step: usize) -> Result<i64, StoreError> {
    i64::try_from(step).map_err(|_| {
        StoreError::other(format!("`{column}` at step {step}: PostgreSQL cannot count that far"))
    })
}

pub(super) fn step_of(column: &Name, number: i64) -> Result<usize, StoreError> {
    let location = format_args!("`{column}` in columnar_cells");
    usize::try_from(number).map_err(|_| StoreError::damaged(&location, format!("{number} is no step")))
}

/// The checksum of an entry and its address.
pub(super) fn cell_checksum(column: &Name, step: i64, entry: EntryBytes<'_>) -> i32 {
    entry.checksum(&[column.as_bytes(), &step.to_le_bytes()])
}

/// The entry of a row, whose value is at index `at`, followed by receipt and checksum.
pub(super) fn entry(row: &Row, at: usize, column: &Name, step: usize) -> Result<Entry, PostgresError> {
    let bytes = EntryBytes { value: row.try_get(at)?, receipt: row.try_get(at + 1)? };
    if row.try_get::<_, i32>(at + 2)? != cell_checksum(column, number_of(column, step)?, bytes) {
        return Err(StoreError::corrupt(column, step, "its row in columnar_cells was changed").into());
    }
    let entry = bytes.entry().map_err(|part| {
        StoreError::corrupt(column, step, format!("its {part} in columnar_cells is no text"))
    });
    Ok(entry?)
}
