//! The write of a batch of cells, which may take several attempts.

use std::collections::HashMap;

use futures::future;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::super::checksum::EntryBytes;
use super::super::thread::NewCell;
use super::super::{Put, StoreError};
use super::cells::{self, Ownership};
use super::error::PostgresError;
use super::session::Parameter;

/// A batch of cells that is being stored. Of several entries for one cell the first one counts.
pub(super) struct BatchWrite<'a> {
    ownership: Ownership,
    cells: &'a [NewCell],
    /// The index of a cell in the lists below.
    indexes: HashMap<(&'a str, i64), usize>,
    firsts: Vec<&'a NewCell>,
    columns: Vec<&'a str>,
    steps: Vec<i64>,
    values: Vec<Option<&'a [u8]>>,
    receipts: Vec<Option<&'a [u8]>>,
    sums: Vec<i32>,
    /// The ids of our transactions. We stored the rows with such an id, even if the connection was lost before the
    /// server could confirm.
    transactions: Vec<String>,
}

impl<'a> BatchWrite<'a> {
    pub(super) fn new(ownership: Ownership, cells: &'a [NewCell]) -> Result<Self, StoreError> {
        let mut write = Self {
            ownership,
            cells,
            indexes: HashMap::with_capacity(cells.len()),
            firsts: vec![],
            columns: vec![],
            steps: vec![],
            values: vec![],
            receipts: vec![],
            sums: vec![],
            transactions: vec![],
        };
        for cell in cells {
            let step = cells::number_of(&cell.column, cell.step)?;
            write.indexes.entry((cell.column.as_str(), step)).or_insert_with(|| {
                let entry = EntryBytes::of(&cell.entry);
                write.columns.push(cell.column.as_str());
                write.steps.push(step);
                write.values.push(entry.value);
                write.receipts.push(entry.receipt);
                write.sums.push(cells::cell_checksum(&cell.column, step, entry));
                write.firsts.push(cell);
                write.firsts.len() - 1
            });
        }
        Ok(write)
    }

    /// Stores the cells that are missing; `None` if there has been another owner.
    pub(super) async fn attempt(&mut self, client: &Client) -> Result<Option<Vec<Put>>, PostgresError> {
        let done = self.transact(client).await;
        if !matches!(done, Ok(Some(_)) | Err(PostgresError::Lost(_))) {
            // The connection stays in use. A failed statement leaves the transaction open, and all later statements
            // would be a part of it.
            let _ = client.batch_execute("rollback").await;
        }
        done
    }

    async fn transact(&mut self, client: &Client) -> Result<Option<Vec<Put>>, PostgresError> {
        let stored = self.store(client).await?;
        let Some(row) = stored.first() else { return Ok(None) };
        // Noted before the commit: the confirmation may be lost, and the next attempt must know this id.
        self.transactions.push(row.try_get(0)?);
        let mut puts = vec![None; self.firsts.len()];
        for row in &stored {
            if let Some(column) = row.try_get(1)?
                && let Some((_, put)) = self.cell_mut(&mut puts, column, row.try_get(2)?)
            {
                *put = Some(Put::Stored);
            }
        }
        // The insert waited for the transactions of the rows that it met, so this query sees those rows.
        if puts.contains(&None) {
            for row in self.earlier(client).await? {
                if let Some((cell, put)) = self.cell_mut(&mut puts, row.try_get(0)?, row.try_get(1)?) {
                    let ours = self.transactions.contains(&row.try_get(5)?);
                    *put = Some(if ours {
                        Put::Stored
                    } else {
                        Put::Exists(cells::entry(&row, 2, &cell.column, cell.step)?)
                    });
                }
            }
        }
        // Found before the commit, so that an error rolls the batch back.
        let answers = self.answers(&puts)?;
        client.batch_execute("commit").await?;
        Ok(Some(answers))
    }

    /// The cell of a row, and the outcome.
    fn cell_mut<'p>(
        &self,
        puts: &'p mut [Option<Put>],
        column: &str,
        step: i64,
    ) -> Option<(&'a NewCell, &'p mut Option<Put>)> {
        let index = *self.indexes.get(&(column, step))?;
        Some((self.firsts.get(index)?, puts.get_mut(index)?))
    }

    /// The outcome of each cell.
    fn answers(&self, puts: &[Option<Put>]) -> Result<Vec<Put>, StoreError> {
        let answers = self.cells.iter().map(|cell| {
            let step = cells::number_of(&cell.column, cell.step)?;
            let index = self.indexes.get(&(cell.column.as_str(), step));
            let first = index.and_then(|index| Some((self.firsts.get(*index)?, puts.get(*index)?.as_ref()?)));
            match first {
                // Another entry of the same batch for this cell came first.
                Some((first, Put::Stored)) if !std::ptr::eq(*first, cell) => {
                    Ok(Put::Exists(first.entry.clone()))
                }
                Some((_, put)) => Ok(put.clone()),
                // Neither inserted nor found: the row was deleted between the two statements.
                None => {
                    let reason = "the server reported it as stored, but it is missing";
                    Err(StoreError::corrupt(&cell.column, cell.step, reason))
                }
            }
        });
        answers.collect()
    }

    /// Begins a transaction and inserts the cells. Each row has the transaction's id and an inserted cell, or nulls if
    /// there was none. There is no row if this process is not the owner any more.
    async fn store(&self, client: &Client) -> Result<Vec<Row>, PostgresError> {
        // `for share` makes the next owner wait until this is committed.
        const STORE: &str = r#"
            with owner as (
                select flow from columnar_flows where flow = $1 and owners = $2 for share
            ), stored as (
                insert into columnar_cells (flow, "column", step, value, receipt, sum)
                select flow, new.* from owner,
                    unnest($3::text[], $4::bigint[], $5::bytea[], $6::bytea[], $7::integer[]) as new
                on conflict do nothing
                returning "column", step
            )
            select pg_current_xact_id()::xid::text, "column", step from owner left join stored on true"#;
        let [flow, owners] = self.ownership.parameters();
        let parameters: [Parameter<'_>; 7] = [
            flow,
            owners,
            (&self.columns, Type::TEXT_ARRAY),
            (&self.steps, Type::INT8_ARRAY),
            (&self.values, Type::BYTEA_ARRAY),
            (&self.receipts, Type::BYTEA_ARRAY),
            (&self.sums, Type::INT4_ARRAY),
        ];
        // Both statements are sent together, which saves a round trip. `join` polls in order, so `begin` is sent
        // first.
        let (begun, stored) =
            future::join(client.batch_execute("begin"), client.query_typed(STORE, &parameters)).await;
        begun?;
        Ok(stored?)
    }

    /// The stored rows of these cells.
    async fn earlier(&self, client: &Client) -> Result<Vec<Row>, PostgresError> {
        // `xmin` has 32 bits, like the ids of `store`. Ids start again after 2^32 transactions, and are compared only
        // during the attempts of one batch.
        const EARLIER: &str = r#"select "column", step, value, receipt, sum, cells.xmin::text
            from unnest($2::text[], $3::bigint[]) as requested ("column", step)
            join columnar_cells as cells using ("column", step) where flow = $1"#;
        let [flow, _] = self.ownership.parameters();
        let parameters: [Parameter<'_>; 3] =
            [flow, (&self.columns, Type::TEXT_ARRAY), (&self.steps, Type::INT8_ARRAY)];
        Ok(client.query_typed(EARLIER, &parameters).await?)
    }
}
