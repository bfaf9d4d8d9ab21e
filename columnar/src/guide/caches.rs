//! Let the provider's cache serve the beginning of a request.
//!
//! Chapter 20 of 37 · [← budgets](super::budgets) · [contents](super) · [documents →](super::documents)
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
//! same, if that pays by the provider's prices and by the time between two steps.
//!
//! That time is learnt, for each column. Providers keep a prefix for a short time, or for a longer one at a higher fee.
//! Each pause tells what no marks, the short lifetime and the long one would have cost so far, and the marks follow what
//! would have cost least. A switch waits until it pays for writing the prefix anew. Receipts have the time of each request,
//! so a command that opens the flow for each step learns, too. The first request of a conversation is marked while enough
//! conversations with the same instruction go on.
//!
//! If you know the time before the first pause, state it:
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
//! A stated pace stands above what is learnt, and [`Pace::learnt`](crate::cache::Pace::learnt) takes it back.
//! [`cache_plan`](crate::flow::Handle::cache_plan) shows the marks for any pace.
//!
//! The lifetimes come from the documentation of providers. Where receipts show that a provider keeps prefixes longer than
//! documented, or loses them sooner, plans of this process go by the receipts, and
//! [`observed`](crate::cache::observed) shows what was seen.
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
//! A thread follows the reply at once, so its request has the marks of the conversation, and both learn one lifetime. What
//! threads save depends on the pauses: columns with views of their own write their own histories anew after a pause that
//! outlives the lifetime. At the pace of a person, four threads cost half as much or less with a lifetime of 5 minutes, 0.52 to
//! 0.75 where a lifetime of an hour can be learnt, and 0.84 to 0.92 with a lifetime of half an hour (simulated). The
//! instruction of a thread is new text in each request, so keep it short.
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
//! Some providers lead requests by a key to the machine that has the prefix: OpenAI, Mistral and xAI. By default the key is
//! a number that depends on the model and the instruction; [`cache_key`](crate::Prompt::cache_key) sets another one, such as
//! the name of a conversation.
//!
//! # The audited bill
//!
//! A plan of marks is a promise, and a receipt says what was billed. [`audit`](crate::flow::LiveFlow::audit) compares both,
//! call by call, and names the reason of each difference: a lifetime that passed, a prefix that the provider dropped,
//! another model, effort or schema, a request below the provider's minimum, or the view that changed the prefix.
//!
//! ```
//! use columnar::model::{End, Finish, Usage};
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! // A provider that forgets everything after the second request.
//! let model = ScriptedModel::new(|_| "I see.".to_owned()).named("anthropic/claude-sonnet-5-5").end(|request| {
//!     let tokens = request.messages.tokens() as u64;
//!     let read = if request.messages.len() == 3 { tokens - 13 } else { 0 };
//!     End::new(Finish::Stop).with_usage(Usage::new(tokens, 3).cached(read, tokens - read))
//! });
//! let chat = flow! {
//!     source user;
//!     column answer(user, self) = prompt("Be brief.").model(model.clone());
//! };
//! for question in ["It is slow. ".repeat(300), "On Mondays.".to_owned(), "Why?".to_owned()] {
//!     chat.user.push(question).await?;
//!     let mut run = chat.run();
//!     while let Some(event) = run.try_next().await? {
//!         if let Event::CacheMiss { column, step, miss } = event {
//!             assert!(step == 2 && miss.to_string().ends_with(": evicted"), "{miss}");
//!             println!("{column} at step {step}: {miss}");
//!         }
//!     }
//! }
//! let audit = chat.audit();
//! println!("{audit}");                                // a table; an audit is also JSON
//! assert!(audit.calls[1].missed() == 0 && audit.calls[2].missed() > 900);
//! assert!(audit.total().cost > columnar::usage::Dollars::ZERO);
//! # Ok(()) }
//! ```
//!
//! A promise is counted by the counter of the flow, scaled to the tokens that the provider counted for the same request, and
//! has a tolerance: a fifth, or 128 tokens. The reasons come from stored values alone, so a flow that is opened again has the
//! same audit. A receipt of an earlier version has no time; its lifetime counts as not passed.
//!
//! In a test, [`assert_cached!`](crate::assert_cached) fails with the table if a call missed tokens, or if a column
//! read less than a share of its tokens: `assert_cached!(chat, "answer", 0.8)`.
//!
//! Anthropic and OpenAI send a reason of their own, if a request names the reply with which to compare. The
//! [receipt](crate::usage::Receipt::diagnosis) and the audit have the reason. A model that asks for it keeps the last id:
//!
#![cfg_attr(feature = "providers", doc = "```")]
#![cfg_attr(not(feature = "providers"), doc = "```ignore")]
//! use std::sync::{Arc, Mutex};
//!
//! use columnar::model::{Chunk, Model, Provider, Request};
//! use futures::stream::{BoxStream, StreamExt};
//! use serde_json::json;
//!
//! /// Asks Anthropic why a prefix was not read.
//! struct Asking {
//!     model: Provider,
//!     last: Arc<Mutex<Option<String>>>,
//! }
//!
//! impl Model for Asking {
//!     fn name(&self) -> &str {
//!         self.model.name()
//!     }
//!
//!     fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, columnar::BoxError>> {
//!         let last = Arc::clone(&self.last);
//!         let before = last.lock().ok().and_then(|last| last.clone());
//!         // OpenAI: `{ "prompt_cache_options": { "comparison_response_id": before } }`.
//!         let body = json!({ "diagnostics": { "previous_message_id": before } });
//!         let model = self.model.clone().header("anthropic-beta", "cache-diagnosis-2026-04-07").body(body);
//!         let keep = move |chunk: &Result<Chunk, columnar::BoxError>| {
//!             if let (Ok(Chunk::End(end)), Ok(mut last)) = (chunk, last.lock()) {
//!                 last.clone_from(&end.id);
//!             }
//!         };
//!         model.reply(request).inspect(keep).boxed()
//!     }
//! }
//! ```
//!
//! [← budgets](super::budgets) · [contents](super) · [documents →](super::documents)
