//! Spans for the crate [`tracing`]: one for a run, one for each cell of the run, and one for each call of a model in a
//! cell.
//!
//! Needs the feature `tracing`. The spans are for any subscriber. The names follow OpenTelemetry's [conventions for
//! generative AI]. All spans have the level `INFO` and the target `columnar`.
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! tracing_subscriber::fmt().with_writer(std::io::stderr).init();
//!
//! let chat = flow! {
//!     source user;
//!     column loud(user.latest) = |cx: Context| async move {
//!         tracing::info!("this event is in the span of the cell");
//!         cx.messages().last_text().to_uppercase()
//!     };
//! };
//! chat.user.push("hello").await?;
//! chat.run().await?;
//! # Ok(()) }
//! ```
//!
//! | span | fields |
//! |---|---|
//! | `columnar.run` | `columnar.cells.stored`, `.skipped`, `.failed`: the number of cells by outcome |
//! | `columnar.cell` | `columnar.column`, `columnar.step`, `columnar.attempts` |
//! | `chat` | `otel.name` (`chat` and the model), `otel.kind`, `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model`, `.max_tokens`, `.stream`, `gen_ai.response.time_to_first_chunk` (in seconds), `.finish_reasons`, `gen_ai.usage.input_tokens`, `.output_tokens`, `.cache_read.input_tokens`, `.cache_creation.input_tokens` |
//! | all three | `columnar.outcome`; after an error `error.type` and `otel.status_code` |
//!
//! - The parent of a run is the span in which the run is first polled, the parent of a cell is the run, and the parent
//!   of a call is the cell. The span of a cell is entered whenever the compute step is polled, so events of the step
//!   are in that span.
//! - `columnar.outcome` is `ok`, `failed`, `skipped` or `cancelled`. A cell is `ok` when the value is stored; a cell
//!   that is dropped before is `cancelled`.
//! - A failed attempt that is followed by another one is an event of the level `WARN` in the cell, with
//!   `columnar.attempt` and `error.type`.
//! - `error.type` is an HTTP status, a kind of [`std::io::Error`], `timeout`, `overloaded` (a model that takes no more
//!   calls), `limit` (a call that could cost too much), `panic`, `store`, `broke_off` (a reply without an end), `invalid`
//!   (a reply that is no value of the type), a finish reason, or `_OTHER`.
//! - `gen_ai.response.finish_reasons` is a list in JSON: `["stop"]`, `["length"]`, `["content_filter"]` or
//!   `["other"]`.
//!
//! # Content
//!
//! By default no field contains text of the conversation, an instruction, or the text of an error, which may quote both.
//! The variable [`CAPTURE_CONTENT`] enables content for the whole process. Then calls also have
//! `gen_ai.system_instructions`, `gen_ai.input.messages` and `gen_ai.output.messages`, in the JSON of the conventions, and
//! the finish reason in the provider's word. Failed spans have `exception.message`. Names of columns and models are not
//! content.
//!
//! Events that a compute step, a model or another library emits are not covered.
//!
//! # Cost
//!
//! Without the feature no code is compiled. With the feature, and without a subscriber for the spans, a cell costs a
//! few comparisons more.
//!
//! [conventions for generative AI]: https://github.com/open-telemetry/semantic-conventions-genai
//! [`tracing`]: https://docs.rs/tracing

mod call;
mod content;
mod names;
mod run;

pub(crate) use call::CallSpan;
pub use content::CAPTURE_CONTENT;
pub(crate) use run::{CellSpan, RunSpan};
