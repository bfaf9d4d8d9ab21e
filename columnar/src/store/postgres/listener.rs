//! Waits for values that the owner of a flow stores, in another process perhaps.
//!
//! A reader that waits holds a shared advisory lock. A write that cannot take the same lock alone, for its transaction,
//! notifies: a flow that nobody follows notifies nobody, since the commits of notifications wait for each other. A reader
//! that takes the lock waits for a write that has it, and looks at the store afterwards.

use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_postgres::types::Type;

use super::error::PostgresError;
use super::session::{Session, SessionLocation, unless_dropped};
use crate::declare::default_limits::FOLLOW_INTERVAL;

/// Begins to listen, on a thread and a connection that end with the handle; `None` where no thread is left. The receiver
/// hears of the beginning, of each change, and of each time when changes may have been missed.
pub(super) fn listen(location: SessionLocation) -> Option<watch::Receiver<()>> {
    let (hears, heard) = watch::channel(());
    let thread = thread::Builder::new().name("columnar-store".into()).spawn(move || {
        let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
        let listening = async {
            loop {
                let _ = hear(&location, &hears).await;
                // As if there were no notifications.
                sleep(FOLLOW_INTERVAL).await;
                hears.send_replace(());
            }
        };
        let _ = runtime.block_on(unless_dropped::<()>(vec![location.clone()], Duration::ZERO, listening));
        runtime.shutdown_background();
    });
    thread.ok().map(|_| heard)
}

/// Listens until the connection is lost.
async fn hear(location: &SessionLocation, hears: &watch::Sender<()>) -> Result<(), PostgresError> {
    // The database may have such tables in several schemas.
    const LOCK: &str = "select 'columnar_cells'::regclass::oid || ' ' || flow, pg_advisory_lock_shared(
        ('columnar_cells'::regclass::oid::bigint - 2147483648)::integer, flow) from columnar_flows where key = $1";
    let mut session = Session::connect(&location.address).await?;
    let found = session.run(async |client| {
        client.batch_execute("listen columnar").await?;
        let flow = client.query_typed_one(LOCK, &[(&&*location.flow, Type::TEXT)]).await?;
        Ok::<String, PostgresError>(flow.try_get(0)?)
    });
    let flow = found.await?;
    loop {
        hears.send_replace(());
        while session.notification().await? != flow {}
    }
}
