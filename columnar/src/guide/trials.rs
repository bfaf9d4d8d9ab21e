//! Testing a flow of yours.
//!
//! Three things can be wrong: what a column is shown, what becomes of what it says, and what happens when
//! something fails.
//!
//! # What a column is shown
//!
//! [`script`](crate::testing::script) answers by step and asks nobody, so the values are known, and
//! [`messages`](crate::flow::Handle::messages) is compared with what should be there. Most arrays in this guide
//! are checked in this way.
//!
//! A flow whose prompts are to be tested takes its model as a parameter, and the test gives it a
//! [`ScriptedModel`](crate::testing::ScriptedModel), which remembers what it was asked:
//!
//! ```
//! use columnar::model::Model;
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//!
//! flow! {
//!     pub struct Chat<M: Model + Clone>(model: M) {
//!         source user;
//!         column mood(user.latest)               = prompt("Name the mood.").with(model.clone());
//!         column answer(user, mood.latest, self) = prompt("Answer.").with(model.clone());
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let model = ScriptedModel::new(|request| match &*request.system {
//!     "Name the mood." => "annoyed".to_owned(),
//!     _ => format!("{} messages", request.messages.len()),
//! });
//! let chat = Chat::new(model.clone());
//! chat.user.push("It is slow.").await?;
//! chat.run().await?;
//!
//! assert_eq!(chat.answer.get(0).as_deref(), Some("1 messages"));
//! assert!(model.requests()[1].messages.last_text().contains("<mood>\nannoyed\n</mood>"));
//! # Ok(()) }
//! ```
//!
//! # What happens when something fails
//!
//! A closure that returns an error is a model that is down. For everything else that may happen, the feature
//! `simulation` lets a flow live through many lives in which computes fail, panic and stall, stores refuse, and
//! runs are dropped, on a virtual clock and from one number that can be used again:
//!
#![cfg_attr(feature = "simulation", doc = "```")]
#![cfg_attr(not(feature = "simulation"), doc = "```ignore")]
//! use columnar::prelude::*;
//! use columnar::simulation::Simulation;
//!
//! flow! {
//!     struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! Simulation::new().schedules(10).run(|world| async move {
//!     let chat = Chat::open(world.store()).await?;
//!     world.enter(&chat);
//!     chat.user.push("It is slow.").await?;
//!     world.drive(&chat).await;                   // until all is computed, however often it takes
//!     assert_eq!(chat.steps(), 1);
//!     Ok(())
//! });
//! ```
//!
//! It panics with the first thing that is not as a flow [promises](super::runs#guarantees).
//!
//! Next: [what a real model said](super::testing).
