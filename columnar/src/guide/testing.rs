//! Tests with what a real model said, and contexts under review.
//!
//! A script says what its author thought of. A model says what nobody thought of, but it costs, takes its time and
//! says something else tomorrow. So it is asked once, and what it said is kept beside the test.
//!
//! # Recorded replies
//!
//! A [`Cassette`](crate::testing::Cassette) is a model that says again what is in a file. Which model it stands for is
//! said by name:
//!
//! ```
//! use columnar::model::Model;
//! use columnar::prelude::*;
//! use columnar::testing::Cassette;
//!
//! flow! {
//!     pub struct Chat<M: Model + Clone>(model: M) {
//!         source user;
//!         column topics(user.latest)                  = prompt("List the topics.").with(model.clone());
//!         column assistant(user, topics.latest, self) = prompt("Answer.").with(model.clone());
//!     }
//! }
//!
//! #[tokio::test]
//! async fn a_chat_comes_to_an_answer() -> Result<()> {
//!     let cassette = Cassette::new("tests/cassettes/chat.json");
//!     let chat = Chat::new(cassette.of("openai/gpt-4o-mini"));
//!     chat.user.push("We should rewrite the backend in Rust.").await?;
//!     chat.run().await?;
//!     assert!(chat.topics.get(0).is_some_and(|topics| topics.contains("Rust")));
//!     assert_eq!(cassette.unused(), [""; 0]);        // nothing is recorded that is not asked for
//!     Ok(())
//! }
//! ```
//!
//! ```sh
//! COLUMNAR_RECORD=missing cargo test --features columnar/genai    # asks for what is not in the file, and adds it
//! COLUMNAR_RECORD=all cargo test --features columnar/genai        # asks for everything, and writes the file anew
//! cargo test                                                      # asks nobody, needs no key and no feature
//! ```
//!
//! A model of your own is given as a value: `cassette.recording(model)`.
//!
//! # When a request changes
//!
//! A recording is found by the whole request, so a prompt, a view or a limit that changes asks for something that
//! nobody recorded. That is an error, and nobody is asked. It shows the nearest recording, and where they part:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::{Cassette, Record, ScriptedModel};
//!
//! async fn chat(instruction: &str, model: Cassette) -> Result<()> {
//!     let chat = flow! {
//!         source user;
//!         column assistant(user, self) = prompt(instruction).with(model.clone());
//!     };
//!     chat.user.push("Hello").await?;
//!     chat.run().await
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let path = folder.path().join("chat.json");
//! let model = ScriptedModel::new(|_| "Hi!".to_owned());
//! chat("Answer.", Cassette::open(&path, Record::All).recording(model)).await?;
//!
//! let error = chat("Answer briefly.", Cassette::open(&path, Record::Nothing)).await.expect_err("it is not recorded");
//! assert!(error.to_string().contains("\
//! the nearest one is for `assistant` at step 0, and differs first in the instruction; - is recorded, + is asked:
//!   model: \"scripted\"
//!   max_tokens: 1024
//!   system
//! -   Answer.
//! +   Answer briefly.
//!   user
//!     <user>
//!     Hello
//! `COLUMNAR_RECORD=missing` records what is missing"));
//! # Ok(()) }
//! ```
//!
//! What a column says is read by others, so with a reply that is new most that follows is new as well: then `all` is
//! the way. The file is made for reading: its order is fixed, and what changes in it is what changed.
//!
//! # Contexts under review
//!
//! What a column is shown is a consequence of its declaration, and the best test of it is that somebody has read it.
//! [`context_text`](crate::testing::context_text) writes it for that, with the cell that each part comes from:
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
//! With the feature `insta`, `assert_context_snapshot!(chat.critique.messages(1)?)` keeps that text in a file beside the
//! test, or in the test itself, `assert_context_snapshot!(chat.critique.messages(1)?, @"")`. `cargo insta review` fills
//! both in, and shows what has changed:
//!
#![cfg_attr(feature = "insta", doc = "```")]
#![cfg_attr(not(feature = "insta"), doc = "```ignore")]
//! use columnar::assert_context_snapshot;
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! # let chat = flow! {
//! #     source user;
//! #     column summary(user, self.latest) = script(["They greet."]);
//! # };
//! # chat.user.push("Hello").await?;
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
//! Next: [what the compiler may say](super::mistakes).
