//! Write and run a first flow.
//!
//! Chapter 1 of 37 · [contents](super) · [columns →](super::columns)
//!
//! A flow is a table that grows by a row with every message. A row is a *step*; a column has one text for each step. One
//! column at one step is a *cell*. The values of `user` come from outside. The two other columns are computed from the
//! columns in their parentheses:
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column mood(user.latest)     = prompt("Name the mood of the message in one word.");
//!         column assistant(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<()> {
//!     let chat = Chat::new();
//!     chat.user.push("The site is slow again.").await?;
//!     chat.run().await?;
//!
//!     for column in [&chat.mood, &chat.assistant] {
//!         println!("{}: {}", column.name(), column.get(0).expect("the run has computed it"));
//!     }
//!     Ok(())
//! }
//! ```
//!
//! The program needs [this crate and tokio](crate#dependencies-and-features), and runs without a key: where no model is
//! named, `prompt` calls an offline model, which has no intelligence. With this crate's feature `providers`, the
//! environment names a real one:
//!
//! ```sh
//! COLUMNAR_MODEL=openai/gpt-5.4-mini OPENAI_API_KEY=… cargo run
//! ```
//!
//! The declaration decides the *context* of each call: the messages that the model receives. `mood` reads the newest
//! message alone; `assistant` reads all messages and all its own answers. So the two calls differ at the second step.
//! In this program, [`script`](crate::testing::script) takes the place of the prompts, so that all texts are known:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column mood(user.latest)     = script(["annoyed", "curious"]);
//!         column assistant(user, self) = script(["Since when?", "Then it is the backup."]);
//!     }
//! }
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = Chat::new();
//! chat.user.push("The site is slow again.").await?;
//! chat.user.push("Since Monday. Why?").await?;
//! chat.run().await?;
//!
//! assert_eq!(to_value(chat.mood.messages(1)?)?, json!([
//!     { "role": "user", "content": "<user>\nSince Monday. Why?\n</user>" },
//! ]));
//! assert_eq!(to_value(chat.assistant.messages(1)?)?, json!([
//!     { "role": "user",      "content": "<user>\nThe site is slow again.\n</user>" },
//!     { "role": "assistant", "content": "Since when?" },
//!     { "role": "user",      "content": "<user>\nSince Monday. Why?\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! [`messages`](crate::flow::Handle::messages) shows the messages array of any call, before or after it. Nobody writes
//! an array by hand: each follows from the declaration. The instruction of `prompt` is not in the array; the model
//! receives it as the system message.
//!
//! `mood` and `assistant` do not read each other, so both calls run at the same time. If `assistant` read `mood`, it
//! would wait for `mood` and for nothing else.
//!
//! [contents](super) · [columns →](super::columns)
