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
//!
//! A capture whose name begins with `_` is for a condition. Of several patterns for one name, the first counts.
//!
//! A query that is run over a whole tree takes as long as the parser, at any number of patterns. So a plain walk visits the
//! nodes: patterns like `(identifier) @use` are no more than a look at its kind, and the others are run at the nodes with
//! whose kinds they begin. For that, each pattern begins with one kind, in one or more parentheses.

use tree_sitter::{Language, Query};

use super::signature::{is_word, slice};

/// A query that was compiled.
#[derive(Debug)]
pub(super) struct SymbolQuery {
    pub(super) grammar: Language,
    pub(super) query: Query,
    /// What there is to do at the nodes of each kind, by the number of the kind.
    visits: Vec<Visit>,
}

/// What a walk does at the nodes of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Visit {
    /// The capture of all of them.
    pub(super) capture: Option<u32>,
    /// Whether patterns begin with such a node.
    pub(super) is_root: bool,
}

impl SymbolQuery {
    pub(super) fn new(grammar: impl Into<Language>, parts: &[&str]) -> Self {
        let grammar = grammar.into();
        let text = parts.concat();
        let query = Query::new(&grammar, &text);
        let mut query = query.unwrap_or_else(|error| unreachable!("a test compiles all queries: {error}"));
        let mut visits = vec![Visit::default(); grammar.node_kind_count()];
        for pattern in 0..query.pattern_count() {
            let range = query.start_byte_for_pattern(pattern)..query.end_byte_for_pattern(pattern);
            let source = slice(&text, range);
            let kind = first_word(source.trim_start_matches('('));
            let Some(visit) = visits.get_mut(usize::from(grammar.id_for_node_kind(kind, true))) else {
                continue;
            };
            match source.strip_prefix('(').and_then(|rest| rest.strip_prefix(kind)?.strip_prefix(") @")) {
                Some(capture) => {
                    visit.capture = query.capture_index_for_name(first_word(capture));
                    query.disable_pattern(pattern);
                }
                None => visit.is_root = true,
            }
        }
        Self { grammar, query, visits }
    }

    /// What to do at the nodes of a kind; nothing for errors, which have no number in the grammar.
    pub(super) fn visit(&self, kind: u16) -> Visit {
        self.visits.get(usize::from(kind)).copied().unwrap_or_default()
    }
}

fn first_word(text: &str) -> &str {
    text.split(|c| !is_word(c)).next().unwrap_or_default()
}
