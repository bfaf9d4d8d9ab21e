//! The write of the cells of several flows in one transaction, which may take several attempts.

use std::collections::{HashMap, HashSet};

use futures::future;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::super::checksum::EntryBytes;
use super::super::thread::NewCell;
use super::super::{Put, StoreError};
use super::cells::{self, Ownership};
use super::error::PostgresError;
use super::session::{Parameter, SessionClient};

/// The cells of a flow, and who writes.
pub(super) struct OwnedCells<'a> {
    pub(super) ownership: Ownership,
    pub(super) cells: &'a [NewCell],
}

/// The outcomes of the cells of a flow; `None` if there has been another owner, and nothing is stored.
pub(super) type FlowPuts = Option<Vec<Put>>;

/// Cells that are being stored. Of several entries for one cell the first one counts.
#[derive(Default)]
pub(super) struct BatchWrite<'a> {
    writes: Vec<OwnedCells<'a>>,
    /// The index of a cell in the lists below.
    indexes: HashMap<(i32, &'a str, i64), usize>,
    firsts: Vec<&'a NewCell>,
    flows: Vec<i32>,
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
    /// The write of the cells of flows, each of which is named once.
    pub(super) fn new(writes: Vec<OwnedCells<'a>>) -> Result<Self, StoreError> {
        let mut batch = Self::default();
        for OwnedCells { ownership: Ownership { flow, .. }, cells } in &writes {
            for cell in *cells {
                let step = cells::number_of(&cell.column, cell.step)?;
                batch.indexes.entry((*flow, cell.column.as_str(), step)).or_insert_with(|| {
                    let entry = EntryBytes::of(&cell.entry);
                    batch.flows.push(*flow);
                    batch.columns.push(cell.column.as_str());
                    batch.steps.push(step);
                    batch.values.push(entry.value);
                    batch.receipts.push(entry.receipt);
                    batch.sums.push(cells::cell_checksum(&cell.column, step, entry));
                    batch.firsts.push(cell);
                    batch.firsts.len() - 1
                });
            }
        }
        batch.writes = writes;
        Ok(batch)
    }

    /// Stores the cells that are missing. Returns the outcome of each flow. After an error the transaction may be open.
    pub(super) async fn attempt(&mut self, client: &SessionClient) -> Result<Vec<FlowPuts>, PostgresError> {
        let stored = self.store(client).await?;
        if let Some(row) = stored.first() {
            // Noted before the commit: the confirmation may be lost, and the next attempt must know this id.
            self.transactions.push(row.try_get(0)?);
        }
        let mut owned = HashSet::with_capacity(self.writes.len());
        let mut puts = vec![None; self.firsts.len()];
        for row in &stored {
            let flow = row.try_get(1)?;
            owned.insert(flow);
            if let Some(column) = row.try_get(2)?
                && let Some((_, put)) = self.cell_mut(&mut puts, flow, column, row.try_get(3)?)
            {
                *put = Some(Put::Stored);
            }
        }
        // The insert waited for the transactions of the rows that it met, so this query sees those rows.
        if puts.contains(&None) {
            for row in self.earlier(client).await? {
                let cell = self.cell_mut(&mut puts, row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
                if let Some((cell, put)) = cell {
                    let ours = self.transactions.contains(&row.try_get(6)?);
                    *put = Some(if ours {
                        Put::Stored
                    } else {
                        Put::Exists(cells::entry(&row, 3, &cell.column, cell.step)?)
                    });
                }
            }
        }
        // Found before the commit, so that an error rolls the batch back.
        let answers = self.writes.iter().map(|write| {
            owned.contains(&write.ownership.flow).then(|| self.answers(write, &puts)).transpose()
        });
        let answers = answers.collect::<Result<_, _>>()?;
        client.batch_execute("commit").await?;
        Ok(answers)
    }

    /// The cell of a row, and the outcome.
    fn cell_mut<'p>(
        &self,
        puts: &'p mut [Option<Put>],
        flow: i32,
        column: &str,
        step: i64,
    ) -> Option<(&'a NewCell, &'p mut Option<Put>)> {
        let index = *self.indexes.get(&(flow, column, step))?;
        Some((self.firsts.get(index)?, puts.get_mut(index)?))
    }

    /// The outcome of each cell of a flow.
    fn answers(&self, write: &OwnedCells<'_>, puts: &[Option<Put>]) -> Result<Vec<Put>, StoreError> {
        let answers = write.cells.iter().map(|cell| {
            let step = cells::number_of(&cell.column, cell.step)?;
            let index = self.indexes.get(&(write.ownership.flow, cell.column.as_str(), step));
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

    /// Begins a transaction and inserts the cells. Each row has the transaction's id, a flow and an inserted cell, or
    /// nulls if the flow had none. There is no row of a flow whose owner is another one now.
    async fn store(&self, client: &SessionClient) -> Result<Vec<Row>, PostgresError> {
        // `for share` makes the next owner wait until this is committed. The first lines of `listener` tell who is notified.
        const STORE: &str = r#"
            with owner as (
                select flow from columnar_flows
                where flow = any($1::integer[]) and owners = ($2::bigint[])[array_position($1, flow)] for share
            ), stored as (
                insert into columnar_cells (flow, "column", step, value, receipt, sum)
                select new.* from owner
                join unnest(
                    $3::integer[], $4::text[], $5::bigint[], $6::bytea[], $7::bytea[], $8::integer[]
                ) as new (flow, "column", step, value, receipt, sum) using (flow)
                on conflict do nothing
                returning flow, "column", step
            ), notified as materialized (
                select flow, case when not pg_try_advisory_xact_lock(
                    ('columnar_cells'::regclass::oid::bigint - 2147483648)::integer, flow
                ) then pg_notify('columnar', 'columnar_cells'::regclass::oid || ' ' || flow) end from owner
            )
            select pg_current_xact_id()::xid::text, flow, "column", step from notified left join stored using (flow)"#;
        let writers = self.writes.iter().map(|write| write.ownership);
        let (flows, owners): (Vec<_>, Vec<_>) = writers.map(|writer| (writer.flow, writer.owners)).unzip();
        let parameters: [&(dyn ToSql + Sync); 8] = [
            &flows,
            &owners,
            &self.flows,
            &self.columns,
            &self.steps,
            &self.values,
            &self.receipts,
            &self.sums,
        ];
        let statement = client.store.get_or_try_init(|| client.prepare(STORE)).await?;
        // Both statements are sent together, which saves a round trip. `join` polls in order, so `begin` is sent
        // first.
        let (begun, stored) =
            future::join(client.batch_execute("begin"), client.query(statement, &parameters)).await;
        begun?;
        Ok(stored?)
    }

    /// The stored rows of these cells.
    async fn earlier(&self, client: &Client) -> Result<Vec<Row>, PostgresError> {
        // `xmin` has 32 bits, like the ids of `store`. Ids start again after 2^32 transactions, and are compared only
        // during the attempts of one batch.
        const EARLIER: &str = r#"select flow, "column", step, value, receipt, sum, cells.xmin::text
            from unnest($1::integer[], $2::text[], $3::bigint[]) as requested (flow, "column", step)
            join columnar_cells as cells using (flow, "column", step)"#;
        let parameters: [Parameter<'_>; 3] = [
            (&self.flows, Type::INT4_ARRAY),
            (&self.columns, Type::TEXT_ARRAY),
            (&self.steps, Type::INT8_ARRAY),
        ];
        Ok(client.query_typed(EARLIER, &parameters).await?)
    }
}
