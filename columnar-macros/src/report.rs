//! Collects what is wrong with a flow, to tell it all at once.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// The errors so far; nothing is told until the expansion is complete.
#[derive(Default)]
pub(crate) struct Errors(Vec<Error>);

impl Errors {
    /// An error that underlines all of `at`.
    pub(crate) fn at(&mut self, at: impl ToTokens, message: impl Display) {
        self.0.push(Error::new_spanned(at, message));
    }

    /// An error at one place.
    pub(crate) fn on(&mut self, span: Span, message: impl Display) {
        self.0.push(Error::new(span, message));
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    /// As invocations of `compile_error!`, in the order of the text.
    pub(crate) fn tokens(&self) -> TokenStream {
        let mut errors: Vec<&Error> = self.0.iter().collect();
        errors.sort_by_key(|error| place(error.span()));
        errors.into_iter().map(Error::to_compile_error).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Line and column, where the compiler tells.
pub(crate) fn place(span: Span) -> Option<(usize, usize)> {
    proc_macro::is_available().then(|| {
        let span = span.unwrap();
        (span.line(), span.column())
    })
}
