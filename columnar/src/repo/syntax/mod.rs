//! The symbols of one file, by its grammar.
//!
//! ```text
//! path ──▶ Language          text ──▶ Parser ──▶ Symbols
//! ```
//!
//! A grammar of tree-sitter makes the tree of a text, and one walk over the tree finds the symbols. The rules of a language
//! say how the walk reads the nodes of each kind. Few of those kinds are definitions or imports, which functions of the
//! language describe.
//!
//! Pure: the same text has the same symbols.

mod exported;
mod finder;
mod grammar;
mod language;
mod languages;
mod line;
mod parser;
mod repeats;
mod rules;
mod scope;
mod symbols;
#[cfg(test)]
mod tests;
mod walk;

pub(super) use language::Language;
pub(super) use parser::Parser;
pub(super) use symbols::{Kind, Symbol, Symbols};
