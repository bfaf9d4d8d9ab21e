//! By what name a text is shown.
//!
//! What a column reads is wrapped in a tag, always, even if it is the only text. The tag is the name of the
//! column, or what `.as("…")` says. An instruction can speak of it: "the `<digest>` is what was said so far".
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column summary(user, self.latest) = script(["It is slow.", "It is slow on Mondays."]);
//!     column critique(summary.latest.as("digest"), user.latest) = script(["", ""]);
//! };
//! # for text in ["It is slow.", "On Mondays."] {
//! #     chat.user.push(text).await?;
//! # }
//! # chat.run().await?;
//! assert_eq!(to_value(chat.critique.messages(1)?)?, json!([
//!     { "role": "user", "content": "<digest>\nIt is slow on Mondays.\n</digest>\n\n<user>\nOn Mondays.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! A tag is a name as columns have them, and each view of a column has its own. So a column may be read twice,
//! as long as one of the two is called something else:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column answer(user.window(2).as("heard"), user.latest.as("question")) = script(["", ""]);
//! };
//! # for text in ["It is slow.", "Why?"] {
//! #     chat.user.push(text).await?;
//! # }
//! # chat.run().await?;
//! assert_eq!(to_value(chat.answer.messages(1)?)?, json!([
//!     { "role": "user", "content":
//!         "<heard>\nIt is slow.\n</heard>\n\n<heard>\nWhy?\n</heard>\n\n<question>\nWhy?\n</question>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! The own past has no tag: it is what the assistant said, and stands in messages of its own.
//!
//! In a compute step of yours, [`cx.input("digest")`](crate::Context::input) is the current value under that tag.
//!
//! Next: [what happens to a text on its way into the array](super::assembly).
