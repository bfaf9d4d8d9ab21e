//! The errors of a flow. They are collected, so that all of them are reported at once.

use std::fmt::Display;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Error;

use crate::ident::ident_text;

/// The errors so far. The expansion emits them last.
#[derive(Default)]
pub(crate) struct Errors {
    all: Vec<Error>,
    /// How many more are at literals that rustc refuses itself.
    refused: usize,
}

impl Errors {
    /// Adds an error that underlines all tokens of `at`.
    pub(crate) fn at(&mut self, at: impl ToTokens, message: impl Display) {
        let at = at.into_token_stream();
        if has_quoted_text(at.clone()) {
            self.refused += 1;
        } else {
            self.all.push(Error::new_spanned(at, message));
        }
    }

    /// Adds an error about a token that ends the parser of a part.
    pub(crate) fn stop<T>(&mut self, at: impl ToTokens, message: impl Display) -> Option<T> {
        self.at(at, message);
        None
    }

    /// Adds an error at one span.
    pub(crate) fn on(&mut self, span: Span, message: impl Display) {
        self.all.push(Error::new(span, message));
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.all.push(error);
    }

    /// The errors as invocations of `compile_error!`, in the order of the source text.
    pub(crate) fn tokens(&self) -> TokenStream {
        let mut errors: Vec<&Error> = self.all.iter().collect();
        // rustc prints them in the order of the expansion, and the checks find them in another one.
        errors.sort_by_key(|error| position(error.span()));
        errors.into_iter().map(Error::to_compile_error).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len() + self.refused
    }
}

/// Whether a text is in single quotes, `'digest'`. rustc says so, and that strings have double ones.
fn has_quoted_text(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => has_quoted_text(group.stream()),
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            let inside = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
            inside.is_some_and(|inside| !inside.starts_with('\\') && inside.chars().nth(1).is_some())
        }
        TokenTree::Ident(_) | TokenTree::Punct(_) => false,
    })
}

/// Line and column, where a compiler is there to ask.
fn position(span: Span) -> Option<(usize, usize)> {
    proc_macro::is_available().then(|| {
        let span = span.unwrap();
        (span.line(), span.column())
    })
}

/// The line of a span, where a compiler is there to ask.
pub(crate) fn line(span: Span) -> Option<usize> {
    position(span).map(|(line, _)| line)
}

/// A name in backticks, as messages have it.
pub(crate) fn quote(name: &Ident) -> String {
    format!("`{}`", ident_text(name))
}
