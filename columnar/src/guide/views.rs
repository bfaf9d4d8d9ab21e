//! Choose how much of another column a column reads.
//!
//! Chapter 5 of 37 · [← typed](super::typed) · [contents](super) · [self history →](super::self_history)
//!
//! Each entry in the parentheses of a column is a *view* of a column. Steps are counted from 0:
//!
//! | view | values at step 3 |
//! |---|---|
//! | `user` | steps 0, 1, 2 and 3 |
//! | `user.latest` | step 3 |
//! | `user.window(2)` | steps 2 and 3 |
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
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
//! These are all views and modifiers:
//!
//! | view | in the messages array | chapter |
//! |---|---|---|
//! | `user`, `user.latest`, `user.window(3)` | the values up to the current step, in `<user>` … `</user>` | this one |
//! | `user.window(3).elided()` | before the values, the number of earlier ones: `<elided>4 values of user</elided>` | this one |
//! | `self`, `self.latest`, `self.window(3)` | the column's own earlier values, as assistant messages | [self history](super::self_history) |
//! | `con.prev`, `con.prev.window(3)`, `con.prev.all()` | the values before the step; the column does not wait for `con` | [previous values](super::previous_values) |
//! | `group("debate", pro.latest, con.latest)` | both views in `<debate>` … `</debate>` | [groups](super::groups) |
//! | `user.note("…")` | nothing; the instruction explains the tag to the model | [groups](super::groups) |
//! | `user.latest.text_only()`, `self.text_only()` | the texts of the values, without [attachments](super::media) | [media](super::media) |
//! | `user.filter(…)`, `user.sample(…)` | some of the values | [groups](super::groups) |
//! | `files`, `files.compacted()`, `files.tiered()` of `source files: Documents;` | each update in its turn; the same until old texts are too dear; each document once, before the turns | [documents](super::documents) |
//! | `assistant.thread()` | the conversation of `assistant`: its system text, its messages and its reply | [caches](super::caches) |
//! | `docs.latest.context()` | the value before the primary inputs of the step | [purposes](super::purposes) |
//! | `rules.latest.instruction()` | nothing; the value ends the system text | [purposes](super::purposes) |
//! | `summary.latest.as("digest")` | the value in `<digest>` … `</digest>` | [tags](super::tags) |
//!
//! # Several views
//!
//! Within a step, the views appear in the order of the declaration. Each window is counted back from the step that is
//! computed, so earlier steps show the values of wide views alone:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.latest)         = script(["annoyed", "patient", "curious"]);
//!     column answer(user, mood.latest) = script(["", "", ""]);
//! };
//! for text in ["It is slow.", "On Mondays.", "Why?"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(to_value(chat.answer.messages(2)?)?, json!([
//!     { "role": "user", "content":
//!         "<user>\nIt is slow.\n</user>\n\n<user>\nOn Mondays.\n</user>\n\n<user>\nWhy?\n</user>\n\n<mood>\ncurious\n</mood>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! `answer` waits for the `mood` of the same step, because it reads that value, and for no other column.
//!
//! # Columns that skip steps
//!
//! A window counts values. Of a column that [skips](super::skipping) steps, `latest` is the newest value that there is at
//! the step, and `window(3)` the last three. Each value stays in the turn of its own step, before the later turns:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let diary = flow! {
//!     source day;
//!     column weekly(day.window(7), self.latest) = script((0..9).map(|_| "A dry week.")).every(7);
//!     column advice(day.latest, weekly.latest)  = script([""; 9]);
//! };
//! for text in ["Sun.", "Sun.", "Sun.", "Sun.", "Sun.", "Sun.", "Sun.", "Clouds.", "Rain."] {
//!     diary.day.push(text).await?;
//! }
//! diary.run().await?;
//! assert_eq!(to_value(diary.advice.messages(5)?)?, json!([
//!     { "role": "user", "content": "<day>\nSun.\n</day>" }, // there is no summary yet
//! ]));
//! assert_eq!(to_value(diary.advice.messages(8)?)?, json!([
//!     { "role": "user", "content": "<weekly>\nA dry week.\n</weekly>\n\n<day>\nRain.\n</day>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! A column that reads such a window waits for every earlier cell that may still have one of the values. A cell that
//! `every` skips is known beforehand, and nobody waits for that one.
//!
//! # The number of hidden values
//!
//! A model cannot know that there are more values than the ones shown. After a window, `elided()` adds the number of
//! earlier values, directly before the first value that is shown:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.window(2).elided(), self.latest.elided()) = script(["calm", "annoyed", "patient", ""]);
//! };
//! for text in ["It is slow.", "On Mondays.", "At nine.", "Why?"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(to_value(chat.mood.messages(3)?)?, json!([
//!     { "role": "user", "content":
//!         "<elided>2 values of user</elided>\n\n<user>\nAt nine.\n</user>\n\n<elided>2 values of mood</elided>" },
//!     { "role": "assistant", "content": "patient" },
//!     { "role": "user", "content": "<user>\nWhy?\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! The count names a view by the tag, and `self` by the name of the column. All values count that the view would show
//! without the window: not [skipped](super::skipping) steps, and not values that a [filter](super::groups) removes. If
//! nothing is hidden, or nothing is shown, there is no count. In a [group](super::groups) the count is inside the
//! group. The count does not shorten the [prefix that requests share](super::caches), because the value after the count
//! leaves the window at the next step anyway. Since all values count, the reader waits for all steps of the viewed
//! column up to the last one shown, even if that column may compute its steps in any order.
//!
//! # Windows are constants
//!
//! The number in `window(n)` is a constant of the program: a literal or a `const`. A window of 0 is a compile error. If
//! the number is known only at run time, use the [run-time API](super::dynamic_flows).
//!
//! [← typed](super::typed) · [contents](super) · [self history →](super::self_history)
