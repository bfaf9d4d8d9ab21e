//! The type of a column: `: Score`, behind its views.

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::quote;
use syn::Type;

use super::cursor::{Cursor, is_punct};
use super::tokens;
use crate::diagnostics::{Errors, columns};
use crate::ident;

/// What the values of a column are JSON of.
pub(crate) struct ColumnType {
    /// The `:`, or what stands in its place.
    pub(crate) colon: Span,
    /// Empty where there is no type, which has been told.
    pub(crate) ty: TokenStream,
    /// Whether it is a path that is still being typed, `score::`, which has been told. It is for editors alone.
    pub(crate) is_begun: bool,
}

/// Takes the type that stands next, up to the `=` or to `was`. What is said of text by habit is told, and no type.
pub(super) fn parse(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<ColumnType> {
    let (sign, length) = sign(cursor)?;
    let whole = cursor.declaration();
    let behind = whole.get(length..).unwrap_or_default();
    let end = end(behind);
    let (ty, is_begun) = completed(behind.get(..end).unwrap_or_default());
    // Without the `=` behind it nobody knows what an arrow was meant for.
    if length == 2 && !is_punct(behind.get(end), '=') {
        return None;
    }
    let written = tokens(cursor.take(length + end));
    if is_text(&ty) {
        errors.at(written, columns::TYPE_OF_TEXT);
        return None;
    }
    let colon = sign.span();
    if ty.is_empty() {
        // That nothing at all follows is told as a whole.
        if !behind.is_empty() {
            errors.at(sign, columns::no_type(name));
        }
    } else if !is_type(&ty) {
        errors.at(&ty, columns::not_a_type(name, &ty));
        return Some(ColumnType { colon, ty: TokenStream::new(), is_begun: false });
    } else if is_begun {
        let written = tokens(behind.get(..end).unwrap_or_default());
        errors.at(&written, columns::not_a_type(name, &written));
    } else if length == 2 {
        errors.at(tokens(whole.get(..length).unwrap_or_default()), columns::type_after_arrow(name, &ty));
    }
    Some(ColumnType { colon, ty, is_begun })
}

/// Takes a type that stands where the views should, and leaves these.
pub(super) fn before_views(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<ColumnType> {
    let (sign, 1) = sign(cursor)? else { return None };
    let behind = cursor.declaration().get(1..).unwrap_or_default();
    let head = behind.get(..end(behind)).unwrap_or_default();
    let is_list = |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
    let (last, ty) = head.split_last()?;
    if !is_list(last) || ty.is_empty() {
        return None;
    }
    cursor.take(1 + ty.len());
    let (ty, is_begun) = completed(ty);
    errors.at(&ty, columns::type_before_views(name));
    let ty = if is_type(&ty) { ty } else { TokenStream::new() };
    Some(ColumnType { colon: sign.span(), ty, is_begun })
}

/// The `:` or the `->` that stands next, and of how many tokens it consists.
fn sign<'t>(cursor: &Cursor<'t>) -> Option<(&'t TokenTree, usize)> {
    let rest = cursor.rest();
    match rest {
        [TokenTree::Punct(colon), next, ..] if colon.as_char() == ':' => {
            // `:=` was to be `=`.
            let is_operator = colon.spacing() == Spacing::Joint && is_punct(Some(next), '=');
            (!is_operator).then_some((rest.first()?, 1))
        }
        [TokenTree::Punct(colon)] if colon.as_char() == ':' => Some((rest.first()?, 1)),
        [minus, more, ..] if is_punct(Some(minus), '-') && is_punct(Some(more), '>') => Some((minus, 2)),
        _ => None,
    }
}

/// How many tokens the type has: up to the `=` or to `was` that is in no angle brackets, or else in any.
fn end(trees: &[TokenTree]) -> usize {
    let is_former = |at: usize| match trees.get(at..) {
        Some([TokenTree::Ident(was), TokenTree::Literal(_), ..]) => ident::is(was, "was"),
        _ => false,
    };
    let ends = |at: usize| is_punct(trees.get(at), '=') || is_former(at);
    let mut depth = 0_usize;
    for (at, tree) in trees.iter().enumerate() {
        let is_arrow = at.checked_sub(1).is_some_and(|before| is_punct(trees.get(before), '-'));
        match tree {
            _ if depth == 0 && ends(at) => return at,
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' && !is_arrow => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (0..trees.len()).find(|&at| ends(at)).unwrap_or(trees.len())
}

/// The type, and whether it ends where a name is still to come. Then there is one, as an editor has it.
fn completed(trees: &[TokenTree]) -> (TokenStream, bool) {
    let ty = tokens(trees);
    match trees {
        [.., colon, more] if is_punct(Some(colon), ':') && is_punct(Some(more), ':') => {
            (quote!(#ty __), true)
        }
        [.., more, TokenTree::Ident(last)]
            if is_punct(Some(more), ':') && ident::ident_text(last).is_empty() =>
        {
            (ty, true)
        }
        _ => (ty, false),
    }
}

fn is_type(ty: &TokenStream) -> bool {
    syn::parse2::<Type>(ty.clone()).is_ok()
}

/// What a column is anyway.
fn is_text(ty: &TokenStream) -> bool {
    let ty = ident::without_marker(&ty.to_string());
    ["String", "str", "& str", "&str", "& 'static str", "&'static str"].contains(&ty.as_str())
}
