//! The code that tests and benchmarks of `columnar` share: above all, a second, naive implementation of assembly, and
//! the tools that compare the library with that implementation.
//!
//! ```text
//! strategies ──▶ a described flow ──▶ naive ──▶ messages ─┐
//!                      │                                  ├─ must be equal
//!                      └────────────▶ live ───▶ messages ─┘──▶ parse ──▶ the described values
//! ```
//!
//! [`naive`] and [`parse`] are written from the rules, not from the library, and share no code with the library. Both
//! are slow and repetitive on purpose: both must be obviously right.

#[cfg(feature = "providers")]
pub mod batches;
pub mod budget;
pub mod corpus;
pub mod cost;
#[cfg(feature = "postgres")]
pub mod cuts;
pub mod events;
#[cfg(feature = "postgres")]
pub mod faulty_database;
pub mod figures;
#[cfg(any(feature = "providers", feature = "web"))]
pub mod flood;
pub mod gate;
pub mod live;
pub mod load;
pub mod log;
pub mod models;
pub mod naive;
pub mod panics;
pub mod parse;
pub mod peers;
pub mod pictures;
pub mod plots;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod process;
pub mod rows;
pub mod sample_files;
#[cfg(any(feature = "providers", feature = "web"))]
pub mod scripted;
#[cfg(feature = "providers")]
pub mod server;
#[cfg(feature = "tracing")]
pub mod spans;
pub mod spelling;
pub mod store;
pub mod strategies;
pub mod talk;

/// The code of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
