//! The procedural half of `flow!`. Use it through the crate `columnar-flow`, which holds its
//! documentation.
//!
//! ```text
//! tokens ──▶ syntax ──▶ check ──▶ expand ──▶ tokens
//!               │          │         ▲
//!               └─ errors ─┴─────────┘       emitted last, after a complete expansion
//! ```
//!
//! Imports point down: `expand`, then `check`, `syntax`, `diagnostics`, and below them `keywords`, `ident` and `graph`.

mod check;
mod diagnostics;
#[cfg(test)]
mod editor_tests;
mod expand;
mod graph;
#[cfg(test)]
mod growth_tests;
mod ident;
mod keywords;
mod syntax;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use diagnostics::Errors;

/// The expansion of `columnar::flow!`, which passes `[$crate]` before the declarations.
#[proc_macro]
pub fn flow(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    // rustc words a panic as one of a macro; this message also asks for a report.
    // The errors end with the closure, so nothing reads them half changed.
    let expansion = catch_unwind(AssertUnwindSafe(|| expand(input.into(), &mut Errors::default())));
    expansion.unwrap_or_else(|panic| bug(&*panic)).into()
}

/// Expands a flow after the path of the runtime crate.
fn expand(input: TokenStream, errors: &mut Errors) -> TokenStream {
    let mut trees = input.into_iter();
    let krate = match trees.next() {
        Some(TokenTree::Group(path)) if path.delimiter() == Delimiter::Bracket => path.stream(),
        // The public macro always passes brackets; without them the hidden one was called.
        other => other.into_iter().collect(),
    };
    let declarations: TokenStream = trees.collect();
    let first = declarations.clone().into_iter().next().map_or(Span::call_site(), |tree| tree.span());
    let mut flow = syntax::parse(declarations, errors);
    let plan = check::check(&mut flow, errors);
    expand::expand(&krate, &flow, first, &plan, errors)
}

/// Reports a panic as a bug of this crate.
fn bug(panic: &(dyn Any + Send)) -> TokenStream {
    // The payload is a `&str` where `panic!` has a literal alone, and else a `String`.
    let message = (panic.downcast_ref::<&str>().copied())
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let message = format!(
        "`flow!` panicked, which is a bug in columnar: {message}\n\n\
         help: please report it, together with this flow, to the issue tracker of columnar"
    );
    syn::Error::new(Span::call_site(), message).to_compile_error()
}
