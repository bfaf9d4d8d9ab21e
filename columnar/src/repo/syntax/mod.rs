//! The symbols of one file, by its grammar.
//!
//! ```text
//! path ──▶ Language          text ──▶ Parser ──▶ Outline
//! ```
//!
//! Pure: the same text has the same outline.

mod language;
mod outline;

pub(super) use language::Language;
pub(super) use outline::{Kind, Outline, Parser, Symbol};
