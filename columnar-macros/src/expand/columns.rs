//! The struct of the columns, and the graph as constants:
//!
//! ```text
//! pub struct ChatColumns { pub user: Source, pub topics: Derived }
//! impl ChatColumns {
//!     const __topics: &'static [View] = &[Self::__HERE.user.latest.__view()];
//!     const __HERE: &'static Self = &Self { user: source(0, "user"), topics: Derived::__new(1, "topics") };
//! }
//! impl Columns for ChatColumns {
//!     const GRAPH: Graph = Graph::__new(&[Node::__source("user"), Node::__column("topics", Self::__topics)], &[0, 1]);
//!     fn __plan() -> &'static TypePlan { static PLAN: TypePlan = TypePlan::new(); &PLAN }
//!     fn __bind(flow: &Bind<'_>) -> Self { Self { user: Self::__HERE.user.__bind(flow), … } }
//! }
//! ```

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Visibility;

use super::{Emission, again, at, docs_or, hidden, literal, told};
use crate::syntax::{Around, Column, Former, View};

impl Emission<'_> {
    /// The struct.
    pub(super) fn columns(&self, vis: &Visibility, name: &Ident, docs: &str) -> TokenStream {
        if !self.others.are_none() {
            return self.composed_columns(vis, name, docs);
        }
        let fields = self.flow.columns.iter().map(|column| self.field(column));
        quote! {
            #[doc = #docs]
            #[allow(dead_code, unreachable_pub)]
            #vis struct #name {
                #(#fields)*
            }
        }
    }

    /// The name alone: with a derive the compiler would look at each field.
    pub(super) fn impl_debug(
        name: &Ident,
        params: Option<&TokenStream>,
        arguments: Option<&TokenStream>,
    ) -> TokenStream {
        let text = literal(name);
        quote! {
            impl #params ::core::fmt::Debug for #name #arguments {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(#text).finish_non_exhaustive()
                }
            }
        }
    }

    /// The graph.
    pub(super) fn impl_columns(&self, name: &Ident) -> TokenStream {
        if !self.others.are_none() {
            return self.impl_composed_columns(name);
        }
        let private = &self.private;
        let views = self.flow.columns.iter().filter_map(|column| self.views(column));
        let here = self.flow.columns.iter().enumerate().map(|(at, column)| self.here(at, column));
        let nodes = self.flow.columns.iter().map(|column| self.node(column));
        let order = &self.plan.order;
        let binds = self.flow.columns.iter().map(|column| {
            let field = again(&column.name);
            quote!(#field: Self::__HERE.#field.__bind(flow),)
        });
        let (plan, debug) = (self.fn_plan(), Self::impl_debug(name, None, None));
        quote! {
            #[allow(non_upper_case_globals, unexpected_cfgs)]
            impl #name {
                #(#views)*
                const __HERE: &'static Self = &Self { #(#here)* };
            }

            impl #private::Columns for #name {
                const GRAPH: #private::Graph = #private::Graph::__new(&[#(#nodes),*], &[#(#order),*]);

                #plan

                fn __bind(flow: &#private::Bind<'_>) -> Self {
                    Self { #(#binds)* }
                }
            }

            #debug
        }
    }

    /// What a column reads, as a constant of its own: editors infer small bodies fast.
    fn views(&self, column: &Column) -> Option<TokenStream> {
        let private = &self.private;
        let derived = column.derived.as_ref()?;
        let constant = hidden("", &column.name);
        let views = derived.views.iter().map(|view| shown(view, &column.name));
        Some(quote!(const #constant: &'static [#private::Read] = &[#(#views),*];))
    }

    fn here(&self, at: usize, column: &Column) -> TokenStream {
        let private = &self.private;
        let (field, name) = (again(&column.name), literal(&column.name));
        if column.derived.is_none() {
            let call = &column.keyword;
            return quote!(#field: #private::Declare.#call(#at, #name),);
        }
        quote!(#field: #private::Derived::__new(#at, #name),)
    }

    fn node(&self, column: &Column) -> TokenStream {
        let private = &self.private;
        let name = literal(&column.name);
        let was = was(column);
        if column.derived.is_none() {
            return quote!(#private::Node::__source(#name) #was);
        }
        let views = hidden("", &column.name);
        let own = quote_spanned!(at(column.keyword.span())=> Self::);
        quote!(#private::Node::__column(#name, #own #views) #was)
    }

    pub(super) fn fn_plan(&self) -> TokenStream {
        let private = &self.private;
        quote! {
            fn __plan() -> &'static #private::TypePlan {
                static PLAN: #private::TypePlan = #private::TypePlan::new();
                &PLAN
            }
        }
    }

    pub(super) fn field(&self, column: &Column) -> TokenStream {
        let (name, ty) = (&column.name, self.kind(column));
        let kind = if column.derived.is_some() { "column" } else { "source" };
        let docs = docs_or(&column.docs, &column.keyword, &format!("The {kind} `{}`.", literal(name)));
        quote!(#docs pub #name: #ty,)
    }

    /// The type of a column.
    pub(super) fn kind(&self, column: &Column) -> TokenStream {
        let private = &self.private;
        if column.derived.is_some() { quote!(#private::Derived) } else { quote!(#private::Source) }
    }
}

/// What a column was named before, as a call.
pub(super) fn was(column: &Column) -> Option<TokenStream> {
    let Former { word, name } = column.former.as_ref()?;
    Some(quote!(.#word(#name)))
}

/// A view as a field access on the struct of the columns, so that names and views are found by
/// editors and checked by rustc. `self` is the own column.
fn shown(view: &View, own: &Ident) -> TokenStream {
    let (told, base, said) = (told(view), view.mentioned(own), said(view));
    let here = quote_spanned!(at(view.before)=> Self::__HERE);
    quote!(#told #here.#base #said)
}

/// What a view says of the column that it shows.
pub(super) fn said(view: &View) -> TokenStream {
    let View { tail, eliding, tagging, filtering, noting, groups, .. } = view;
    let inside = (!groups.is_empty()).then(|| {
        let tags = groups.iter().map(Around::text);
        quote!(.__in(&[#(#tags),*]))
    });
    quote!(#tail #eliding #tagging #filtering #noting.__view() #inside)
}
