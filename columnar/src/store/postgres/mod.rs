//! A store in a `PostgreSQL` database.
//!
//! ```text
//! PostgresStore ── PooledHandle ──┐
//! PostgresStore ── PooledHandle ──┼── ConnectionThread ══ PooledConnection ──┬── PooledFlow
//! PostgresStore ── PooledHandle ──┘       a thread          its session      └── PooledFlow
//! ```

mod address;
mod attachments;
mod batch;
mod cells;
mod columns;
mod connection;
mod error;
mod flow;
mod listener;
#[cfg(not(feature = "postgres-tls"))]
mod no_tls;
mod pool;
mod schema;
mod session;
#[cfg(feature = "postgres-tls")]
mod tls;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};

use self::connection::PooledConnection;
use self::pool::PooledHandle;
use super::thread::NewCell;
use super::{Entry, Put, StepEntries, Store, StoreError, StoreFuture, StoredSteps};
use crate::declare::Name;
use crate::declare::default_limits::POSTGRES_CONNECTIONS;

/// A store in a `PostgreSQL` database (13 or newer), with the feature `postgres`. Many flows share a database, each
/// under its own key, and so do many processes and machines.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::PostgresStore;
///
/// flow! {
///     struct Notes {
///         source user;
///         column topics(user.latest) = prompt("List the topics.");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// // Such as `postgres://me@localhost/chats`.
/// let Ok(address) = std::env::var("COLUMNAR_PG_URL") else { return Ok(()) };
/// let notes = Notes::open(PostgresStore::new(address, "monday")).await?;
/// notes.user.push("We should rewrite the backend in Rust.").await?;
/// notes.run().await?;
/// # Ok(()) }
/// ```
///
/// # Layout
///
/// The rows are in the tables `columnar_format`, `columnar_flows`, `columnar_cells`, `columnar_prefixes`,
/// `columnar_attachments` and `columnar_flow_attachments` of the first schema in the search path. An attachment is stored
/// once for all flows, and deleted with the last flow that has it. Opening the first flow creates the tables. Values are bytes, since a text of this
/// database cannot hold every text.
/// `select convert_from(value, 'UTF8'), convert_from(receipt, 'UTF8') from columnar_cells` reads the values and the
/// costs.
///
/// # Guarantees
///
/// A stored value is committed with `synchronous_commit` on, so the value is as safe as the server's commits.
///
/// A lost connection is made again, with a few attempts over five seconds, and the interrupted operation is repeated.
/// The repetition stores nothing twice, whether or not the server had committed before the connection was lost. All flows
/// of the connection are owned again, except for those that another owner has taken meanwhile, which alone are refused. The
/// store waits for a server that is connected but does not answer, as long as the store is there: a timeout around the
/// store ends the wait. Dropping the store ends an opening at once, unless the connection has other flows. Other requests
/// that have begun have a second, and so has the end of the flow; then the connection is closed, and made again for the
/// other flows.
///
/// The owner of a flow holds an advisory lock of its session, which ends with the connection or the process. If the
/// server believes that the session has ended and lets another owner in, the first owner is refused: each write
/// checks, in the same transaction, that the writer is the last owner. A machine that loses the network keeps its
/// flows for a minute, until the server closes the session.
///
/// Each value has a checksum that includes the column and the step. A value that was changed, moved or removed is an
/// error of that cell, and the others can be read. The first steps of each column are counted when the flow is opened
/// and closed, so a counted step that is missing was removed. The loss of a step after a gap is not noticed, nor, if a
/// process was killed, the loss of a step that the process had stored since the opening. The row of a flow has a
/// checksum, and the number of counted columns. A checksum is no signature: a program that can write to the tables can
/// forge it. A flow is found by the key; deleting a row of `columnar_flows` deletes all other rows of the flow, too.
///
/// # Costs
///
/// A connection is a process of the server, whose setting `max_connections`, 100 by default, limits all clients together.
/// Stores that [`flow`](Self::flow) makes of one store share four connections, or as many as
/// [`connections`](Self::connections) says, and a thread for each. A store that is made alone has one of each.
///
/// A write takes two round trips and one commit for all cells that finished during the last write, of all flows of the
/// connection. If the write fails, each flow is written alone, so that a defect halts its own flow. A request waits for
/// the requests of other flows on the connection, which are short: long reads are many requests. Opening a column costs one round trip and reads the numbers of the steps after the counted ones. There is no
/// such step if the flow was closed. After a kill these are the steps since the opening, which costs another round
/// trip.
///
/// Stores that share connections have one connection and one thread more while a [`Follower`](crate::service::Follower) waits, by
/// which the server tells all their followers of writes. The write of a flow with followers notifies them in the same
/// transaction.
///
/// # The connection
///
/// The address is one of [`libpq`](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING), as a
/// URL or as `key=value` pairs. The parameters are `user`, `password`, `dbname`, `options`, `application_name`,
/// `host`, `hostaddr`, `port`, `connect_timeout`, `tcp_user_timeout`, `keepalives` and all that begin with this word,
/// `target_session_attrs`, `channel_binding`, `load_balance_hosts`, `sslmode`, `sslnegotiation` and `sslrootcert`. A
/// connection pooler must be in session mode. Neither the address nor the password is in any error or in the `Debug`
/// of anything, also if a server repeats the password.
///
/// `connect_timeout` limits the connection with the handshakes, for several hosts in all. The default is 10 seconds.
///
/// With the feature `postgres-tls`, `sslmode` and `sslrootcert` mean the same as in `libpq`:
///
/// | `sslmode` | the connection |
/// |---|---|
/// | `disable` | is not encrypted |
/// | `prefer`, the default | is encrypted if the server can; an attacker between the two can prevent that, and read all |
/// | `require` | is encrypted, with any certificate; with `sslrootcert` as `verify-ca` |
/// | `verify-ca` | is encrypted, with a certificate that is signed by a certificate in the PEM file `sslrootcert` |
/// | `verify-full` | the same, and the certificate is for the host of the address, by its alternative names |
///
/// `sslrootcert=system` selects the root certificates of the operating system, and needs `verify-full`. Only files
/// that the address names are read. There is no channel binding, so `channel_binding=require` is an error. Without the
/// feature a connection is never encrypted, and a mode from `require` on is an error before anything is sent: use a
/// socket of this machine, a network that you trust, or a tunnel.
pub struct PostgresStore {
    handle: PooledHandle,
}

impl PostgresStore {
    /// A store of the flow with this key, in the database at this address. Nothing happens before the store is opened.
    pub fn new(address: impl AsRef<str>, flow_key: impl AsRef<str>) -> Self {
        let address = address.as_ref().into();
        Self { handle: PooledHandle::new(&address, flow_key.as_ref(), POSTGRES_CONNECTIONS) }
    }

    /// The same store with this number of connections for the flows of the stores that [`flow`](Self::flow) makes of it.
    /// The default is 4. A connection is opened with the first flow on it, and closed with the last one.
    #[must_use]
    pub fn connections(self, count: usize) -> Self {
        let location = &self.handle.location;
        Self { handle: PooledHandle::new(&location.address, &location.flow, count) }
    }

    /// A store of the flow with this key on the same connections. A service has one store, and opens each flow on a store
    /// that it makes of this one.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::PostgresStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// // Such as `postgres://me@localhost/chats`.
    /// let Ok(address) = std::env::var("COLUMNAR_PG_URL") else { return Ok(()) };
    /// let topics = column("topics", source("user").latest(), prompt("List the topics."));
    /// let chats = PostgresStore::new(address, "").connections(2);
    /// let mut open = Vec::new();
    /// for key in 0..20 {
    ///     open.push(Flow::open(chats.flow(format!("chat {key}")), [&topics]).await?);   // on two connections
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn flow(&self, key: impl AsRef<str>) -> Self {
        Self { handle: self.handle.flow(key.as_ref()) }
    }

    /// The keys of the flows in the database at this address, in order. A flow is listed once opened.
    ///
    /// ```
    /// use columnar::store::{PostgresStore, Store, StoreError};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), StoreError> {
    /// // Such as `postgres://me@localhost/chats`.
    /// let Ok(address) = std::env::var("COLUMNAR_PG_URL") else { return Ok(()) };
    /// for key in PostgresStore::flows(&address).await? {
    ///     if key.starts_with("2024") {
    ///         PostgresStore::new(&address, &key).delete().await?;
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, or a newer version made the tables.
    pub fn flows(address: impl AsRef<str>) -> BoxFuture<'static, Result<Vec<String>, StoreError>> {
        let store = Self::new(address, "");
        async move { store.handle.inspect(|connection, _, location| connection.keys(location)).await }.boxed()
    }
}

impl Store for PostgresStore {
    fn open(&self) -> StoreFuture<Option<String>> {
        self.handle.open(PooledConnection::open)
    }

    fn open_to_read(&self) -> StoreFuture<Option<String>> {
        self.handle.open(PooledConnection::open_to_read)
    }

    fn define(&self, definition: String) -> StoreFuture<()> {
        self.handle.ask(move |connection, id| connection.define(id, &definition))
    }

    fn stored_steps(&self, column: Name) -> StoreFuture<StoredSteps> {
        self.handle.ask(move |connection, id| connection.stored_steps(id, &column))
    }

    fn load(&self, column: Name, steps: Range<usize>) -> StoreFuture<StepEntries> {
        self.handle.ask(move |connection, id| connection.load(id, &column, steps))
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> StoreFuture<Put> {
        self.handle.put(NewCell { column, step, entry })
    }

    fn put_blob(&self, digest: String, bytes: Arc<[u8]>) -> StoreFuture<()> {
        self.handle.ask(move |connection, id| connection.put_blob(id, &digest, &bytes))
    }

    fn load_blob(&self, digest: String) -> StoreFuture<Option<Arc<[u8]>>> {
        self.handle.ask(move |connection, id| connection.load_blob(id, &digest))
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn changed(&self) -> Option<BoxFuture<'static, ()>> {
        self.handle.changed()
    }

    fn delete(&self) -> StoreFuture<()> {
        self.handle.inspect(|connection, _, location| connection.delete(location))
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("flow", &self.handle.location.flow).finish_non_exhaustive()
    }
}
