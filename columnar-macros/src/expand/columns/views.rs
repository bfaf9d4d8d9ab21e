//! A view in the expansion: as literals, as a constant expression, and as a mention.
//!
//! A mention is a field access on the struct of the columns, inside a function that is never called. Editors resolve
//! names of columns and modifiers there, and rustc does so where a flow has columns of others. The `_` moves nothing
//! out of the struct.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::expand::tokens::{Tokens, hidden_ident, list};
use crate::ident::ident_text;
use crate::syntax::{Column, ModifierKind, Tag, View};

/// A valid view, with the index of the shown column.
pub(super) struct Read<'v> {
    view: &'v View,
    column: usize,
    tag: String,
}

impl<'v> Read<'v> {
    /// The valid views of a column. Errors of the others are reported.
    pub(super) fn all(column: &'v Column, indices: &HashMap<String, usize>) -> Vec<Self> {
        let valid = column.reads().filter(|view| view.is_valid());
        let read = |view: &'v View| {
            let name = ident_text(if view.is_self { &column.name } else { &view.base });
            let column = *indices.get(&name)?;
            let tag = match &view.tag {
                Tag::Explicit(_, tag) => tag.clone(),
                Tag::Name | Tag::Invalid => name,
            };
            Some(Self { view, column, tag })
        };
        valid.filter_map(read).collect()
    }

    pub(super) fn is_literal(&self) -> bool {
        self.view.is_literal()
    }

    /// The view as a tuple of literals.
    pub(super) fn literals(&self) -> String {
        let Self { column, tag, .. } = self;
        let count = self.view.count();
        let is_lagged = self.view.is_lagged;
        format!("({column},{count},{is_lagged},{tag:?})")
    }

    /// The view as a constant expression, for modifiers that the compiler evaluates.
    pub(super) fn constant(&self, private: &Tokens) -> TokenStream {
        let literals = list([self.literals()]);
        let modifiers = self.view.constant_modifiers();
        let groups = groups(self.view);
        let view = quote!(#private::View::__literal(#literals));
        if self.view.is_tiered() {
            return quote!(#view.__in_tiers() #modifiers.__view());
        }
        quote!(#view #modifiers #groups)
    }
}

/// A mention of a view, with the modifiers that the graph has as literals.
pub(super) fn mention_view(view: &View, reader: &Ident) -> TokenStream {
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
pub(super) fn mention_column(view: &View, reader: &Ident) -> TokenStream {
    let editors_only = editors_only(view);
    let field = view.field(reader);
    let path = &view.path;
    let modifiers = editors_only.is_some().then(|| modifiers(view));
    // An editor completes the methods of a reference, too. Whether a word is a column of the base, only rustc knows.
    let here = if editors_only.is_some() || view.is_inherited { quote!((*__here)) } else { quote!(__here) };
    let mention = quote!(let _ = #here.#field #(.#path)*);
    if let (Some((_, before)), Some(_)) = (path.split_last(), view.before_a_method()) {
        // A rule reports the word, if there is no such column.
        return quote! {
            #editors_only #[cfg(rust_analyzer)] #mention #modifiers;
            #editors_only #[cfg(not(rust_analyzer))] let _ = #here.#field #(.#before)*;
        };
    }
    match view.of_kinds(&[ModifierKind::Tiered]).filter(|_| modifiers.is_none()) {
        // Text has no such method: a rule reports that, and rustc would, too.
        Some(tiered) => quote! {
            #[cfg(rust_analyzer)] #mention #tiered;
            #[cfg(not(rust_analyzer))] #mention;
        },
        None => quote!(#editors_only #mention #modifiers;),
    }
}

/// A view as a call on the constant of the shown column.
pub(super) fn linked_view(view: &View, reader: &Ident) -> TokenStream {
    let editors_only = editors_only(view);
    let constant = constant_of(view, reader);
    let modifiers = modifiers(view);
    quote!(#editors_only Self::#constant #modifiers)
}

/// The constant for the column that a view shows to the column `reader`.
pub(super) fn constant_of(view: &View, reader: &Ident) -> Ident {
    // A view that is not typed yet shows the reader, too.
    if view.is_self || ident_text(view.last()).is_empty() {
        return hidden_ident("HERE_", reader);
    }
    // A column has no upper case in the name, so no other path becomes the same.
    let path = view.name().replace('.', "_DOT_");
    format_ident!("__HERE_{path}", span = Span::mixed_site())
}

/// All modifiers and groups of a view, as calls.
fn modifiers(view: &View) -> TokenStream {
    if view.is_tiered() && view.is_valid() {
        let target = view.constant_modifiers();
        return quote!(.__in_tiers() #target.__view());
    }
    let modifiers = view.modifiers();
    let groups = groups(view);
    // `__all` makes a view of a column. Behind an error the tokens after a dot must not depend on the word that an
    // editor adds there.
    let is_needed = !view.has_modifiers() || !view.is_valid();
    let all = is_needed.then(|| quote!(.__all()));
    quote!(#modifiers #all #groups)
}

fn groups(view: &View) -> Option<TokenStream> {
    let tags = view.groups.iter().map(|group| &*group.text);
    (!view.groups.is_empty()).then(|| quote!(.__in(&[#(#tags),*])))
}

/// Hides a view from the compiler whose error is reported.
fn editors_only(view: &View) -> Option<TokenStream> {
    (!view.is_valid()).then(|| quote!(#[cfg(rust_analyzer)]))
}
