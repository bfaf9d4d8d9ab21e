//! The Rust that a flow becomes.
//!
//! The user's tokens come before everything that depends on them, and keep their shape whether they
//! are sound or not; errors come last. A name of the user's is mentioned once with its own span, where it is declared or used;
//! glue is located at keywords. Editors find their way by that.

mod columns;
mod composed;
mod constructors;
mod docs;
mod id;
mod inline;
mod item;
mod module;
mod other;
#[cfg(test)]
mod tests;
mod types;

use std::fmt::Display;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Attribute;

use crate::check::Plan;
use crate::diagnostics::Errors;
use crate::ident::{ident_text, rust_ident};
use crate::syntax::{Column, ColumnType, Derived, Flow, Form, State, View};
use other::Others;

pub(crate) fn expand(krate: &TokenStream, flow: &Flow, plan: &Plan, errors: &Errors) -> TokenStream {
    let private = &Tokens::private(krate);
    let others = Others::new(private, flow);
    let emission = Emission { private, flow, plan, others };
    let errors = errors.tokens();
    match &flow.form {
        Form::Item(header) => emission.item(header, &errors),
        Form::Inline => emission.inline(&errors),
        Form::Unknown => errors,
    }
}

struct Emission<'f> {
    /// The path of what generated code may use.
    private: &'f Tokens,
    flow: &'f Flow,
    plan: &'f Plan,
    others: Others<'f>,
}

/// Tokens to be put among others, often: a token that is written costs the compiler little, a stream of tokens that is
/// put into another one much.
struct Tokens(Vec<TokenTree>);

impl Tokens {
    /// `columnar::__private`.
    fn private(krate: &TokenStream) -> Self {
        quote!(#krate::__private).into()
    }
}

impl From<TokenStream> for Tokens {
    fn from(tokens: TokenStream) -> Self {
        Self(tokens.into_iter().collect())
    }
}

impl ToTokens for Tokens {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().cloned());
    }
}

impl Emission<'_> {
    /// Words that may become keywords, and types, for editors to complete.
    fn words(&self) -> TokenStream {
        let (private, words) = (&self.private, &self.flow.partial_keywords);
        let words = words.iter().filter_map(rust_ident);
        // One more, for a word that is not there yet.
        let words = words.chain([Ident::new("column", Span::call_site())]);
        let types = self.types();
        quote! {
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[cfg(rust_analyzer)]
                const _: () = { #(use #private::keywords::#words as _;)* #types };
            };
        }
    }

    /// The types of columns. An editor does not complete them in fields, and what is not there yet would be no field.
    fn types(&self) -> TokenStream {
        let columns = self.flow.columns.iter().enumerate();
        let types = columns.filter_map(|(at, column)| {
            let ColumnType { ty, .. } = column.derived.as_ref()?.ty.as_ref()?;
            if self.others.types.iter().any(|generic| *generic.column == column.name) {
                return None;
            }
            let name = format_ident!("__{at}", span = Span::mixed_site());
            // One more, for a type that is not there yet.
            Some(if ty.is_empty() { quote!(type #name = __;) } else { quote!(type #name = #ty;) })
        });
        types.collect()
    }

    /// A compute step: the user's expression, inside a call that stands at the keyword.
    fn step(&self, keyword: &Ident, derived: &Derived) -> TokenStream {
        let (private, step) = (&self.private, &derived.step);
        let Some(last) = step.clone().into_iter().last() else {
            return quote!(#private::Declare.#keyword(#private::broken()));
        };
        // An expression that ends too early is blamed on what closes these parentheses.
        let mut argument = Group::new(Delimiter::Parenthesis, step.clone());
        argument.set_span(last.span());
        quote!(#private::Declare.#keyword #argument)
    }

    /// The compute step of a column as one of its type. What rustc has to say of that is said at the type, which stands
    /// from its `:` on to its last token.
    fn typed_step(column: &Column, columns: &impl ToTokens, step: TokenStream) -> TokenStream {
        let Some(ColumnType { colon, ty, is_partial: false }) =
            column.derived.as_ref().and_then(|derived| derived.ty.as_ref())
        else {
            return step;
        };
        let Some(last) = ty.clone().into_iter().last() else { return step };
        let field = again(&column.name);
        let mut place = Group::new(Delimiter::Brace, quote_spanned!(*colon=> &here.#field));
        place.set_span(last.span());
        let (typed, of) = (Ident::new("__typed", *colon), quote_spanned!(*colon=> |here: &#columns|));
        quote!(#step.#typed(#of #place))
    }
}

/// Keeps from the compiler what is wrong with a view: it has been told.
fn told(view: &View) -> Option<TokenStream> {
    (view.state != State::Valid).then(|| quote!(#[cfg(rust_analyzer)]))
}

/// Items with a comma behind each. The compiler reads text faster than it takes tokens from here, so it is for what is
/// as long as the flow; nothing in it is the user's own token.
fn list(items: impl IntoIterator<Item: Display>) -> TokenStream {
    let text: String = items.into_iter().fold(String::new(), |text, item| text + &item.to_string() + ",");
    // Where the compiler is there to read, nobody else need: `proc_macro2` has a look first.
    let tokens = if proc_macro::is_available() {
        text.parse::<proc_macro::TokenStream>().ok().map(TokenStream::from)
    } else {
        text.parse().ok()
    };
    tokens.unwrap_or_else(|| unreachable!("names, numbers and literals are tokens"))
}

/// The name as a string literal.
fn literal(name: &Ident) -> String {
    ident_text(name)
}

/// A further mention of a user's name, which an editor does not take for the user's own.
fn again(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site().resolved_at(name.span()));
    name
}

/// A place for what the user has not written, where rustc may point at.
fn at(place: Span) -> Span {
    Span::call_site().located_at(place)
}

/// A name for something that goes with a column. The role is in upper case, which no column is.
fn hidden(role: &str, column: &Ident) -> Ident {
    format_ident!("__{role}{}", ident_text(column), span = Span::mixed_site())
}

/// Documentation for what the user left undocumented, so that `missing_docs` has nothing to say.
fn docs_or(docs: &[Attribute], keyword: &Ident, text: &str) -> TokenStream {
    if docs.is_empty() {
        let text = format!(" {text}");
        quote_spanned!(keyword.span()=> #[doc = #text])
    } else {
        quote!(#(#docs)*)
    }
}
