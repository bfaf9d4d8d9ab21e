//! When something is computed, and what is told of it.
//!
//! [`push`](crate::flow::Handle::push) stores a value and computes nothing.
//! [`run`](crate::flow::LiveFlow::run) computes all that is missing: whatever cell has everything that it reads,
//! at once, across columns and steps. Then it ends. A run with nothing to do ends at once and calls nobody.
//!
//! `flow.run().await?` just runs. Read as a stream, it tells what happens:
//!
//! ```
//! use columnar::prelude::*;
//! # use columnar::testing::script;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column mood(user.latest)            = script(["annoyed"]);
//!         column answer(user, mood.latest, self) = script(["Since when?"]);
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = Chat::new();
//! chat.user.push("It is slow.").await?;
//!
//! let mut told = Vec::new();
//! let mut run = chat.run();
//! while let Some(event) = run.try_next().await? {
//!     match event {
//!         Event::Delta { text, .. } => print!("{text}"),
//!         Event::Value { column: ChatColumn::Mood, value, .. } => told.push(format!("mood: {value}")),
//!         Event::Value { column: ChatColumn::Answer, step, value } => told.push(format!("{step}: {value}")),
//!         Event::Retry { column, attempt, .. } => println!("{column}: attempt {attempt} failed"),
//!         _ => {}
//!     }
//! }
//! assert_eq!(told, ["mood: annoyed", "0: Since when?"]);
//! # Ok(()) }
//! ```
//!
//! The column of an event is an enum, `ChatColumn`: a `match` that forgets a column does not compile.
//!
//! # What can be relied on
//!
//! - A value is stored before it is told, and before anybody reads it. Once told or given by `get`, it is never
//!   lost, never changed and never computed again.
//! - The values of a column are told in the order of its steps.
//! - The deltas of a cell, joined, are its value. After a `Retry`, those before it count for nothing.
//! - A run that is dropped is cancelled. What it had stored stays; what it had begun is begun anew by the next
//!   run.
//! - Values can be pushed and read while a run goes on, and the run goes on with them. A second run beside it is
//!   refused with [`Error::Running`](crate::Error::Running).
//!
//! # How wide
//!
//! At most 32 cells are computed at once; [`set_concurrency`](crate::flow::LiveFlow::set_concurrency) says otherwise for a flow, and
//! [`.limit(4)`](crate::compute::Policy::limit) behind a step for a column. Prompts that ask one model share a
//! limit that [adapts](crate::model::Adaptive) to what the model takes.
//!
//! # Before and during
//!
//! ```
//! # use columnar::prelude::*;
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
//! assert_eq!(forecast.rounds, 3);        // `answer` goes step by step, and `mood` beside it
//!
//! chat.run().await?;
//! assert_eq!(chat.forecast().cells, 0);
//! # Ok(()) }
//! ```
//!
//! Next: [columns that are computed now and then](super::skipping).
