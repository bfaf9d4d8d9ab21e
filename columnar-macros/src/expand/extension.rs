//! What a flow that extends another has instead: columns on top of those of the other, which they
//! deref to, and a way to go on with a flow that lives.
//!
//! ```text
//! pub struct FeltColumns { __base: <FeltBase as Base>::Columns, pub mood: Derived }
//! impl Felt {
//!     fn __READS_mood(here: &FeltColumns) { let _ = (&here.user, &here.mood); }
//!     pub async fn extend(base: impl Borrow<FeltBase>) -> Result<Self>;
//! }
//! pub type FeltBase = Chat;
//! impl FeltColumns {
//!     const __BASE: Graph = <<FeltBase as Base>::Columns as Columns>::GRAPH;
//!     const __HERE_user: &'static Derived = &Derived::__new(Self::__BASE.__find("user"), "user");
//!     const __HERE_mood: &'static Derived = &Derived::__new(Self::__BASE.__len() + 0, "mood");
//!     const __mood: &'static [View] = &[Self::__HERE_user.latest.__view(), …];
//!     const __NAME_mood: &'static str = Self::__BASE.__new_name("mood", "`mood` is a column of …");
//! }
//! impl Columns for FeltColumns { /* as in columns.rs */ }
//! impl Deref for FeltColumns { type Target = <FeltBase as Base>::Columns; }
//! ```
//!
//! The columns of the other flow are known to rustc alone. Derefs cannot be evaluated by the
//! compiler, so views are constants that find columns by their names, and each mention of a column is
//! a field access in a function beside them.
//!
//! Where the other flow is one of several with parameters, as `Chat<M>` is, the struct and the enum
//! of the columns have one in place of what they would take from it: `FeltColumns<ChatColumns>`.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Visibility;

use super::extended::Extended;
use super::{Emission, again, at, hidden, literal, told};
use crate::errors;
use crate::syntax::{Column, View};

impl Emission<'_> {
    /// The struct of the columns.
    pub(super) fn extension_columns(
        &self,
        extended: &Extended<'_>,
        vis: &Visibility,
        name: &Ident,
        docs: &str,
    ) -> TokenStream {
        let private = &self.private;
        let (base, params) = (extended.inner_part("Columns"), extended.params(&quote!(#private::Columns)));
        let fields = self.flow.columns.iter().map(|column| self.field(column));
        quote! {
            #[doc = #docs]
            #[allow(dead_code, unreachable_pub)]
            #vis struct #name #params {
                __base: #base,
                #(#fields)*
            }
        }
    }

    /// The graph as constants, and the way to the columns of the other flow.
    pub(super) fn impl_extension_columns(&self, extended: &Extended<'_>, name: &Ident) -> TokenStream {
        let private = &self.private;
        let (base, base_here) =
            (extended.inner_part("Columns"), extended.blamed(extended.inner_part("Columns")));
        let columns_bound = quote!(#private::Columns);
        let (params, arguments) = (extended.params(&columns_bound), extended.own_arguments());
        let views = self.flow.columns.iter().filter_map(|column| self.extension_views(column));
        let here = self.extension_here();
        let names = self.flow.columns.iter().map(|column| new_name(extended, column));
        let graph = self.extension_graph(&base);
        let binds = self.flow.columns.iter().map(|column| {
            let (field, here) = (again(&column.name), hidden("HERE_", &column.name));
            quote!(#field: Self::#here.__bind(flow),)
        });
        let plan = self.fn_plan();
        let debug = Self::impl_debug(name, params.as_ref(), arguments.as_ref());
        quote! {
            #[allow(non_upper_case_globals, unexpected_cfgs)]
            impl #params #name #arguments {
                #(#views)*
                const __BASE: #private::Graph = <#base as #private::Columns>::GRAPH;
                #here
                #(#names)*
            }

            impl #params #private::Columns for #name #arguments {
                #graph

                #plan

                fn __bind(flow: &#private::Bind<'_>) -> Self {
                    Self { __base: <#base as #private::Columns>::__bind(flow), #(#binds)* }
                }
            }

            impl #params #private::Deref for #name #arguments {
                type Target = #base_here;

                fn deref(&self) -> &Self::Target {
                    &self.__base
                }
            }

            #debug
        }
    }

    fn extension_graph(&self, base: &TokenStream) -> TokenStream {
        let (private, order) = (&self.private, &self.plan.order);
        let nodes = self.flow.columns.iter().map(|column| {
            let (name, views) = (hidden("NAME_", &column.name), hidden("", &column.name));
            let own = quote_spanned!(at(column.keyword.span())=> Self::);
            match column.derived {
                None => quote!(#private::Node::__source(#own #name)),
                Some(_) => quote!(#private::Node::__column(#own #name, Self::#views)),
            }
        });
        quote! {
            const GRAPH: #private::Graph = #private::Graph::__extending(
                &<#base as #private::Columns>::GRAPH, &[#(#nodes),*], &[#(#order),*],
            );
        }
    }

    /// What a column reads, as a constant of its own.
    fn extension_views(&self, column: &Column) -> Option<TokenStream> {
        let private = &self.private;
        let derived = column.derived.as_ref()?;
        let constant = hidden("", &column.name);
        let views = derived.views.iter().map(|view| {
            let View { tail, tagging, .. } = view;
            let shown = hidden("HERE_", if view.is_own() { &column.name } else { &view.base });
            let here = quote_spanned!(at(view.before)=> Self::#shown);
            let told = told(view);
            quote!(#told #here #tail #tagging.__view())
        });
        Some(quote!(const #constant: &'static [#private::Read] = &[#(#views),*];))
    }

    /// The columns before they are bound to a flow: the own ones, and those of the other that are read.
    fn extension_here(&self) -> TokenStream {
        let private = &self.private;
        let own = self
            .flow
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| (&column.name, self.kind(column), quote!(Self::__BASE.__len() + #at)));
        let views = self.flow.columns.iter().filter_map(|column| column.derived.as_ref());
        let inherited = views.flat_map(|derived| &derived.views).filter(|view| view.is_inherited);
        let mut known = HashSet::new();
        let inherited = inherited.filter(|view| known.insert(literal(&view.base))).map(|view| {
            let name = literal(&view.base);
            (&view.base, quote!(#private::Derived), quote!(Self::__BASE.__find(#name)))
        });
        let constants = own.chain(inherited).map(|(column, kind, place)| {
            let (constant, name) = (hidden("HERE_", column), literal(column));
            quote!(const #constant: &'static #kind = &#kind::__new(#place, #name);)
        });
        constants.collect()
    }
}

/// The name of a column, which must be none of the other flow's.
fn new_name(extended: &Extended<'_>, column: &Column) -> TokenStream {
    let (constant, message) =
        (hidden("NAME_", &column.name), errors::inherited_twice(&column.name, extended.name()));
    let name = literal(&column.name);
    let checked = quote_spanned!(at(column.keyword.span())=> Self::__BASE.__new_name(#name, #message));
    quote!(const #constant: &'static str = #checked;)
}

/// Mentions the columns that a column reads.
pub(super) fn fn_reads(column: &Column, columns: &TokenStream) -> Option<TokenStream> {
    let views = &column.derived.as_ref()?.views;
    let function = hidden("READS_", &column.name);
    let mentions = views.iter().map(|view| {
        let (told, mention) = (told(view), view.mentioned(&column.name));
        quote!(#told &here.#mention)
    });
    Some(quote! {
        #[allow(non_snake_case, unexpected_cfgs)]
        fn #function(here: &#columns) {
            let _ = (#(#mentions,)*);
        }
    })
}
