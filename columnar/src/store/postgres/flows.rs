//! Lists and deletes flows, with a new connection for each request.

use std::time::Duration;

use tokio_postgres::Client;

use super::super::StoreError;
use super::error::PostgresError;
use super::schema;
use super::session::{LOCK_ATTEMPTS, Session, SessionLocation, Taken, lock, runtime};

/// The keys of all flows at an address, in order.
pub(super) fn keys(location: &SessionLocation) -> Result<Vec<String>, StoreError> {
    let object = "the flows in PostgreSQL";
    let keys = once(location, async |client| {
        if !schema::exists(client).await? {
            return Ok(Vec::new());
        }
        schema::check(client, &object).await?;
        schema::keys(client).await
    });
    keys?.map_err(|error| error.into_store_error("listing", &object, &location.address))
}

/// Deletes a flow that nobody has open, if there is one.
pub(super) fn delete(location: &SessionLocation) -> Result<(), StoreError> {
    let deleted = once(location, async |client| {
        if !schema::exists(client).await? {
            return Ok(());
        }
        schema::check(client, location).await?;
        let Some(flow) = schema::find(client, &location.flow).await? else { return Ok(()) };
        match lock(client, flow, LOCK_ATTEMPTS).await? {
            // A single statement deletes the flow as a whole or not at all. An owner that lost its session finds no
            // rows.
            Taken::Locked => schema::delete(client, flow).await,
            Taken::Refused => Err(location.locked().into()),
            Taken::Deleted => Ok(()),
        }
    });
    deleted?.map_err(|error| error.into_store_error("deleting", location, &location.address))
}

/// Connects, runs an operation, and releases all locks. Once the handle is dropped, nothing here is worth waiting for.
fn once<T>(
    location: &SessionLocation,
    act: impl AsyncFnOnce(&Client) -> Result<T, PostgresError>,
) -> Result<Result<T, PostgresError>, StoreError> {
    let runtime = runtime()?;
    let done = location.block_on(&runtime, Duration::ZERO, async {
        let mut session = Session::connect(&location.address).await?;
        let done = session.run(act).await;
        session.close().await;
        done
    });
    // A search for the address of a host may go on.
    runtime.shutdown_background();
    Ok(done)
}
