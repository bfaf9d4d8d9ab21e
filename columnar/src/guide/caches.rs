//! What a provider need not read again.
//!
//! Providers charge a fraction for the beginning of a request that they have seen in an earlier one. How much
//! that is follows from the declaration: whole histories are repeated and grow at the end; a window moves on,
//! and whatever it lets go of ends what the next request repeats.
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
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
//! assert_eq!(chat.answer.explain_cache(1)?.difference, None);            // all of it is repeated
//! let difference = chat.coach.explain_cache(1)?.difference.map(|first| first.to_string());
//! assert_eq!(difference.as_deref(), Some("`mood.latest` at step 1"));    // this is in the way
//! # Ok(()) }
//! ```
//!
//! In `coach` the mood of step 1 stands behind the message of step 1, and is gone at step 2. Written `mood` in
//! place of `mood.latest`, the requests are longer, and all of each is repeated.
//!
//! The [outline](crate::Outline) says it for all columns before anything runs, and `#[deny(unstable_prefix)]`
//! makes it a compile error that the requests of a column have nothing but the instruction in common.
//!
//! # Marks
//!
//! Some providers look only where a request is marked. Prompts mark theirs where the next request will still be
//! the same, if that pays by the provider's prices and by the time that passes from step to step. Nobody knows
//! that but you:
//!
//! ```
//! # use columnar::prelude::*;
//! use columnar::cache::Pace;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! # let chat = flow! {
//! #     source user;
//! #     column answer(user, self) = prompt("You are a helpful assistant.");
//! # };
//! chat.set_pace(Pace::think(secs(75)));       // somebody thinks, usually for so long
//! # Ok(()) }
//! ```
//!
//! Without a word, steps are taken to follow each other at once.
//! [`cache_plan`](crate::flow::Handle::cache_plan) shows the marks.
//!
//! # Requests that begin the same
//!
//! Of requests to one model that begin with the same instruction, and often with the same history behind it, one
//! goes first. The others follow when it begins to be answered: then they find what it brought. Nothing is to be
//! said for it.
//!
//! Next: [a context in the words of your own client](super::renderings).
