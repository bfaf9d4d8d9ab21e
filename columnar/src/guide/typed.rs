//! Declare columns whose values are JSON of a Rust type, with the feature `typed`.
//!
//! Chapter 4 of 37 · [← compute steps](super::compute_steps) · [contents](super) · [views →](super::views)
//!
//! A column holds text. When a program needs more than text, the column declares a type after the views: any type that
//! implements `Deserialize` and `JsonSchema`.
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
//!         column score(review.latest): Score = prompt("Rate the review.").model(model.clone());
//!         column answer(review, score, self) = prompt("Answer the review.").model(model.clone());
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
//! // The column stores, shows and emits the text.
//! assert_eq!(desk.score.get(0).as_deref(), Some(r#"{"stars": 2, "reason": "It came late."}"#));
//! assert!(desk.answer.messages(0)?.to_json().contains("It came late."));
//! # Ok(()) }
//! ```
//!
//! [`read`](crate::flow::Handle::read) returns the value as the declared type, and `None` where nothing is stored;
//! [`get`](crate::flow::Handle::get) returns the text of the value, which is JSON, as every reader of the column sees it. In a
//! flow without fields, declare the type with [`typed`](crate::compute::Policy::typed) after the compute step, and read
//! the value with [`flow.read::<Score>("score", 0)`](crate::flow::LiveFlow::read). The doc comments of the type are
//! part of the schema, so the model reads them.
//!
//! # The schema in a request
//!
//! The [schema](crate::model::Request::schema) is part of the request, and a provider with structured output enforces
//! the schema. For other providers, the schema also follows the instruction. The text is the same at every step, so the
//! schema stays in the provider's cache. Budgets and forecasts count the schema as instruction.
//!
//! The model writes the fields in the declared order. So declare a field for the reasons before the field for the
//! answer.
//!
//! Each provider enforces a part of JSON Schema. A keyword that a provider does not enforce is left out of its request, and
//! the column still checks the whole schema. A schema that a provider would refuse is in the instruction alone:
//!
//! | providers | enforce | refuse |
//! |---|---|---|
//! | `fireworks`, `groq`, `mistral`, `nebius`, `open_router`, `openai`, `openai_resp`, `together`, `xai` | types, required properties, enums, formats, limits of numbers and lists, patterns | maps, tuples, a root that is no object, more than 5,000 properties or 10 levels |
//! | `anthropic` | types, required properties, enums, formats | recursive types, maps, tuples, a root that is no object, more than 24 optional properties or 16 properties of several types |
//! | `cohere` | types, required properties, enums, four formats | recursive types, alternatives, objects without a required property, maps, tuples, a root that is no object |
//! | `gemini`, `ollama`, `ollama_cloud` | as much as the provider can: the whole schema is sent | |
//! | `aliyun`, `deepseek`, `kimi`, `minimax`, `moonshot`, `qwen_cloud`, `zai` | nothing | |
//!
//! # Accepted replies
//!
//! The value is the JSON alone, byte for byte. Models without structured output add other text, which the column
//! removes:
//! - thoughts before the JSON, from `<think>` to `</think>`;
//! - a code fence, with sentences around the fence;
//! - sentences around a list or an object, also with brackets, as in `As [1] says: {"stars": 4}` for an object. A reply with
//!   two different values that match the type is rejected, because the column does not guess;
//! - missing quotes: the reply `Positive` is the value `"Positive"` of an enum with this variant.
//!
//! The [deltas](crate::Event::Delta) of the value are pieces of the JSON. JSON at the beginning of a reply, or after
//! thoughts or the first line of a fence, is emitted on arrival. JSON after a sentence is emitted at the end of the
//! reply.
//!
//! # Rejected replies
//!
//! After a reply that does not match the type, the column asks the model once more. The new request has the same
//! messages, then the reply, then the error; the run emits [`Event::Retry`](crate::Event::Retry). If the second reply
//! does not match either, the cell fails; see [failures](super::failures).
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let model = ScriptedModel::new(|request| match request.follow_up.last() {
//!     Some((_, wrong)) if wrong.contains("expected u8") => "[5]".to_owned(),
//!     _ => r#"["five"]"#.to_owned(),
//! });
//! let desk = flow! {
//!     source review;
//!     column stars(review.latest): Vec<u8> = prompt("Rate each item.").model(model.clone()).repairs(2);
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
//! // The error names the type and the position, without the text.
//! assert_eq!(retries, [(1, "the JSON does not match `Array_of_uint8` (line 1, column 7)".to_owned())]);
//! # Ok(()) }
//! ```
//!
//! The error prints nothing of the reply, so no log has it. A program reads the whole reply with
//! [`Error::reply`](crate::Error::reply), or from any error with [`SchemaMismatch::of`](crate::compute::SchemaMismatch::of).
//!
//! [`repairs`](crate::compute::Policy::repairs) sets how often the column asks again.
//! [`retry`](crate::compute::Policy::retry) is for failing calls, and each repair may be retried that often. The
//! attempts of a cell are numbered in one sequence, for all reasons together.
//!
//! # Functions
//!
//! The value that a function returns is checked against the type as well. [`Json`](crate::Json) serialises such a
//! value. A parameter for a typed column has its type:
//!
//! ```
//! use columnar::Json;
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source review;
//!     column words(review.latest): usize = async |review| Json(review.split_whitespace().count());
//!     column all(words): usize           = async |words| Json(words.iter().sum::<usize>());
//! };
//! desk.review.push("Good, but late.").await?;
//! desk.review.push("Thank you!").await?;
//! desk.run().await?;
//! assert_eq!(desk.words.read(0)?, Some(3));
//! assert_eq!(desk.all.read(1)?, Some(5));
//! # Ok(()) }
//! ```
//!
//! A function is not called again after a value that does not match, because the next call would return the same. A
//! compute step that asks a model itself finds the type in [`schema`](crate::Context::schema) and the rejected replies
//! in [`follow_up`](crate::Context::follow_up); `repairs` sets how often such a step is called again.
//!
//! # When the type changes
//!
//! Stored values do not change. Reading a value that does not match the new type is an
//! [error](crate::Error::SchemaMismatch) with the column and the step, without the text; `get` still returns the text.
//! A new [version](crate::compute::Policy::version) after the step makes a flow refuse the old values at the next
//! opening.
//!
//! # Limits
//!
//! - A source holds text.
//! - A type may use the parameters of a named flow, as in `struct Desk<T: DeserializeOwned + JsonSchema + 'static>`. In
//!   an inline flow, a type may not use the parameters of the surrounding function.
//! - Providers with structured output may require an object at the top level, as in `struct Stars { all: Vec<u8> }`.
//!
//! [← compute steps](super::compute_steps) · [contents](super) · [views →](super::views)
