//! The query of a language, and the meaning of its captures.
//!
//! | captures | meaning |
//! |---|---|
//! | `@function`, `@class`, … | a definition of this [kind](SymbolKind), unless it is inside of a function |
//! | `@nothing` | no definition, also not by a later pattern |
//! | `@name` | the name of the definition. The signature is the text between the name and the field `body` |
//! | `@declarator` | a declarator of C in place of the name |
//! | `@value` | the function or class that the definition names: the signature belongs to the value |
//! | `@from`, `@to`, `@body` | where the signature begins, where it ends, and what it ends before |
//! | `@on` | a type that stands behind the signature |
//! | `@around`, `@inner`, `@prefix` | a node that belongs to a definition in it, and what stands before the signature then |
//! | `@import`, `@source`, `@text` | an import: its path, and its text or the names that are imported |
//! | `@closure` | a function without a name: definitions in it are local |
//! | `@use`, `@member` | a name that is used, and one that is used only after a dot |
//! | `@local`, `@after` | a name that the definition around it binds: everywhere, or after the end of a node |
//! | `@skip` | no name in it is used |
//! | `@comment`, `@long` | what signatures leave out: always, or if it is long |
//! | `@stray` | a text that the grammar does not know |
//!
//! A capture whose name begins with `_` is for a condition. Of several patterns for one name, the first counts.

use tree_sitter::{Language, Query};

/// A query that was compiled.
#[derive(Debug)]
pub(super) struct SymbolQuery {
    pub(super) grammar: Language,
    pub(super) query: Query,
}

impl SymbolQuery {
    pub(super) fn new(grammar: &Language, text: &str) -> Self {
        let query = Query::new(grammar, text);
        let query = query.unwrap_or_else(|error| unreachable!("a test compiles all queries: {error}"));
        Self { grammar: grammar.clone(), query }
    }
}
