//! Let the provider's cache serve the beginning of a request.
//!
//! [← budgets](super::budgets) · [contents](super) · [documents →](super::documents)
//!
//! Providers charge less for the beginning of a request if an earlier request had the same beginning. The length of
//! that prefix follows from the declaration. A view of a whole history repeats and grows at the end. A window moves on,
//! and the first value that leaves the window ends the prefix that the next request repeats.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.latest)              = script(["annoyed", "curious"]);
//!     column answer(user, self)             = script(["Since when?", "The backup."]);
//!     column coach(user, mood.latest, self) = script(["Ask for details.", "Explain."]);
//! };
//! chat.user.push("It is slow.").await?;
//! chat.user.push("On Mondays. Why?").await?;
//! chat.run().await?;
//!
//! assert_eq!(chat.answer.explain_cache(1)?.difference, None);            // the next request repeats all of it
//! let difference = chat.coach.explain_cache(1)?.difference.map(|first| first.to_string());
//! assert_eq!(difference.as_deref(), Some("`mood.latest` at step 1"));    // the shared prefix ends there
//! # Ok(()) }
//! ```
//!
//! In `coach`, the mood of step 1 follows the message of step 1, and is absent at step 2. With `mood` in place of
//! `mood.latest`, the requests are longer, and the next request repeats all of each.
//!
//! The [outline](crate::Outline) shows the prefix of every column before anything runs. `#[deny(unstable_prefix)]`
//! makes it a compile error if the requests of a column share nothing but the instruction.
//!
//! # Cache marks
//!
//! Some providers cache a request only at its marks. A prompt places marks where the next request will still be the
//! same, if that pays by the provider's prices and by the time between two steps. You set that time:
//!
//! ```
//! use columnar::cache::Pace;
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column answer(user, self) = prompt("You are a helpful assistant.");
//! };
//! chat.set_pace(Pace::think(secs(75)));       // a person answers after about 75 seconds
//! # Ok(()) }
//! ```
//!
//! By default, steps are assumed to follow each other at once. [`cache_plan`](crate::flow::Handle::cache_plan) shows
//! the marks.
//!
//! Of documents that change, the [tiered layout](super::documents) has a mark at the end of each tier.
//!
//! # One prefix for many columns
//!
//! Columns with different instructions over one history share nothing, because a request begins with the instruction. Two
//! declarations give them one beginning, which one of them writes into the cache and the others read.
//!
//! A column that comments on another one continues its *thread*: the system text of that column, its messages as they were
//! sent, and its reply. Then follows one message with the own instruction and the other inputs:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let model = ScriptedModel::new(|request| format!("a reply to {} messages", request.messages.len()));
//! let chat = flow! {
//!     source user;
//!     column assistant(user, self)      = prompt("You are a helpful assistant.").model(model.clone());
//!     column critic(assistant.thread()) = prompt("Is the answer right?").model(model.clone());
//!     column tone(assistant.thread())   = prompt("Is the answer kind?").model(model.clone());
//! };
//! for text in ["It is slow.", "On Mondays. Why?"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//!
//! let assistant = chat.assistant.messages(1)?;
//! let critic = chat.critic.messages(1)?;
//! assert!(critic.iter().take(3).eq(&assistant));
//! assert!(critic.iter().skip(3).map(|(_, text)| text).eq(["a reply to 3 messages", "Is the answer right?"]));
//! assert_eq!(chat.system("critic", 1)?, "You are a helpful assistant.");
//! assert_eq!(chat.critic.explain_cache(1)?.shared.len(), 2); // with `assistant`, and with `tone`
//! # Ok(()) }
//! ```
//!
//! A thread is the first view of its column, which has no `self`. The tokens of the conversation come off the budget of the
//! reader first, and are never cut there. If `assistant` skips a step, its last conversation continues; before its first value,
//! the reader is skipped. A provider caches for one model, one effort and one schema: `#[deny(unshared)]` makes it a compile error
//! if the reader has others.
//!
//! Columns that read the same views with the same tags share them all if their instructions stand `after` the messages:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let report = flow! {
//!     source chapter;
//!     column names(chapter)  = prompt("List the names.").after();
//!     column places(chapter) = prompt("List the places.").after();
//! };
//! report.set_model("anthropic/claude-sonnet-5-5");
//! report.chapter.push("Once upon a time, there was a king. ".repeat(1_000)).await?;
//!
//! let forecast = report.forecast().to_string();
//! assert!(forecast.ends_with("`places` shares 9,006 tokens with `names`, which saves $0.02 where they are cached"), "{forecast}");
//! assert!(report.outline().to_string().contains("repeats everything, shares with `places`"));
//! # Ok(()) }
//! ```
//!
//! The text of [`set_system`](crate::flow::LiveFlow::set_system) stays the system text, which all of them share. The outline
//! shows who shares with whom, and what keeps a provider from it; [`explain_cache`](crate::flow::Handle::explain_cache) counts the
//! bytes; a forecast says what it saves, or why it saves nothing: a model without a discount, or a beginning that is shorter
//! than its provider caches.
//!
//! | declaration | for columns that | the model reads the instruction |
//! |---|---|---|
//! | `prompt("…")` | differ in what they read | first, as the system text |
//! | `prompt("…").after()` | ask different questions about the same values | last, in the message of the user |
//! | `assistant.thread()` | comment on the replies of another column | last, behind that reply |
//!
//! # Requests with the same beginning
//!
//! Requests of one model can share an instruction, and often a history after it, or a thread. One of these requests is sent
//! first as a warm-up. The others follow when the first reply begins, because then the provider has cached the prefix. This
//! needs no setting.
//!
//! [← budgets](super::budgets) · [contents](super) · [documents →](super::documents)
