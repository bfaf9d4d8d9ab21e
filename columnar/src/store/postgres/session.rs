//! One connection, and the lock that it holds.

use std::pin::pin;
use std::time::{Duration, SystemTime};

use futures::future::{self, Either, Fuse, FutureExt};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, Connection, NoTls, Socket};

use super::super::StoreError;
use super::Location;
use super::error::PostgresError;

/// How long to wait for a connection, and for what was sent to arrive, unless the address says.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Between two looks at a lock whose owner is on its way out.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// What counts, whatever the database's defaults are: that what is committed is safe, that a statement waits for
/// others and then sees what they did, and that a client whose machine has lost its network is given up within a
/// minute.
const SETTINGS: &str = "set synchronous_commit = on; set default_transaction_isolation = 'read committed'; \
    set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3; \
    set client_min_messages = warning";

/// A connection to the server. It is no task of a runtime, which would keep the server waiting for one that is not
/// polled any more: it moves while it is used, and ends when this is dropped.
pub(super) struct Session {
    client: Client,
    connection: Fuse<Connection<Socket, NoTlsStream>>,
}

/// The process that serves a session, told apart from later ones of its number.
#[derive(Clone, Copy)]
pub(super) struct ServerProcess {
    pid: i32,
    started: SystemTime,
}

impl Session {
    pub(super) async fn connect(location: &Location) -> Result<Self, PostgresError> {
        let (client, connection) = config(location)?.connect(NoTls).await?;
        let mut session = Self { client, connection: connection.fuse() };
        session.run(async |client| client.batch_execute(SETTINGS).await).await?;
        Ok(session)
    }

    /// Does what is asked for on the connection.
    pub(super) async fn run<T>(&mut self, act: impl AsyncFnOnce(&Client) -> T) -> T {
        let acts = pin!(act(&self.client));
        match future::select(acts, &mut self.connection).await {
            Either::Left((done, _)) => done,
            // Why it has ended is told to whoever waits for an answer.
            Either::Right((_, acts)) => acts.await,
        }
    }

    /// Gives all locks back, so that whoever opens the flow next finds it free.
    pub(super) async fn close(mut self) {
        // If this cannot be said, the connection is gone, and the locks with it.
        let _ = self.run(async |client| client.batch_execute("select pg_advisory_unlock_all()").await).await;
    }
}

impl ServerProcess {
    /// The one that serves this.
    pub(super) async fn of(client: &Client) -> Result<Self, PostgresError> {
        const OF: &str = "select pid, backend_start from pg_stat_activity where pid = pg_backend_pid()";
        let row = client.query_typed_one(OF, &[]).await?;
        Ok(Self { pid: row.try_get(0)?, started: row.try_get(1)? })
    }

    /// Ends an earlier one, which may not know that its client has lost it.
    pub(super) async fn end(self, client: &Client) -> Result<(), PostgresError> {
        const END: &str =
            "select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2";
        let Self { pid, started } = self;
        client.query_typed(END, &[(&pid, Type::INT4), (&started, Type::TIMESTAMPTZ)]).await?;
        Ok(())
    }
}

/// Takes the lock of a flow, if it is free or becomes free while its owner's end reaches the server.
pub(super) async fn lock(client: &Client, flow: i32, attempts: usize) -> Result<bool, PostgresError> {
    // Locks are told apart by two numbers for the whole database, which may have such tables in many schemas.
    const LOCK: &str = "select pg_try_advisory_lock((tableoid::bigint - 2147483648)::integer, flow) \
        from columnar_flows where flow = $1";
    for _ in 0..attempts {
        let row = client.query_typed_opt(LOCK, &[(&flow, Type::INT4)]).await?;
        if row.map(|row| row.try_get(0)).transpose()? == Some(true) {
            return Ok(true);
        }
        tokio::time::sleep(LOCK_RETRY_INTERVAL).await;
    }
    Ok(false)
}

/// What the address says, with limits on all waiting. What is wrong with an address may quote its password.
fn config(location: &Location) -> Result<Config, StoreError> {
    let mut config: Config = location.address.parse().map_err(|_| {
        StoreError::other(
            "the address of the database is not one: write `postgres://user:password@host/database`",
        )
    })?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(CONNECT_TIMEOUT);
    }
    if config.get_keepalives_idle() > Duration::from_hours(1) {
        config.keepalives_idle(CONNECT_TIMEOUT);
    }
    if config.get_application_name().is_none() {
        config.application_name("columnar");
    }
    Ok(config)
}
