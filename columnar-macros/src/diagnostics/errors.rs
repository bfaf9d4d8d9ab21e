//! The errors of a flow. They are collected, so that all of them are reported at once.

use std::fmt::Display;

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::Error;

use crate::ident::ident_text;

/// The errors so far. The expansion emits them last.
#[derive(Default)]
pub(crate) struct Errors(Vec<Error>);

impl Errors {
    /// Adds an error that underlines all tokens of `at`.
    pub(crate) fn at(&mut self, at: impl ToTokens, message: impl Display) {
        self.0.push(Error::new_spanned(at, message));
    }

    /// Adds an error at one span.
    pub(crate) fn on(&mut self, span: Span, message: impl Display) {
        self.0.push(Error::new(span, message));
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    /// The errors as invocations of `compile_error!`, in the order of the source text.
    pub(crate) fn tokens(&self) -> TokenStream {
        let mut errors: Vec<&Error> = self.0.iter().collect();
        // rustc prints them in the order of the expansion, and the checks find them in another one.
        errors.sort_by_key(|error| position(error.span()));
        errors.into_iter().map(Error::to_compile_error).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Line and column, where a compiler is there to ask.
fn position(span: Span) -> Option<(usize, usize)> {
    proc_macro::is_available().then(|| {
        let span = span.unwrap();
        (span.line(), span.column())
    })
}

/// The line of a span, where a compiler is there to ask.
pub(super) fn line(span: Span) -> Option<usize> {
    position(span).map(|(line, _)| line)
}

/// A name in backticks, as messages have it.
pub(super) fn quote(name: &Ident) -> String {
    format!("`{}`", ident_text(name))
}
