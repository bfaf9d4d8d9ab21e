//! What a column does that cannot be computed.
//!
//! # Unless told otherwise, the run ends
//!
//! What goes on beside it is finished and stored, because it is paid for; then the error is the last item of
//! the run. The next run computes what is missing and nothing else.
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.latest)   = script(["annoyed"]);              // it has no text for step 1
//!     column answer(user, self)  = script(["Since when?", "Hm."]);
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
//! An [`Error`](crate::Error) says what failed, where, and what to do next. It holds no text of the
//! conversation, unless a compute step of yours puts it there.
//!
//! # Trying again
//!
//! `.retry(3)` follows a failed attempt by up to three more, with growing pauses, and waits at least as long as a
//! model asks for that has too much to do. `.timeout(secs(30))` makes a failure of what takes too long. Put the
//! timeout first to give each attempt its own: [`Policy`](crate::compute::Policy).
//!
//! # Going on without
//!
//! Many a column is not worth a stop. It says what becomes of the cell, and of those that read it:
//!
//! | behind the step | the cell | what reads it |
//! |---|---|---|
//! | nothing | is tried again by the next run | waits; nothing else begins either |
//! | [`.or_wait()`](crate::compute::Policy::or_wait) | is tried again by the next run | waits; everything else goes on |
//! | [`.or_skip()`](crate::compute::Policy::or_skip) | stays empty for good | goes on without it |
//!
//! What was skipped is shown nowhere; what stands around it is shown as ever:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.latest)  = script(["annoyed"]).or_skip();   // no text for step 1
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
//! A column all of whose inputs are empty at a step is not asked there, and is empty as well.
//!
//! A compute step that panics is an error like others, but is not tried again.
//!
//! Next: [which model answers a prompt](super::models).
