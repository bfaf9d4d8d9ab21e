//! The procedural half of `flow!`. Use it through the crate `columnar`, which holds its
//! documentation.
//!
//! ```text
//! tokens ──▶ syntax ──▶ check ──▶ expand ──▶ tokens
//!               │         │          ▲
//!               └──errors─┴──────────┘      told at the end, after a flow that is whole all the same
//! ```

mod check;
mod errors;
mod expand;
mod graph;
mod name;
mod nearest;
mod syntax;

use proc_macro2::TokenStream;

use errors::Errors;
use syntax::{Flow, Input};

/// The expansion of `columnar::flow!`, which passes `[$crate]` before the declarations.
#[proc_macro]
pub fn flow(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(input.into()).into()
}

fn expand(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Input { krate, declarations } = syntax::input(input);
    let mut flow = Flow::parse(declarations, &mut errors);
    let plan = check::check(&mut flow, &mut errors);
    expand::expand(&krate, &flow, &plan, &errors)
}
