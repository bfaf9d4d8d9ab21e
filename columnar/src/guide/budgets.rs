//! Keep the requests of a column below a number of tokens.
//!
//! Chapter 19 of 37 · [← batches](super::batches) · [contents](super) · [caches →](super::caches)
//!
//! A column that reads whole histories grows with every step. A *budget* is the maximum number of tokens of a request,
//! instruction and reply included. When a request is too large, the column leaves out whole turns: the inputs of a
//! step, or the column's own value of that step. By default the middle is left out and the gap is marked, so that the
//! beginning and the newest steps remain:
//!
//! ```
//! use columnar::budget::Budget;
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column answer(user) = script([""; 8]).budget(Budget::of(70).token_buffer(0).minimum_recent(2));
//! };
//! for word in ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"] {
//!     chat.user.push(format!("This is the {word} thing.")).await?;
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
//! Of the tokens, 1,024 are reserved for the reply. A reply may be [longer](super::models#settings-of-a-prompt). To
//! have room for the longest reply, set [`token_buffer`](crate::budget::Budget::token_buffer) to the `max_tokens` of
//! the prompt.
//!
//! Values stay whole and stored: a budget affects the messages array alone. The truncation is a function of the values,
//! so [`report`](crate::Messages::report) and [`elided`](crate::Messages::elided) can show it for any past step, with
//! the same result after a restart.
//!
//! [Documents in tiers](super::documents#budgets) come off the limit first and are never left out.
//!
//! # Scopes
//!
//! | scope | setting |
//! |---|---|
//! | a column | `prompt("…").budget(8_000)` |
//! | a flow | [`chat.set_budget(8_000)`](crate::flow::LiveFlow::set_budget) |
//! | the program | [`budget::set_default(Budget::of(8_000))`](crate::budget::set_default) |
//!
//! Each field of the budget comes from the nearest scope that sets it. A strategy without a number of tokens cuts to the
//! [window](crate::model::ContextWindow) of the model. Without a strategy and a number of tokens nothing is left out, and a
//! context that exceeds the window by a half, by the counter of the flow, is an error before anything is sent.
//!
//! # Strategies
//!
//! | strategy | keeps |
//! |---|---|
//! | [`truncate_middle`](crate::budget::Budget::truncate_middle) | the newest turns, then the oldest and the next newest alternately, as far as there is room |
//! | [`rolling_window`](crate::budget::Budget::rolling_window) | the newest turns alone |
//! | [`stop_at_limit`](crate::budget::Budget::stop_at_limit) | everything: the column fails instead |
//!
//! The newest turn is always kept, even if it alone is too large. But the reply, the instruction and the tags of a
//! message need room, too. A budget that leaves no room for a message is an error of
//! [`run`](crate::flow::LiveFlow::run), before any cell is computed. The error names the column and the number of
//! tokens that it needs:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let f = flow([column("answer", source("user"), prompt("You are a helpful assistant.").budget(1000))])?;
//! f.push("user", "Hello").await?;
//! let error = f.run().await.expect_err("1024 tokens are reserved for the reply");
//! assert_eq!(
//!     error.to_string(),
//!     "the budget of `answer` holds no message: of its 1000 tokens, 1024 are reserved for the reply, the instruction has \
//!      about 7, and an empty message has about 5: raise the budget to at least 1036, reserve less with `token_buffer`, \
//!      or shorten the instruction"
//! );
//! # Ok(()) }
//! ```
//!
//! If the truncation changed at every step, each request would begin differently.
//! [`low_water(0.8)`](crate::budget::Budget::low_water) cuts more at once, and less often.
//!
//! # Bounded contexts, checked by the compiler
//!
//! A context that cannot grow is better than a truncated one. `#[deny(unbounded)]` before a column, or before the flow,
//! makes every view that grows with the history a compile error:
//!
//! ```compile_fail
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         #[deny(unbounded)]
//!         column mood(user) = prompt("Name the mood."); // `user.window(3)` would do
//!     }
//! }
//! ```
//!
//! # Counting tokens
//!
//! Each value is counted once, when it is stored, so a budget does not read the history. The counter is a setting of
//! the flow, [`set_counter`](crate::flow::LiveFlow::set_counter):
//!
//! - [`tokens::Estimate`](crate::tokens::Estimate), the default, takes four bytes for a token.
//! - `tokens::Exact`, with the feature `tiktoken`, counts exactly for models of OpenAI.
//! - [`tokens::Calibration`](crate::tokens::Calibration) corrects any of these counters by the usage that a provider
//!   reports.
//!
//! [`tokens`](crate::tokens) has the error of each.
//!
//! [← batches](super::batches) · [contents](super) · [caches →](super::caches)
