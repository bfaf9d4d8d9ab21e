//! The uses of the parameters of a flow in the compute steps, for editors.
//!
//! ```text
//! #[cfg(rust_analyzer)]
//! fn __USES(style: &String) { let _ = style; let _ = style; }
//! ```
//!
//! A parameter is one of each step's function. An editor renames a variable in one function alone, so without this one
//! a rename from a compute step would leave out all others.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::scope::Item;
use crate::ident::ident_text;
use crate::syntax::uses;

impl Item<'_> {
    pub(super) fn fn_uses(&self) -> Option<TokenStream> {
        let names: Vec<String> = self.header.params.iter().map(|param| ident_text(&param.name)).collect();
        if names.is_empty() {
            return None;
        }
        let flow = self.emitter.flow;
        let steps = flow.columns.iter().filter_map(|column| Some(column.derived.as_ref()?.step.clone()));
        let arguments = flow.modules.iter().filter_map(|module| Some(module.arguments.as_ref()?.stream()));
        let uses = steps.chain(arguments).map(|tokens| uses(&names, &tokens));
        let uses = uses.map(|uses| uses.into_iter().filter_map(|used| used.ident).collect());
        let uses: Vec<Vec<Ident>> = uses.filter(|uses: &Vec<Ident>| !uses.is_empty()).collect();
        let params = self.borrowed_params();
        // A parameter of one step is renamed there.
        (uses.len() > 1).then(|| {
            let uses = uses.iter().flatten();
            quote!(#[cfg(rust_analyzer)] fn __USES(#(#params),*) { #(let _ = #uses;)* })
        })
    }
}
