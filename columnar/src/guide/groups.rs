//! Put several views in one tag, explain a view to the model, and leave values out.
//!
//! Chapter 8 of 37 · [← previous values](super::previous_values) · [contents](super) · [tags →](super::tags)
//!
//! # Groups
//!
//! `group("debate", pro.latest, con.latest)` puts a tag around several views. Groups can contain groups, 32 deep.
//! A group that has no value at a step does not appear:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
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
//! The views in a group keep their windows and modifiers. No two tags of a column may be equal, tags of groups
//! included. `self` is not allowed in a group, because values of `self` are assistant messages.
//!
//! # Notes
//!
//! A note explains a view to the model. The note is part of the instruction and the same at every step, so it does not
//! shorten the prefix that requests share:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column tone(user.latest) = prompt("Name the tone in one word.");
//!     column answer(user.note("what the person typed"), tone.latest.note("how it was meant"), self) =
//!         |cx: Context| async move { cx.notes().unwrap_or_default().to_owned() };
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
//! A [`prompt`](crate::prompt) sends the notes after the instruction. Other compute steps read the notes with
//! [`Context::notes`](crate::Context::notes).
//!
//! # Filters
//!
//! `filter` shows the values for which a function returns `true`, and `sample` the values of some steps. A column is
//! [skipped](super::skipping) at a step if no new value passes the filters of the column. A window counts all values,
//! also the values that do not pass. The function is a part of the declaration, as the number of a window is, so the
//! function sees constants and no variables, and no parameters of the flow:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column questions(user.filter(|text| text.ends_with('?')))                = script(["", "One.", "Two."]);
//!     column review(user.sample(|step| step % 2 == 0).as("even"), user.latest) = script(["", "", ""]);
//! };
//! for text in ["Hi.", "Who?", "Why?"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//!
//! assert_eq!((chat.questions.get(0), chat.questions.get(1).as_deref()), (None, Some("One.")));
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
//! Each function sees one text or one step, and must return the same for the same argument. The library may call a
//! function more than once for a value. If the choice depends on more than that argument, make a separate column that
//! [skips](super::skipping) some steps.
//!
//! [← previous values](super::previous_values) · [contents](super) · [tags →](super::tags)
