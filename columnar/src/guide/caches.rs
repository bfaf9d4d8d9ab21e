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
//! # Requests with the same beginning
//!
//! Requests of one model can share an instruction, and often a history after it. One of these requests is sent first as
//! a warm-up. The others follow when the first reply begins, because then the provider has cached the prefix. This
//! needs no setting.
//!
//! [← budgets](super::budgets) · [contents](super) · [documents →](super::documents)
