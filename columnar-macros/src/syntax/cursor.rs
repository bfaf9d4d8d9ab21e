//! A place in a list of tokens, and the ways to move on from it.

use crate::ident;
use crate::keywords::nearest_keyword;
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
        if is_punct(self.peek(), wanted) { self.next() } else { None }
    }

    /// The next attribute: `#` and what is in brackets after it, with the `!` of an inner one.
    pub(super) fn attribute(&mut self) -> Option<&'t [TokenTree]> {
        let count = attribute(self.rest)?;
        Some(self.take(count))
    }

    /// The parentheses that stand next, if any do.
    pub(super) fn parentheses(&mut self) -> Option<&'t TokenTree> {
        match self.peek() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => self.next(),
            _ => None,
        }
    }

    /// The tokens up to the end of this declaration: to the next `;`, or to where the next
    /// declaration begins if the `;` is missing.
    pub(super) fn declaration(&self) -> &'t [TokenTree] {
        let ends_at = |&at: &usize| {
            let rest = self.rest.get(at..).unwrap_or_default();
            is_punct(rest.first(), ';') || begins_declaration(rest)
        };
        let end = (0..self.rest.len()).find(ends_at).unwrap_or(self.rest.len());
        self.rest.get(..end).unwrap_or_default()
    }

    /// Moves on by so many tokens, and returns them.
    pub(super) fn take(&mut self, count: usize) -> &'t [TokenTree] {
        let (taken, rest) = self.rest.split_at_checked(count).unwrap_or((self.rest, &[]));
        self.rest = rest;
        taken
    }

    /// Moves behind the end of this declaration, and returns the tokens up to there.
    pub(super) fn skip_declaration(&mut self) -> &'t [TokenTree] {
        let skipped = self.take(self.declaration().len());
        self.took_semicolon = self.punct(';').is_some();
        skipped
    }

    /// Whether the last declaration that was skipped had its `;`.
    pub(super) fn took_semicolon(&self) -> bool {
        self.took_semicolon
    }
}

/// A keyword, even if it is misspelt, and a name: two identifiers in a row are no Rust expression,
/// except `source as Type`. Comments belong to what follows them, or to nothing.
pub(super) fn begins_declaration(trees: &[TokenTree]) -> bool {
    let mut rest = trees;
    while let Some(count) = attribute(rest) {
        rest = rest.get(count..).unwrap_or_default();
    }
    match rest {
        [TokenTree::Ident(word), TokenTree::Group(_), rest @ ..] | [TokenTree::Ident(word), rest @ ..]
            if ident::is(word, "pub") =>
        {
            begins_declaration(rest)
        }
        // Bounds of Rust have `<` behind it.
        [TokenTree::Ident(word), next, ..] if ident::is(word, "use") => !is_punct(Some(next), '<'),
        [TokenTree::Ident(word), TokenTree::Ident(name), ..] => {
            !ident::is(name, "as") && nearest_keyword(word).is_some()
        }
        [] => !trees.is_empty(),
        _ => false,
    }
}

/// How many tokens the attribute has that stands first.
fn attribute(trees: &[TokenTree]) -> Option<usize> {
    let is_list =
        |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
    match trees {
        [hash, list, ..] if is_punct(Some(hash), '#') && is_list(list) => Some(2),
        [hash, bang, list, ..] if is_punct(Some(hash), '#') && is_punct(Some(bang), '!') && is_list(list) => {
            Some(3)
        }
        _ => None,
    }
}

pub(super) fn is_punct(tree: Option<&TokenTree>, wanted: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}
