//! Flows on many machines: a durable engine gives each flow an owner, and wakes it.
//!
//! ```text
//! FlowClient ── names ──▶ engine ── names ──▶ FlowWorker, the owner of the flow until the call ends
//!      │  ▲                                        │  ▲
//!      │  └── events, values ────────┐     values ─┘  │
//!      └── text of a push ─────────▶ store ───────────┘
//! ```
//!
//! A flow is durable already: whoever opens it computes what is missing. An engine adds what a process alone lacks: one owner
//! among many machines, another one when a machine dies, timers for waits of hours, and requests that are carried out once.
//! So the engine remembers names and numbers. What people and models say is in the store, and nowhere else.
//!
//! ```
//! # #[cfg(feature = "postgres")] mod chats {
//! use columnar::engine::{Engine, FlowClient, FlowWorker};
//! use columnar::prelude::*;
//! use columnar::store::PostgresStore;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! /// Runs in each worker, as many as you like.
//! fn worker(chats: PostgresStore) -> FlowWorker {
//!     let chats = std::sync::Arc::new(chats);
//!     let messages = chats.clone();
//!     FlowWorker::new(move |key| Chat::open(chats.flow(key)), move |key| messages.flow(key))
//! }
//!
//! /// Runs where the requests of people arrive.
//! async fn post(chats: &FlowClient, key: &str, text: &str) -> Result<usize, columnar::engine::EngineError> {
//!     chats.flow(key).push("user", text).await
//! }
//! # }
//! ```
//!
//! | to | see |
//! |---|---|
//! | serve the flows of a worker | [`FlowWorker`] |
//! | push, answer, cancel, follow | [`FlowClient`], [`RemoteFlow`] |
//! | use Restate | with the feature `restate`: `engine::restate` |
//! | write an adapter of another engine | [`Engine`], [`OwnedCall`], [`engine_conformance`](crate::testing::engine_conformance) |
//!
//! The chapter [`scale`](crate::guide::scale) of the guide has the guarantees, the figures, and a fleet.

mod call;
mod client;
mod messages;
#[cfg(feature = "restate")]
pub mod restate;
mod worker;

pub use call::{CallError, Engine, EngineCall, EngineError, EngineReply, OwnedCall};
pub use client::{FlowClient, RemoteFlow};
pub use worker::FlowWorker;
