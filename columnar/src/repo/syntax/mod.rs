//! The symbols of one file, by the query of its language.
//!
//! ```text
//! path ──▶ Language          text ──▶ SymbolParser ──▶ Matches ──▶ Symbols
//! ```
//!
//! A grammar of tree-sitter makes the tree of a text, and the query of the language finds definitions, imports and names
//! in it. All that the languages differ in is in their rows and queries.
//!
//! Pure: the same text has the same symbols.

mod declarator;
mod language;
mod line;
mod macros;
mod matches;
mod nesting;
mod parser;
mod query;
mod repeats;
mod scopes;
mod signature;
mod symbols;
#[cfg(test)]
mod tests;

pub(super) use language::{Language, LanguageFamily};
pub(super) use parser::{SymbolParser, Tangled};
pub(super) use symbols::{Symbol, SymbolKind, Symbols};
