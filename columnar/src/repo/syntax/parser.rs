//! The parser of files.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::thread;

use tree_sitter::{ParseOptions, QueryCursor, Tree};

use super::language::{Language, LanguageFamily};
use super::macros::without_macros;
use super::scopes;
use super::symbols::Symbols;

/// The largest file that is parsed, in bytes. Larger ones are data, and a tree takes many times their memory.
const MAX_LEN: usize = 1 << 20;
/// The stack of a thread that parses: for any text, and for each byte of one, in bytes.
///
/// A grammar may read a text in two ways at once, and forgets one of them by a recursion in C, as deep as the text is nested.
/// No count of brackets bounds that depth, since `a<b<c` is nested as well. Only the memory that is in use is taken.
const STACK: usize = 256 << 10;
const STACK_PER_BYTE: usize = 256;
/// The length of the parts in which a text is read, in bytes.
const PART: usize = 4096;
/// The number of parts that the lexer may read for each part of a text, and for any text. It reads a part again when it
/// looks for the end of a string or a comment that has none.
const READS: usize = 16;
const MIN_READS: usize = 1024;
/// The number of rounds that the parser may take for each part of a text, and for any text. Code takes up to 80 for a part.
const ROUNDS: usize = 250;
const MIN_ROUNDS: usize = 2000;
/// The number of patterns that a query follows at once. The cost of each node grows with them, and code needs few.
const MOST_PATTERNS: u32 = 64;

/// Finds the symbols of texts. It keeps the state of a grammar between files.
pub(in crate::repo) struct SymbolParser {
    inner: tree_sitter::Parser,
    cursor: QueryCursor,
    /// The size of the stack of its thread, in bytes. A text that may need more is parsed in a thread of its own.
    stack: usize,
}

impl SymbolParser {
    /// A parser for a thread whose stack has this size, in bytes.
    pub(in crate::repo) fn new(stack: usize) -> Self {
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(MOST_PATTERNS);
        cursor.set_max_start_depth(Some(0));
        Self { inner: tree_sitter::Parser::new(), cursor, stack }
    }

    /// The symbols of a text; `None` if the grammar finds nothing of the language in it, or gives up.
    pub(in crate::repo) fn symbols(&mut self, language: &'static Language, text: &str) -> Option<Symbols> {
        if text.len() > MAX_LEN {
            return None;
        }
        let plain =
            if language.family == LanguageFamily::C { without_macros(text) } else { Cow::Borrowed(text) };
        // This ends a text on which the parser gave up, too. It would go on with the next one.
        self.inner.set_language(&language.query.grammar).ok()?;
        let stack = STACK + STACK_PER_BYTE * text.len();
        if stack <= self.stack {
            return self.find(language, &plain, text);
        }
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(stack);
            thread.spawn_scoped(scope, || self.find(language, &plain, text)).ok()?.join().ok()?
        })
    }

    /// The symbols of a text by the tree of the text without macros.
    fn find(&mut self, language: &'static Language, plain: &str, text: &str) -> Option<Symbols> {
        let tree = self.parse(plain)?;
        scopes::symbols(language, &mut self.cursor, &tree, text)
    }

    /// The tree of a text. The work for it is bounded by counts, so that it does not depend on the speed of a machine.
    fn parse(&mut self, text: &str) -> Option<Tree> {
        let parts = text.len() / PART + 1;
        let mut reads = parts * READS + MIN_READS;
        let mut rounds = parts * ROUNDS + MIN_ROUNDS;
        let is_spent = Cell::new(false);
        let mut read = |start: usize, _| {
            let Some(rest) = reads.checked_sub(1) else {
                is_spent.set(true);
                return "".as_bytes();
            };
            reads = rest;
            let end = text.len().min(start.saturating_add(PART));
            text.as_bytes().get(start..end).unwrap_or_default()
        };
        let mut progress = |_: &_| {
            let rest = rounds.checked_sub(1);
            rounds = rest.unwrap_or_default();
            if rest.is_none() || is_spent.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = self.inner.parse_with_options(&mut read, None, Some(options));
        tree.filter(|_| !is_spent.get())
    }
}
