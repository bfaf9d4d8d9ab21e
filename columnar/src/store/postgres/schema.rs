//! The tables, their format, and the row of a flow.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::super::StoreError;
use super::Place;
use super::fault::Fault;

/// The newest format that is known here.
const FORMAT: i32 = 1;

/// What is looked for first, and made last.
const FORMAT_OF: &str = "select to_regclass('columnar_format') is not null";

/// Two that create the tables at once would fail on each other, whatever `if not exists` says.
const ONE_AT_A_TIME: &str = "begin; select pg_advisory_xact_lock(hashtext('columnar'))";

/// The collation is that of bytes: the others change with the system, and break indexes by that. A value that
/// is null is a cell that is empty for good. A `prefix` says that so many first steps of a column are stored, so
/// that nobody has to look for them again.
const TABLES: &str = r#"
    create table columnar_flows (
        flow integer generated always as identity primary key,
        key text collate "C" not null unique,
        owners bigint not null default 0,
        definition bytea
    );
    create table columnar_cells (
        flow integer not null references columnar_flows on delete cascade,
        "column" text collate "C" not null,
        step bigint not null check (step >= 0),
        value bytea,
        primary key (flow, "column", step)
    );
    create table columnar_prefixes (
        flow integer not null references columnar_flows on delete cascade,
        "column" text collate "C" not null,
        prefix bigint not null check (prefix >= 0),
        primary key (flow, "column")
    );
    create table columnar_format (format integer not null);
    insert into columnar_format values (1)"#;

/// Creates the tables where there are none, and refuses those of another version before anything is written.
pub(super) async fn check(client: &Client, place: &Place) -> Result<(), Fault> {
    if !exists(client).await? {
        client.batch_execute(ONE_AT_A_TIME).await?;
        if !exists(client).await? {
            client.batch_execute(TABLES).await?;
        }
        client.batch_execute("commit").await?;
    }
    let rows = client.query_typed("select format from columnar_format", &[]).await?;
    let [row] = rows.as_slice() else {
        let what = format!("columnar_format has {} rows in place of one", rows.len());
        return Err(StoreError::Damaged { place: place.to_string(), what }.into());
    };
    match row.try_get(0)? {
        FORMAT => Ok(()),
        newer if newer > FORMAT => Err(StoreError::Unsupported {
            place: place.to_string(),
            found: newer.unsigned_abs(),
            known: FORMAT.unsigned_abs(),
        }
        .into()),
        format => {
            let what = format!("there is no format {format}");
            Err(StoreError::Damaged { place: place.to_string(), what }.into())
        }
    }
}

async fn exists(client: &Client) -> Result<bool, Fault> {
    Ok(client.query_typed_one(FORMAT_OF, &[]).await?.try_get(0)?)
}

/// The number of the flow, which is made here when it is opened for the first time.
pub(super) async fn flow(client: &Client, key: &str) -> Result<i32, Fault> {
    const FIND: &str = "select flow from columnar_flows where key = $1";
    // Not at first: it uses up a number each time.
    const MAKE: &str = "insert into columnar_flows (key) values ($1) on conflict do nothing";
    let key: (&(dyn tokio_postgres::types::ToSql + Sync), Type) = (&key, Type::TEXT);
    let key = &[key];
    if let Some(row) = client.query_typed_opt(FIND, key).await? {
        return Ok(row.try_get(0)?);
    }
    client.query_typed(MAKE, key).await?;
    Ok(client.query_typed_one(FIND, key).await?.try_get(0)?)
}
