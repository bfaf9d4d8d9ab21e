//! Continue a flow in two ways from the same step.
//!
//! Chapter 29 of 37 · [← migrations](super::migrations) · [contents](super) · [rehearsals →](super::rehearsals)
//!
//! A stored value never changes. To try something else, fork the flow: both flows share the earlier steps, and from the
//! fork on each has its own.
//!
//! ```
//! use columnar::prelude::*;
//! use serde_json::{json, to_value};
//!
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
//! The steps of the fork are kept in memory, wherever the first flow keeps its values. A fork costs the same after ten
//! steps and after a million. If the first flow was opened with [`recent`](crate::reopen::OpenOptions::recent), both
//! flows read earlier values from the store of the first flow, which stays open until neither needs it. For a durable
//! fork, `chat.fork_into(1, store).await?` copies the earlier steps to another store. A copy that was interrupted is no flow:
//! the same call goes on with it.
//!
//! A conversation that branches at any message, with edits and several replies to a question, is a
//! [tree](super::looms). A flow and all forks of it can be [turned into one](super::looms#from-a-flow).
//!
//! A flow that is declared at run time can also replace a column: [`replace_column`](crate::Flow::replace_column) makes
//! a flow that recomputes this column and all that depend on it, and shares everything else.
//!
//! [← migrations](super::migrations) · [contents](super) · [rehearsals →](super::rehearsals)
