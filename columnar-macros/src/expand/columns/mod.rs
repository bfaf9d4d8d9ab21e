//! The struct of the columns, and the graph as constants.
//!
//! A flow without dependencies has a graph of literals (`views`). The graph of a flow that extends or uses other flows
//! is linked: constants find the columns of those flows by name (`linked`).

mod linked;
mod modules;
mod parts;
mod rules;
mod views;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::Visibility;

use super::emitter::Emitter;
use super::tokens::{Private, constant_ident, hidden_ident};
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, ViewDecl};

pub(super) use modules::{module_mentions, module_steps};
use parts::ColumnsParts;
pub(super) use parts::is_typed;

impl Emitter<'_> {
    /// The struct of the columns.
    pub(super) fn columns(&self, vis: &Visibility, name: &Ident, docs: &str) -> TokenStream {
        let params = self.dependencies.struct_params();
        // An editor would complete this field, too, and needs only the deref to find the columns.
        let base = self.base_columns().map(|base| quote!(#[cfg(not(rust_analyzer))] __base: #base,));
        let fields = self.flow.columns.iter().map(|column| self.field(column));
        let modules = self.module_fields();
        quote! {
            #[doc = #docs]
            // A separate rule for names of columns allows `a__b`.
            #[allow(dead_code, non_snake_case, unexpected_cfgs, unreachable_pub)]
            #vis struct #name #params {
                #base #(#fields)* #modules
            }
        }
    }

    /// The implementations of the struct, with the graph.
    pub(super) fn impl_columns(&self, name: &Ident) -> TokenStream {
        let is_linked = !self.dependencies.is_empty();
        let parts = if is_linked { self.linked_parts() } else { self.plain_parts() };
        let ColumnsParts { constants, graph, bind } = parts;
        let params = self.dependencies.struct_params();
        let arguments = self.dependencies.own_struct_arguments();
        let cfgs = is_linked.then(|| quote!(, unexpected_cfgs));
        let constants = (!constants.is_empty()).then(|| {
            quote! {
                #[allow(non_upper_case_globals #cfgs)]
                impl #params #name #arguments { #constants }
            }
        });
        let extending =
            self.base_columns().map(|base| quote!(.__extending(&<#base as #Private::Columns>::GRAPH)));
        let used = self.modules().map(|(module, _)| constant_ident("inputs", &module.name));
        let used = (!self.dependencies.modules.is_empty()).then(|| quote!(.__using(&[#(Self::#used),*])));
        let documents = self.documents();
        let renames = self.renames();
        let graph = self.checked_graph(quote!(#graph #documents #extending #used #renames));
        // A generic impl has a static once, for all arguments. Only constants make the graphs different.
        let plan = if self.dependencies.consts.is_empty() {
            quote! {
                static PLAN: #Private::TypePlan = #Private::TypePlan::new();
                &PLAN
            }
        } else {
            quote!(#Private::TypePlan::of_type::<Self>())
        };
        let deref = self.dependencies.base.as_ref().map(|base| self.deref_to(base, name));
        let cfgs = is_linked.then(|| quote!(#[allow(unexpected_cfgs)]));
        let text = ident_text(name);
        let checks = self.checks(name);
        quote! {
            #constants

            #cfgs
            impl #params #Private::Columns for #name #arguments {
                const GRAPH: #Private::Graph = #graph;

                fn __plan() -> &'static #Private::TypePlan {
                    #plan
                }

                fn __bind(__FLOW: &#Private::Bind<'_>) -> Self {
                    #bind
                }
            }

            #deref

            // The name of the struct alone. A derive would make the compiler look at each field.
            impl #params #Private::core::fmt::Debug for #name #arguments {
                fn fmt(&self, __f: &mut #Private::core::fmt::Formatter<'_>) -> #Private::core::fmt::Result {
                    #Private::fmt_struct(#text, __f)
                }
            }

            #checks
        }
    }

    /// The function that mentions the columns that a column reads.
    pub(super) fn fn_reads(&self, column: &ColumnDecl, columns: &impl ToTokens) -> Option<TokenStream> {
        let views = &column.derived.as_ref()?.views;
        let mentions = views.iter().map(|view| self.mention(view, &column.name));
        let mentions = fn_mentions(&column.name, columns, &mentions.collect());
        // The macro has found every mistake that a flow without dependencies can have there, and each body costs rustc time.
        let editors_only = self.dependencies.is_empty().then(|| quote!(#[cfg(rust_analyzer)]));
        Some(quote!(#editors_only #mentions))
    }

    /// A mention of a view. The modifiers are included where no constant has them.
    pub(super) fn mention(&self, view: &ViewDecl, reader: &Ident) -> TokenStream {
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
