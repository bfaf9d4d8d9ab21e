//! Contexts that would be too large.
//!
//! A column that shows whole histories grows with every step. A *budget* says how many tokens its requests may
//! have, instruction and reply included. What does not go in is left out in whole turns: all that was read at a
//! step, or what was said there. From the middle, unless told otherwise, so that the beginning and the newest
//! remain, and with a note of what is missing:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! use columnar::budget::Budget;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column answer(user) = script([""; 8]).budget(Budget::of(70).token_buffer(0).minimum_recent(2));
//! };
//! for said in ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"] {
//!     chat.user.push(format!("This is the {said} thing.")).await?;
//! }
//! chat.run().await?;
//!
//! let messages = chat.answer.messages(7)?;
//! assert_eq!(to_value(&messages)?, json!([
//!     { "role": "user", "content":
//!         "<user>\nThis is the first thing.\n</user>\n\n<user>\nThis is the second thing.\n</user>\n\n\
//!          <elided>3 turns, about 34 tokens</elided>\n\n\
//!          <user>\nThis is the sixth thing.\n</user>\n\n<user>\nThis is the seventh thing.\n</user>\n\n\
//!          <user>\nThis is the eighth thing.\n</user>" },
//! ]));
//! assert_eq!(messages.report().map(ToString::to_string).as_deref(), Some("3 turns left out by truncate_middle: about 70 of 92 tokens, limit 70"));
//! assert_eq!(messages.elided().map(|from| from.step).collect::<Vec<_>>(), [2, 3, 4]);
//! # Ok(()) }
//! ```
//!
//! Values stay whole, and stored: a budget is about what is shown. The cut is a function of the values, so it
//! can be looked at afterwards, and is the same after a restart.
//!
//! # Where it is said
//!
//! | for | say |
//! |---|---|
//! | a column | `prompt("…").budget(8_000)` |
//! | a flow | [`chat.set_budget(8_000)`](crate::flow::LiveFlow::set_budget) |
//! | the program | [`budget::set_default(Budget::of(8_000))`](crate::budget::set_default) |
//!
//! Field by field the nearest one counts. Where nobody says how many tokens there are, nothing is left out.
//!
//! # What is left out
//!
//! | strategy | keeps |
//! |---|---|
//! | [`truncate_middle`](crate::budget::Budget::truncate_middle) | the newest turns, then the oldest and the next newest in turn, as they fit |
//! | [`rolling_window`](crate::budget::Budget::rolling_window) | the newest turns alone |
//! | [`stop_at_limit`](crate::budget::Budget::stop_at_limit) | everything: the column fails instead |
//!
//! A cut that moves at every step makes each request begin differently.
//! [`low_water(0.8)`](crate::budget::Budget::low_water) cuts deeper and seldom.
//!
//! # A bound that the compiler sees
//!
//! Better than a cut is a context that cannot grow. `#[deny(unbounded)]` before a column, or before the flow,
//! makes every view that grows with the history a compile error:
//!
//! ```compile_fail
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         #[deny(unbounded)]
//!         column mood(user) = prompt("Name the mood.");       // `user.window(3)` would do
//!     }
//! }
//! ```
//!
//! # How tokens are counted
//!
//! Once for each value, when it is stored, so a budget costs no pass through the history. Four characters are
//! a token, unless [`set_counter`](crate::flow::LiveFlow::set_counter) says otherwise; see [`tokens`](crate::tokens)
//! for closer estimates and exact counts.
//!
//! Next: [what a provider need not read again](super::caches).
