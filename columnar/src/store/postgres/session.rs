//! One connection, and the lock that the session holds.

use std::convert::Infallible;
use std::ops::Deref;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, io};

use futures::future::{self, Either};
use tokio::sync::{OnceCell, watch};
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Connection, Socket, Statement};

use super::super::StoreError;
use super::address::{DatabaseAddress, TlsMode};
use super::error::PostgresError;
#[cfg(not(feature = "postgres-tls"))]
use super::no_tls::{NoEncryption as Tls, TlsStream};
#[cfg(feature = "postgres-tls")]
use super::tls::{Tls, TlsStream};

/// The most attempts to take a lock that another process holds. That process may have ended a moment ago.
const LOCK_ATTEMPTS: usize = 5;

/// The pause between two attempts to take a lock.
pub(super) const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Settings that must not depend on the database's defaults: commits are durable, a statement waits for others and
/// then sees their changes, and a session whose machine has lost its network ends within a minute.
const SETTINGS: &str = "set synchronous_commit = on; set default_transaction_isolation = 'read committed'; \
    set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3; \
    set client_min_messages = warning";

/// The time for a request that has begun when the handle is dropped, and for closing the flow. Then the connection
/// ends.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// The address of a flow, and the end of the handle.
#[derive(Clone)]
pub(crate) struct SessionLocation {
    /// The address of the database. It holds a password, so there is no `Debug`.
    pub(super) address: Arc<str>,
    pub(super) flow: Arc<str>,
    /// The time at which the handle was dropped.
    dropped: Arc<watch::Sender<Option<Instant>>>,
}

impl SessionLocation {
    pub(super) fn new(address: &str, flow: &str) -> Self {
        Self { address: address.into(), flow: flow.into(), dropped: Arc::new(watch::Sender::new(None)) }
    }

    pub(super) fn handle_dropped(&self) {
        // The clock of the system: the clock of the caller's runtime may be paused.
        self.dropped.send_replace(Some(Instant::now()));
    }

    pub(super) fn error(&self, verb: &str, error: PostgresError) -> StoreError {
        error.into_store_error(verb, self, &self.address)
    }

    /// Waits for the drop of the handle, and then for this time.
    async fn dropped_for(self, grace: Duration) {
        let mut dropped = self.dropped.subscribe();
        // The sender lives as long as this location.
        let at = dropped.wait_for(Option::is_some).await.ok().and_then(|at| *at);
        tokio::time::sleep_until((at.unwrap_or_else(Instant::now) + grace).into()).await;
    }
}

/// Runs an operation for handles. A server may never answer, so after the drop of the last handle the operation has this
/// time left.
pub(super) async fn unless_dropped<T>(
    handles: Vec<SessionLocation>,
    grace: Duration,
    act: impl Future<Output = Result<T, PostgresError>>,
) -> Result<T, PostgresError> {
    let dropped = future::join_all(handles.into_iter().map(|handle| handle.dropped_for(grace)));
    match future::select(pin!(act), dropped).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => Err(PostgresError::Abandoned),
    }
}

/// The flow as errors name it, without the address, which may hold a password.
impl fmt::Display for SessionLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the flow {:?} in PostgreSQL", self.flow)
    }
}

/// A parameter of a query. With the type, a query takes one round trip; without types it is prepared, executed and
/// closed.
pub(super) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// A connection to the server, which is polled while it is used and ends with the session. As a task of a runtime, the
/// connection would outlive a runtime that is not polled any more, and keep the server waiting.
pub(super) struct Session {
    client: SessionClient,
    /// `None` after the end: a response that waits for the connection becomes an error when the connection is dropped.
    connection: Option<Connection<Socket, TlsStream>>,
}

/// The client of a session, and the statement that stores cells. To parse and plan it would take longer than to execute.
pub(super) struct SessionClient {
    client: Client,
    pub(super) store: OnceCell<Statement>,
}

impl Deref for SessionClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// The server process of a session. The start time distinguishes the process from later ones with the same id.
#[derive(Clone, Copy)]
pub(super) struct ServerProcess {
    pid: i32,
    started: SystemTime,
}

impl Session {
    pub(super) async fn connect(address: &str) -> Result<Self, PostgresError> {
        let address = DatabaseAddress::parse(address)?;
        // The limit of the driver ends with the TCP connection of each host. This limit includes the handshakes, as in
        // libpq.
        let limit = address.connect_limit();
        timeout(limit, Self::shake_hands(address)).await.unwrap_or_else(|_| {
            let reason = format!(
                "the server did not answer within {limit:?}; `connect_timeout` in its address is the limit"
            );
            Err(PostgresError::Lost(io::Error::new(io::ErrorKind::TimedOut, reason)))
        })
    }

    async fn shake_hands(mut address: DatabaseAddress) -> Result<Self, PostgresError> {
        let tls = Tls::new(&address)?;
        let connected = match address.config.connect(tls.clone()).await {
            // As in libpq: `prefer` is no protection, so it must not be an obstacle.
            Err(error) if address.tls == TlsMode::Prefer && Tls::is_cause_of(&error) => {
                address.config.ssl_mode(SslMode::Disable).connect(tls).await
            }
            connected => connected,
        };
        let (client, connection) = connected?;
        let client = SessionClient { client, store: OnceCell::new() };
        let mut session = Self { client, connection: Some(connection) };
        session.run(async |client| client.batch_execute(SETTINGS).await).await?;
        Ok(session)
    }

    /// Runs an operation on the connection.
    pub(super) async fn run<T>(&mut self, act: impl AsyncFnOnce(&SessionClient) -> T) -> T {
        let Self { client, connection } = self;
        let ends = async {
            if let Some(connection) = connection {
                let _ = connection.await;
            }
            *connection = None;
        };
        match future::select(pin!(act(client)), pin!(ends)).await {
            Either::Left((done, _)) => done,
            // The operation's own future returns the error.
            Either::Right(((), acts)) => acts.await,
        }
    }

    /// Runs an operation that does not end, and hands over the texts of notifications, until the connection is lost.
    pub(super) async fn listen(
        &mut self,
        act: impl AsyncFnOnce(&SessionClient) -> Result<Infallible, PostgresError>,
        told: impl Fn(&str),
    ) -> Result<Infallible, PostgresError> {
        let Self { client, connection } = self;
        let ends = async {
            while let Some(connection) = connection {
                match future::poll_fn(|cx| connection.poll_message(cx)).await {
                    Some(Ok(AsyncMessage::Notification(notification))) => told(notification.payload()),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => break,
                }
            }
            *connection = None;
        };
        match future::select(pin!(act(client)), pin!(ends)).await {
            Either::Left((error, _)) => error,
            Either::Right(_) => Err(PostgresError::Lost(io::ErrorKind::ConnectionReset.into())),
        }
    }
}

impl ServerProcess {
    /// The server process of this connection.
    pub(super) async fn of(client: &Client) -> Result<Self, PostgresError> {
        const OF: &str = "select pid, backend_start from pg_stat_activity where pid = pg_backend_pid()";
        let row = client.query_typed_one(OF, &[]).await?;
        Ok(Self { pid: row.try_get(0)?, started: row.try_get(1)? })
    }

    /// Ends a process whose client has lost the connection, which the server may not know.
    pub(super) async fn end(self, client: &Client) -> Result<(), PostgresError> {
        const END: &str =
            "select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2";
        let Self { pid, started } = self;
        client.query_typed(END, &[(&pid, Type::INT4), (&started, Type::TIMESTAMPTZ)]).await?;
        Ok(())
    }
}

/// The outcome of taking a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Locked,
    /// Another session has the lock.
    Refused,
    /// The flow was deleted.
    Deleted,
}

/// Takes the lock of a flow, with several attempts, since the end of the last owner may take a moment to reach the
/// server.
pub(super) async fn lock(client: &Client, flow_id: i32) -> Result<Taken, PostgresError> {
    // Two numbers identify a lock in the whole database, which may have such tables in several schemas. An object id
    // is unsigned, and a lock has signed numbers, so the id is shifted.
    const LOCK: &str = "select pg_try_advisory_lock((tableoid::bigint - 2147483648)::integer, flow) \
        from columnar_flows where flow = $1";
    // The flow may be deleted between the lookup of the row and the lock.
    const IS_THERE: &str = "select from columnar_flows where flow = $1";
    let flow: [Parameter<'_>; 1] = [(&flow_id, Type::INT4)];
    for _ in 0..LOCK_ATTEMPTS {
        match client.query_typed_opt(LOCK, &flow).await?.map(|row| row.try_get(0)).transpose()? {
            Some(true) if client.query_typed_opt(IS_THERE, &flow).await?.is_some() => {
                return Ok(Taken::Locked);
            }
            Some(true) => {
                unlock(client, flow_id).await?;
                return Ok(Taken::Deleted);
            }
            None => return Ok(Taken::Deleted),
            Some(false) => tokio::time::sleep(LOCK_RETRY_INTERVAL).await,
        }
    }
    Ok(Taken::Refused)
}

/// Releases the lock of a flow, whose row may be gone.
pub(super) async fn unlock(client: &Client, flow: i32) -> Result<(), PostgresError> {
    const UNLOCK: &str =
        "select pg_advisory_unlock(('columnar_flows'::regclass::oid::bigint - 2147483648)::integer, $1)";
    client.query_typed(UNLOCK, &[(&flow, Type::INT4)]).await?;
    Ok(())
}
