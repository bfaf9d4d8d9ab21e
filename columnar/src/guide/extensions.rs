//! Add columns to a flow that already has values.
//!
//! Chapter 33 of 37 · [← import export](super::import_export) · [contents](super) · [modules →](super::modules)
//!
//! `struct Felt: Chat` declares columns that read the columns of `Chat`. `Felt::extend` continues a live chat as a flow
//! with the new columns, and the next run computes them from step 0:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
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
//! - Any flow that is a struct can be extended, from any module or crate, and so can an extension. Several extensions
//!   of one flow are independent, as long as no two columns have the same name.
//! - An extension cannot add a source, because the existing steps have no value for a new source.
//! - `chat` remains a handle to the same flow.
//! - In a `match`, `FeltColumn::Chat(ChatColumn::Answer)` is a column of the extended flow.
//!
//! To open a store, open the extended flow first: `Felt::extend(Chat::open(store).await?).await?`.
//!
//! [← import export](super::import_export) · [contents](super) · [modules →](super::modules)
