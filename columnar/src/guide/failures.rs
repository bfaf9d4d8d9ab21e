//! Choose the consequence of a failed call: stop, retry, wait or skip.
//!
//! Chapter 14 of 37 · [← skipping](super::skipping) · [contents](super) · [answers →](super::answers)
//!
//! # By default, the run stops
//!
//! Running cells finish and are stored, because the calls are paid for. Then the error is the last item of the run. The
//! next run computes the missing cells and nothing else.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.latest)  = script(["annoyed"]); // it has no text for step 1
//!     column answer(user, self) = script(["Since when?", "Hm."]);
//! };
//! chat.user.push("It is slow.").await?;
//! chat.user.push("On Mondays.").await?;
//!
//! let error = chat.run().await.expect_err("a script that is too short fails");
//! assert!(matches!(error, Error::Compute { step: 1, .. }));
//! assert_eq!(chat.mood.len(), 1);
//! # Ok(()) }
//! ```
//!
//! An [`Error`](crate::Error) names the failure, the column, the step, and the next thing to do. An error contains no
//! text of the conversation, unless a compute step of yours puts it there.
//!
//! The message of a provider is part of the error, as in "Unsupported parameter: `max_tokens` is not supported with
//! this model". If the message quotes the conversation, `…` replaces the quotation; single words stay. The
//! documentation of `ProviderError::Status` has the rule.
//!
//! # Retries
//!
//! `.retry(3)` retries a failed attempt up to three times, with growing pauses. A model that is overloaded can ask for
//! a longer pause, which the retry observes. `.timeout(secs(30))` makes a slow attempt a failure. Before the retry, as
//! in `.timeout(secs(30)).retry(3)`, each attempt has 30 seconds. After the retry, all attempts and pauses share the 30
//! seconds, and the error says so. See [`Policy`](crate::compute::Policy).
//!
//! # Going on after a failure
//!
//! A column can let the run continue. The policy after the compute step decides about the cell and about the columns
//! that read the cell:
//!
//! | policy | the cell | columns that read it |
//! |---|---|---|
//! | none | the next run tries the cell again | wait; no other cell starts either |
//! | [`.or_wait()`](crate::compute::Policy::or_wait) | the next run tries the cell again | wait; all other cells continue |
//! | [`.or_skip()`](crate::compute::Policy::or_skip) | stays empty for good | continue without the value |
//!
//! A skipped cell appears in no messages array; the values around it do:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.latest)  = script(["annoyed"]).or_skip(); // no text for step 1
//!     column answer(user, mood) = script(["Since when?", "Hm."]);
//! };
//! chat.user.push("It is slow.").await?;
//! chat.user.push("On Mondays.").await?;
//! chat.run().await?;
//!
//! assert_eq!(chat.mood.get(1), None);
//! assert_eq!(to_value(chat.answer.messages(1)?)?, json!([
//!     { "role": "user", "content":
//!         "<user>\nIt is slow.\n</user>\n\n<mood>\nannoyed\n</mood>\n\n<user>\nOn Mondays.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! A column whose inputs are all empty at a step is not computed there, and is skipped as well.
//!
//! A panic of a compute step is an error like others, but is not retried. A reply of a model that was cut off is not
//! retried either; see [models](super::models). A panic of a [filter](super::groups#filters), of a counter of tokens or
//! of a store is an error of the cell that needed the call.
//!
//! [← skipping](super::skipping) · [contents](super) · [answers →](super::answers)
