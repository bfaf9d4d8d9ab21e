//! The tables, their format, and the row of a flow.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::super::StoreError;
use super::error::PostgresError;
use super::session::Location;

/// The newest format that is known here.
const FORMAT: i32 = 2;

/// Two processes that create tables at once would fail in spite of `if not exists`, so there is a lock.
///
/// The collation is that of bytes: others change with the system, and that breaks indexes. A null value is a skipped
/// cell; a null receipt is none. `prefix` is the number of first steps of a column that are stored, so that opening
/// does not read them again.
const TABLES: &str = r#"
    begin;
    select pg_advisory_xact_lock(hashtext('columnar'));
    create table if not exists columnar_flows (
        flow integer generated always as identity primary key,
        key text collate "C" not null unique,
        owners bigint not null default 0,
        definition bytea
    );
    create table if not exists columnar_cells (
        flow integer not null references columnar_flows on delete cascade,
        "column" text collate "C" not null,
        step bigint not null check (step >= 0),
        value bytea,
        sum integer not null,
        receipt bytea,
        primary key (flow, "column", step)
    );
    create table if not exists columnar_prefixes (
        flow integer not null references columnar_flows on delete cascade,
        "column" text collate "C" not null,
        prefix bigint not null check (prefix >= 0),
        primary key (flow, "column")
    );
    create table if not exists columnar_format (format integer not null);
    insert into columnar_format select 2 where not exists (select from columnar_format);
    commit"#;

/// Upgrades from format 1, which had no receipts. No row is rewritten, since cells without a receipt did not change.
/// Several processes may do it, one after the other.
const UPGRADE: &str = "
    begin;
    select pg_advisory_xact_lock(hashtext('columnar'));
    alter table columnar_cells add column if not exists receipt bytea;
    update columnar_format set format = 2 where format = 1;
    commit";

/// Creates missing tables, and refuses those of a newer version before anything is written.
pub(super) async fn check(client: &Client, location: &Location) -> Result<(), PostgresError> {
    const THERE: &str = "select to_regclass('columnar_format') is not null";
    if !client.query_typed_one(THERE, &[]).await?.try_get::<_, bool>(0)? {
        client.batch_execute(TABLES).await?;
    }
    let rows = client.query_typed("select format from columnar_format", &[]).await?;
    let [row] = rows.as_slice() else {
        let reason = format!("columnar_format has {} rows instead of one", rows.len());
        return Err(StoreError::Damaged { location: location.to_string(), reason }.into());
    };
    match row.try_get(0)? {
        FORMAT => Ok(()),
        1 => Ok(client.batch_execute(UPGRADE).await?),
        newer if newer > FORMAT => Err(StoreError::Unsupported {
            location: location.to_string(),
            found: newer.unsigned_abs(),
            known: FORMAT.unsigned_abs(),
        }
        .into()),
        format => {
            let reason = format!("there is no format {format}");
            Err(StoreError::Damaged { location: location.to_string(), reason }.into())
        }
    }
}

/// The id of the flow, which is created when it is opened for the first time.
pub(super) async fn flow(client: &Client, key: &str) -> Result<i32, PostgresError> {
    const FIND: &str = "select flow from columnar_flows where key = $1";
    // After the query, since each insert uses up an id.
    const MAKE: &str = "insert into columnar_flows (key) values ($1) on conflict do nothing";
    let key: (&(dyn tokio_postgres::types::ToSql + Sync), Type) = (&key, Type::TEXT);
    let key = &[key];
    if let Some(row) = client.query_typed_opt(FIND, key).await? {
        return Ok(row.try_get(0)?);
    }
    // Another process may have been quicker. Then nothing is inserted, and the row is found below.
    client.query_typed(MAKE, key).await?;
    Ok(client.query_typed_one(FIND, key).await?.try_get(0)?)
}
