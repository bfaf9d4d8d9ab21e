//! A real `PostgreSQL` server for tests: a schema for each test, and a connection to the server that can be cut.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{env, process, thread};

use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, NoTls};

/// The variable with the address of the server.
const URL: &str = "COLUMNAR_PG_URL";

/// The variable with the root certificate of the server, in a folder that has `other.crt` as well, of another authority.
const ROOT: &str = "COLUMNAR_PG_ROOT";

/// A schema of one test, which is removed when this value is dropped.
#[derive(Debug)]
pub struct Database {
    config: Config,
    schema: String,
    admin: Client,
}

impl Database {
    /// A database; `None` without a server, with a message.
    pub async fn new(test: &str) -> Option<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let Ok(url) = env::var(URL) else {
            // Not `eprintln`, whose output is shown only if the test fails.
            let _ = writeln!(
                io::stderr(),
                "SKIPPED {test}: {URL} is not set; `tests/postgres-server run COMMAND` sets it"
            );
            return None;
        };
        let config: Config = url.parse().unwrap_or_else(|error| unreachable!("{URL}: {error}"));
        // With the process, because several programs of tests may share the server.
        let schema = format!("columnar_test_{}_{}", process::id(), MADE.fetch_add(1, Ordering::SeqCst));
        let admin = connect(&config).await;
        let create = format!("create schema {schema}; set search_path = {schema}");
        admin.batch_execute(&create).await.unwrap_or_else(|error| unreachable!("{error}"));
        Some(Self { config, schema, admin })
    }

    /// The same with a root certificate of the server, and a certificate that is not one. `None` without TLS, with a
    /// message.
    pub async fn with_tls(test: &str) -> Option<(Self, String, String)> {
        let database = Self::new(test).await?;
        let Ok(root) = env::var(ROOT) else {
            let _ = writeln!(
                io::stderr(),
                "SKIPPED {test}: {ROOT} is not set; `tests/postgres-server` needs openssl"
            );
            return None;
        };
        let other = root.replace("root.crt", "other.crt");
        Some((database, root, other))
    }

    /// The password of the server.
    pub fn password(&self) -> String {
        self.config.get_password().map(String::from_utf8_lossy).unwrap_or_default().into_owned()
    }

    /// The address for a store.
    pub fn address(&self) -> String {
        let (host, port) = self.server();
        self.address_at(&host, port)
    }

    /// The address without the host, the port and the mode of TLS.
    pub fn plain_address(&self) -> String {
        let address = self.address();
        let (_, rest) = address.split_once("user=").unwrap_or_default();
        format!("user={}", rest.replace(" sslmode=disable", ""))
    }

    /// The address through a wire.
    pub fn address_by(&self, wire: &Wire) -> String {
        self.address_at("127.0.0.1", wire.port)
    }

    /// The address with other settings of the session.
    pub fn address_with(&self, settings: &str) -> String {
        self.address().replace("-c search_path", &format!("{settings} -c search_path"))
    }

    fn address_at(&self, host: &str, port: u16) -> String {
        let password = self.config.get_password().map(String::from_utf8_lossy).unwrap_or_default();
        let user = self.config.get_user().unwrap_or("postgres");
        let name = self.config.get_dbname().unwrap_or("postgres");
        let options = format!("-c search_path={}", self.schema);
        format!(
            "host='{host}' port={port} user='{user}' password='{password}' dbname='{name}' options='{options}' sslmode=disable"
        )
    }

    /// The host and the port of the server.
    pub fn server(&self) -> (String, u16) {
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => (host.clone(), port),
            host => unreachable!("{URL} must name a host that is reached by TCP, not {host:?}"),
        }
    }

    /// A wire to the server.
    pub fn wire(&self) -> Wire {
        Wire::new(self.server())
    }

    /// Runs SQL of another client.
    pub async fn run(&self, sql: &str) {
        self.admin.batch_execute(sql).await.unwrap_or_else(|error| unreachable!("{sql}: {error}"));
    }

    /// The result of a query of another client.
    pub async fn one<T: for<'a> tokio_postgres::types::FromSql<'a>>(&self, sql: &str) -> T {
        let row = self.admin.query_one(sql, &[]).await;
        row.unwrap_or_else(|error| unreachable!("{sql}: {error}")).get(0)
    }

    /// Ends the sessions of all stores in this schema, as an administrator may.
    pub async fn end_sessions(&self) {
        // Locks are granted in the database; the locks of this schema are found by its table. The store subtracts 2^31
        // from the oid of the table, and `classid` shows that key without a sign.
        const END: &str = "select count(pg_terminate_backend(pid)) from pg_locks where locktype = 'advisory' \
            and classid::bigint = ('columnar_flows'::regclass::oid::bigint + 2147483648) % 4294967296";
        if self.one::<i64>(END).await == 0 {
            unreachable!("there is a session to end");
        }
    }
}

/// Uses another thread, since the dropping thread is in a runtime.
impl Drop for Database {
    fn drop(&mut self) {
        let (config, schema) = (self.config.clone(), self.schema.clone());
        let remove = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap_or_else(|error| unreachable!("{error}")).block_on(async {
                let _ = connect(&config).await.batch_execute(&format!("drop schema {schema} cascade")).await;
            });
        };
        let _ = thread::spawn(remove).join();
    }
}

async fn connect(config: &Config) -> Client {
    let connected = config.connect(NoTls).await;
    let (client, connection) = connected.unwrap_or_else(|error| unreachable!("{URL}: {error}"));
    tokio::spawn(connection);
    client
}

/// The direction of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Requests.
    ToServer,
    /// Responses.
    ToClient,
}

/// The kind of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Both ends notice the cut.
    Through,
    /// The server does not notice the cut, and keeps the session.
    Unheard,
    /// Neither end notices the cut: nothing arrives any more.
    Silent,
}

/// Connections to a server, one of which is cut after a number of bytes. A wire works on separate threads, while a test
/// waits for a store.
#[derive(Debug)]
pub struct Wire {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    to_server: u64,
    to_client: u64,
    cut: Option<(Way, u64, Cut)>,
    cuts: usize,
    parted: bool,
    /// Connections that the server still keeps.
    unheard: Vec<TcpStream>,
    /// Connections that clients still keep.
    silent: Vec<TcpStream>,
}

impl Wire {
    fn new(server: (String, u16)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it has an address").port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // The accepted connection is dropped, as by a server that is gone.
                if lock(&shared).parted {
                    continue;
                }
                let Ok(server) = TcpStream::connect((server.0.as_str(), server.1)) else { continue };
                for (way, from, to) in [(Way::ToServer, &client, &server), (Way::ToClient, &server, &client)]
                {
                    let _ = from.set_nodelay(true);
                    let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { continue };
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || pump(way, from, to, &shared));
                }
            }
        });
        Self { port, state }
    }

    /// Cuts the connection after this number of further bytes in this direction.
    pub fn cut_after(&self, way: Way, bytes: u64, cut: Cut) {
        let mut state = lock(&self.state);
        (state.to_server, state.to_client) = (0, 0);
        state.cut = Some((way, bytes, cut));
    }

    /// Cuts the next connection that is used, and accepts no other one.
    pub fn part(&self) {
        self.cut_after(Way::ToServer, 0, Cut::Through);
        lock(&self.state).parted = true;
    }

    /// Ends all cuts.
    pub fn mend(&self) {
        let mut state = lock(&self.state);
        state.parted = false;
        state.cut = None;
        let State { unheard, silent, .. } = &mut *state;
        let both = unheard.drain(..).chain(silent.drain(..));
        both.for_each(|socket| drop(socket.shutdown(Shutdown::Both)));
    }

    /// The number of bytes in this direction since the last call of [`cut_after`](Self::cut_after).
    pub fn passed(&self, way: Way) -> u64 {
        *lock(&self.state).passed(way)
    }

    /// The number of connections that were cut.
    pub fn cuts(&self) -> usize {
        lock(&self.state).cuts
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries bytes in one direction until the connection ends or is cut.
fn pump(way: Way, mut from: TcpStream, mut to: TcpStream, state: &Mutex<State>) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let (allowed, cut) = lock(state).pass(way, read);
        if buffer.get(..allowed).is_none_or(|bytes| to.write_all(bytes).is_err()) {
            break;
        }
        if let Some(cut) = cut {
            let (client, server) = if way == Way::ToServer { (from, to) } else { (to, from) };
            match cut {
                Cut::Through => drop(server.shutdown(Shutdown::Both)),
                Cut::Unheard => lock(state).unheard.push(server),
                Cut::Silent => {
                    let mut state = lock(state);
                    state.unheard.push(server);
                    state.silent.push(client);
                    return;
                }
            }
            let _ = client.shutdown(Shutdown::Both);
            return;
        }
    }
    // This also ends the other direction, unless the server must not notice.
    if way == Way::ToClient || !lock(state).keeps(&to) {
        let _ = to.shutdown(Shutdown::Both);
    }
}

impl State {
    fn passed(&mut self, way: Way) -> &mut u64 {
        match way {
            Way::ToServer => &mut self.to_server,
            Way::ToClient => &mut self.to_client,
        }
    }

    /// The number of bytes to pass on, and the cut after them, if any.
    fn pass(&mut self, way: Way, bytes: usize) -> (usize, Option<Cut>) {
        let passed = *self.passed(way);
        let (allowed, cut) = match self.cut {
            Some((cut_way, after, cut)) if cut_way == way && passed + bytes as u64 >= after => {
                (usize::try_from(after - passed).unwrap_or(bytes), Some(cut))
            }
            _ => (bytes, None),
        };
        *self.passed(way) += allowed as u64;
        if cut.is_some() {
            // One cut only: later connections are whole, so a store can recover.
            self.cut = None;
            self.cuts += 1;
        }
        (allowed, cut)
    }

    fn keeps(&self, server: &TcpStream) -> bool {
        self.unheard.iter().any(|kept| kept.local_addr().ok() == server.local_addr().ok())
    }
}
