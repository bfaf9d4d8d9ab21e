//! The tables, their format, and the row of a flow.

use std::fmt;

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::super::StoreError;
use super::error::PostgresError;

/// The newest format that is known here.
const FORMAT: i32 = 4;

/// The statements that create the tables. Two processes that create tables at once would fail in spite of
/// `if not exists`, so there is a lock.
///
/// The collation compares bytes: other collations change with the system, and a change breaks indexes. A null value is
/// a skipped cell; a null receipt is no receipt. An attachment is stored once for all flows; the digest is the checksum. `prefix` is the number of first steps of a column that are stored. So
/// opening does not read these steps again, and a missing step below `prefix` was deleted. `columns` is the number of
/// rows with a prefix, so that a missing row is noticed. A sum is null as long as earlier versions alone have written
/// the row.
const TABLES: &str = r#"
    begin;
    select pg_advisory_xact_lock(hashtext('columnar'));
    create table if not exists columnar_flows (
        flow integer generated always as identity primary key,
        key text collate "C" not null unique,
        owners bigint not null default 0,
        definition bytea,
        columns integer not null default 0,
        sum integer
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
        sum integer,
        primary key (flow, "column")
    );
    create table if not exists columnar_attachments (digest text collate "C" primary key, bytes bytea not null);
    create table if not exists columnar_flow_attachments (
        digest text collate "C" not null,
        flow integer not null references columnar_flows on delete cascade,
        primary key (digest, flow)
    );
    create table if not exists columnar_format (format integer not null);
    insert into columnar_format select 4 where not exists (select from columnar_format);
    commit"#;

/// Upgrades from format 1, which had no receipts, from format 2, which counted no columns, and from format 3, which had no
/// attachments. No row is rewritten, since cells without a receipt did not change. Several processes may upgrade, one after
/// the other.
const UPGRADE: &str = r#"
    begin;
    select pg_advisory_xact_lock(hashtext('columnar'));
    alter table columnar_cells add column if not exists receipt bytea;
    alter table columnar_flows add column if not exists columns integer not null default 0,
        add column if not exists sum integer;
    alter table columnar_prefixes add column if not exists sum integer;
    create table if not exists columnar_attachments (digest text collate "C" primary key, bytes bytea not null);
    create table if not exists columnar_flow_attachments (
        digest text collate "C" not null,
        flow integer not null references columnar_flows on delete cascade,
        primary key (digest, flow)
    );
    update columnar_format set format = 4 where format < 4;
    commit"#;

/// Whether there are tables.
pub(super) async fn exists(client: &Client) -> Result<bool, PostgresError> {
    const EXISTS: &str = "select to_regclass('columnar_format') is not null";
    Ok(client.query_typed_one(EXISTS, &[]).await?.try_get(0)?)
}

/// Creates missing tables, and refuses tables of a newer version before anything is written.
pub(super) async fn check(client: &Client, location: &impl fmt::Display) -> Result<(), PostgresError> {
    if !exists(client).await? {
        client.batch_execute(TABLES).await?;
    }
    let rows = client.query_typed("select format from columnar_format", &[]).await?;
    let [row] = rows.as_slice() else {
        let reason = format!("columnar_format has {} rows instead of one", rows.len());
        return Err(StoreError::damaged(location, reason).into());
    };
    match row.try_get(0)? {
        FORMAT => Ok(()),
        1..FORMAT => Ok(client.batch_execute(UPGRADE).await?),
        newer if newer > FORMAT => Err(StoreError::Unsupported {
            location: location.to_string(),
            found: newer.unsigned_abs(),
            known: FORMAT.unsigned_abs(),
        }
        .into()),
        format => Err(StoreError::damaged(location, format!("there is no format {format}")).into()),
    }
}

/// The id of the flow with this key.
pub(super) async fn find(client: &Client, key: &str) -> Result<Option<i32>, PostgresError> {
    const FIND: &str = "select flow from columnar_flows where key = $1";
    let row = client.query_typed_opt(FIND, &[(&key, Type::TEXT)]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// The id of the flow. The first opening creates the flow.
pub(super) async fn find_or_make(client: &Client, key: &str) -> Result<i32, PostgresError> {
    const MAKE: &str = "insert into columnar_flows (key) values ($1) on conflict do nothing";
    loop {
        if let Some(flow) = find(client, key).await? {
            return Ok(flow);
        }
        // Inserted only after the query, since each insert uses up an id. If another process was quicker, nothing is
        // inserted.
        client.query_typed(MAKE, &[(&key, Type::TEXT)]).await?;
    }
}

/// The keys of all flows, in order.
pub(super) async fn keys(client: &Client) -> Result<Vec<String>, PostgresError> {
    const KEYS: &str = "select key from columnar_flows order by key";
    let rows = client.query_typed(KEYS, &[]).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}
