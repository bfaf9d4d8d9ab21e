//! Columns that are not computed at every step.
//!
//! Behind a compute step, `.every(3)` computes a column at every third step, and `.when(…)` where what it sees
//! says so. The other cells are *skipped*: they stay empty for good, cost nothing, and are stored and told as
//! such.
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column digest(user.window(3)) = script(["", "", "They are tired."]).every(3);
//!     column reply(user.latest)     = script(["", "I am here.", "", ""])
//!         .when(|cx| cx.input("user").is_some_and(|text| text.ends_with('?')));
//!     column plan(user.latest, digest.window(3), reply.latest) = script(["", "", "", ""]);
//! };
//! for text in ["Long day.", "Anyone there?", "Too long.", "Good night."] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//!
//! assert_eq!((chat.digest.get(1), chat.digest.get(2).as_deref()), (None, Some("They are tired.")));
//! assert_eq!((chat.reply.get(0), chat.reply.get(1).as_deref()), (None, Some("I am here.")));
//! // Readers go without what was skipped. A window as long as the pause shows the last digest.
//! assert_eq!(to_value(chat.plan.messages(1)?)?, json!([
//!     { "role": "user", "content": "<user>\nAnyone there?\n</user>\n\n<reply>\nI am here.\n</reply>" },
//! ]));
//! assert_eq!(to_value(chat.plan.messages(3)?)?, json!([
//!     { "role": "user", "content": "<digest>\nThey are tired.\n</digest>\n\n<user>\nGood night.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! A column all of whose inputs are empty at a step has nothing to go by: it is not asked, and is skipped as
//! well. So a chain of columns follows the first one that is skipped.
//!
//! A compute step of your own skips its cell by giving back [`Reply::skip`](crate::Reply::skip).
//!
//! Next: [what a column does that cannot be computed](super::failures).
