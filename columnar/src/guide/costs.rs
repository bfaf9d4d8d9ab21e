//! What calls of models cost.
//!
//! Beside each value that a model was asked for stands a *receipt*: the model, how often it was asked, the tokens of
//! requests and replies, how many of them came from the provider's cache, and how long it took. It is stored with the
//! value, and comes back with it.
//!
//! ```
//! use columnar::model::{Chunk, End, Finish, Model, Request, Usage};
//! use columnar::prelude::*;
//! use futures::stream::{self, BoxStream};
//!
//! /// Says `yes`, and what that cost.
//! struct Yes;
//!
//! impl Model for Yes {
//!     fn name(&self) -> &str {
//!         "openai/gpt-4o-mini"
//!     }
//!
//!     fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, columnar::BoxError>> {
//!         let end = End::new(Finish::Stop).usage(Usage::new(2_000, 1).cached(1_500, 0));
//!         stream::iter([Ok(Chunk::Text("yes".into())), Ok(Chunk::End(end))]).boxed()
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column topics(user.latest) = prompt("List the topics.").with(Yes);
//!     column assistant(user, self) = prompt("Answer.").with(Yes);
//! };
//! chat.user.push("hello").await?;
//! chat.run().await?;
//!
//! let receipt = chat.topics.receipt(0).expect("a model was asked");
//! assert_eq!((receipt.usage.input, receipt.usage.cache_read, receipt.attempts), (2_000, 1_500, 1));
//!
//! let bill = chat.bill();                             // of the flow, by column and by step
//! assert_eq!((bill.total().calls, bill.column("topics").calls, bill.step(0).calls), (2, 1, 2));
//! assert_eq!(bill.total().cost.to_string(), "$0.000377");
//! # Ok(()) }
//! ```
//!
//! A bill is about the cells that are in memory; after a flow was opened again,
//! [`load(0)`](crate::flow::LiveFlow::load) brings back all of them. What failed for good is on no receipt of its
//! own: the one of the value that came in the end counts its attempts, since the run that made it began.
//!
//! # Prices
//!
//! [`Price::of`](crate::usage::Price::of) knows those of many models, each with the day on which it was seen and where.
//! They are a table in this library: look at the [date](crate::usage::Price::date) before you rely on one, and say
//! [`Price::new`](crate::usage::Price::new) for what is not there. Nothing is guessed: a model without a price is
//! counted apart.
//!
//! # A limit
//!
//! [`chat.set_spend_limit(SpendLimit::dollars(5.0))`](crate::flow::LiveFlow::set_spend_limit) stops a run before it has
//! cost more. Several flows that are given the same [`SpendLimit`](crate::usage::SpendLimit) share it. [`chat.forecast()`](crate::flow::LiveFlow::forecast)
//! tells what a run will ask before it begins.
//!
//! Next: [contexts that would be too large](super::budgets).
