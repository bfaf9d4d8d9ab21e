//! The columns of a flow that is made with others: on top of those of the flow that it extends, which they deref
//! to, and beside those of modules, which are fields.
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
//!     const __mood: &'static [Read] = &[Self::__HERE_user.latest.__view(), …];
//!     const __NAME_mood: &'static str = Self::__BASE.__new_name("mood", "`mood` is a column of …");
//!     const __SORTED: () = <Self as Columns>::GRAPH.__sorted::<…>();
//! }
//! impl Columns for FeltColumns { /* as in columns.rs */ }
//! impl Deref for FeltColumns { type Target = <FeltBase as Base>::Columns; }
//! ```
//!
//! The columns of the other flows are known to rustc alone. Derefs cannot be evaluated by the compiler, nor can the
//! columns of another flow be made by it, so views are constants that find columns by their names, and each mention
//! of a column is a field access in a function beside them.
//!
//! Where another flow is one of several with parameters, as `Chat<M>` is, the struct and the enum of the columns
//! have one in place of what they would take from it: `FeltColumns<ChatColumns>`.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

use super::columns::{self, all_modifiers, typed};
use super::other::Other;
use super::{Emission, Tokens, again, at, hidden, literal, told};
use crate::diagnostics::flow;
use crate::ident;
use crate::syntax::{Column, Derived, Module, View};

impl Emission<'_> {
    /// The struct of the columns.
    pub(super) fn composed_columns(&self, vis: &Visibility, name: &Ident, docs: &str) -> TokenStream {
        let others = &self.others;
        let params = others.struct_params(self.private);
        let base = others.extended.as_ref().map(|extended| extended.inner_part("Columns"));
        let base = base.map(|base| quote!(__base: #base,));
        let fields = self.flow.columns.iter().map(|column| self.field(column));
        let modules = self.module_fields();
        quote! {
            #[doc = #docs]
            #[allow(dead_code, unreachable_pub)]
            #vis struct #name #params {
                #base
                #(#fields)*
                #modules
            }
        }
    }

    /// The graph as constants, and the way to the columns of the flow that is extended.
    pub(super) fn impl_composed_columns(&self, name: &Ident) -> TokenStream {
        let (private, others) = (&self.private, &self.others);
        let (params, arguments) = (others.struct_params(private), others.own_struct_arguments());
        let constants = self.composed_constants();
        let graph = self.composed_graph();
        let sorted = (!others.modules.is_empty()).then(|| quote!(let () = Self::__SORTED;));
        let binds = self.flow.columns.iter().map(|column| {
            let (field, here) = (again(&column.name), hidden("HERE_", &column.name));
            let typed = typed(column);
            quote!(#field: Self::#here.__bind(flow) #typed,)
        });
        let base_bind = others.extended.as_ref().map(|extended| {
            let base = extended.inner_part("Columns");
            quote!(__base: <#base as #private::Columns>::__bind(flow),)
        });
        let deref = others.extended.as_ref().map(|extended| self.deref_to(extended, name));
        let (plan, module_binds) = (self.fn_plan(), self.module_binds());
        let debug = Self::impl_debug(name, params.as_ref(), arguments.as_ref());
        quote! {
            #[allow(non_upper_case_globals, unexpected_cfgs)]
            impl #params #name #arguments {
                #constants
            }

            impl #params #private::Columns for #name #arguments {
                #graph

                #plan

                fn __bind(flow: &#private::Bind<'_>) -> Self {
                    #sorted
                    Self { #base_bind #(#binds)* #module_binds }
                }
            }

            #deref

            #debug
        }
    }

    /// The columns of the flow that is extended are those of its extension, too.
    fn deref_to(&self, extended: &Other<'_>, name: &Ident) -> TokenStream {
        let (private, others) = (&self.private, &self.others);
        let (params, arguments) = (others.struct_params(private), others.own_struct_arguments());
        let base = extended.blamed(extended.inner_part("Columns"));
        quote! {
            impl #params #private::Deref for #name #arguments {
                type Target = #base;

                fn deref(&self) -> &Self::Target {
                    &self.__base
                }
            }
        }
    }

    fn composed_constants(&self) -> TokenStream {
        let (private, others, count) = (&self.private, &self.others, self.flow.columns.len());
        let views = self.flow.columns.iter().filter_map(|column| self.composed_views(column));
        let base = others.extended.as_ref().map(|extended| {
            let base = extended.inner_part("Columns");
            quote!(const __BASE: #private::Graph = <#base as #private::Columns>::GRAPH;)
        });
        let first = if base.is_some() { quote!(Self::__BASE.__len() + #count) } else { quote!(#count) };
        let modules = self.module_constants(&first);
        let here = self.composed_here();
        let own = self.flow.columns.iter().map(|column| (&column.name, &column.keyword));
        let all = own.chain(self.flow.modules.iter().map(|module| (&module.name, &module.keyword)));
        let names = others.extended.as_ref().map(|extended| {
            let names = all.map(|(name, keyword)| new_name(extended, name, keyword));
            quote!(#(#names)*)
        });
        let sorted = (!others.modules.is_empty()).then(|| {
            let (places, _) = others.sizes(private, &quote!(Self));
            let place = self.plan.possible_cycle.map_or_else(Span::call_site, at);
            let sorted = quote_spanned!(place=> <Self as #private::Columns>::GRAPH.__sorted::<#places>());
            quote!(const __SORTED: () = #sorted;)
        });
        quote!(#(#views)* #base #modules #here #names #sorted)
    }

    fn composed_graph(&self) -> TokenStream {
        let (private, order) = (&self.private, &self.plan.order);
        let (mut nodes, mut listed) = (Vec::new(), Vec::new());
        for column in &self.flow.columns {
            let (name, list) = (self.name(&column.name, &column.keyword), listed.len());
            nodes.push(quote!((#name, 0, #list)));
            if column.derived.is_some() {
                let (views, own) =
                    (hidden("", &column.name), quote_spanned!(at(column.keyword.span())=> Self::));
                listed.push(quote!(#own #views));
            }
        }
        let extending = self.others.extended.as_ref().map(|extended| {
            let base = extended.inner_part("Columns");
            quote!(.__extending(&<#base as #private::Columns>::GRAPH))
        });
        let used = self.modules().map(|(module, _)| {
            let (place, used) = (at(module.keyword.span()), hidden("USE_", &module.name));
            // What could not be read has been told.
            let is_complete = module.is_complete.then(|| quote_spanned!(place=> .__whole()));
            quote_spanned!(place=> Self::#used #is_complete)
        });
        let used = (!self.others.modules.is_empty()).then(|| quote!(.__using(&[#(#used),*])));
        let formers = self.formers();
        quote! {
            const GRAPH: #private::Graph =
                #private::Graph::__new(&[#(#nodes),*], &[], &[#(#listed),*], &[#(#order),*]) #extending #used #formers;
        }
    }

    /// The name of a column or a module, which must be none in the flow that is extended.
    pub(super) fn name(&self, name: &Ident, keyword: &Ident) -> TokenStream {
        if self.others.extended.is_none() {
            let name = literal(name);
            return quote!(#name);
        }
        let (own, name) = (quote_spanned!(at(keyword.span())=> Self::), hidden("NAME_", name));
        quote!(#own #name)
    }

    /// What a column reads, as a constant of its own.
    fn composed_views(&self, column: &Column) -> Option<TokenStream> {
        let private = &self.private;
        let derived = column.derived.as_ref()?;
        let constant = hidden("", &column.name);
        let views = derived.views.iter().map(|view| Self::shown(view, &column.name));
        Some(quote!(const #constant: &'static [#private::Read] = &[#(#views),*];))
    }

    /// A view, as a column `own` has it.
    fn shown(view: &View, own: &Ident) -> TokenStream {
        let (told, shown, said) = (told(view), here(view, own), all_modifiers(view));
        let here = quote_spanned!(at(view.before)=> Self::#shown);
        quote!(#told #here #said)
    }

    /// The columns before they are bound to a flow: the own ones, and those of others that are read.
    fn composed_here(&self) -> TokenStream {
        let private = &self.private;
        let is_extension = self.others.extended.is_some();
        let own = self.flow.columns.iter().enumerate().map(|(at, column)| {
            let base = is_extension.then(|| quote!(Self::__BASE.__len() +));
            let (here, name) = (hidden("HERE_", &column.name), literal(&column.name));
            (here, self.plain_kind(column), quote!(#base #at), name)
        });
        let views = self.flow.columns.iter().filter_map(|column| column.derived.as_ref());
        let inputs = self.flow.modules.iter().flat_map(Module::reads);
        let views = views.flat_map(Derived::reads).chain(inputs);
        let mut known = HashSet::new();
        let others = views.filter(|view| view.is_inherited || !view.path.is_empty());
        let others = others.filter(|view| known.insert(view.name())).map(|view| {
            (here(view, &view.base), quote!(#private::Derived).into(), place(view), literal(view.last()))
        });
        let constants = own.chain(others).map(|(constant, kind, place, name)| {
            quote!(const #constant: &'static #kind = &#kind::__new(#place, #name);)
        });
        constants.collect()
    }

    /// A mention of the column that a view shows, with what is said of it, where no constant beside it says that.
    pub(super) fn mention(&self, view: &View, own: &Ident) -> TokenStream {
        if self.others.are_none() { columns::mention(view, own) } else { mention(view, own) }
    }

    /// Mentions the columns that a column reads.
    pub(super) fn fn_reads(&self, column: &Column, columns: &Tokens) -> Option<TokenStream> {
        let views = &column.derived.as_ref()?.views;
        let mentions = views.iter().map(|view| self.mention(view, &column.name));
        Some(fn_mentions(&column.name, columns, &mentions.collect()))
    }
}

/// Where the column of another flow is that a view shows.
fn place(view: &View) -> TokenStream {
    let name = view.name();
    if view.is_inherited {
        return quote!(Self::__BASE.__find(#name));
    }
    let (module, inner) = (hidden("AT_", &view.base), name.split_once('.').map_or("", |(_, inner)| inner));
    quote_spanned!(at(view.last().span())=> Self::#module.__column(#inner))
}

/// A mention of the column that a view shows.
pub(super) fn mention(view: &View, own: &Ident) -> TokenStream {
    let (told, mentioned, path) = (told(view), view.field(own), &view.path);
    // Behind what is broken an editor finds more here than behind a constant, which there may not be.
    let said = told.is_some().then(|| all_modifiers(view));
    quote!(#told let _ = here.#mentioned #(.#path)* #said;)
}

/// A function for the mentions that belong to a column or a module.
pub(super) fn fn_mentions(name: &Ident, columns: &Tokens, mentions: &TokenStream) -> TokenStream {
    let function = hidden("READS_", name);
    quote! {
        fn #function(here: &#columns) {
            #mentions
        }
    }
}

/// The constant for the column that a view shows to the column `own`.
pub(super) fn here(view: &View, own: &Ident) -> Ident {
    // What is not typed yet shows the own column, too.
    if view.is_self() || ident::ident_text(view.last()).is_empty() {
        return hidden("HERE_", own);
    }
    let path = view.name().replace('.', "_DOT_");
    format_ident!("__HERE_{path}", span = Span::mixed_site())
}

/// A name that must be none of the other flow's.
fn new_name(extended: &Other<'_>, name: &Ident, keyword: &Ident) -> TokenStream {
    let (constant, message) = (hidden("NAME_", name), flow::inherited_twice(name, extended.name()));
    let name = literal(name);
    let checked = quote_spanned!(at(keyword.span())=> Self::__BASE.__new_name(#name, #message));
    quote!(const #constant: &'static str = #checked;)
}
