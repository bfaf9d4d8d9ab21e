//! Answer the prompts of a flow by batches, for half the price.
//!
//! Chapter 18 of 37 · [← costs](super::costs) · [contents](super) · [budgets →](super::budgets)
//!
//! OpenAI and Anthropic answer requests that may wait for half the price: most batches are over within an hour, and each is
//! after a day. `batch` in place of [`run`](crate::flow::LiveFlow::run) sends the calls of a flow in this way, with the
//! feature `providers`:
//!
#![cfg_attr(feature = "providers", doc = "```no_run")]
#![cfg_attr(not(feature = "providers"), doc = "```ignore")]
//! use columnar::model::Provider;
//! use columnar::prelude::*;
//! use columnar::store::FileStore;
//!
//! flow! {
//!     pub struct Reviews {
//!         source review;
//!         column topics(review.latest)               = prompt("List the topics.");
//!         column mood(review.latest, topics.latest)  = prompt("Name the mood.");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let reviews = Reviews::open(FileStore::new("reviews")).await?;
//! reviews.review.push_all(["Fast, and far too loud.", "It broke on Monday."]).await?;
//! reviews.set_model("openai/gpt-6-luna");
//! println!("{}", reviews.forecast());                 // … by batches $0.01 in 2 waves
//! reviews.batch(Provider::new("openai/gpt-6-luna")?).await?;
//! println!("{}", reviews.bill());                     // at the price of a batch
//! # Ok(()) }
//! ```
//!
//! All else is as in a [run](super::runs): events, the order of storing, retries, repairs of [typed](super::typed) values,
//! [spend limits](super::costs#a-limit), and the requests themselves, to the byte. A value arrives as a whole.
//!
//! # When it is worth it
//!
//! Cells that are ready together are one batch, however many there are. The cells that become ready by its answers are the
//! next one. So the time is the number of *waves*, and a wave may take a day:
//!
//! | a column | waves |
//! |---|---|
//! | reads sources alone, for a thousand steps | 1 |
//! | reads such a column | 1 more |
//! | reads [its own history](super::self_history), for a thousand steps | 1,000 |
//!
//! A backfill of columns without self history is the case for batches: a thousand tickets, a new column of an old flow, an
//! evaluation. A conversation is none. [`forecast`](crate::flow::LiveFlow::forecast) has the cost and the waves before a run:
//! [`batch_cost`](crate::Forecast::batch_cost) and [`waves`](crate::Forecast::waves).
//!
//! # Which calls
//!
//! | a prompt | its calls |
//! |---|---|
//! | without a model | in the batch |
//! | that names a model of the same provider | in the batch; a file of OpenAI has one model, so there are several |
//! | that names a model of another provider, or has a model that is a value | live, at the usual price |
//!
//! Contexts follow the settings of the flow, so give [`set_model`](crate::flow::LiveFlow::set_model) the same model. In a
//! batch, [`timeout`](crate::compute::Policy::timeout), [`rate`](crate::compute::Policy::rate), the number of
//! [cells at once](crate::flow::LiveFlow::set_concurrency) and the warm-up of caches do not count;
//! [`limit`](crate::compute::Policy::limit) of a column does. `BatchRun::max_requests` makes smaller batches, for an account
//! that may have little in the queue of its provider.
//!
//! # When the process ends
//!
//! A batch needs no process that waits. The store of the flow has a note before a batch is submitted, and another one with its
//! id. Open the flow again, whenever you like, and call `batch` again:
//!
//! | the process ended | the next run by batches |
//! |---|---|
//! | before a submission | submits the requests |
//! | during a submission | looks whether the provider has the batch, and submits it if not |
//! | while the provider was at work, or results arrived | fetches the results |
//! | after a value was stored | has the value |
//!
//! So nothing is paid for twice. A request is known by a hash of its cell and its content: if a prompt has changed
//! meanwhile, its requests are new ones. A flow without a store has no notes, and [`run`](crate::flow::LiveFlow::run) reads none
//! of them: it calls the model for each missing cell.
//!
//! # When a batch ends early
//!
//! The answers that a batch has are stored. If it expired, was cancelled or failed, the other cells fail, and their error
//! names all of them and the reason. The next run by batches submits these requests anew; with
//! [`retry`](crate::compute::Policy::retry) the same run does. A refused request is an error of its cell, as in a run. A
//! provider that cannot be reached is tried again for about an hour; then the run ends, and the next one goes on with the batch.
//!
//! [← costs](super::costs) · [contents](super) · [budgets →](super::budgets)
