//! The columns of a flow without dependencies, and the views of every flow:
//!
//! ```text
//! pub struct ChatColumns { pub user: Source, pub topics: Derived, pub notes: Derived }
//! impl ChatColumns {
//!     const views_of_notes: &'static [View] = &[View::__literal(1, 0, false, "topics").window(MANY)];
//! }
//! impl Columns for ChatColumns {
//!     const GRAPH: Graph = Graph::__new(
//!         &[("user", 0, 0), ("topics", 0, 0), ("notes", 1, 0)],
//!         &[(0, 1, false, "user")],
//!         &[Self::views_of_notes],
//!         &[0, 1, 2],
//!     );
//!     fn __plan() -> &'static TypePlan { static PLAN: TypePlan = TypePlan::new(); &PLAN }
//!     fn __bind(__FLOW: &Bind<'_>) -> Self {
//!         let [__topics, __notes] = __FLOW.__derived::<Self, _>();
//!         Self { user: source(0, "user").__bind(__FLOW), topics: __topics, notes: __notes }
//!     }
//! }
//! impl Chat {
//!     #[cfg(rust_analyzer)]
//!     fn __READS_topics(here: &ChatColumns) { let _ = here.user.latest; }
//! }
//! ```
//!
//! Views that the macro understands are literals in the graph. The compiler evaluates the graph only where the graph is
//! used, and not in every check. A view with a modifier that only the compiler understands is a separate constant; the
//! graph mentions that constant, so that a check finds the errors in the modifier.
//!
//! A mention is a field access on the struct of the columns, inside a function that is never called. Editors resolve
//! names of columns and modifiers there, and rustc does so where a flow has columns of others. The `_` moves nothing
//! out of the struct.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::parts::{ColumnsParts, is_typed, typed};
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{Private, constant_ident, hidden_ident, list, unlocated};
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, ModifierKind, ViewDecl};

impl Emitter<'_> {
    pub(super) fn plain_parts(&self) -> ColumnsParts {
        let indices = self.flow.columns.iter().enumerate().map(|(at, column)| (ident_text(&column.name), at));
        let indices: HashMap<String, usize> = indices.collect();
        let mut nodes = Vec::new();
        let mut literals = Vec::new();
        let mut lists = Vec::new();
        let mut constants = TokenStream::new();
        for column in &self.flow.columns {
            let name = ident_text(&column.name);
            nodes.push(format!("({name:?},{},{})", literals.len(), lists.len()));
            let reads = IndexedView::all(column, &indices);
            // A node has views of one kind, so a single constant view makes all of them a list. A source has no views
            // and adds nothing, by which the graph recognises a source.
            if reads.iter().all(|read| read.view.is_literal()) {
                literals.extend(reads.into_iter().map(|read| read.literals));
            } else {
                let constant = constant_ident("views", &column.name);
                let views = reads.iter().map(IndexedView::constant);
                constants.extend(quote!(const #constant: &'static [#Private::View] = &[#(#views),*];));
                lists.push(quote!(Self::#constant));
            }
        }
        let [nodes, literals] = [nodes, literals].map(list);
        let order = list(&self.plan.order);
        let graph = quote!(#Private::Graph::__new(&[#nodes], &[#literals], &[#(#lists),*], &[#order]));
        ColumnsParts { constants, graph, bind: self.plain_bind() }
    }

    /// The columns, bound to a flow. All computed columns come from one call: a call for each costs the compiler more.
    fn plain_bind(&self) -> TokenStream {
        let mut sources = TokenStream::new();
        let mut fields = Vec::new();
        let mut derived = Vec::new();
        for (at, column) in self.flow.columns.iter().enumerate() {
            if column.derived.is_some() {
                // With the `r#` of the user, because the text is the name of a field.
                let field = column.name.to_string();
                let bound = hidden_ident("", &column.name);
                let typed = if is_typed(column) { ".__typed()" } else { "" };
                fields.push(format!("{field}:{bound}{typed}"));
                derived.push(bound);
            } else {
                let field = unlocated(&column.name);
                let call = &column.keyword;
                let name = ident_text(&column.name);
                let typed = typed(column);
                sources.extend(quote!(#field: #Private::Declare.#call(#at, #name).__bind(__FLOW) #typed,));
            }
        }
        let fields = list(fields);
        let derived = list(derived);
        quote! {
            let [#derived] = __FLOW.__derived::<Self, _>();
            Self { #sources #fields }
        }
    }
}

/// A valid view.
struct IndexedView<'v> {
    view: &'v ViewDecl,
    /// The index of the shown column, the number of values, whether the values are earlier ones, and the tag.
    literals: String,
}

impl<'v> IndexedView<'v> {
    /// The valid views of a column. Errors of the others are reported.
    fn all(column: &'v ColumnDecl, indices: &HashMap<String, usize>) -> Vec<Self> {
        let valid = column.reads().filter(|view| view.is_valid());
        let indexed = valid.filter_map(|view| {
            let name = ident_text(if view.is_self { &column.name } else { &view.base });
            let at = indices.get(&name)?;
            let count = view.count();
            let is_lagged = view.is_lagged;
            let tag = view.input(&column.name).unwrap_or(name);
            Some(Self { view, literals: format!("({at},{count},{is_lagged},{tag:?})") })
        });
        indexed.collect()
    }

    /// The view as a constant expression, for modifiers that the compiler evaluates.
    fn constant(&self) -> TokenStream {
        let literals = list([&self.literals]);
        let modifiers = self.view.constant_modifiers();
        let groups = groups(self.view);
        let view = quote!(#Private::View::__literal(#literals));
        if let Some(layout) = layout(self.view) {
            return quote!(#view #layout);
        }
        let thread = self.view.is_thread().then(|| quote!(.__thread()));
        quote!(#view #thread #modifiers #groups)
    }
}

/// A mention of a view, with the modifiers that the graph has as literals.
pub(super) fn mention_view(view: &ViewDecl, reader: &Ident) -> TokenStream {
    if !view.is_valid() {
        return mention_column(view, reader);
    }
    let field = view.field(reader);
    let path = &view.path;
    let modifiers = view.literal_modifiers();
    quote!(let _ = __here.#field #(.#path)* #modifiers;)
}

/// A mention of the column that a view shows. Behind an error an editor finds more here than in a constant, so
/// the modifiers of an invalid view are here, too.
pub(super) fn mention_column(view: &ViewDecl, reader: &Ident) -> TokenStream {
    let editors_only = editors_only(view);
    let field = view.field(reader);
    let path = &view.path;
    let modifiers = editors_only.is_some().then(|| modifiers(view));
    // An editor completes the methods of a reference, too. Whether a word is a column of the base, only rustc knows.
    let here = if editors_only.is_some() || view.is_inherited { quote!((*__here)) } else { quote!(__here) };
    let mention = quote!(let _ = #here.#field #(.#path)*);
    if view.before_a_method().is_some()
        && let Some((_, before)) = path.split_last()
    {
        // A rule reports the word, if there is no such column.
        return quote! {
            #editors_only #[cfg(rust_analyzer)] #mention #modifiers;
            #editors_only #[cfg(not(rust_analyzer))] let _ = #here.#field #(.#before)*;
        };
    }
    let layout = view.of_kinds(&[ModifierKind::Tiered, ModifierKind::Compacted]);
    match layout.filter(|_| modifiers.is_none()) {
        // Text has no such method: a rule reports that, and rustc would, too.
        Some(layout) => quote! {
            #[cfg(rust_analyzer)] #mention #layout;
            #[cfg(not(rust_analyzer))] #mention;
        },
        None => quote!(#editors_only #mention #modifiers;),
    }
}

/// A view as a call on the constant of the shown column.
pub(super) fn linked_view(view: &ViewDecl, reader: &Ident) -> TokenStream {
    let editors_only = editors_only(view);
    let constant = constant_of(view, reader);
    let modifiers = modifiers(view);
    quote!(#editors_only Self::#constant #modifiers)
}

/// The constant for the column that a view shows to the column `reader`.
pub(super) fn constant_of(view: &ViewDecl, reader: &Ident) -> Ident {
    // A view that is not typed yet shows the reader, too.
    if view.is_self || ident_text(view.last()).is_empty() {
        return hidden_ident("HERE_", reader);
    }
    // A column has no upper case in the name, so no other path becomes the same.
    let path = view.name().replace('.', "_DOT_");
    format_ident!("__HERE_{path}", span = Span::mixed_site())
}

/// All modifiers and groups of a view, as calls.
fn modifiers(view: &ViewDecl) -> TokenStream {
    if let Some(layout) = layout(view).filter(|_| view.is_valid()) {
        return layout;
    }
    let modifiers = view.modifiers();
    let groups = groups(view);
    // `__all` makes a view of a column. Behind an error the tokens after a dot must not depend on the word that an
    // editor adds there.
    let is_needed = !view.has_modifiers() || !view.is_valid();
    let all = is_needed.then(|| quote!(.__all()));
    quote!(#modifiers #all #groups)
}

/// The layout of documents, as calls.
fn layout(view: &ViewDecl) -> Option<TokenStream> {
    let settings = view.constant_modifiers();
    match () {
        () if view.is_tiered() => Some(quote!(.__in_tiers() #settings.__view())),
        () if view.is_compacted() => Some(quote!(.__in_log() #settings.__view())),
        () => None,
    }
}

fn groups(view: &ViewDecl) -> Option<TokenStream> {
    let tags = view.groups.iter().map(|group| &*group.text);
    (!view.groups.is_empty()).then(|| quote!(.__in(&[#(#tags),*])))
}

/// Hides a view from the compiler whose error is reported.
fn editors_only(view: &ViewDecl) -> Option<TokenStream> {
    (!view.is_valid()).then(|| quote!(#[cfg(rust_analyzer)]))
}
