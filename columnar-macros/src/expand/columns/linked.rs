//! The columns of a flow with dependencies. The struct of the columns derefs to the columns of the base, and has the
//! columns of modules as fields:
//!
//! ```text
//! pub type FeltBase = Chat;
//! pub struct FeltColumns { __base: <FeltBase as Base>::Columns, pub mood: Derived, pub debate: … }
//! impl Felt {
//!     fn __READS_mood(here: &FeltColumns) { let _ = here.user; let _ = here.debate.critic; … }
//!     pub async fn extend(base: impl Borrow<FeltBase>) -> Result<Self>;
//! }
//! impl FeltColumns {
//!     const __BASE: Graph = <<FeltBase as Base>::Columns as Columns>::GRAPH;
//!     const __HERE_user: &'static Derived = &Derived::__new(Self::__BASE.__find("user"), "user");
//!     const __HERE_mood: &'static Derived = &Derived::__new(Self::__BASE.__len() + 0, "mood");
//!     const __HERE_debate_DOT_critic: &'static Derived = &Derived::__new(Self::__AT_debate.__column("critic"), "critic");
//!     const views_of_mood: &'static [View] = &[Self::__HERE_user.latest, Self::__HERE_tone.__all(), …];
//! }
//! impl Columns for FeltColumns { /* as in views.rs */ }
//! impl Deref for FeltColumns { type Target = <FeltBase as Base>::Columns; }
//! ```
//!
//! Only rustc knows the columns of the other flows. But rustc can neither evaluate derefs in constants, nor make the
//! columns of another flow there. So views are constants that find columns by name, and each mention of a column is a
//! field access in a function beside the constants.
//!
//! Where the path of another flow has parameters, as `Chat<M>` has, the struct and the enum of the columns have one
//! parameter instead: `FeltColumns<ChatColumns>`.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::parts::{ColumnsParts, typed, untyped};
use super::views::{constant_of, linked_view};
use crate::expand::dependencies::Dependency;
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{Private, constant_ident, hidden_ident, unlocated};
use crate::ident::ident_text;
use crate::syntax::ViewDecl;

impl Emitter<'_> {
    pub(super) fn linked_parts(&self) -> ColumnsParts {
        let mut nodes = Vec::new();
        let mut lists = Vec::new();
        let mut constants = TokenStream::new();
        for column in &self.flow.columns {
            let name = ident_text(&column.name);
            let list = lists.len();
            // No view is a literal: only rustc knows the indices of columns of other flows.
            nodes.push(quote!((#name, 0, #list)));
            if let Some(derived) = &column.derived {
                let constant = constant_ident("views", &column.name);
                let views = derived.views.iter().map(|view| linked_view(view, &column.name));
                constants.extend(quote!(const #constant: &'static [#Private::View] = &[#(#views),*];));
                lists.push(quote!(Self::#constant));
            }
        }
        let order = &self.plan.order;
        let graph = quote!(#Private::Graph::__new(&[#(#nodes),*], &[], &[#(#lists),*], &[#(#order),*]));
        constants.extend(self.linked_constants());
        ColumnsParts { constants, graph, bind: self.linked_bind() }
    }

    fn linked_bind(&self) -> TokenStream {
        let columns = self.flow.columns.iter().map(|column| {
            let field = unlocated(&column.name);
            let constant = hidden_ident("HERE_", &column.name);
            let typed = typed(column);
            quote!(#field: Self::#constant.__bind(__FLOW) #typed,)
        });
        let base = self.base_columns().map(
            |base| quote!(#[cfg(not(rust_analyzer))] __base: <#base as #Private::Columns>::__bind(__FLOW),),
        );
        let modules = self.module_binds();
        quote!(Self { #base #(#columns)* #modules })
    }

    /// The type of the columns of the base.
    pub(super) fn base_columns(&self) -> Option<TokenStream> {
        self.dependencies.base.as_ref().map(|base| base.associated_in_definition("ColumnsOf"))
    }

    /// Makes the columns of the base fields of the extension, too.
    pub(super) fn deref_to(&self, base: &Dependency<'_>, name: &Ident) -> TokenStream {
        let params = self.dependencies.struct_params();
        let arguments = self.dependencies.own_struct_arguments();
        let target = base.at_path(base.associated_in_definition("ColumnsOf"));
        quote! {
            // rustdoc would take the base itself for the target, and show its methods.
            #[doc(hidden)]
            #[allow(unexpected_cfgs)]
            impl #params #Private::Deref for #name #arguments {
                type Target = #target;

                #[cfg(not(rust_analyzer))]
                fn deref(&self) -> &Self::Target {
                    &self.__base
                }

                #[cfg(rust_analyzer)]
                fn deref(&self) -> &Self::Target {
                    loop {}
                }
            }
        }
    }

    /// The graphs of the other flows, and the columns to find in them.
    fn linked_constants(&self) -> TokenStream {
        let count = self.flow.columns.len();
        let base = self
            .base_columns()
            .map(|base| quote!(const __BASE: #Private::Graph = <#base as #Private::Columns>::GRAPH;));
        let first = if base.is_some() { quote!(Self::__BASE.__len() + #count) } else { quote!(#count) };
        let modules = self.module_constants(&first);
        let columns = self.column_constants();
        quote!(#base #modules #columns)
    }

    /// The columns before they are bound to a flow: the columns of this flow, and the columns of other flows that are
    /// read.
    fn column_constants(&self) -> TokenStream {
        let is_extension = self.dependencies.base.is_some();
        let own = self.flow.columns.iter().enumerate().map(|(at, column)| {
            let base = is_extension.then(|| quote!(Self::__BASE.__len() +));
            let constant = hidden_ident("HERE_", &column.name);
            let name = ident_text(&column.name);
            (constant, untyped(column), quote!(#base #at), name)
        });
        let mut known = HashSet::new();
        let others = self.flow.reads().filter(|view| view.is_inherited || !view.path.is_empty());
        // Two views of one column use the same constant.
        let others = others.filter(|view| known.insert(view.name())).map(|view| {
            let constant = constant_of(view, &view.base);
            let name = ident_text(view.last());
            (constant, quote!(#Private::Derived).into(), index_of(view), name)
        });
        let constants = own.chain(others).map(
            |(constant, ty, index, name)| quote!(const #constant: &'static #ty = &#ty::__new(#index, #name);),
        );
        constants.collect()
    }
}

/// The index of a column of another flow.
fn index_of(view: &ViewDecl) -> TokenStream {
    let name = view.name();
    if view.is_inherited {
        return quote!(Self::__BASE.__find(#name));
    }
    let module = hidden_ident("AT_", &view.base);
    let inside = inside(&name);
    quote!(Self::#module.__column(#inside))
}

/// The name of a column without its module.
pub(super) fn inside(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, inside)| inside)
}
