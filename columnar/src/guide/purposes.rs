//! Show reference material before the inputs of a step, and instructions that change at the end of the system text.
//!
//! Chapter 10 of 37 · [← tags](super::tags) · [contents](super) · [assembly →](super::assembly)
//!
//! The purpose of a view decides the place of the values in a request:
//!
//! | view | purpose | place |
//! |---|---|---|
//! | `user`, `user.latest` | a primary input | in the message of the step, in the order of the declaration |
//! | `docs.latest.context()` | reference material | in the message of the step, before all primary inputs |
//! | `rules.latest.instruction()` | an instruction | at the end of the system text, in no message |
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     source docs;
//!     source rules;
//!     column answer(user, docs.latest.context(), rules.latest.instruction(), self) =
//!         script(["Monday.", "At nine."]);
//! };
//! for (user, docs, rules) in [
//!     ("Which day is it?", "The launch is on Monday.", "Answer in a word."),
//!     ("And when?", "It begins at nine.", "Answer in two words."),
//! ] {
//!     chat.user.push(user).await?;
//!     chat.docs.push(docs).await?;
//!     chat.rules.push(rules).await?;
//! }
//! chat.run().await?;
//!
//! assert_eq!(to_value(chat.answer.messages(1)?)?, json!([
//!     { "role": "user", "content": "<user>\nWhich day is it?\n</user>" },
//!     { "role": "assistant", "content": "Monday." },
//!     { "role": "user", "content": "<docs>\nIt begins at nine.\n</docs>\n\n<user>\nAnd when?\n</user>" },
//! ]));
//! assert_eq!(chat.answer.system(1)?, "Answer in two words.");
//! # Ok(()) }
//! ```
//!
//! A view with a purpose is a view like any other: it has a window and a lag, the column waits for the values, and a
//! [budget](super::budgets) counts them. A budget omits turns, and never an instruction. These are the rules:
//!
//! - `.context()` and `.instruction()` have parentheses, so a column may be named `context` or `instruction`. Both come
//!   after the column or the window, in any order with other modifiers: `docs.latest.as("facts").context()`.
//! - A column reads at least one primary input: the column that is answered or followed.
//! - `self` has no purpose, because values of `self` are assistant messages. A [tiered view](super::documents) has no
//!   purpose either.
//! - An instruction has no tag, no note and no `.elided()`, because the values are sent verbatim. An instruction is in
//!   no [group](super::groups). The views of a group are all context, or none is.
//!
//! # The system text
//!
//! The system text of a request has up to five parts, with an empty line between two parts: the instruction of the
//! column's [`prompt`](crate::prompt), the text of the flow, the [notes](super::groups) on the inputs, the instructions
//! among the inputs with the newest one last, and the [documents](super::documents) that never change.
//! [`set_system`](crate::flow::LiveFlow::set_system) sets the text of the flow, which all columns have in common.
//! [`system(step)`](crate::flow::Handle::system) returns the whole text of a step:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     source rules;
//!     column title(user.latest) = prompt("Find a title.");
//!     column answer(user, rules.window(2).instruction(), self) = prompt("You plan trips.");
//! };
//! chat.set_system("Write French.");
//! for (user, rules) in [("Where to?", "Be brief."), ("And then?", "Name a price.")] {
//!     chat.user.push(user).await?;
//!     chat.rules.push(rules).await?;
//! }
//!
//! assert_eq!(chat.title.system(0)?, "Find a title.\n\nWrite French.");
//! assert_eq!(chat.answer.system(0)?, "You plan trips.\n\nWrite French.\n\nBe brief.");
//! # Ok(()) }
//! ```
//!
//! White space around each part is left out, and a blank part is no part. The text of the flow is a setting, like the
//! model, and is not stored: set the text again when you open the flow. The values of an instruction are stored, so the
//! system texts of earlier steps are known after a restart, too.
//!
//! # The cost of a purpose
//!
//! A provider's cache finds nothing of a request whose system text changed. So an instruction that changes at every
//! step costs the whole request at every step, and one that seldom changes costs it at each change. A value of
//! `docs.latest.context()` is in the request of one step alone, and ends the [prefix](super::caches) that the next
//! request repeats, as each window does:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     source docs;
//!     column shown(user, docs.latest.context(), self)      = script(["Monday.", "At nine."]);
//!     column obeyed(user, docs.latest.instruction(), self) = script(["Monday.", "At nine."]);
//! };
//! for (user, docs) in [("Which day?", "The launch is on Monday."), ("And when?", "It begins at nine.")] {
//!     chat.user.push(user).await?;
//!     chat.docs.push(docs).await?;
//! }
//! chat.run().await?;
//!
//! let (shown, obeyed) = (chat.shown.explain_cache(1)?, chat.obeyed.explain_cache(1)?);
//! assert!(shown.bytes > 0 && obeyed.bytes == 0);
//! assert_eq!(shown.difference.map(|first| first.to_string()).as_deref(), Some("`docs.latest` at step 1"));
//! assert_eq!(obeyed.difference.map(|first| first.to_string()).as_deref(), Some("the instruction `docs.latest`"));
//! # Ok(()) }
//! ```
//!
//! A [prompt](crate::prompt) places cache marks in a request only if the instructions are the same as at the step
//! before. `#[deny(unstable_prefix)]` makes an instruction a compile error. `.context()` with all values,
//! `docs.context()`, keeps the prefix whole.
//!
//! # Instructions are trusted
//!
//! An instruction is sent verbatim, without a tag and without [escaping](super::assembly), where a model looks for
//! orders. The author of an instruction controls the model. So an instruction must be your own text, or the text of a
//! person whom you trust as yourself: never a web page, a document of somebody else, the message of a visitor, or the
//! reply of a model that has read such a text. Such texts are context: each comes in a tag, which the text cannot
//! close.
//!
//! [← tags](super::tags) · [contents](super) · [assembly →](super::assembly)
