//! The row of a flow, and the rows about the columns: how many of the first steps are stored. Without these rows,
//! cells that were deleted while the flow was closed would look as if they had never been computed.

use std::collections::{BTreeMap, HashMap};

use futures::future;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::super::StoreError;
use super::super::checksum::checksum;
use super::cells::{Ownership, number_of, step_of};
use super::error::PostgresError;
use super::session::{Parameter, SessionLocation};
use crate::declare::Name;
use crate::history::StepRanges;

/// The rows of a flow except for the cells.
pub(super) struct FlowRows {
    pub(super) definition: Option<Vec<u8>>,
    /// The rows in `columnar_prefixes`, by column.
    rows: HashMap<String, ColumnPrefix>,
    /// The stored steps of the columns that were asked for or written to.
    pub(super) stored: BTreeMap<Name, StepRanges>,
}

/// The row of a column in `columnar_prefixes`.
struct ColumnPrefix {
    prefix: i64,
    /// The checksum; `None` in a row of an earlier version.
    sum: Option<i32>,
}

impl FlowRows {
    /// Reads the rows of a flow, in one round trip.
    pub(super) async fn read(
        client: &Client,
        ownership: Ownership,
        location: &SessionLocation,
    ) -> Result<Self, PostgresError> {
        const FLOW: &str = "select definition, columns, sum from columnar_flows where flow = $1";
        const PREFIXES: &str = r#"select "column", prefix, sum from columnar_prefixes where flow = $1"#;
        let parameters: [Parameter<'_>; 1] = [(&ownership.flow, Type::INT4)];
        let (flow, prefixes) = future::try_join(
            client.query_typed_one(FLOW, &parameters),
            client.query_typed(PREFIXES, &parameters),
        )
        .await?;
        let mut rows = HashMap::with_capacity(prefixes.len());
        for row in prefixes {
            rows.insert(row.try_get(0)?, ColumnPrefix { prefix: row.try_get(1)?, sum: row.try_get(2)? });
        }
        let columns = Self { definition: flow.try_get(0)?, rows, stored: BTreeMap::new() };
        let (counted, sum): (i32, Option<i32>) = (flow.try_get(1)?, flow.try_get(2)?);
        // A row without a sum was written by versions that count no columns.
        if let Some(sum) = sum {
            if sum != flow_checksum(ownership.flow, counted, columns.definition.as_deref()) {
                return Err(StoreError::damaged(location, "its row in columnar_flows was changed").into());
            }
            let rows = columns.count();
            if counted != rows {
                let reason =
                    format!("columnar_prefixes has the rows of {rows} columns, and there were {counted}");
                return Err(StoreError::damaged(location, reason).into());
            }
        }
        Ok(columns)
    }

    fn count(&self) -> i32 {
        i32::try_from(self.rows.len()).unwrap_or(i32::MAX)
    }

    /// The number of first steps of a column that were stored when the row was written.
    pub(super) fn known(&self, flow: i32, column: &Name) -> Result<usize, StoreError> {
        let Some(row) = self.rows.get(column.as_str()) else { return Ok(0) };
        if row.sum.is_some_and(|sum| sum != prefix_checksum(flow, column, row.prefix)) {
            let location = format_args!("`{column}` in columnar_prefixes");
            return Err(StoreError::damaged(&location, "its row was changed"));
        }
        step_of(column, row.prefix)
    }

    /// The number of first steps of a column that are stored, as far as this process knows.
    pub(super) fn prefix(&self, column: &Name) -> usize {
        self.stored.get(column).map_or(0, StepRanges::prefix)
    }

    pub(super) fn insert(&mut self, column: &Name, step: usize) {
        let steps = step..step.saturating_add(1);
        self.stored.entry(column.clone()).or_default().insert(steps);
    }

    /// Whether a column has more first steps than the row says.
    pub(super) fn has_grown(&self) -> bool {
        self.stored.iter().any(|(column, stored)| self.has_row_behind(column, stored))
    }

    fn has_row_behind(&self, column: &Name, stored: &StepRanges) -> bool {
        let known = self.rows.get(column.as_str()).map_or(0, |row| row.prefix);
        i64::try_from(stored.prefix()).is_ok_and(|prefix| prefix > known)
    }

    /// Stores the rows of the columns that have grown. Nothing is stored if there has been another owner.
    pub(super) async fn write(&mut self, client: &Client, ownership: Ownership) -> Result<(), PostgresError> {
        // One statement: the rows are written only if the update finds that this process is still the owner.
        const WRITE: &str = r#"
            with owner as (
                update columnar_flows set columns = $3, sum = $4 where flow = $1 and owners = $2 returning flow
            )
            insert into columnar_prefixes (flow, "column", prefix, sum)
            select flow, new.* from owner, unnest($5::text[], $6::bigint[], $7::integer[]) as new
            on conflict (flow, "column") do update set prefix = excluded.prefix, sum = excluded.sum
            returning flow"#;
        let mut columns = vec![];
        let mut prefixes = vec![];
        let mut sums = vec![];
        for (column, stored) in
            self.stored.iter().filter(|(column, stored)| self.has_row_behind(column, stored))
        {
            let prefix = number_of(column, stored.prefix())?;
            sums.push(prefix_checksum(ownership.flow, column, prefix));
            prefixes.push(prefix);
            columns.push(column.as_str());
        }
        let new = columns.iter().filter(|column| !self.rows.contains_key(**column)).count();
        let count = self.count().saturating_add(i32::try_from(new).unwrap_or(i32::MAX));
        let sum = flow_checksum(ownership.flow, count, self.definition.as_deref());
        let [flow, owners] = ownership.parameters();
        let parameters: [Parameter<'_>; 7] = [
            flow,
            owners,
            (&count, Type::INT4),
            (&sum, Type::INT4),
            (&columns, Type::TEXT_ARRAY),
            (&prefixes, Type::INT8_ARRAY),
            (&sums, Type::INT4_ARRAY),
        ];
        if !client.query_typed(WRITE, &parameters).await?.is_empty() {
            for ((column, prefix), sum) in columns.into_iter().zip(prefixes).zip(sums) {
                self.rows.insert(column.to_owned(), ColumnPrefix { prefix, sum: Some(sum) });
            }
        }
        Ok(())
    }

    /// Stores the definition; `false` if there has been another owner.
    pub(super) async fn define(
        &mut self,
        client: &Client,
        ownership: Ownership,
        definition: &str,
    ) -> Result<bool, PostgresError> {
        const DEFINE: &str = "update columnar_flows set definition = $3, columns = $4, sum = $5
            where flow = $1 and owners = $2 returning flow";
        let definition = definition.as_bytes();
        let count = self.count();
        let sum = flow_checksum(ownership.flow, count, Some(definition));
        let [flow, owners] = ownership.parameters();
        let parameters: [Parameter<'_>; 5] =
            [flow, owners, (&definition, Type::BYTEA), (&count, Type::INT4), (&sum, Type::INT4)];
        let is_owner = client.query_typed_opt(DEFINE, &parameters).await?.is_some();
        if is_owner {
            self.definition = Some(definition.to_owned());
        }
        Ok(is_owner)
    }
}

fn flow_checksum(flow: i32, columns: i32, definition: Option<&[u8]>) -> i32 {
    let flow = flow.to_le_bytes();
    let columns = columns.to_le_bytes();
    checksum([&flow[..], &columns].into_iter().chain(definition))
}

fn prefix_checksum(flow: i32, column: &Name, prefix: i64) -> i32 {
    checksum([&flow.to_le_bytes()[..], column.as_bytes(), &prefix.to_le_bytes()])
}
