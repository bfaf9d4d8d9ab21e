//! From one process to many machines: what each step adds, what it costs, and where it ends.
//!
//! Chapter 27 of 37 · [← services](super::services) · [contents](super) · [migrations →](super::migrations)
//!
//! | you have | take | ends at |
//! |---|---|---|
//! | conversations of a team, a backfill | one process with SQLite | the machine: if it dies, somebody starts the program again, and nothing is lost |
//! | more conversations than one machine computes, shared by hand | processes with PostgreSQL, each with flows of its own | a process that dies: its flows wait until somebody opens them elsewhere |
//! | flows that any machine may compute, and that go on when one dies | workers, an engine, and PostgreSQL | the writes of one PostgreSQL server |
//!
//! # One process
//!
//! A flow is durable: the process that opens it computes what is missing, and nothing twice. So a process needs no engine, and
//! [`Flows`](crate::service::Flows) holds its open flows.
//!
//! # An engine
//!
//! A process alone lacks an owner among many machines, another owner when a machine dies, timers that outlive the process, and
//! requests that are carried out once. Durable engines have these, so the feature `engine` has two small traits for adapters and
//! no engine of its own. There are two adapters:
//!
//! | | [Restate](https://restate.dev), feature `restate` | [Temporal](https://temporal.io), feature `temporal` |
//! |---|---|---|
//! | a flow is | a virtual object | a workflow, whose activities are the calls |
//! | workers | are called by the server, behind an address | ask the server for calls |
//! | a dead worker is replaced | when its connection breaks | 20 seconds after its last heartbeat |
//! | a cancellation arrives | at once | within 4 seconds |
//! | requests of one flow that wait | as many as you like | ten; clients repeat the others each second |
//! | ids of requests are known | for a day | the last 500 of a flow, until a day after its last one |
//! | crates that the feature adds | 121 | 215, with much generated code: an optimized build takes minutes longer |
//! | the licence of the server | Business Source License 1.1 | MIT |
//!
//! With Restate:
//!
#![cfg_attr(feature = "restate", doc = "```no_run")]
#![cfg_attr(not(feature = "restate"), doc = "```ignore")]
//! use columnar::engine::restate::{Restate, serve};
//! use columnar::engine::{FlowClient, FlowWorker};
//! use columnar::prelude::*;
//! use columnar::store::Store;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! /// A worker; run as many as you need. The function makes the store of a key: `move |key| chats.flow(key)`, of a
//! /// `PostgresStore` that all machines reach.
//! async fn work<S: Store>(
//!     chats: impl Fn(&str) -> S + Clone + Send + Sync + 'static,
//! ) -> Result<(), columnar::BoxError> {
//!     let messages = chats.clone();
//!     let worker = FlowWorker::new(move |key: String| Chat::open(chats(&key)), messages);
//!     let listener = tokio::net::TcpListener::bind("0.0.0.0:9080").await?;
//!     Ok(serve(worker, "chats", listener, async { _ = tokio::signal::ctrl_c().await }).await?)
//! }
//!
//! /// Where the requests of people arrive.
//! async fn post<S: Store>(
//!     chats: impl Fn(&str) -> S + Send + Sync + 'static,
//! ) -> Result<usize, columnar::BoxError> {
//!     let client = FlowClient::new(Restate::new("http://restate:8080", "chats")?, chats);
//!     Ok(client.flow("ada").request("tab 3, message 17").push("user", "Which language?").await?)
//! }
//! ```
//!
//! Restate learns of the workers once: `restate deployments register http://workers:9080`, or a POST of
//! `{"uri": "http://workers:9080"}` to `/deployments` of its administration port. The address is one for all workers, behind a
//! balancer of connections. Restate has up to 128 calls on a connection
//! (`RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT`), so set this lower where a few workers share few calls.
//!
//! With Temporal, `serve` and the client take a connection of its SDK, with keys, certificates and encodings as the SDK has them:
//!
#![cfg_attr(feature = "temporal", doc = "```no_run")]
#![cfg_attr(not(feature = "temporal"), doc = "```ignore")]
//! use columnar::engine::temporal::temporalio_client::{Client, ClientOptions, ConnectionOptions, Url};
//! use columnar::engine::temporal::{Temporal, serve};
//! use columnar::engine::{FlowClient, FlowWorker};
//! use columnar::store::Store;
//!
//! async fn connect() -> Result<Client, columnar::BoxError> {
//!     let server = ConnectionOptions::new(Url::parse("http://temporal:7233")?).build();
//!     Ok(Client::connect(server, ClientOptions::new("default").build()).await?)
//! }
//!
//! async fn work(worker: FlowWorker) -> Result<(), columnar::BoxError> {
//!     Ok(serve(worker, connect().await?, "chats", async { _ = tokio::signal::ctrl_c().await }).await?)
//! }
//!
//! async fn client<S: Store>(
//!     chats: impl Fn(&str) -> S + Send + Sync + 'static,
//! ) -> Result<FlowClient, columnar::BoxError> {
//!     Ok(FlowClient::new(Temporal::new(connect().await?, "chats"), chats))
//! }
//! ```
//!
//! A flow begins another history when the server wants that, and loses no request by it. If somebody cancels a workflow, its cells
//! in progress are dropped, and another workflow carries out the calls that wait.
//!
//! | what | where it is |
//! |---|---|
//! | texts of people and models | in the store alone. A push writes its text there as a message, and the owner of the flow takes it |
//! | names of columns, numbers of steps and messages | in the journal of the engine |
//! | values and events for readers | in the store; readers do not ask the engine |
//!
//! # What it promises
//!
//! | if | then |
//! |---|---|
//! | a client sends a request again with the same id | the value is stored once, and the reply is the first one |
//! | a worker dies | another one opens the flow and computes what is missing. The calls whose values were not stored yet are made again, and paid for again |
//! | a worker is drained, by the end of `serve` | no cell starts, cells in flight are stored, and the next calls go elsewhere. Nothing is paid for twice |
//! | the engine dies and comes back | the workers finish and store the cells in flight; the engine makes its calls again, which find them stored |
//! | the database is away for a moment | the connection is made again, and the write is repeated; after five seconds the engine repeats the call until the database is there |
//! | a worker is cut off and goes on | the lock of the store refuses its writes as soon as another owner has the flow |
//! | a provider is overloaded | the engine wakes the flow after a minute, and then after pauses that double, up to an hour |
//! | a cell fails for good | the run ends, the engine has the error, without texts, and the next push tries again |
//! | a cell waits for an answer | nothing is open and nothing is held, until `answer`, `accept` or `decline` |
//! | a run by batches waits for its provider | the flow is closed, and the engine wakes it to look |
//!
//! # What it costs
//!
//! The example `fleet` has a gateway, workers and clients. It kills, drains and adds workers, and runs commands that hurt, such as
//! the end of a server:
//!
//! ```text
//! eval "$(tests/postgres-server start)" "$(tests/engine-server restate start)"
//! cargo run --release --example fleet --features fleet
//! cargo run --release --example fleet --features fleet -- --compare --pace 0
//! eval "$(tests/engine-server temporal start)"
//! cargo run --release --example fleet --features fleet -- --compare --pace 0 --temporal
//! ```
//!
//! On a machine with two cores, which the database, Restate, the workers, the gateway and a thousand clients shared, each answer
//! with two cells of a model that takes no time:
//!
//! | | answers a second | CPU time of an answer |
//! |---|---|---|
//! | one process, no engine, no HTTP; a flow is opened and closed for each message | 915 | 2 ms |
//! | gateway, Restate and one worker | 69 | 29 ms |
//! | gateway, Restate and three workers | 68 | 29 ms |
//! | gateway, Temporal and one worker | 14 | about 120 ms |
//! | gateway, Temporal and three workers | 12 | about 120 ms |
//!
//! The server of Temporal was the one for development, which keeps all in one file of SQLite. It took 50 ms of CPU time for an
//! answer: 19 events in a history, and 9 writes. A server for production was not measured.
//!
//! Both cores were busy in each case, so more workers add machines and no speed on one. Of 27 ms in another run, PostgreSQL took 8,
//! the workers 5, the gateway 4, Restate 3, and the system the rest. A worker had 22 MB at most, and Restate 460 MB, with 240 MB
//! on the disk.
//!
//! While 1,000 conversations got 8,000 answers in 153 s, 30 workers were killed and replaced, one was drained, Restate was killed
//! once and PostgreSQL twice. Each of 16,000 cells was stored once, and each client had each value once. 186 calls were repeated:
//! 171 had been in flight at a kill, and the values of 15 had arrived and were not stored yet. No other calls are repeated.
//!
//! With Temporal, 300 conversations got 1,200 answers in 191 s, while 19 workers were killed and replaced, one was drained, Temporal
//! was killed once and PostgreSQL twice. Each of 2,400 cells was stored once, and the three calls that were repeated had been in
//! flight at a kill.
//!
//! In one process, a thousand flows in PostgreSQL open within 1.1 s on four connections, where one connection for each was
//! refused from the 100th on. A table of a million rows and three columns takes 76 MB, as the chapter on
//! [tables](super::import_export) says.
//!
//! # A million conversations a day
//!
//! Five messages each are 58 messages a second, and 175 at three times the mean. At 27 ms that is 5 cores in all at the peak: 1.4
//! for PostgreSQL, 0.9 for workers, 0.7 for gateways, 0.5 for Restate. With two calls of ten seconds for each message, 3,500 calls
//! are in flight, which workers hold as tasks: with the [limit](super::models) that adapts to a model, ten workers hold 350 each. So
//! the provider is the limit, then the writes of the one PostgreSQL server: a message is four values and receipts, and a message
//! that is written and deleted. Beyond these, spread the keys over several databases by their hash: a store is made by key, so
//! nothing else changes. These figures rest on the two tables above, and on no run of that size.
//!
//! # The licences
//!
//! The server of Restate is under the Business Source License 1.1, which becomes Apache 2.0 after four years. The licence lets
//! you use it for everything but a public service of Restate itself. The server of Temporal, and both SDKs, have the MIT licence.
//! For another engine, implement
//! `engine::Engine` and `engine::OwnedCall`, and run `testing::engine_conformance`.
//!
//! [← services](super::services) · [contents](super) · [migrations →](super::migrations)
