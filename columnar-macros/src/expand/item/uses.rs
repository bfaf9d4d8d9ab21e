//! The uses of the parameters of a flow in its compute steps, for editors.
//!
//! ```text
//! #[cfg(rust_analyzer)]
//! fn __USES(style: &String) { let _ = style; let _ = style; }
//! ```
//!
//! A parameter is one of each step's function. An editor renames a variable in one function alone, so without this one
//! a rename from a compute step would leave out all others.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;

use super::scope::Item;
use crate::ident::{self, ident_text};

impl Item<'_> {
    pub(super) fn fn_uses(&self) -> Option<TokenStream> {
        let names: Vec<String> = self.header.params.iter().map(|param| ident_text(&param.name)).collect();
        if names.is_empty() {
            return None;
        }
        let flow = self.emitter.flow;
        let steps = flow.columns.iter().filter_map(|column| Some(column.derived.as_ref()?.step.clone()));
        let arguments = flow.modules.iter().filter_map(|module| Some(module.arguments.as_ref()?.stream()));
        let uses = steps.chain(arguments).map(|step| {
            let mut uses = Uses { names: &names, found: Vec::new(), bound: Vec::new() };
            uses.collect(step);
            uses.free()
        });
        let uses: Vec<Vec<Ident>> = uses.filter(|uses| !uses.is_empty()).collect();
        let params = self.borrowed_params();
        // A parameter of one step is renamed there.
        (uses.len() > 1).then(|| {
            let uses = uses.iter().flatten();
            quote!(#[cfg(rust_analyzer)] fn __USES(#(#params),*) { #(let _ = #uses;)* })
        })
    }
}

/// The uses of parameters in a compute step.
struct Uses<'n> {
    names: &'n [String],
    found: Vec<Ident>,
    /// The names that a variable of the step has, too.
    bound: Vec<String>,
}

impl Uses<'_> {
    fn collect(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            match tree {
                TokenTree::Group(group) => self.collect(group.stream()),
                TokenTree::Ident(name) if self.names.contains(&ident_text(name)) => {
                    let before = at.checked_sub(1).and_then(|before| trees.get(before));
                    let after = trees.get(at + 1);
                    if is_one_of(before, &['|']) || is_one_of(after, &['|', '@']) || is_binding(before) {
                        self.bound.push(ident_text(name));
                    } else if !is_one_of(before, &['.', ':', '\'']) && !is_one_of(after, &[':']) {
                        self.found.push(name.clone());
                    }
                }
                _ => {}
            }
        }
    }

    /// Those that cannot be uses of a variable of the step.
    fn free(self) -> Vec<Ident> {
        self.found.into_iter().filter(|name| !self.bound.contains(&ident_text(name))).collect()
    }
}

fn is_one_of(tree: Option<&TokenTree>, signs: &[char]) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if signs.contains(&punct.as_char()))
}

/// Whether the word before a name makes it the name of a variable.
fn is_binding(before: Option<&TokenTree>) -> bool {
    matches!(before, Some(TokenTree::Ident(word)) if ["let", "mut", "ref"].iter().any(|known| ident::is(word, known)))
}
