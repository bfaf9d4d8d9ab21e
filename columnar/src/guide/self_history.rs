//! Choose how much of its own history a column reads: the four patterns.
//!
//! Chapter 6 of 37 · [← views](super::views) · [contents](super) · [previous values →](super::previous_values)
//!
//! `self` is the values of the column from earlier steps. These values appear as assistant messages, between the inputs
//! of the same steps. `self.latest` is the newest of these values, which is the value of the previous step unless the
//! column [skips](super::skipping) steps, and `self.window(3)` are the newest three. At step 0 there are none. A column that reads `self` is computed step by step; a column without `self`
//! is computed for many steps at once.
//!
//! The columns below see the same three messages and differ in the views alone:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! flow! {
//!     pub struct Patterns {
//!         source user;
//!         column accumulator(user, self)    = prompt("You are a helpful assistant.");
//!         column reducer(user, self.latest) = prompt("Update the report.");
//!         column journal(user.latest, self) = prompt("Note what is new.");
//!         column map(user.latest)           = prompt("Name the time that is meant.");
//!     }
//! }
//! ```
//!
//! # Accumulator: all inputs, all of `self`
//!
//! An accumulator is a chat, which knows everything. The calls grow with every step. Each call repeats the one before,
//! so [caches](super::caches) serve all of that call.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column accumulator(user, self) = script(["Since when?", "At what time?", "The backup."]);
//! };
//! for text in ["It is slow.", "On Mondays.", "At nine."] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(to_value(chat.accumulator.messages(2)?)?, json!([
//!     { "role": "user",      "content": "<user>\nIt is slow.\n</user>" },
//!     { "role": "assistant", "content": "Since when?" },
//!     { "role": "user",      "content": "<user>\nOn Mondays.\n</user>" },
//!     { "role": "assistant", "content": "At what time?" },
//!     { "role": "user",      "content": "<user>\nAt nine.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! # Reducer: all inputs, the latest of `self`
//!
//! A reducer compresses the history into a state. The older states are not shown, so the user messages around a missing
//! state are merged into one:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column reducer(user, self.latest) = script(["Slow.", "Slow on Mondays.", "Slow on Mondays at nine."]);
//! };
//! for text in ["It is slow.", "On Mondays.", "At nine."] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(to_value(chat.reducer.messages(2)?)?, json!([
//!     { "role": "user",      "content": "<user>\nIt is slow.\n</user>\n\n<user>\nOn Mondays.\n</user>" },
//!     { "role": "assistant", "content": "Slow on Mondays." },
//!     { "role": "user",      "content": "<user>\nAt nine.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! If the state holds everything that matters, `(user.latest, self.latest)` is enough, and the calls stay small.
//!
//! # Journal: the newest input, all of `self`
//!
//! A journal continues a record. The earlier inputs are not shown, so an assistant message would come first. Models
//! require a user message at the start, so a constant one leads:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column journal(user.latest, self) = script(["It is slow.", "It has a weekday.", "It has a time."]);
//! };
//! for text in ["It is slow.", "On Mondays.", "At nine."] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(to_value(chat.journal.messages(2)?)?, json!([
//!     { "role": "user",      "content": "<elided/>" },
//!     { "role": "assistant", "content": "It is slow.\n\nIt has a weekday." },
//!     { "role": "user",      "content": "<user>\nAt nine.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! # Map: the newest input
//!
//! A map transforms each row by itself. The calls are the smallest, and all steps run at once.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column map(user.latest) = script(["", "Monday", "09:00"]);
//! };
//! for text in ["It is slow.", "On Mondays.", "At nine."] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(to_value(chat.map.messages(2)?)?, json!([
//!     { "role": "user", "content": "<user>\nAt nine.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! `cargo run --example four_patterns` prints the four side by side.
//!
//! [← views](super::views) · [contents](super) · [previous values →](super::previous_values)
