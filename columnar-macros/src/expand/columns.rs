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

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::Visibility;

use super::other::Generic;
use super::{Emission, Tokens, again, at, docs_or, hidden, list, literal, told};
use crate::ident::{self, without_marker};
use crate::syntax::{Around, Column, Former, State, Tag, View};

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
            if reads.iter().all(Read::is_known) {
                known.extend(reads.iter().map(Read::known));
            } else {
                let (views, own) =
                    (hidden("", &column.name), quote_spanned!(at(column.keyword.span())=> Self::));
                let reads = reads.iter().map(|read| read.listed(private));
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
            let Former { word, name } = column.former.as_ref()?;
            Some(quote!(#private::Former::#word(#at, #name)))
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
            None if ty.is_begun => kind,
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

/// A view of a column that it is known of which one it is.
struct Read<'v> {
    view: &'v View,
    shown: Shown,
    column: usize,
    tag: String,
}

impl<'v> Read<'v> {
    /// What a column reads. What is wrong has been told.
    fn all(
        column: &'v Column,
        views: &'v [View],
        places: &HashMap<String, usize>,
    ) -> impl Iterator<Item = Self> {
        let sound = views.iter().filter(|view| view.state == State::Sound);
        sound.filter_map(|view| {
            let base = literal(if view.is_own() { &column.name } else { &view.base });
            let (shown, column) = (Shown::of(view), *places.get(&base)?);
            let tag = match &view.tag {
                Tag::Given(_, tag) => tag.clone(),
                Tag::Name | Tag::Broken => base,
            };
            Some(Self { view, shown, column, tag })
        })
    }

    /// Whether the declaration says it all.
    fn is_known(&self) -> bool {
        let View { eliding, filtering, noting, groups, .. } = self.view;
        let tokens = [eliding, filtering, noting];
        self.shown.rest.0.is_empty() && tokens.into_iter().all(TokenStream::is_empty) && groups.is_empty()
    }

    fn known(&self) -> String {
        let (Self { column, tag, .. }, count, delayed) = (self, self.shown.count, self.view.delayed);
        format!("({column},{count},{delayed},{tag:?})")
    }

    fn listed(&self, private: &Tokens) -> TokenStream {
        let (known, rest) = (list([self.known()]), &self.shown.rest);
        let (View { before, eliding, filtering, noting, .. }, inside) = (self.view, inside(self.view));
        let view = quote_spanned!(at(*before)=> <#private::View>::__known(#known));
        quote!(#view #rest #eliding #filtering #noting.__view() #inside)
    }
}

/// How much a view shows.
struct Shown {
    /// The last so many values, or all if it is 0.
    count: usize,
    /// A window that the compiler has to look at: `.window(MANY)`.
    rest: Tokens,
    /// What is known, or is no view: that is mentioned.
    mentioned: Tokens,
}

impl Shown {
    fn of(view: &View) -> Self {
        let (mut count, mut rest, mut mentioned) = (0, Tokens(Vec::new()), Tokens(Vec::new()));
        let mut tail = view.tail.clone().into_iter().peekable();
        while let Some(dot) = tail.next() {
            let word = tail.next();
            let arguments = tail.next_if(|tree| matches!(tree, TokenTree::Group(_)));
            let said = match &word {
                Some(TokenTree::Ident(word)) => ident::ident_text(word),
                _ => String::new(),
            };
            let known = match (said.as_str(), &arguments) {
                ("latest" | "prev", None) => Some(1),
                ("all", Some(_)) => Some(0),
                ("window", Some(arguments)) => number(arguments),
                _ => Some(count),
            };
            let place = if known.is_some() { &mut mentioned } else { &mut rest };
            place.0.extend([dot].into_iter().chain(word).chain(arguments));
            count = known.unwrap_or(count);
        }
        Self { count, rest, mentioned }
    }
}

/// The number in parentheses.
fn number(arguments: &TokenTree) -> Option<usize> {
    let TokenTree::Group(arguments) = arguments else { return None };
    let mut trees = arguments.stream().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Literal(literal)), None) => without_marker(&literal.to_string()).parse().ok(),
        _ => None,
    }
}

/// A view as a field access on the struct of the columns, so that names and views are found by editors and checked by
/// rustc. `self` is the own column. A `_` takes nothing out of the struct.
pub(super) fn mention(view: &View, own: &Ident) -> TokenStream {
    let (told, mentioned, path) = (told(view), view.mentioned(own), &view.path);
    if told.is_some() {
        let said = said(view);
        return quote!(#told let _ = here.#mentioned #(.#path)* #said;);
    }
    let (shown, tagging) = (Shown::of(view).mentioned, &view.tagging);
    if tagging.is_empty() {
        return quote!(let _ = here.#mentioned #(.#path)* #shown;);
    }
    quote!(let _ = here.#mentioned #(.#path)* #shown #tagging;)
}

/// What a view says of the column that it shows.
pub(super) fn said(view: &View) -> TokenStream {
    let View { tail, eliding, tagging, filtering, noting, .. } = view;
    let inside = inside(view);
    quote!(#tail #eliding #tagging #filtering #noting.__view() #inside)
}

/// The groups around a view.
fn inside(view: &View) -> Option<TokenStream> {
    let tags = view.groups.iter().map(Around::text);
    (!view.groups.is_empty()).then(|| quote!(.__in(&[#(#tags),*])))
}
