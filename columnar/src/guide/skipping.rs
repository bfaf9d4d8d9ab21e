//! Compute a column at some steps only, or show a value at some steps only.
//!
//! Chapter 13 of 37 · [← runs](super::runs) · [contents](super) · [failures →](super::failures)
//!
//! After a compute step, `.every(3)` computes a column at every third step, and `.when(…)` at the steps whose context
//! satisfies a condition. The other cells are *skipped*: such a cell stays empty for good and costs nothing. The skip
//! is stored, and the run emits an event.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column digest(user.window(3)) = script(["", "", "They are tired."]).every(3);
//!     column reply(user.latest) = script(["", "I am here.", "", ""])
//!         .when(|cx| cx.input("user").is_some_and(|text| text.ends_with('?')));
//!     column plan(user.latest, digest.latest, reply.latest) = script(["", "", "", ""]);
//! };
//! for text in ["Long day.", "Anyone there?", "Too long.", "Good night."] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//!
//! assert_eq!((chat.digest.get(1), chat.digest.get(2).as_deref()), (None, Some("They are tired.")));
//! assert_eq!((chat.reply.get(0), chat.reply.get(1).as_deref()), (None, Some("I am here.")));
//! // `plan` does not see skipped cells. It sees the newest values, in the turns of their steps.
//! assert_eq!(to_value(chat.plan.messages(1)?)?, json!([
//!     { "role": "user", "content": "<user>\nAnyone there?\n</user>\n\n<reply>\nI am here.\n</reply>" },
//! ]));
//! assert_eq!(to_value(chat.plan.messages(3)?)?, json!([
//!     { "role": "user", "content":
//!         "<reply>\nI am here.\n</reply>\n\n<digest>\nThey are tired.\n</digest>\n\n<user>\nGood night.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! [Windows count values](super::views#columns-that-skip-steps): a skipped cell does not push the last value out of
//! `latest`, `window(3)`, `prev` or `self.latest`.
//!
//! A column whose inputs are all skipped at a step is not computed there, even if a window shows earlier values: it is
//! skipped as well. So a skip propagates
//! along a chain of columns.
//!
//! A closure, or a compute step of your own, skips the cell by returning [`Reply::skip`](crate::Reply::skip):
//! `async |user| if user.is_empty() { Reply::skip() } else { Reply::text(shout(&user).await) }`.
//!
//! # The reason of a skip
//!
//! A skipped cell has a [`SkipReason`](crate::SkipReason), which is stored with the cell: the column leaves out the step
//! (`every`), the condition does not hold (`when`), the step skipped the cell itself, there is nothing to read, or an error
//! that [`or_skip`](crate::compute::Policy::or_skip) has passed over. `cell`, events, subscriptions, rows and exports show
//! the reason, also after a restart, and also if the declaration has changed since.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use columnar::{CellState, SkipReason};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column digest(user.window(3))           = script(["", "", "They are tired."]).every(3);
//!     column mood(user.latest)                = (async |_: Context| Err::<String, _>("no answer")).or_skip();
//!     column plan(digest.latest, mood.latest) = script(["", "", ""]);
//! };
//! chat.user.push("Long day.").await?;
//! let mut run = chat.run();
//! while let Some(event) = run.try_next().await? {
//!     if let Event::Skipped { column, step, reason: Some(reason) } = event {
//!         println!("{column} has no value at step {step}: {reason}");
//!     }
//! }
//! assert_eq!(chat.digest.cell(0), CellState::Skipped(Some(SkipReason::Every)));
//! assert_eq!(chat.mood.cell(0), CellState::Skipped(Some(SkipReason::Failed("no answer".into()))));
//! assert_eq!(chat.plan.cell(0), CellState::Skipped(Some(SkipReason::Inputs)));
//!
//! let row = chat.rows(..).try_next().await?.expect("a step");
//! assert_eq!(row.skip_reason("mood").map(|reason| reason.to_string()).as_deref(),
//!     Some("the computation failed: no answer"));
//! # Ok(()) }
//! ```
//!
//! The message of an error is stored, so an error of a function of yours must not quote a conversation. Cells that an
//! earlier version stored have no reason.
//!
//! # Exclude a value from later contexts
//!
//! `chat.user.exclude(3)` keeps a stored value out of the contexts of all steps that have not begun, as if the cell had
//! been skipped: a secret that slipped in, or a reply that leads the model astray. `include(3)` shows the value again.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column answer(user, self) = script(["Hello.", "Seven.", "Eight."]);
//! };
//! for text in ["Hi. My key is 1234.", "How much is 3 + 4?"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! chat.user.exclude(0).await?;
//! chat.answer.exclude(0).await?;
//! chat.user.push("And 4 + 4?").await?;
//! chat.run().await?;
//!
//! assert_eq!(to_value(chat.answer.messages(2)?)?, json!([
//!     { "role": "user", "content": "<user>\nHow much is 3 + 4?\n</user>" },
//!     { "role": "assistant", "content": "Seven." },
//!     { "role": "user", "content": "<user>\nAnd 4 + 4?\n</user>" },
//! ]));
//! // The requests that were sent, and the value itself, stay.
//! assert!(chat.answer.messages(1)?.to_json().contains("1234"));
//! assert_eq!(chat.user.get(0).as_deref(), Some("Hi. My key is 1234."));
//! # Ok(()) }
//! ```
//!
//! An exclusion is stored, and counts after a restart and in forks at later steps. A step has begun when all sources
//! have a value for it. So exclude a value before the push that completes the next step. The step of the value itself
//! shows the value in any case. Unlike a skipped cell, an excluded value counts in windows: no earlier one replaces it.
//!
//! [← runs](super::runs) · [contents](super) · [failures →](super::failures)
