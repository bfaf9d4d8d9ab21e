//! Choose the tag around each text in the messages array.
//!
//! Chapter 9 of 37 · [← groups](super::groups) · [contents](super) · [purposes →](super::purposes)
//!
//! Every value that a column reads is wrapped in a tag, even a single text. The tag is the name of the column, or the
//! name in `.as("…")`. An instruction can refer to the tag: "the `<digest>` is the conversation so far".
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column summary(user, self.latest) = script(["It is slow.", "It is slow on Mondays."]);
//!     column critique(summary.latest.as("digest"), user.latest) = script(["", ""]);
//! };
//! for text in ["It is slow.", "On Mondays."] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(to_value(chat.critique.messages(1)?)?, json!([
//!     { "role": "user", "content": "<digest>\nIt is slow on Mondays.\n</digest>\n\n<user>\nOn Mondays.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! A tag follows the rules for names of columns, and each view of a column has a different one. So a column can be read
//! twice if one of the views has another tag:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column answer(user.window(2).as("heard"), user.latest.as("question")) = script(["", ""]);
//! };
//! for text in ["It is slow.", "Why?"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(to_value(chat.answer.messages(1)?)?, json!([
//!     { "role": "user", "content":
//!         "<heard>\nIt is slow.\n</heard>\n\n<heard>\nWhy?\n</heard>\n\n<question>\nWhy?\n</question>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! The values of `self` have no tag, because these are assistant messages.
//!
//! In a compute step of your own, [`cx.input("digest")`](crate::Context::input) is the current value with that tag.
//!
//! [← groups](super::groups) · [contents](super) · [purposes →](super::purposes)
