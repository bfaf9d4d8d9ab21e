//! See the cost of model calls, and limit it.
//!
//! Chapter 17 of 37 · [← models](super::models) · [contents](super) · [batches →](super::batches)
//!
//! Each value that a model computed has a *receipt*: the model, the number of attempts, the tokens of requests and
//! replies, the tokens from the provider's cache, the time that the cell took, when the last request began, and the reason
//! why the reply ended. The receipt is stored with the value in one write.
//!
//! ```
//! use columnar::model::{Chunk, End, Finish, Model, Request, Usage};
//! use columnar::prelude::*;
//! use futures::stream::{self, BoxStream};
//!
//! /// Replies `yes`, and reports its usage.
//! struct Yes;
//!
//! impl Model for Yes {
//!     fn name(&self) -> &str {
//!         "openai/gpt-5.4-mini"
//!     }
//!
//!     fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, columnar::BoxError>> {
//!         let end = End::new(Finish::Stop).with_usage(Usage::new(2_000, 1).cached(1_500, 0));
//!         stream::iter([Ok(Chunk::Text("yes".into())), Ok(Chunk::End(end))]).boxed()
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column topics(user.latest)   = prompt("List the topics.").model(Yes);
//!     column assistant(user, self) = prompt("Answer.").model(Yes);
//! };
//! chat.user.push("hello").await?;
//! chat.run().await?;
//!
//! let receipt = chat.topics.receipt(0).expect("a model was asked");
//! assert_eq!((receipt.usage.input, receipt.usage.cache_read, receipt.attempts), (2_000, 1_500, 1));
//!
//! let bill = chat.bill();                             // the whole flow, by column and by step
//! assert_eq!((bill.total().calls, bill.column("topics").calls, bill.step(0).calls), (2, 1, 2));
//! assert_eq!(bill.total().cost.to_string(), "$0.000984");
//! # Ok(()) }
//! ```
//!
//! `println!("{}", chat.bill())` prints the bill as a table. A bill covers the cells in memory: all of them, unless the
//! flow was opened with [`recent`](super::stores#loading). Then [`load(0)`](crate::flow::LiveFlow::load) loads the
//! others. A cell that failed has no receipt. When a later attempt succeeds, the receipt counts all attempts of that
//! run, and [`call_times`](crate::usage::Receipt::call_times) has the kinds of the errors before, such as `429` or `timeout`.
//!
//! # Prices
//!
//! [`Price::by_model`](crate::usage::Price::by_model) knows the prices of many models, each with the source and the
//! date of the lookup. The prices are a table in this library, which the tests compare with [a table that others
//! maintain](https://github.com/pydantic/genai-prices). Check the [date](crate::usage::Price::date) before you rely on
//! a price, and use [`Price::new`](crate::usage::Price::new) for other models. The library never guesses a price: a
//! bill counts calls of unpriced models separately.
//!
//! The same table has other facts about models. Each has a source and a date:
//!
//! | fact | type |
//! |---|---|
//! | the price of a request that may wait, in a batch or for minutes | [`Price::batch`](crate::usage::Price::batch), [`Price::flex`](crate::usage::Price::flex) |
//! | the rules of the provider's cache | [`CachePolicy`](crate::cache::CachePolicy) |
//! | the longest reply | [`MaxTokens`](crate::model::MaxTokens) |
//! | the context window | [`ContextWindow`](crate::model::ContextWindow) |
//! | the day on which the provider ends the model | [`EndDate`](crate::model::EndDate) |
//!
//! # A limit
//!
//! [`chat.set_spend_limit(SpendLimit::dollars(5.0))`](crate::flow::LiveFlow::set_spend_limit) stops a run before the
//! run costs more. Values that are paid for are stored. Until a call ends, it reserves the cost of the longest reply,
//! so a [`max_tokens`](crate::Prompt::max_tokens) that fits the column lets more calls run at once. Several flows can
//! share one [`SpendLimit`](crate::usage::SpendLimit). [`chat.forecast()`](crate::flow::LiveFlow::forecast) estimates
//! the requests of a run before the run begins, live and [by batches](super::batches), and names the step at which a context
//! outgrows the window of the model.
//!
//! [← models](super::models) · [contents](super) · [batches →](super::batches)
