//! Lists and deletes flows, with a new connection for each request.

use std::fmt;
use std::time::Duration;

use tokio_postgres::Client;

use super::super::StoreError;
use super::attachments;
use super::error::PostgresError;
use super::schema;
use super::session::{LOCK_ATTEMPTS, Session, SessionLocation, Taken, lock, runtime};

/// The keys of all flows at an address, in order.
pub(super) fn keys(location: &SessionLocation) -> Result<Vec<String>, StoreError> {
    once(location, "listing", &"the flows in PostgreSQL", schema::keys)
}

/// Deletes a flow that nobody has open, if there is one.
pub(super) fn delete(location: &SessionLocation) -> Result<(), StoreError> {
    once(location, "deleting", location, async |client| {
        let Some(flow) = schema::find(client, &location.flow).await? else { return Ok(()) };
        match lock(client, flow, LOCK_ATTEMPTS).await? {
            // A single transaction deletes the flow as a whole or not at all. An owner that lost its session finds no
            // rows.
            Taken::Locked => attachments::delete_flow(client, flow).await,
            Taken::Refused => Err(StoreError::locked(location).into()),
            Taken::Deleted => Ok(()),
        }
    })
}

/// Connects, runs an operation, and releases all locks. Without tables nothing is done. Once the handle is dropped,
/// nothing here is worth waiting for.
fn once<T: Default>(
    location: &SessionLocation,
    operation: &str,
    object: &impl fmt::Display,
    act: impl AsyncFnOnce(&Client) -> Result<T, PostgresError>,
) -> Result<T, StoreError> {
    let runtime = runtime()?;
    let done = location.block_on(&runtime, Duration::ZERO, async {
        let mut session = Session::connect(&location.address).await?;
        let acted = session.run(async |client| {
            if !schema::exists(client).await? {
                return Ok(T::default());
            }
            schema::check(client, object).await?;
            act(client).await
        });
        let done = acted.await;
        session.close().await;
        done
    });
    // A search for the address of a host may go on.
    runtime.shutdown_background();
    done.map_err(|error| error.into_store_error(operation, object, &location.address))
}
