//! The struct of the columns, and the graph as constants:
//!
//! ```text
//! pub struct ChatColumns { pub user: Source, pub topics: Derived, pub notes: Derived }
//! impl ChatColumns {
//!     const __notes: &'static [Read] = &[View::__new(1, 0, "topics").window(MANY).__view()];
//! }
//! impl Columns for ChatColumns {
//!     const GRAPH: Graph = Graph::__new(
//!         &[
//!             Node::__source("user"),
//!             Node::__column("topics", &[Read::__new(0, 1, "user")]),
//!             Node::__column("notes", Self::__notes),
//!         ],
//!         &[0, 1, 2],
//!     );
//!     fn __plan() -> &'static TypePlan { static PLAN: TypePlan = TypePlan::new(); &PLAN }
//!     fn __bind(flow: &Bind<'_>) -> Self {
//!         let [__user] = flow.__sources::<Self, _>();
//!         let [__topics, __notes] = flow.__derived::<Self, _>();
//!         Self { user: __user, topics: __topics, notes: __notes }
//!     }
//! }
//! impl Chat {
//!     fn __READS_topics(here: &ChatColumns) { let _ = (&here.user.latest, here); }
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

use super::{Emission, again, at, docs_or, hidden, literal, told};
use crate::syntax::{Around, Column, State, Tag, View};
use crate::word::{typed, without_marker};

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
        let places = self.flow.columns.iter().enumerate().map(|(at, column)| (literal(&column.name), at));
        let places: HashMap<String, usize> = places.collect();
        let (mut views, mut nodes) = (Vec::new(), Vec::new());
        for column in &self.flow.columns {
            let (constant, node) = self.node(column, &places);
            views.extend(constant);
            nodes.push(node);
        }
        let views = (!views.is_empty()).then(|| {
            quote! {
                #[allow(non_upper_case_globals)]
                impl #name { #(#views)* }
            }
        });
        let order = &self.plan.order;
        let (plan, bind, debug) = (self.fn_plan(), self.fn_bind(), Self::impl_debug(name, None, None));
        quote! {
            #views

            impl #private::Columns for #name {
                const GRAPH: #private::Graph = #private::Graph::__new(&[#(#nodes),*], &[#(#order),*]);

                #plan

                #bind
            }

            #debug
        }
    }

    /// A column in the graph, and what it reads as a constant of its own, where the compiler has to look at that.
    fn node(&self, column: &Column, places: &HashMap<String, usize>) -> (Option<TokenStream>, TokenStream) {
        let private = &self.private;
        let name = literal(&column.name);
        let Some(derived) = &column.derived else {
            return (None, quote!(#private::Node::__source(#name)));
        };
        let mut is_known = true;
        let reads = derived.views.iter().filter(|view| view.state == State::Sound).filter_map(|view| {
            let base = if view.is_own() { &column.name } else { &view.base };
            let shown = Shown::of(view);
            is_known &= shown.is_known(view);
            Some(self.read(view, &shown, *places.get(&literal(base))?, &literal(base)))
        });
        let reads: Vec<TokenStream> = reads.collect();
        if is_known {
            return (None, quote!(#private::Node::__column(#name, &[#(#reads),*])));
        }
        let views = hidden("", &column.name);
        let own = quote_spanned!(at(column.keyword.span())=> Self::);
        let constant = quote!(const #views: &'static [#private::Read] = &[#(#reads),*];);
        (Some(constant), quote!(#private::Node::__column(#name, #own #views)))
    }

    /// What a column reads, in the graph.
    fn read(&self, view: &View, shown: &Shown, column: usize, name: &str) -> TokenStream {
        let private = &self.private;
        let tag = match &view.tag {
            Tag::Given(_, tag) => tag,
            Tag::Name | Tag::Broken => name,
        };
        let delayed = view.delayed.then(|| quote!(.__delayed()));
        let (inside, count) = (inside(view), shown.count);
        if shown.is_known(view) {
            return quote!(#private::Read::__new(#column, #count, #tag) #delayed #inside);
        }
        let View { filtering, noting, .. } = view;
        let rest = &shown.rest;
        quote!(#private::View::__new(#column, #count, #tag) #delayed #rest #filtering #noting.__view() #inside)
    }

    fn fn_bind(&self) -> TokenStream {
        let private = &self.private;
        let (derived, sources): (Vec<&Column>, Vec<&Column>) =
            self.flow.columns.iter().partition(|column| column.derived.is_some());
        let given = |columns: &[&Column], by: TokenStream| {
            let names = columns.iter().map(|column| hidden("", &column.name));
            (!columns.is_empty()).then(|| quote!(let [#(#names),*] = flow.#by::<Self, _>();))
        };
        let (sources, derived) = (given(&sources, quote!(__sources)), given(&derived, quote!(__derived)));
        let fields = self.flow.columns.iter().map(|column| {
            let (field, given) = (again(&column.name), hidden("", &column.name));
            quote!(#field: #given)
        });
        quote! {
            fn __bind(flow: &#private::Bind<'_>) -> Self {
                #sources
                #derived
                Self { #(#fields),* }
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
    pub(super) fn kind(&self, column: &Column) -> TokenStream {
        let private = &self.private;
        if column.derived.is_some() { quote!(#private::Derived) } else { quote!(#private::Source) }
    }
}

/// How much a view shows.
struct Shown {
    /// The last so many values, or all if it is 0.
    count: usize,
    /// A window that the compiler has to look at: `.window(MANY)`.
    rest: TokenStream,
    /// What is known, or is no view: that is mentioned.
    mentioned: TokenStream,
}

impl Shown {
    fn of(view: &View) -> Self {
        let (mut count, mut rest, mut mentioned) = (0, TokenStream::new(), TokenStream::new());
        let mut tail = view.tail.clone().into_iter().peekable();
        while let Some(dot) = tail.next() {
            let word = tail.next();
            let arguments = tail.next_if(|tree| matches!(tree, TokenTree::Group(_)));
            let said = match &word {
                Some(TokenTree::Ident(word)) => typed(word),
                _ => String::new(),
            };
            let known = match (said.as_str(), &arguments) {
                ("latest" | "prev", None) => Some(1),
                ("all", Some(_)) => Some(0),
                ("window", Some(arguments)) => number(arguments),
                _ => Some(count),
            };
            let place = if known.is_some() { &mut mentioned } else { &mut rest };
            place.extend([dot].into_iter().chain(word).chain(arguments));
            count = known.unwrap_or(count);
        }
        Self { count, rest, mentioned }
    }

    /// Whether nothing of the view is left to the compiler.
    fn is_known(&self, view: &View) -> bool {
        self.rest.is_empty() && view.filtering.is_empty() && view.noting.is_empty()
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
/// rustc. `self` is the own column.
pub(super) fn mention(view: &View, own: &Ident) -> TokenStream {
    let (told, mentioned) = (told(view), view.mentioned(own));
    if told.is_some() {
        let said = said(view);
        return quote!(#told &here.#mentioned #said,);
    }
    let (shown, tagging) = (Shown::of(view).mentioned, &view.tagging);
    quote!(&here.#mentioned #shown #tagging,)
}

/// What a view says of the column that it shows.
pub(super) fn said(view: &View) -> TokenStream {
    let View { tail, tagging, filtering, noting, .. } = view;
    let inside = inside(view);
    quote!(#tail #tagging #filtering #noting.__view() #inside)
}

/// The groups around a view.
fn inside(view: &View) -> Option<TokenStream> {
    let tags = view.groups.iter().map(Around::text);
    (!view.groups.is_empty()).then(|| quote!(.__in(&[#(#tags),*])))
}
