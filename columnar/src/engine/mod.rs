//! Flows on many machines: a durable engine gives each flow an owner, and wakes it.
//!
//! ```text
//! FlowClient ── names ──▶ engine ── names ──▶ FlowWorker, the owner of the flow until the call ends
//!      │  ▲                                        │  ▲
//!      │  └── events, values ────────┐     values ─┘  │
//!      └── text of a push ─────────▶ store ───────────┘
//! ```
//!
//! A flow is durable already: the process that opens it computes what is missing. An engine adds what a process lacks: one owner
//! among many machines, another owner when a machine dies, timers for waits of hours, and requests that are carried out once.
//! So the engine remembers names and numbers. What people and models say is in the store, and nowhere else.
//!
//! ```
//! use std::path::PathBuf;
//!
//! use columnar::engine::{EngineError, FlowClient, FlowWorker};
//! use columnar::prelude::*;
//! use columnar::store::FileStore;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! /// Runs in each worker, as many as you like. On many machines, the store is a `PostgresStore`.
//! fn worker(chats: PathBuf) -> FlowWorker {
//!     let messages = chats.clone();
//!     let open = move |key| Chat::open(FileStore::new(chats.join(key)));
//!     FlowWorker::new(open, move |key| FileStore::new(messages.join(key)))
//! }
//!
//! /// Runs where the requests of people arrive.
//! async fn post(chats: &FlowClient, key: &str, text: &str) -> Result<usize, EngineError> {
//!     chats.flow(key).push("user", text).await
//! }
//! ```
//!
//! | to | see |
//! |---|---|
//! | serve the flows of a worker | [`FlowWorker`] |
//! | push, answer, cancel, follow | [`FlowClient`], [`RemoteFlow`] |
//! | use Restate | with the feature `restate`: `engine::restate` |
//! | use Temporal | with the feature `temporal`: `engine::temporal` |
//! | write an adapter of another engine | [`Engine`], [`OwnedCall`], [`engine_conformance`](crate::testing::engine_conformance) |
//!
//! The chapter [`scale`](crate::guide::scale) of the guide has the guarantees, the figures, and a fleet.

mod call;
mod client;
mod messages;
#[cfg(feature = "restate")]
pub mod restate;
#[cfg(feature = "temporal")]
pub mod temporal;
mod worker;

pub use call::{CallError, Engine, EngineCall, EngineError, EngineReply, OwnedCall, Work};
pub use client::{FlowClient, RemoteFlow};
pub use worker::FlowWorker;
