//! Views that belong together, views that need a word of explanation, and views that leave something out.
//!
//! # Groups
//!
//! `group("debate", pro.latest, con.latest)` puts a tag around several views. Groups stand in groups, and one
//! of which nothing is shown at a step is not there:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let debate = flow! {
//!     source topic;
//!     column pro(topic.latest) = script(["It saves time."]);
//!     column con(topic.latest) = script(["It costs too much."]);
//!     column judge(topic.latest, group("debate", pro.latest, con.latest)) = script([""]);
//! };
//! debate.topic.push("Shall we?").await?;
//! debate.run().await?;
//!
//! assert_eq!(to_value(debate.judge.messages(0)?)?, json!([
//!     { "role": "user", "content":
//!         "<topic>\nShall we?\n</topic>\n\n\
//!          <debate>\n<pro>\nIt saves time.\n</pro>\n\n<con>\nIt costs too much.\n</con>\n</debate>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! Each view says how much it shows, as it would outside. No two tags of a column are the same, those of groups
//! included. The own past is what the assistant said, so it stands in no group.
//!
//! # Notes
//!
//! A note tells the model what it is looking at. It stands at the end of the instruction, once and for all
//! steps, so it costs nothing of what requests have in common:
//!
//! ```
//! # use columnar::prelude::*;
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column tone(user.latest) = prompt("Name the tone in one word.");
//!     column answer(user.note("what the person typed"), tone.latest.note("how it was meant"), self) =
//!         |cx: Context| async move { cx.orientation().unwrap_or_default().to_owned() };
//! };
//! chat.user.push("Fine.").await?;
//! chat.run().await?;
//!
//! assert_eq!(
//!     chat.answer.get(0).as_deref(),
//!     Some("What the tags in the messages hold:\n<user>: what the person typed\n<tone>: how it was meant"),
//! );
//! # Ok(()) }
//! ```
//!
//! A [`prompt`](crate::prompt) sends that with its instruction; other steps find it in
//! [`Context::orientation`](crate::Context::orientation).
//!
//! # Filters
//!
//! `filter` shows the values that a function lets through, `sample` those of some steps. A column to which
//! nothing new gets through is [skipped](super::skipping), and windows count all values, shown or not:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column questions(user.filter(|text| text.ends_with('?')))              = script(["Two so far."]);
//!     column review(user.sample(|step| step % 2 == 0).as("even"), user.latest) = script(["", "", ""]);
//! };
//! for text in ["Hi.", "Who?", "Why?"] {
//!     chat.user.push(text).await?;
//! }
//! # let _ = chat.run().await;
//! assert_eq!(chat.questions.get(0), None);
//! assert_eq!(to_value(chat.questions.messages(2)?)?, json!([
//!     { "role": "user", "content": "<user>\nWho?\n</user>\n\n<user>\nWhy?\n</user>" },
//! ]));
//! assert_eq!(to_value(chat.review.messages(2)?)?, json!([
//!     { "role": "user", "content":
//!         "<even>\nHi.\n</even>\n\n<even>\nWhy?\n</even>\n\n<user>\nWhy?\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! The functions see one step or one text and are to say the same whenever they are asked. What depends on more
//! is a column of its own that is [computed now and then](super::skipping).
//!
//! Next: [by what name a text is shown](super::tags).
