//! More columns on top of a flow that has begun.
//!
//! `struct Felt: Chat` declares columns that read those of `Chat`. A chat that lives goes on as one that has
//! them, and the next run computes them from step 0 as if they had always been there:
//!
//! ```
//! use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = script(["Since when?", "The backup."]);
//!     }
//! }
//!
//! flow! {
//!     pub struct Felt: Chat {
//!         column mood(user.latest, answer.latest.as("reply"), self.latest) = script(["annoyed", "relieved"]);
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = Chat::new();
//! chat.user.push("It is slow.").await?;
//! chat.user.push("On Mondays.").await?;
//! chat.run().await?;
//!
//! let felt = Felt::extend(&chat).await?;
//! felt.run().await?;                              // `mood` alone, for both steps
//! assert_eq!(to_value(felt.mood.messages(1)?)?, json!([
//!     { "role": "user",      "content": "<elided/>" },
//!     { "role": "assistant", "content": "annoyed" },
//!     { "role": "user",      "content": "<user>\nOn Mondays.\n</user>\n\n<reply>\nThe backup.\n</reply>" },
//! ]));
//! assert_eq!(felt.answer.get(1), chat.answer.get(1));   // the columns of the chat are fields as well
//! # Ok(()) }
//! ```
//!
//! - Any flow that is a struct can be extended, from any module or crate, and so can an extension. Several
//!   extensions of one flow need not know of each other, as long as their columns have different names.
//! - No source can be added: the steps that there are have no value for it.
//! - `chat` stays another door to the same flow.
//! - In a `match`, `FeltColumn::Chat(ChatColumn::Answer)` is a column of the flow that is extended.
//!
//! A store is opened as the flow that is extended: `Felt::extend(Chat::open(store).await?).await?`.
//!
//! Next: [a flow as a part of another one](super::modules).
