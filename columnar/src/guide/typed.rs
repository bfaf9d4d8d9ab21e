//! Columns whose values are JSON of a type.
//!
//! A column holds text. Where a program is to go by what a column says, it says behind its views what that is: with the
//! feature `typed`, any type that can be read from JSON and has a schema.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Score {
//!     /// From 1 to 5.
//!     stars: u8,
//!     reason: String,
//! }
//!
//! flow! {
//!     pub struct Desk(model: ScriptedModel) {
//!         source review;
//!         column score(review.latest): Score = prompt("Rate the review.").with(model.clone());
//!         column answer(review, score, self) = prompt("Answer the review.").with(model.clone());
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let model = ScriptedModel::new(|request| match &request.schema {
//!     Some(_) => r#"{"stars": 2, "reason": "It came late."}"#.to_owned(),
//!     None => "We are sorry.".to_owned(),
//! });
//! let desk = Desk::new(model);
//! desk.review.push("Good, but late.").await?;
//! desk.run().await?;
//!
//! let score = desk.score.read(0)?.expect("it has run");
//! assert_eq!((score.stars, score.reason.as_str()), (2, "It came late."));
//! // It is a column like any other: what is stored, shown and told is the text.
//! assert_eq!(desk.score.get(0).as_deref(), Some(r#"{"stars": 2, "reason": "It came late."}"#));
//! assert!(desk.answer.messages(0)?.to_json().contains("It came late."));
//! # Ok(()) }
//! ```
//!
//! [`read`](crate::flow::Handle::read) gives the value as the type, and `None` where nothing is stored. Without a struct
//! of columns it is [`typed`](crate::compute::Policy::typed) behind the compute step, and
//! [`flow.read::<Score>("score", 0)`](crate::flow::LiveFlow::read). The comments of the type are part of the schema, so
//! what is said there is said to the model.
//!
//! # What a model is told
//!
//! The [schema](crate::model::Request::schema) goes to the model, and its provider holds the reply to it where it can.
//! The schema stands behind the instruction, too, for the others. It is the same at every step, so it stays in the
//! provider's cache, and it counts as instruction in budgets and forecasts.
//!
//! # What is accepted
//!
//! The value is the JSON alone, letter for letter. What models without structured output put around it, a fence or a
//! sentence, is left out while it arrives, so the [deltas](crate::Event::Delta) of the value are pieces of the JSON. A
//! sentence may stand around a list or an object alone, and nothing is guessed: a reply with two of these is not
//! accepted.
//!
//! # What happens to other replies
//!
//! The model is asked once more: after the same messages it sees what it said, and what is wrong with that. The run
//! tells [`Event::Retry`](crate::Event::Retry). If that is of no use either, the column fails, with what the
//! [failures](super::failures) of columns come to.
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::ScriptedModel;
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let model = ScriptedModel::new(|request| match request.follow_up.last() {
//!     Some((_, wrong)) if wrong.contains("expected u8") => "[5]".to_owned(),
//!     _ => r#"["five"]"#.to_owned(),
//! });
//! let desk = flow! {
//!     source review;
//!     column stars(review.latest): Vec<u8> = prompt("Rate each item.").with(model.clone()).repairs(2);
//! };
//! desk.review.push("The lamp is perfect.").await?;
//!
//! let mut retries = Vec::new();
//! let mut run = desk.run();
//! while let Some(event) = run.try_next().await? {
//!     if let Event::Retry { attempt, error, .. } = event {
//!         retries.push((attempt, error));
//!     }
//! }
//! assert_eq!(desk.stars.read(0)?, Some(vec![5]));
//! // What is told of it tells nothing of what was said.
//! assert_eq!(retries, [(1, "the JSON does not match `Array_of_uint8` (line 1, column 7)".to_owned())]);
//! # Ok(()) }
//! ```
//!
//! [`repairs`](crate::compute::Policy::repairs) says how often it is asked again. [`retry`](crate::compute::Policy::retry)
//! is for calls that fail, and each repair may be tried so often. The numbers of attempts go on whatever the reason.
//!
//! # Functions
//!
//! What a function returns is held to the type as well. [`Json`](crate::Json) spares it the text:
//!
//! ```
//! # use columnar::prelude::*;
//! use columnar::Json;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source review;
//!     column words(review.latest): usize = |cx: Context| async move {
//!         Json(cx.input("review").map_or(0, |text| text.split_whitespace().count()))
//!     };
//! };
//! desk.review.push("Good, but late.").await?;
//! desk.run().await?;
//! assert_eq!(desk.words.read(0)?, Some(3));
//! # Ok(()) }
//! ```
//!
//! It is not asked again: it would say the same. A step of yours that asks a model by itself finds what is wanted in
//! [`schema`](crate::Context::schema) and [`follow_up`](crate::Context::follow_up), and says how often with `repairs`.
//!
//! # When the type changes
//!
//! Values that are stored stay as they are. Those that are not of the new type are an
//! [error](crate::Error::SchemaMismatch) when they are read, which says where and nothing of the text; `get` has the text. A
//! [version](crate::compute::Policy::version) behind the step says that such values are not to be taken for this
//! column's.
//!
//! # Limits
//!
//! - A source holds text.
//! - A type may name parameters of the flow, as in `struct Desk<T: DeserializeOwned + JsonSchema + 'static>`; those of
//!   a function around an inline flow it may not.
//! - Providers that hold replies to a schema may ask for an object at the outermost, as in `struct Stars { all: Vec<u8> }`.
