//! A place in a list of tokens, and the ways to move on from it.

use proc_macro2::{Delimiter, TokenTree};

pub(super) struct Cursor<'t> {
    rest: &'t [TokenTree],
    took_semicolon: bool,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(trees: &'t [TokenTree]) -> Self {
        Self { rest: trees, took_semicolon: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn rest(&self) -> &'t [TokenTree] {
        self.rest
    }

    pub(super) fn peek(&self) -> Option<&'t TokenTree> {
        self.rest.first()
    }

    pub(super) fn next(&mut self) -> Option<&'t TokenTree> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// The next token, if it is this punctuation.
    pub(super) fn punct(&mut self, wanted: char) -> Option<&'t TokenTree> {
        match self.peek() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == wanted => self.next(),
            _ => None,
        }
    }

    /// The next attribute: `#` and what is in brackets after it.
    pub(super) fn attribute(&mut self) -> Option<&'t [TokenTree]> {
        if !is_attribute(self.rest) {
            return None;
        }
        let attribute = self.rest.get(..2);
        self.skip(2);
        attribute
    }

    /// The tokens up to the end of this declaration: to the next `;`, or to where the next
    /// declaration begins if the `;` is missing.
    pub(super) fn declaration(&self) -> &'t [TokenTree] {
        let end = (0..self.rest.len()).find(|&at| self.ends_at(at)).unwrap_or(self.rest.len());
        self.rest.get(..end).unwrap_or_default()
    }

    /// Moves on by so many tokens.
    pub(super) fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    /// Moves behind the end of this declaration, and returns the tokens up to there.
    pub(super) fn skip_declaration(&mut self) -> &'t [TokenTree] {
        let skipped = self.declaration();
        self.skip(skipped.len());
        self.took_semicolon = self.punct(';').is_some();
        skipped
    }

    /// Whether the last declaration that was skipped had its `;`.
    pub(super) fn took_semicolon(&self) -> bool {
        self.took_semicolon
    }

    /// After a complete operand, a keyword with an identifier cannot go on with a Rust expression: a
    /// declaration begins there.
    fn ends_at(&self, at: usize) -> bool {
        let (before, after) = self.rest.split_at_checked(at).unwrap_or_default();
        let in_operand = match before.last() {
            Some(TokenTree::Punct(punct)) => !matches!(punct.as_char(), '?' | ','),
            _ => false,
        };
        is_punct(after.first(), ';') || !in_operand && begins_declaration(after)
    }
}

fn begins_declaration(mut trees: &[TokenTree]) -> bool {
    while is_attribute(trees) {
        trees = trees.get(2..).unwrap_or_default();
    }
    match trees {
        [TokenTree::Ident(word), TokenTree::Ident(_), ..] => word == "source" || word == "column",
        _ => false,
    }
}

fn is_attribute(trees: &[TokenTree]) -> bool {
    match trees {
        [hash, TokenTree::Group(group), ..] => {
            is_punct(Some(hash), '#') && group.delimiter() == Delimiter::Bracket
        }
        _ => false,
    }
}

fn is_punct(tree: Option<&TokenTree>, wanted: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}
