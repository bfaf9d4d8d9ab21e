//! Flows in services: a task computes a flow while clients come and go.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::service::Position;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = Chat::new().spawn();                     // a task computes all that is pushed
//! let mut events = chat.subscribe_from(&Position::START);
//! let step = chat.user.push("Which language?").await?;
//! while let Some(event) = events.next().await {
//!     if let Event::Value { value, .. } = event {
//!         println!("{value}");
//!         break;
//!     }
//! }
//! chat.completed(step).await?;
//! # Ok(()) }
//! ```
//!
//! | to | see |
//! |---|---|
//! | start the task of a flow | [`Spawn`] |
//! | push, read, wait, cancel, shut down | [`Spawned`] |
//! | follow a flow, and continue after a lost connection | [`Subscription`], [`Position`] |
//! | follow a flow that another program computes | [`Follower`] |
//! | keep the flows of many conversations, by key | [`Flows`] |
//!
//! The chapter [`services`](crate::guide::services) of the guide explains spawned flows. The example `server` is a web
//! service.

mod feed;
mod flows;
mod follower;
mod hub;
mod parts;
mod position;
mod spawned;
mod subscription;
mod task;
#[cfg(test)]
mod tests;

pub use flows::Flows;
pub use follower::Follower;
pub use position::{ParsePositionError, Position};
#[doc(hidden)]
pub use parts::{FlowParts, HasParts};
pub use spawned::{Spawn, Spawned};
pub use subscription::Subscription;
