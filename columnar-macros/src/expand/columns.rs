//! The struct of the columns, and the graph as constants:
//!
//! ```text
//! pub struct ChatColumns { pub user: Source, pub topics: Derived, pub notes: Derived }
//! impl ChatColumns {
//!     const __notes: &'static [Read] = &[View::__known(1, 0, false, "topics").window(MANY).__view()];
//! }
//! impl Columns for ChatColumns {
//!     const GRAPH: Graph = Graph::__new(
//!         &[("user", 0, 0), ("topics", 0, 0), ("notes", 1, 0)],
//!         &[(0, 1, false, "user")],
//!         &[Self::__notes],
//!         &[0, 1, 2],
//!     );
//!     fn __plan() -> &'static TypePlan { static PLAN: TypePlan = TypePlan::new(); &PLAN }
//!     fn __bind(flow: &Bind<'_>) -> Self {
//!         let [__topics, __notes] = flow.__derived::<Self, _>();
//!         Self { user: source(0, "user").__bind(flow), topics: __topics, notes: __notes }
//!     }
//! }
//! impl Chat {
//!     fn __READS_topics(here: &ChatColumns) { let _ = here.user.latest; }
//! }
//! ```
//!
//! What the declaration says in so many words is written into the graph, which the compiler then evaluates for whoever
//! asks and not in every check. What the compiler alone can know has a constant of its own, and the graph mentions that:
//! so what is wrong with it is told.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Visibility;

use super::other::Generic;
use super::{Emission, Tokens, again, at, docs_or, hidden, list, literal, told};
use crate::syntax::{Column, GroupTag, RenamedFrom, State, Tag, View};

impl Emission<'_> {
    /// The struct.
    pub(super) fn columns(&self, vis: &Visibility, name: &Ident, docs: &str) -> TokenStream {
        if !self.others.are_none() {
            return self.composed_columns(vis, name, docs);
        }
        let fields = self.flow.columns.iter().map(|column| self.field(column));
        let params = self.others.struct_params(self.private);
        quote! {
            #[doc = #docs]
            #[allow(dead_code, unreachable_pub)]
            #vis struct #name #params {
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
        let places = self.flow.columns.iter().enumerate().map(|(at, column)| (literal(&column.name), at));
        let places: HashMap<String, usize> = places.collect();
        let (mut nodes, mut known, mut listed, mut constants) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for column in &self.flow.columns {
            let name = literal(&column.name);
            nodes.push(format!("({name:?},{},{})", known.len(), listed.len()));
            let reads = column.derived.iter().flat_map(|derived| Read::all(column, &derived.views, &places));
            let reads: Vec<Read<'_>> = reads.collect();
            if reads.iter().all(|read| read.view.is_literal()) {
                known.extend(reads.iter().map(Read::literals));
            } else {
                let (views, own) =
                    (hidden("", &column.name), quote_spanned!(at(column.keyword.span())=> Self::));
                let reads = reads.iter().map(|read| read.constant(private));
                constants.push(quote!(const #views: &'static [#private::Read] = &[#(#reads),*];));
                listed.push(quote!(#own #views));
            }
        }
        let (params, arguments) = (self.others.struct_params(private), self.others.own_struct_arguments());
        let constants = (!constants.is_empty()).then(|| {
            quote! {
                #[allow(non_upper_case_globals)]
                impl #params #name #arguments { #(#constants)* }
            }
        });
        let (nodes, known, order) = (list(nodes), list(known), list(&self.plan.order));
        let debug = Self::impl_debug(name, params.as_ref(), arguments.as_ref());
        let (plan, bind) = (self.fn_plan(), self.fn_bind());
        let formers = self.formers();
        quote! {
            #constants

            impl #params #private::Columns for #name #arguments {
                const GRAPH: #private::Graph =
                    #private::Graph::__new(&[#nodes], &[#known], &[#(#listed),*], &[#order]) #formers;

                #plan

                #bind
            }

            #debug
        }
    }

    /// What columns were named before.
    pub(super) fn formers(&self) -> Option<TokenStream> {
        let private = &self.private;
        let columns = self.flow.columns.iter().enumerate();
        let formers = columns.filter_map(|(at, column)| {
            let RenamedFrom { keyword, name } = column.renamed_from.as_ref()?;
            Some(quote!(#private::Former::#keyword(#at, #name)))
        });
        let formers: Vec<TokenStream> = formers.collect();
        (!formers.is_empty()).then(|| quote!(.__formers(&[#(#formers),*])))
    }

    /// The columns of a flow. Computed ones, which may be many, come all at once: a call for each costs the compiler more.
    fn fn_bind(&self) -> TokenStream {
        let private = &self.private;
        let (mut sources, mut fields, mut derived) = (TokenStream::new(), Vec::new(), Vec::new());
        for (at, column) in self.flow.columns.iter().enumerate() {
            if column.derived.is_some() {
                let (field, given) = (column.name.to_string(), hidden("", &column.name));
                let typed = if is_typed(column) { ".__typed()" } else { "" };
                fields.push(format!("{field}:{given}{typed}"));
                derived.push(given);
            } else {
                let (field, call, name) = (again(&column.name), &column.keyword, literal(&column.name));
                sources.extend(quote!(#field: #private::Declare.#call(#at, #name).__bind(flow),));
            }
        }
        let (fields, derived) = (list(fields), list(derived));
        quote! {
            fn __bind(flow: &#private::Bind<'_>) -> Self {
                let [#derived] = flow.__derived::<Self, _>();
                Self { #sources #fields }
            }
        }
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
    fn kind(&self, column: &Column) -> Tokens {
        let kind = self.plain_kind(column);
        let Some(ty) = column.derived.as_ref().and_then(|derived| derived.ty.as_ref()) else { return kind };
        let generic = self.others.types.iter().find(|generic| *generic.column == column.name);
        match generic {
            Some(Generic { param, .. }) => quote!(#kind<#param>).into(),
            // What is being typed has been told.
            None if ty.is_partial => kind,
            None => {
                let ty = &ty.ty;
                quote!(#kind<#ty>).into()
            }
        }
    }

    /// The type of a column, but for what its values are.
    pub(super) fn plain_kind(&self, column: &Column) -> Tokens {
        let private = &self.private;
        if column.derived.is_some() { quote!(#private::Derived) } else { quote!(#private::Source) }.into()
    }
}

/// What makes a column one of a type.
pub(super) fn typed(column: &Column) -> Option<TokenStream> {
    is_typed(column).then(|| quote!(.__typed()))
}

/// Whether the values of a column are more than text.
pub(super) fn is_typed(column: &Column) -> bool {
    column.derived.as_ref().is_some_and(|derived| derived.ty.is_some())
}

/// A valid view, with the index of the column that it shows.
struct Read<'v> {
    view: &'v View,
    column: usize,
    tag: String,
}

impl<'v> Read<'v> {
    /// The views of a column whose errors are not reported.
    fn all(
        column: &'v Column,
        views: &'v [View],
        indices: &HashMap<String, usize>,
    ) -> impl Iterator<Item = Self> {
        let valid = views.iter().filter(|view| view.state == State::Valid);
        valid.filter_map(|view| {
            let base = literal(if view.is_self() { &column.name } else { &view.base });
            let column = *indices.get(&base)?;
            let tag = match &view.tag {
                Tag::Explicit(_, tag) => tag.clone(),
                Tag::Name | Tag::Invalid => base,
            };
            Some(Self { view, column, tag })
        })
    }

    /// The view as a tuple of literals.
    fn literals(&self) -> String {
        let (Self { column, tag, .. }, count, is_lagged) = (self, self.view.count(), self.view.is_lagged);
        format!("({column},{count},{is_lagged},{tag:?})")
    }

    /// The view as a constant expression.
    fn constant(&self, private: &Tokens) -> TokenStream {
        let (literals, modifiers) = (list([self.literals()]), self.view.constant_modifiers());
        let groups = groups(self.view);
        let view = quote_spanned!(at(self.view.before)=> <#private::View>::__known(#literals));
        quote!(#view #modifiers.__view() #groups)
    }
}

/// A view as a field access on the struct of the columns, so that names and views are found by editors and checked by
/// rustc. `self` is the own column. A `_` takes nothing out of the struct.
pub(super) fn mention(view: &View, reader: &Ident) -> TokenStream {
    let (field, path) = (view.field(reader), &view.path);
    if let Some(editors_only) = told(view) {
        let modifiers = all_modifiers(view);
        return quote!(#editors_only let _ = here.#field #(.#path)* #modifiers;);
    }
    let modifiers = view.literal_modifiers();
    quote!(let _ = here.#field #(.#path)* #modifiers;)
}

/// All modifiers and groups of a view, as calls on the column that it shows.
pub(super) fn all_modifiers(view: &View) -> TokenStream {
    let (modifiers, groups) = (view.modifiers(), groups(view));
    quote!(#modifiers.__view() #groups)
}

/// The groups around a view.
fn groups(view: &View) -> Option<TokenStream> {
    let tags = view.groups.iter().map(GroupTag::text);
    (!view.groups.is_empty()).then(|| quote!(.__in(&[#(#tags),*])))
}
