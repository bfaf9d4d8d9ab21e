//! Test a flow: the contexts, the behaviour after failures, and real replies.
//!
//! Chapter 36 of 37 · [← dynamic flows](super::dynamic_flows) · [contents](super) · [mistakes →](super::mistakes)
//!
//! Three things can be wrong: the context of a column, the use of the values, and the behaviour after a failure.
//!
//! # Scripted values and models
//!
//! [`script`](crate::testing::script) is a compute step with a text for each step. The values are known, so
//! [`messages`](crate::flow::Handle::messages) can be compared with the expected array, as in most chapters of this
//! guide.
//!
//! To test prompts, make the model a parameter of the flow. The test passes a
//! [`ScriptedModel`](crate::testing::ScriptedModel), which records all requests:
//!
//! ```
//! use columnar::model::Model;
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//!
//! flow! {
//!     pub struct Chat<M: Model + Clone>(model: M) {
//!         source user;
//!         column mood(user.latest)               = prompt("Name the mood.").model(model.clone());
//!         column answer(user, mood.latest, self) = prompt("Answer.").model(model.clone());
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
//! # Failures
//!
//! A closure that returns an error simulates a model that is down. For all other faults there is the feature
//! `simulation`, which runs a flow many times with compute steps that fail, panic and stall, stores that fail, and runs
//! that are dropped. Time is virtual, and one seed reproduces each schedule:
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
//!     world.drive(&chat).await;                   // runs again until everything is computed
//!     assert_eq!(chat.steps(), 1);
//!     Ok(())
//! });
//! ```
//!
//! The simulation panics at the first violation of the [guarantees](super::runs#guarantees).
//!
//! # Recorded replies
//!
//! A script contains the replies that the author expects. Replies of a real model differ, cost money, take time and
//! change from day to day. A [`Cassette`](crate::testing::Cassette) is a model that records such replies once, in a
//! file beside the test, and replays them. Create a cassette for the name of a model:
//!
//! ```
//! use columnar::model::Model;
//! use columnar::prelude::*;
//! use columnar::testing::Cassette;
//!
//! flow! {
//!     pub struct Chat<M: Model + Clone>(model: M) {
//!         source user;
//!         column topics(user.latest)                  = prompt("List the topics.").model(model.clone());
//!         column assistant(user, topics.latest, self) = prompt("Answer.").model(model.clone());
//!     }
//! }
//!
//! #[tokio::test]
//! async fn a_chat_comes_to_an_answer() -> Result<()> {
//!     let cassette = Cassette::new("tests/cassettes/chat.json");
//!     let chat = Chat::new(cassette.by_name("openai/gpt-5.4-mini"));
//!     chat.user.push("We should rewrite the backend in Rust.").await?;
//!     chat.run().await?;
//!     assert!(chat.topics.get(0).is_some_and(|topics| topics.contains("Rust")));
//!     assert_eq!(cassette.unused(), [""; 0]);        // every recording was used
//!     Ok(())
//! }
//! ```
//!
//! ```sh
//! COLUMNAR_RECORD=missing cargo test --features columnar/providers    # calls the model for missing replies, and adds them
//! COLUMNAR_RECORD=all cargo test --features columnar/providers        # calls the model for all replies, and rewrites the file
//! cargo test                                                      # calls no model, needs no key and no feature
//! ```
//!
//! `cassette.recording(model)` records a model of your own.
//!
//! # When a request changes
//!
//! A recording is found by the whole request. A changed prompt, view or limit makes a request without a recording. That
//! is an error, and no model is called. The error shows the nearest recording and the first difference:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::{Cassette, Record, ScriptedModel};
//!
//! async fn chat(instruction: &str, model: Cassette) -> Result<()> {
//!     let chat = flow! {
//!         source user;
//!         column assistant(user, self) = prompt(instruction).model(model.clone());
//!     };
//!     chat.user.push("Hello").await?;
//!     chat.run().await
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let folder = tempfile::tempdir().expect("a folder");
//! let path = folder.path().join("chat.json");
//! let model = ScriptedModel::new(|_| "Hi!".to_owned());
//! chat("Answer.", Cassette::open(&path, Record::All).recording(model)).await?;
//!
//! let error = chat("Answer briefly.", Cassette::open(&path, Record::Nothing)).await.expect_err("it is not recorded");
//! assert!(error.to_string().contains("\
//! the nearest one is for `assistant` at step 0, and differs first in the instruction; - is recorded, + is requested:
//!   model: \"scripted\"
//!   system
//! -   Answer.
//! +   Answer briefly.
//!   user
//!     <user>
//!     Hello
//! `COLUMNAR_RECORD=missing` records missing replies"));
//! # Ok(()) }
//! ```
//!
//! Other columns read a new reply, so most later requests change as well: then record everything with `all`. A person
//! can read the file. The order in the file is fixed, so a diff shows the changed requests alone.
//!
//! # Contexts under review
//!
//! The context of a column follows from the declaration, and a person should read each context once.
//! [`context_text`](crate::testing::context_text) writes the context for review, with the cell of each part:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::{context_text, script};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column summary(user, self.latest)                         = script(["They greet.", "They part."]);
//!     column critique(summary.latest.as("digest"), user.latest) = script(["Fine.", "Too short."]);
//! };
//! chat.user.push("Hello").await?;
//! chat.user.push("Bye").await?;
//! chat.run().await?;
//! assert_eq!(context_text(&chat.critique.messages(1)?), "\
//! critique at step 1: 1 message
//!
//! [user]
//! summary 1
//! │ <digest>
//! │ They part.
//! │ </digest>
//! │
//! user 1
//! │ <user>
//! │ Bye
//! │ </user>");
//! # Ok(()) }
//! ```
//!
//! With the feature `insta`, `assert_context_snapshot!(chat.critique.messages(1)?)` keeps that text in a file beside
//! the test, or in the test itself, `assert_context_snapshot!(chat.critique.messages(1)?, @"")`. `cargo insta review`
//! fills in both, and shows the changes:
//!
#![cfg_attr(feature = "insta", doc = "```")]
#![cfg_attr(not(feature = "insta"), doc = "```ignore")]
//! use columnar::assert_context_snapshot;
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column summary(user, self.latest) = script(["They greet."]);
//! };
//! chat.user.push("Hello").await?;
//!
//! assert_context_snapshot!(chat.summary.messages(0)?, @"
//! summary at step 0: 1 message
//!
//! [user]
//! user 0
//! │ <user>
//! │ Hello
//! │ </user>
//! ");
//! # Ok(()) }
//! ```
//!
//! [← dynamic flows](super::dynamic_flows) · [contents](super) · [mistakes →](super::mistakes)
