//! The spans of a program with tracing.

mod call;
mod cell;
mod content;
mod failure;
mod names;
mod open;
mod provider;
mod run;

pub(crate) use call::CallSpan;
pub(crate) use cell::CellSpan;
pub use content::CAPTURE_CONTENT;
pub(crate) use run::RunSpan;
