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
//! What a process alone lacks is an owner among many machines, another owner when a machine dies, timers that outlive the process,
//! and requests that are carried out once. Durable engines have these, so the feature `engine` has an adapter of six calls and no
//! engine of its own, and the feature `restate` the adapter of [Restate](https://restate.dev):
//!
#![cfg_attr(all(feature = "restate", feature = "postgres"), doc = "```no_run")]
#![cfg_attr(not(all(feature = "restate", feature = "postgres")), doc = "```ignore")]
//! use columnar::engine::restate::{Restate, serve};
//! use columnar::engine::{FlowClient, FlowWorker};
//! use columnar::prelude::*;
//! use columnar::store::PostgresStore;
//! use std::sync::Arc;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! /// A worker; run as many as you need.
//! async fn work(chats: Arc<PostgresStore>) -> Result<(), columnar::BoxError> {
//!     let messages = Arc::clone(&chats);
//!     let worker = FlowWorker::new(move |key| Chat::open(chats.flow(key)), move |key| messages.flow(key));
//!     let listener = tokio::net::TcpListener::bind("0.0.0.0:9080").await?;
//!     Ok(serve(worker, "chats", listener, async { _ = tokio::signal::ctrl_c().await }).await?)
//! }
//!
//! /// Where the requests of people arrive.
//! async fn post(chats: Arc<PostgresStore>) -> Result<usize, columnar::BoxError> {
//!     let client = FlowClient::new(Restate::new("http://restate:8080", "chats")?, move |key| chats.flow(key));
//!     Ok(client.flow("ada").request("tab 3, message 17").push("user", "Which language?").await?)
//! }
//! ```
//!
//! Restate learns of the workers once: `restate deployments register http://workers:9080`, or a POST of
//! `{"uri": "http://workers:9080"}` to `/deployments` of its administration port. The address is one for all workers, behind a
//! balancer of connections. Restate has up to 128 calls on a connection
//! (`RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT`), so set this lower where a few workers share few calls.
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
//! | a worker dies | another one opens the flow and computes what is missing. The calls that were in flight are made again, and paid for again |
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
//! eval "$(tests/postgres-server start)" "$(tests/restate-server start)"
//! cargo run --release --example fleet --features fleet
//! cargo run --release --example fleet --features fleet -- --compare --pace 0
//! ```
//!
//! FIGURES
//!
//! # The licences
//!
//! The server of Restate is under the Business Source License 1.1, which becomes Apache 2.0 after four years. The licence lets
//! you use it for everything but a public service of Restate itself. The SDK has the MIT licence. For another engine, implement
//! `engine::Engine` and `engine::OwnedCall`, and run `testing::engine_conformance`.
//!
//! [← services](super::services) · [contents](super) · [migrations →](super::migrations)
