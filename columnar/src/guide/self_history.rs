//! What a column sees of itself: the four patterns.
//!
//! `self` is what the column said in the steps before, shown as the assistant's words between what it read.
//! `self.latest` is the step before alone, `self.window(3)` the three before. At step 0 there is nothing yet.
//! A column that reads itself goes step by step; one that does not is computed for many steps at a time.
//!
//! All of these see the same three messages, and differ in nothing but their parentheses:
//!
//! ```
//! use columnar::prelude::*;
//! # use columnar::testing::script;
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
//! # Accumulator: all of both
//!
//! A chat. It knows everything, and its calls grow with every step, but each repeats the one before, so
//! [caches](super::caches) serve all of it.
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! # let chat = flow! {
//! #     source user;
//! #     column accumulator(user, self) = script(["Since when?", "At what time?", "The backup."]);
//! # };
//! # for text in ["It is slow.", "On Mondays.", "At nine."] {
//! #     chat.user.push(text).await?;
//! # }
//! # chat.run().await?;
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
//! # Reducer: all that was said, and the last state
//!
//! History becomes a state. The old states are not shown, so neighbouring messages of the user become one:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! # let chat = flow! {
//! #     source user;
//! #     column reducer(user, self.latest) = script(["Slow.", "Slow on Mondays.", "Slow on Mondays at nine."]);
//! # };
//! # for text in ["It is slow.", "On Mondays.", "At nine."] {
//! #     chat.user.push(text).await?;
//! # }
//! # chat.run().await?;
//! assert_eq!(to_value(chat.reducer.messages(2)?)?, json!([
//!     { "role": "user",      "content": "<user>\nIt is slow.\n</user>\n\n<user>\nOn Mondays.\n</user>" },
//!     { "role": "assistant", "content": "Slow on Mondays." },
//!     { "role": "user",      "content": "<user>\nAt nine.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! If the state holds all that matters, `(user.latest, self.latest)` is enough, and the calls stay small.
//!
//! # Journal: the newest message, and all of its own
//!
//! A record that is continued. What it reacted to is not shown, so the assistant would begin; a constant message
//! of the user leads, because models want one:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! # let chat = flow! {
//! #     source user;
//! #     column journal(user.latest, self) = script(["It is slow.", "It has a weekday.", "It has a time."]);
//! # };
//! # for text in ["It is slow.", "On Mondays.", "At nine."] {
//! #     chat.user.push(text).await?;
//! # }
//! # chat.run().await?;
//! assert_eq!(to_value(chat.journal.messages(2)?)?, json!([
//!     { "role": "user",      "content": "<elided/>" },
//!     { "role": "assistant", "content": "It is slow.\n\nIt has a weekday." },
//!     { "role": "user",      "content": "<user>\nAt nine.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! # Map: the newest message
//!
//! Each row for itself: the smallest calls, and all steps at once.
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! # let chat = flow! {
//! #     source user;
//! #     column map(user.latest) = script(["", "Monday", "09:00"]);
//! # };
//! # for text in ["It is slow.", "On Mondays.", "At nine."] {
//! #     chat.user.push(text).await?;
//! # }
//! # chat.run().await?;
//! assert_eq!(to_value(chat.map.messages(2)?)?, json!([
//!     { "role": "user", "content": "<user>\nAt nine.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! `cargo run --example four_patterns` shows the four side by side.
//!
//! Next: [what another column said a step before](super::previous_values).
