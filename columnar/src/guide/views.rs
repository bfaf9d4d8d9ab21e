//! How much of a column another one sees.
//!
//! A column stands in the parentheses of another one as a *view*. Steps are counted from 0:
//!
//! | view | shows at step 3 |
//! |---|---|
//! | `user` | the values of steps 0, 1, 2 and 3 |
//! | `user.latest` | the value of step 3 |
//! | `user.window(2)` | the values of steps 2 and 3 |
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column whole(user)            = script(["", "", "", ""]);
//!     column newest(user.latest)    = script(["", "", "", ""]);
//!     column recent(user.window(2)) = script(["", "", "", ""]);
//! };
//! for text in ["It is slow.", "On Mondays.", "At nine.", "Why?"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//!
//! assert_eq!(to_value(chat.whole.messages(3)?)?, json!([
//!     { "role": "user", "content":
//!         "<user>\nIt is slow.\n</user>\n\n<user>\nOn Mondays.\n</user>\n\n<user>\nAt nine.\n</user>\n\n<user>\nWhy?\n</user>" },
//! ]));
//! assert_eq!(to_value(chat.newest.messages(3)?)?, json!([
//!     { "role": "user", "content": "<user>\nWhy?\n</user>" },
//! ]));
//! assert_eq!(to_value(chat.recent.messages(3)?)?, json!([
//!     { "role": "user", "content": "<user>\nAt nine.\n</user>\n\n<user>\nWhy?\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! # Several columns
//!
//! Inside a step the views stand in the order in which they are written. Each window is counted back from the
//! step that is computed, so a narrow view is absent from the earlier steps that a wide one shows:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.latest)          = script(["annoyed", "patient", "curious"]);
//!     column answer(user, mood.latest)  = script(["", "", ""]);
//! };
//! # for text in ["It is slow.", "On Mondays.", "Why?"] {
//! #     chat.user.push(text).await?;
//! # }
//! # chat.run().await?;
//! assert_eq!(to_value(chat.answer.messages(2)?)?, json!([
//!     { "role": "user", "content":
//!         "<user>\nIt is slow.\n</user>\n\n<user>\nOn Mondays.\n</user>\n\n<user>\nWhy?\n</user>\n\n<mood>\ncurious\n</mood>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! `answer` waits for the `mood` of its own step, which it shows, and for no other column.
//!
//! # What a window hides
//!
//! A model does not know that there was more than it is shown. Behind a window, `elided()` tells it how many values
//! came before, directly before the first one that is shown:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.window(2).elided(), self.latest.elided()) = script(["calm", "annoyed", "patient", ""]);
//! };
//! # for text in ["It is slow.", "On Mondays.", "At nine.", "Why?"] {
//! #     chat.user.push(text).await?;
//! # }
//! # chat.run().await?;
//! assert_eq!(to_value(chat.mood.messages(3)?)?, json!([
//!     { "role": "user", "content":
//!         "<elided>2 values of user</elided>\n\n<user>\nAt nine.\n</user>\n\n<elided>2 values of mood</elided>" },
//!     { "role": "assistant", "content": "patient" },
//!     { "role": "user", "content": "<user>\nWhy?\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! A view is called by its tag there, and the own past by the name of the column. Counted are values that the view
//! would show if it had no window, so neither steps that were [skipped](super::skipping) nor what a
//! [filter](super::groups) leaves out. Where nothing is hidden, or nothing shown, nothing is said; in a
//! [group](super::groups) it stands inside. To say it costs nothing of what [requests have in common](super::caches):
//! the value behind it leaves the window next. A column whose steps may be computed in any order is waited for up to
//! the value that is shown, since all of them count.
//!
//! # Windows are constants
//!
//! The number in `window(n)` is a constant of the program: a number, or a `const`. A window of 0 is a compile
//! error. Where the number is known only at run time, the [run-time API](super::dynamic_flows) takes it.
//!
//! Next: [what a column sees of itself](super::self_history).
