//! The parser of files.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::thread;

use tree_sitter::{ParseOptions, ParseState, QueryCursor, Tree};

use super::language::{Language, LanguageFamily};
use super::macros::without_macros;
use super::nesting::Nesting;
use super::scopes;
use super::symbols::Symbols;
use crate::repo::life::ScanLife;

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
/// The part of the [sum of depths](LanguageFamily::depths) that each part of a text gives back.
const DEPTHS_PER_PART: usize = 2000;
/// The number of patterns that a query follows at once. The cost of each node grows with them, and code needs few.
const MOST_PATTERNS: u32 = 64;

/// Finds the symbols of texts. It keeps the state of a grammar between files.
pub(in crate::repo) struct SymbolParser {
    inner: tree_sitter::Parser,
    cursor: QueryCursor,
    /// The size of the stack of its thread, in bytes. A text that may need more is parsed in a thread of its own.
    stack: usize,
    life: ScanLife,
}

/// A text on which the parser gave up, because it takes more work than code does, or because nobody waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::repo) struct Tangled;

impl SymbolParser {
    /// A parser for a thread whose stack has this size, in bytes.
    pub(in crate::repo) fn new(stack: usize, life: ScanLife) -> Self {
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(MOST_PATTERNS);
        cursor.set_max_start_depth(Some(0));
        Self { inner: tree_sitter::Parser::new(), cursor, stack, life }
    }

    /// The symbols of a text; `None` if the grammar finds nothing of the language in it.
    pub(in crate::repo) fn symbols(
        &mut self,
        language: &'static Language,
        text: &str,
    ) -> Result<Option<Symbols>, Tangled> {
        if text.len() > MAX_LEN {
            return Err(Tangled);
        }
        let plain =
            if language.family == LanguageFamily::C { without_macros(text) } else { Cow::Borrowed(text) };
        // This ends a text on which the parser gave up, too. It would go on with the next one.
        self.inner.set_language(&language.query.grammar).map_err(|_| Tangled)?;
        let stack = STACK + STACK_PER_BYTE * text.len();
        if stack <= self.stack {
            return self.find(language, &plain, text);
        }
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(stack);
            let thread = thread.spawn_scoped(scope, || self.find(language, &plain, text));
            thread.map_err(|_| Tangled)?.join().map_err(|_| Tangled)?
        })
    }

    /// The symbols of a text by the tree of the text without macros.
    fn find(
        &mut self,
        language: &'static Language,
        plain: &str,
        text: &str,
    ) -> Result<Option<Symbols>, Tangled> {
        let tree = self.parse(language.family, plain).ok_or(Tangled)?;
        Ok(scopes::symbols(language, &mut self.cursor, &tree, text))
    }

    /// The tree of a text. The work for it is bounded by counts, so that it does not depend on the speed of a machine.
    fn parse(&mut self, family: LanguageFamily, text: &str) -> Option<Tree> {
        let parts = text.len() / PART + 1;
        let mut reads = parts * READS + MIN_READS;
        let mut rounds = parts * ROUNDS + MIN_ROUNDS;
        let most = family.depths();
        let mut depths = most;
        let mut furthest = 0;
        let mut nesting = Nesting::new(text, family.has_lines());
        let is_spent = Cell::new(false);
        let mut read = |start: usize, _| {
            let Some(rest) = reads.checked_sub(1) else {
                is_spent.set(true);
                return "".as_bytes();
            };
            reads = rest;
            // The lexer asks for the rest of a character alone, and reads memory that is not there if it gets nothing.
            let end = text.floor_char_boundary(start.saturating_add(PART));
            text.as_bytes().get(start..end).unwrap_or_default()
        };
        let life = &self.life;
        let mut progress = |state: &ParseState| {
            let at = state.current_byte_offset();
            let new = at.saturating_sub(furthest) * DEPTHS_PER_PART / PART;
            furthest = furthest.max(at);
            let left = most.min(depths + new).checked_sub(nesting.at(at));
            let rest = rounds.checked_sub(1).zip(left);
            let Some(rest) = rest.filter(|_| !is_spent.get() && !life.is_over()) else {
                return ControlFlow::Break(());
            };
            (rounds, depths) = rest;
            ControlFlow::Continue(())
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = self.inner.parse_with_options(&mut read, None, Some(options));
        tree.filter(|_| !is_spent.get())
    }
}
