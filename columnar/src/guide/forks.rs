//! Another future for the same past.
//!
//! A stored value never changes. To try something else, a flow is forked: the steps before are shared, at no
//! cost, and from there on each goes its way.
//!
//! ```
//! # use columnar::prelude::*;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column answer(user, self) = async |cx: Context| format!("answer {}", cx.step());
//! };
//! chat.user.push("It is slow.").await?;
//! chat.user.push("On Mondays.").await?;
//! chat.run().await?;
//!
//! let other = chat.fork(1)?;                  // it has step 0
//! other.user.push("On Fridays.").await?;
//! other.run().await?;
//!
//! assert_eq!(to_value(other.answer.messages(1)?)?, json!([
//!     { "role": "user",      "content": "<user>\nIt is slow.\n</user>" },
//!     { "role": "assistant", "content": "answer 0" },
//!     { "role": "user",      "content": "<user>\nOn Fridays.\n</user>" },
//! ]));
//! assert_eq!(chat.user.get(1).as_deref(), Some("On Mondays."));
//! # Ok(()) }
//! ```
//!
//! What the fork adds is kept in memory, wherever the first flow keeps its values. A fork costs the same after
//! ten steps and after a million. One that is to last has a store of its own, with a copy of the past:
//! `chat.fork_into(1, store).await?`.
//!
//! A flow whose shape is known only at run time can also be tried with another column in the place of one:
//! [`replace_column`](crate::Flow::replace_column) makes a flow in which that column, and what depends on it,
//! is computed anew, and everything else is shared.
//!
//! Next: [a flow as a table for other programs](super::import_export).
