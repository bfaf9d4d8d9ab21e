//! A store in a `PostgreSQL` database.

mod address;
mod attachments;
mod backend;
mod batch;
mod cells;
mod columns;
mod error;
mod flows;
#[cfg(not(feature = "postgres-tls"))]
mod no_tls;
mod schema;
mod session;
#[cfg(feature = "postgres-tls")]
mod tls;

use std::fmt;

use futures::future::{BoxFuture, FutureExt};

use self::backend::PostgresBackend;
use self::session::SessionLocation;
use super::pointer::delegate_store;
use super::worker::Worker;
use super::{Store, StoreError};

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
/// The repetition stores nothing twice, whether or not the server had committed before the connection was lost. The
/// store waits for a server that is connected but does not answer, as long as the store is there: a timeout around the
/// store ends the wait. Dropping the store ends an opening at once. Other requests that have begun, and the end of the
/// flow, have a second in all; then the connection is closed.
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
/// A write takes two round trips for all cells that finished during the last write. Each open flow takes a thread and
/// a connection, which is a process of the server: the setting `max_connections`, 100 by default, limits the open
/// flows. Opening a column costs one round trip and reads the numbers of the steps after the counted ones. There is no
/// such step if the flow was closed. After a kill these are the steps since the opening, which costs another round
/// trip.
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
    worker: Worker<PostgresBackend>,
}

impl PostgresStore {
    /// A store of the flow with this key, in the database at this address. Nothing happens before the store is opened.
    pub fn new(address: impl AsRef<str>, flow_key: impl AsRef<str>) -> Self {
        Self { worker: Worker::new(SessionLocation::new(address.as_ref(), flow_key.as_ref())) }
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
        let worker = Self::new(address, "").worker;
        async move { worker.inspect(flows::keys).await }.boxed()
    }
}

impl Store for PostgresStore {
    delegate_store!(store => store.worker);
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("flow", &self.worker.location.flow).finish_non_exhaustive()
    }
}
