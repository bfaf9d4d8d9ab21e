//! Parses the type of a column, after its views: `: Score`.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use quote::quote;
use syn::Type;

use super::cursor::{Angles, Cursor, is_group, is_ident, is_punct, tokens};
use super::tree::{ColumnDecl, TypeDecl};
use crate::diagnostics::{Errors, TYPE_OF_TEXT, no_type, quote};
use crate::ident::{self, ident_text};

/// Takes the type that comes next, up to the `=` or to `was`. `: String` is reported, and is no type.
pub(super) fn parse(column: &mut ColumnDecl, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<()> {
    let ColumnDecl { name, derived, ty: of_column, .. } = column;
    // `column mood(user): prompt("...");` has a step, after a wrong sign.
    if derived.is_some() && begins_step(cursor.rest().get(1..).unwrap_or_default()) {
        return Some(());
    }
    let Some(length) = sign(cursor.rest()) else { return Some(()) };
    let sign = cursor.take(length);
    let colon = sign.first()?;
    let declaration = cursor.declaration();
    let written = declaration.get(..end(declaration)).unwrap_or_default();
    cursor.take(written.len());
    let (ty, is_partial) = completed(written);
    if is_text(&ty) {
        let message = if derived.is_some() { TYPE_OF_TEXT } else { SOURCE_OF_TEXT };
        errors.at(tokens(&[sign, written].concat()), message);
        return Some(());
    }
    let is_wrong = !ty.is_empty() && (is_slice(&ty) || !is_type(&ty));
    let ty = of_column.insert(TypeDecl { colon: colon.span(), ty, is_partial });
    if ty.ty.is_empty() {
        errors.at(colon, no_type(name));
    } else if is_wrong {
        let message = if is_slice(&ty.ty) { slice(&ty.ty) } else { not_a_type(name, &ty.ty) };
        errors.at(&ty.ty, message);
        *ty = TypeDecl::unread(colon.span());
    } else if is_partial {
        errors.at(tokens(written), not_a_type(name, &tokens(written)));
    } else if length == 2 {
        let name = quote(name);
        errors.at(tokens(sign), format!("the type of {name} comes after `:`\n\nhelp: write `: {}`", ty.ty));
        return Some(());
    } else {
        return Some(());
    }
    // Where nothing follows, the type is where the user types.
    cursor.declaration().first().map(|_| ())
}

/// Whether tokens are a compute step rather than a type: a call of a function, or a closure.
fn begins_step(trees: &[TokenTree]) -> bool {
    match trees {
        [TokenTree::Ident(name), TokenTree::Group(list), ..] => {
            let is_function = ident_text(name).starts_with(|first: char| first.is_ascii_lowercase());
            is_function && list.delimiter() == Delimiter::Parenthesis && !ident::is(name, "fn")
        }
        [TokenTree::Ident(word), ..] => ident::is(word, "async"),
        [first, ..] => is_punct(first, '|') || is_group(first, Delimiter::Brace),
        [] => false,
    }
}

/// The number of tokens of the `:` or the `->` that comes next.
fn sign(trees: &[TokenTree]) -> Option<usize> {
    match trees {
        // `:=` is a misspelt `=`.
        [TokenTree::Punct(colon), equals, ..]
            if colon.spacing() == Spacing::Joint && is_punct(equals, '=') =>
        {
            None
        }
        [colon, ..] if is_punct(colon, ':') => Some(1),
        [minus, more, ..] if is_punct(minus, '-') && is_punct(more, '>') => Some(2),
        _ => None,
    }
}

/// The number of tokens of the type: up to the first `=`, comma or `was` outside angle brackets, else to the first one.
fn end(trees: &[TokenTree]) -> usize {
    let mut angles = Angles::default();
    let outside = trees.iter().enumerate().position(|(at, tree)| {
        // Inside angle brackets a `=` binds an associated type: `Box<dyn Iterator<Item = u8>>`.
        let is_end = angles.open == 0 && ends(trees, at);
        angles.pass(tree);
        is_end
    });
    // Angle brackets that never close would hide the `=` before the compute step.
    outside.or_else(|| (0..trees.len()).find(|&at| ends(trees, at))).unwrap_or(trees.len())
}

/// Whether a type ends before a token, if no angle brackets are open.
fn ends(trees: &[TokenTree], at: usize) -> bool {
    let tree = trees.get(at);
    let is_was = is_ident(tree, "was") && !is_punct(trees.get(at + 1), ':');
    is_was || is_punct(tree, '=') || is_punct(tree, ',')
}

/// The type, and whether it is partial. Then it ends with a name, as the expansion for an editor does.
fn completed(trees: &[TokenTree]) -> (TokenStream, bool) {
    let ty = tokens(trees);
    match trees {
        [.., colon, more] if is_punct(colon, ':') && is_punct(more, ':') => (quote!(#ty __), true),
        [.., more, TokenTree::Ident(last)] if is_punct(more, ':') && ident_text(last).is_empty() => {
            (ty, true)
        }
        _ => (ty, false),
    }
}

pub(super) fn is_type(ty: &TokenStream) -> bool {
    syn::parse2::<Type>(ty.clone()).is_ok()
}

/// `[String]`
fn is_slice(ty: &TokenStream) -> bool {
    matches!(syn::parse2(ty.clone()), Ok(Type::Slice(_)))
}

/// Whether the type is the one that a column without a type has.
pub(super) fn is_text(ty: &TokenStream) -> bool {
    let ty = ident::without_marker(ty.to_string());
    // The spaces of `to_string` may change from one compiler to another.
    ["String", "str", "& str", "&str", "& 'static str", "&'static str"].contains(&ty.as_str())
}

// Messages.

const SOURCE_OF_TEXT: &str = "a source without a type holds text\n\nhelp: drop this";

fn not_a_type(name: &Ident, ty: &TokenStream) -> String {
    format!("expected the type of {}, found `{ty}`\n\nhelp: as in `: Vec<String>`", quote(name))
}

/// `column tags(review): [String] = ...`
fn slice(ty: &TokenStream) -> String {
    let inner = ty.to_string();
    let inner = inner.trim_matches(['[', ']']).trim();
    format!("a value has no type of unknown size\n\nhelp: write `Vec<{inner}>`")
}
