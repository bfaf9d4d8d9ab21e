//! The Rust that a flow becomes.
//!
//! The user's tokens come first and keep their shape whether they are sound or not; errors come
//! last. A name of the user's is mentioned once with its own span, where it is declared or used;
//! glue is located at keywords. Editors find their way by that.

mod columns;
mod inline;
mod item;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

use crate::check::Plan;
use crate::errors::Errors;
use crate::syntax::{Column, Flow};

pub(crate) fn expand(krate: &TokenStream, flow: &Flow, plan: &Plan, errors: &Errors) -> TokenStream {
    let private = quote!(#krate::__private);
    let emission = Emission { private, flow, plan };
    let errors = errors.tokens();
    match &flow.header {
        Some(header) => emission.item(header, &errors),
        None if flow.is_item => errors,
        None => emission.inline(&errors),
    }
}

struct Emission<'f> {
    /// The path of what generated code may use.
    private: TokenStream,
    flow: &'f Flow,
    plan: &'f Plan,
}

impl Emission<'_> {
    /// The compute step of a column: the user's expression, inside a call that stands at the keyword.
    fn step(&self, column: &Column) -> TokenStream {
        let private = &self.private;
        match &column.derived {
            None => quote!(#private::None),
            Some(derived) if derived.step.is_empty() => quote!(#private::broken()),
            Some(derived) => {
                let (call, step) = (&column.keyword, &derived.step);
                quote!(#private::#call(#step))
            }
        }
    }
}

/// The name as a string literal.
fn literal(name: &Ident) -> String {
    name.unraw().to_string()
}

/// A further mention of a user's name, which an editor does not take for the user's own.
fn again(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site().resolved_at(name.span()));
    name
}

/// A name for something that the user has not named.
fn hidden(name: &Ident) -> Ident {
    format_ident!("__{}", name.unraw(), span = Span::mixed_site())
}

/// Documentation for what the user left undocumented, so that `missing_docs` has nothing to say.
fn docs_or(column: &Column, text: &str) -> TokenStream {
    if column.docs.is_empty() {
        let text = format!(" {text}");
        quote_spanned!(column.keyword.span()=> #[doc = #text])
    } else {
        let docs = &column.docs;
        quote!(#(#docs)*)
    }
}
