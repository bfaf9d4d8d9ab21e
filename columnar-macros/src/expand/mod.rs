//! The Rust that a flow becomes. A declaration with errors becomes a complete flow, too, so that nothing else in the user's
//! file breaks.
//!
//! The tokens of the user come before everything that depends on them, and keep the same shape, valid or not; errors
//! come last. A name of the user appears once with its own span, at the declaration or use; only parameters are
//! declared in each compute step. Where rustc underlines generated tokens, only the punctuation among these tokens has
//! a position. Editors map positions by that.

mod captures;
mod columns;
mod dependencies;
mod emitter;
mod generics;
mod inline;
mod inputs;
mod item;
#[cfg(test)]
mod tests;
mod tokens;

use proc_macro2::{Span, TokenStream};
use quote::quote;

use crate::check::ExpansionPlan;
use crate::diagnostics::Errors;
use crate::syntax::{FlowDecl, FlowForm};
use dependencies::Dependencies;
use emitter::Emitter;
use tokens::Private;

/// The expansion of a flow. `first` is the position of the first declaration.
pub(crate) fn expand(
    krate: &TokenStream,
    flow: &FlowDecl,
    first: Span,
    plan: &ExpansionPlan,
    errors: &Errors,
) -> TokenStream {
    let errors = errors.tokens();
    Private::within(quote!(#krate::__private), || {
        let emitter = Emitter { flow, plan, dependencies: Dependencies::new(flow) };
        match &flow.form {
            FlowForm::Item(header) => item::expand(&emitter, header, &errors),
            FlowForm::Inline => inline::expand(&emitter, first, &errors),
            FlowForm::Unknown => errors,
        }
    })
}
