//! A flow that runs, in ten lines.
//!
//! A flow is a table that grows by a row whenever somebody says something. A row is a *step*; a column is a
//! text for each step. `user` comes from outside. The two others are computed, each from what stands in its
//! parentheses:
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
//! It needs this crate and tokio, with tokio's features `macros` and `rt`, and runs as it is: where no model is
//! named, `prompt` asks a stand-in that has no intelligence and needs no key. With this crate's feature `genai`,
//! the environment names a real one:
//!
//! ```sh
//! COLUMNAR_MODEL=openai/gpt-4o-mini OPENAI_API_KEY=… cargo run
//! ```
//!
//! What the declaration means is what each column is shown. `mood` reads the newest message and nothing else,
//! `assistant` all messages and all its own answers. So their calls differ at the second step:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # flow! {
//! #     pub struct Chat {
//! #         source user;
//! #         column mood(user.latest)     = script(["annoyed", "curious"]);
//! #         column assistant(user, self) = script(["Since when?", "Then it is the backup."]);
//! #     }
//! # }
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! # let chat = Chat::new();
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
//! [`messages`](crate::flow::Handle::messages) is the way to look at any call, past or to come. Neither array
//! was written by hand, and none has to be: the declaration is all there is. The instruction of `prompt` goes
//! to the model beside them, as its system message.
//!
//! `mood` and `assistant` read nothing of each other, so their calls are made at the same time. Had `assistant`
//! read `mood`, it would wait for it, and for nothing else.
//!
//! Next: [what can be declared](super::columns).
