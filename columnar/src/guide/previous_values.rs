//! Read the value of another column from the previous step.
//!
//! Chapter 7 of 37 · [← self history](super::self_history) · [contents](super) · [groups →](super::groups)
//!
//! Two columns that read each other's value of the same step would wait for each other for ever, so that is a compile
//! error. Each may read the previous value of the other: `con.prev` is the value of `con` at the previous step, or the
//! newest one before, if `con` [skipped](super::skipping) that step. That value appears among the inputs of the step that reads it, and the column does not wait for `con`.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let debate = flow! {
//!     source topic;
//!     column pro(topic.latest, con.prev) = script(["It saves time.", "Costs fall later."]);
//!     column con(topic.latest, pro.prev) = script(["It costs too much.", "Time for whom?"]);
//! };
//! debate.topic.push("Shall we?").await?;
//! debate.topic.push("And now?").await?;
//! debate.run().await?;
//!
//! assert_eq!(to_value(debate.pro.messages(0)?)?, json!([
//!     { "role": "user", "content": "<topic>\nShall we?\n</topic>" },
//! ]));
//! assert_eq!(to_value(debate.pro.messages(1)?)?, json!([
//!     { "role": "user", "content": "<topic>\nAnd now?\n</topic>\n\n<con>\nIt costs too much.\n</con>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! `con.prev.window(3)` is a longer history, and `con.prev.all()` the whole history. Each value stays among the inputs
//! of the step that showed the value first, one step after its own, so a growing history remains a prefix of the next
//! request:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column coach(user.latest)                   = script(["Be brief.", "Be kind.", ""]);
//!     column answer(coach.prev.all(), user, self) = script(["Hello there.", "Yes.", ""]);
//! };
//! for text in ["Hi.", "Really?", "Why?"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(to_value(chat.answer.messages(2)?)?, json!([
//!     { "role": "user", "content": "<user>\nHi.\n</user>" },
//!     { "role": "assistant", "content": "Hello there." },
//!     { "role": "user", "content": "<coach>\nBe brief.\n</coach>\n\n<user>\nReally?\n</user>" },
//!     { "role": "assistant", "content": "Yes." },
//!     { "role": "user", "content": "<coach>\nBe kind.\n</coach>\n\n<user>\nWhy?\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! A column whose views are all `prev` has no input at step 0, so that cell is [skipped](super::skipping). In the
//! run-time API, [`prev("con")`](crate::prev) names a column that is not declared yet.
//!
//! [← self history](super::self_history) · [contents](super) · [groups →](super::groups)
