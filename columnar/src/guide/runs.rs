//! Run a flow, follow the events, and see the progress.
//!
//! Chapter 12 of 37 · [← assembly](super::assembly) · [contents](super) · [skipping →](super::skipping)
//!
//! [`push`](crate::flow::Handle::push) stores a value and computes nothing. [`run`](crate::flow::LiveFlow::run)
//! computes all missing cells: each cell starts as soon as the values that it reads exist, across columns and steps.
//! Then the run ends. A run with nothing to do ends at once, without a call.
//!
//! `flow.run().await?` waits for the end. As a stream, the run yields events:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column mood(user.latest)               = script(["annoyed"]);
//!         column answer(user, mood.latest, self) = script(["Since when?"]);
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = Chat::new();
//! chat.user.push("It is slow.").await?;
//!
//! let mut values = Vec::new();
//! let mut run = chat.run();
//! while let Some(event) = run.try_next().await? {
//!     match event {
//!         Event::Delta { text, .. } => print!("{text}"),
//!         Event::Value { column: ChatColumn::Mood, value, .. } => values.push(format!("mood: {value}")),
//!         Event::Value { column: ChatColumn::Answer, step, value } => values.push(format!("{step}: {value}")),
//!         Event::Retry { column, attempt, .. } => println!("{column}: attempt {attempt} failed"),
//!         _ => {}
//!     }
//! }
//! assert_eq!(values, ["mood: annoyed", "0: Since when?"]);
//! # Ok(()) }
//! ```
//!
//! The column of an event is an enum, `ChatColumn`: a `match` that forgets a column does not compile.
//!
//! # Guarantees
//!
//! - A value is stored before its event is emitted, and before any other column reads the value. A value that was in an
//!   event, or that `get` returned, is never lost, never changed and never computed again. No failure, dropped run or
//!   push in between changes that; `tests/FAULTS.md` in the repository lists the faults with a test for each.
//! - The values of a column are emitted in the order of steps.
//! - The deltas of a cell, joined, are its value. A `Retry` cancels the deltas before it.
//! - Dropping a run cancels it. Stored values stay; unfinished cells are computed again by the next run.
//! - Values can be pushed and read during a run, and the run includes them. A second run at the same time is refused
//!   with [`Error::Running`](crate::Error::Running). If several clients push and watch, [spawn](super::services) the flow.
//!
//! # Concurrency
//!
//! A flow computes at most 32 cells at once. [`set_concurrency`](crate::flow::LiveFlow::set_concurrency) changes that
//! number for a flow, and [`.limit(4)`](crate::compute::Policy::limit) after a compute step for a column. Prompts with
//! the same model share a limit that [adapts](super::models#limits-that-adapt) to the model.
//!
//! # Forecast and progress
//!
//! [`forecast`](crate::flow::LiveFlow::forecast) estimates the next run in advance. A forecast prints as a table of
//! calls and tokens:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.latest)  = prompt("Name the mood.");
//!     column answer(user, self) = prompt("You are a helpful assistant.");
//! };
//! for text in ["It is slow.", "On Mondays.", "Why?"] {
//!     chat.user.push(text).await?;
//! }
//! let forecast = chat.forecast();
//! assert_eq!((forecast.cells, forecast.calls), (6, 6));
//! assert_eq!(forecast.rounds, 3);        // `answer` is computed step by step, and `mood` at the same time
//! println!("{forecast}");
//!
//! chat.run().await?;
//! assert_eq!(chat.forecast().cells, 0);
//! # Ok(()) }
//! ```
//!
//! Below the table is a line for each column whose context will not fit into the window of the model, with the [first
//! such step](crate::Overflow).
//!
//! During a run, [`progress`](crate::flow::LiveFlow::progress) counts the cells that are done, skipped, running, failed
//! and waiting. `cargo run --example backfill` shows both for a thousand rows and can be interrupted at any time.
//!
//! # In a terminal
//!
//! The feature `terminal` has the module `columnar::terminal`, whose lines fit into the terminal and whose texts cannot control
//! the terminal. `println!("{}", chat.table())` prints the flow as a table, with a word for the state of each cell without a
//! value. `ValueStream` prints the values of a run while they stream, and `ProgressBars` the progress of a run by column.
//!
//! # Values
//!
//! A column has values by step: `get`, `iter`, `last`, `len`. [`cell`](crate::flow::Handle::cell) also says why a value
//! is missing. [`rows`](crate::flow::LiveFlow::rows) reads a step of all columns:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::{CellState, SkipReason};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column size(user.latest) =
//!         (async |cx: Context| cx.input("user").map_or(0, |text| text.len()).to_string()).every(2);
//! };
//! for text in ["It is slow.", "On Mondays.", "Why?"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(chat.user.last()?, Some((2, "Why?".into())));
//! assert!(chat.size.iter()?.eq([(1, "11".into())]));          // skipped steps have no value
//! assert_eq!((chat.size.len(), chat.size.cell(3)), (3, CellState::Waiting));
//! assert_eq!(chat.size.cell(0), CellState::Skipped(Some(SkipReason::Every)));
//!
//! let mut rows = chat.rows(1..);
//! while let Some(row) = rows.try_next().await? {
//!     println!("{}: {:?} {:?}", row.step(), row.get("user"), row.get("size"));
//! }
//! # Ok(()) }
//! ```
//!
//! A flow that is declared at run time has the same methods with the name of the column first: `f.len("user")`.
//!
//! # Spans
//!
//! With the feature `tracing`, each run, each cell and each call of a model has a span. The names of the fields follow
//! OpenTelemetry's conventions for generative AI: tokens, finish reasons, the time to the first chunk. The fields have
//! no text of the conversation, unless the variable `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is `true`. The
//! module `columnar::trace` documents the fields.
//!
//! [← assembly](super::assembly) · [contents](super) · [skipping →](super::skipping)
