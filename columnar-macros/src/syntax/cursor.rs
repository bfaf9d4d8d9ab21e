//! A position in a list of tokens, and the ways to move on from it.

use std::cell::Cell;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Path, PathSegment};

use crate::ident::{self, ident_text, rust_ident};
use crate::keywords::nearest_keyword;

#[derive(Clone)]
pub(super) struct Cursor<'t> {
    trees: &'t [TokenTree],
    at: usize,
    /// The end of the declaration, found once: without any `;`, each mistake would look for the end of the flow.
    end: Cell<Option<usize>>,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(trees: &'t [TokenTree]) -> Self {
        Self { trees, at: 0, end: Cell::new(None) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn rest(&self) -> &'t [TokenTree] {
        self.trees.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<&'t TokenTree> {
        self.rest().first()
    }

    /// The token before this position.
    pub(super) fn last(&self) -> Option<&'t TokenTree> {
        self.trees.get(self.at.checked_sub(1)?)
    }

    pub(super) fn next(&mut self) -> Option<&'t TokenTree> {
        self.take(1).first()
    }

    /// The next token, if it is this punctuation.
    pub(super) fn punct(&mut self, expected: char) -> Option<&'t TokenTree> {
        let next = self.peek().filter(|&tree| is_punct(tree, expected))?;
        self.at += 1;
        Some(next)
    }

    /// The next attribute: `#`, the `!` of an inner one, and the brackets.
    pub(super) fn attribute(&mut self) -> Option<&'t [TokenTree]> {
        let count = attribute_length(self.rest())?;
        Some(self.take(count))
    }

    /// The next token, if it is parentheses.
    pub(super) fn parentheses(&mut self) -> Option<&'t Group> {
        let group = as_group(self.peek()?, Delimiter::Parenthesis)?;
        self.at += 1;
        Some(group)
    }

    /// The tokens up to the end of this declaration: to the next `;`, or to the beginning of the next
    /// declaration if the `;` is missing.
    pub(super) fn declaration(&self) -> &'t [TokenTree] {
        let known = self.end.get().filter(|end| *end >= self.at);
        let end = known.unwrap_or_else(|| {
            let ends = (self.at..self.trees.len()).find(|&at| {
                let rest = self.trees.get(at..).unwrap_or_default();
                is_punct(rest.first(), ';') || begins_declaration(rest)
            });
            ends.unwrap_or(self.trees.len())
        });
        self.end.set(Some(end));
        self.trees.get(self.at..end).unwrap_or_default()
    }

    /// Moves on by at most `count` tokens, and returns them.
    pub(super) fn take(&mut self, count: usize) -> &'t [TokenTree] {
        let taken = self.rest().get(..count).unwrap_or(self.rest());
        self.at += taken.len();
        taken
    }

    /// Moves past the end of this declaration, and returns the tokens up to there.
    pub(super) fn skip_declaration(&mut self) -> &'t [TokenTree] {
        let skipped = self.take(self.declaration().len());
        self.punct(';');
        skipped
    }
}

/// Whether a declaration begins here: a keyword, even a misspelt one, and a name. Two identifiers in a row
/// are no Rust expression, except `source as Type`. Doc comments before it belong to it.
pub(super) fn begins_declaration(trees: &[TokenTree]) -> bool {
    let mut rest = trees;
    while let Some(count) = attribute_length(rest) {
        rest = rest.get(count..).unwrap_or_default();
    }
    match rest {
        [TokenTree::Ident(ident), TokenTree::Group(_), rest @ ..] | [TokenTree::Ident(ident), rest @ ..]
            if ident::is(ident, "pub") =>
        {
            begins_declaration(rest)
        }
        // The `use<>` of a bound is no declaration.
        [TokenTree::Ident(ident), next, ..] if ident::is(ident, "use") => !is_punct(next, '<'),
        // `source sources was "user";`
        [TokenTree::Ident(_), TokenTree::Ident(was), TokenTree::Literal(_), ..] if ident::is(was, "was") => {
            false
        }
        [TokenTree::Ident(ident), TokenTree::Ident(name), ..] => {
            !ident::is(name, "as") && nearest_keyword(ident).is_some()
        }
        // Attributes at the end are a declaration that is not typed yet, and no part of a step.
        [] => !trees.is_empty(),
        _ => false,
    }
}

/// The number of tokens of the attribute that comes first.
fn attribute_length(trees: &[TokenTree]) -> Option<usize> {
    let [hash, rest @ ..] = trees else { return None };
    let length = match rest {
        // rustc passes `//!` as `#![doc = "..."]`.
        [bang, ..] if is_punct(bang, '!') => 3,
        _ => 2,
    };
    let is_list = trees.get(length - 1).is_some_and(|list| is_group(list, Delimiter::Bracket));
    (is_punct(hash, '#') && is_list).then_some(length)
}

pub(crate) fn is_punct<'t>(tree: impl Into<Option<&'t TokenTree>>, expected: char) -> bool {
    matches!(tree.into(), Some(TokenTree::Punct(punct)) if punct.as_char() == expected)
}

pub(super) fn is_ident<'t>(tree: impl Into<Option<&'t TokenTree>>, expected: &str) -> bool {
    matches!(tree.into(), Some(TokenTree::Ident(ident)) if ident::is(ident, expected))
}

pub(super) fn is_group(tree: &TokenTree, delimiter: Delimiter) -> bool {
    as_group(tree, delimiter).is_some()
}

/// The group, if the token is one with these delimiters.
pub(super) fn as_group(tree: &TokenTree, delimiter: Delimiter) -> Option<&Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// The identifier, if the token is one.
pub(crate) fn as_ident(tree: &TokenTree) -> Option<&Ident> {
    match tree {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    }
}

/// Whether any token is such a token, in groups, too.
pub(crate) fn has_token(tokens: TokenStream, is_it: &dyn Fn(&TokenTree) -> bool) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => has_token(group.stream(), is_it),
        other => is_it(&other),
    })
}

/// The one token of a group without delimiters, such as a `$tag:literal` of the user's `macro_rules!`; else the token.
pub(crate) fn ungrouped(tree: &TokenTree) -> TokenTree {
    if let TokenTree::Group(group) = tree
        && group.delimiter() == Delimiter::None
        && let [inner] = trees_of(group).as_slice()
    {
        return ungrouped(inner);
    }
    tree.clone()
}

/// The span of the last token; of a group, the span of its closing bracket.
pub(crate) fn end_of(last: &TokenTree) -> Span {
    match last {
        // The message says `after this`, and the whole group may be many lines.
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    }
}

/// Whether nothing is typed yet: no tokens, or the marker of an editor alone.
pub(super) fn is_blank(trees: &[TokenTree]) -> bool {
    match trees {
        [] => true,
        [TokenTree::Ident(ident)] => ident_text(ident).is_empty(),
        _ => false,
    }
}

/// The parts between commas, each with the comma after it.
pub(super) fn comma_separated(
    trees: &[TokenTree],
) -> impl Iterator<Item = (&[TokenTree], Option<&TokenTree>)> {
    let commas = trees.iter().filter(|&tree| is_punct(tree, ',')).map(Some);
    trees.split(|tree| is_punct(tree, ',')).zip(commas.chain([None]))
}

pub(super) fn trees_of(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

pub(crate) fn trees(tokens: &TokenStream) -> Vec<TokenTree> {
    tokens.clone().into_iter().collect()
}

pub(super) fn tokens(trees: &[TokenTree]) -> TokenStream {
    trees.iter().cloned().collect()
}

/// A type or a path as users write it. As text, tokens of a macro may have spaces between them.
pub(crate) fn shown(written: impl ToTokens) -> String {
    let text = written.to_token_stream().to_string();
    let text = text.replace(" :: ", "::").replace(" : ", ": ");
    text.replace(" < ", "<").replace(" >", ">").replace("& ", "&").replace(" ,", ",")
}

/// Whether a path can name a struct: it does not end with `crate`, `Self` or another keyword.
pub(super) fn can_name_struct(path: &Path) -> bool {
    path.segments.last().is_some_and(|PathSegment { ident, .. }| {
        rust_ident(ident).as_ref() == Some(ident) && !ident_text(ident).is_empty()
    })
}

/// Counts the `<` that wait for their `>`.
#[derive(Default)]
pub(super) struct Angles {
    pub(super) open: usize,
    /// Whether the token before is a `-`, which makes an arrow of a `>`.
    after_minus: bool,
}

impl Angles {
    pub(super) fn pass(&mut self, tree: &TokenTree) {
        // In a token stream parentheses are groups, but angle brackets are not.
        if is_punct(tree, '<') {
            self.open += 1;
        } else if is_punct(tree, '>') && !self.after_minus {
            // A `>` without its `<` makes the path invalid, which is reported when `syn` reads it.
            self.open = self.open.saturating_sub(1);
        }
        self.after_minus = is_punct(tree, '-');
    }
}

/// Takes tokens up to this end, or all.
pub(super) fn skip_until(input: ParseStream<'_>, is_end: impl Fn(ParseStream<'_>) -> bool) -> Vec<TokenTree> {
    let mut skipped = Vec::new();
    while !is_end(input)
        && let Ok(tree) = input.parse()
    {
        skipped.push(tree);
    }
    skipped
}
