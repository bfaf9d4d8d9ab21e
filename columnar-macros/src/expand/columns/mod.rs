//! The struct of the columns, and the graph as constants.
//!
//! A flow without dependencies has a graph of literals (`plain`). The graph of a flow that extends or uses other flows
//! is linked: constants find the columns of those flows by name (`linked`).

mod linked;
mod modules;
mod parts;
mod plain;
mod rules;
mod views;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::Visibility;

use super::emitter::Emitter;
use super::tokens::hidden_ident;
use crate::syntax::{Column, View};

pub(super) use parts::is_typed;

impl Emitter<'_> {
    /// The struct of the columns.
    pub(super) fn columns(&self, vis: &Visibility, name: &Ident, docs: &str) -> TokenStream {
        let params = self.dependencies.struct_params(self.private);
        let fields = if self.dependencies.is_empty() { self.plain_fields() } else { self.linked_fields() };
        quote! {
            #[doc = #docs]
            // A separate rule for names of columns allows `a__b`.
            #[allow(dead_code, non_snake_case, unexpected_cfgs, unreachable_pub)]
            #vis struct #name #params {
                #fields
            }
        }
    }

    /// The implementations of the struct, with the graph.
    pub(super) fn impl_columns(&self, name: &Ident) -> TokenStream {
        if self.dependencies.is_empty() {
            self.impl_plain_columns(name)
        } else {
            self.impl_linked_columns(name)
        }
    }

    /// The function that mentions the columns that a column reads.
    pub(super) fn fn_reads(&self, column: &Column, columns: &impl ToTokens) -> Option<TokenStream> {
        let views = &column.derived.as_ref()?.views;
        let mentions = views.iter().map(|view| self.mention(view, &column.name));
        let mentions = fn_mentions(&column.name, columns, &mentions.collect());
        // The macro has found every mistake that a flow without dependencies can have there, and each body costs rustc time.
        let editors_only = self.dependencies.is_empty().then(|| quote!(#[cfg(rust_analyzer)]));
        Some(quote!(#editors_only #mentions))
    }

    /// A mention of a view. The modifiers are included where no constant has them.
    pub(super) fn mention(&self, view: &View, reader: &Ident) -> TokenStream {
        if self.dependencies.is_empty() {
            views::mention_view(view, reader)
        } else {
            views::mention_column(view, reader)
        }
    }
}

/// A function for the mentions that belong to a column or a module.
pub(super) fn fn_mentions(name: &Ident, columns: &impl ToTokens, mentions: &TokenStream) -> TokenStream {
    let function = hidden_ident("READS_", name);
    quote! {
        fn #function(__here: &#columns) {
            #mentions
        }
    }
}
