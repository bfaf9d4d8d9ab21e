//! Parses the type of a column, after its views: `: Score`.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{LitStr, Type};

use super::cursor::{Cursor, is_group, is_ident, is_punct, shown, tokens, trees_of, ungrouped};
use super::source_list::comma_before_sources;
use super::tree::ColumnType;
use crate::diagnostics::{Errors, columns};
use crate::ident::{self, ident_text};

/// Takes the type that comes next, up to the `=` or to `was`. `: String` is reported, and is no type.
pub(super) fn parse(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<ColumnType> {
    parse_of(name, Kind::Column, cursor, errors)
}

/// The same for the type of a source.
pub(super) fn of_source(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<ColumnType> {
    parse_of(name, Kind::Source, cursor, errors).or_else(|| without_colon(name, cursor, errors))
}

/// Takes the type of a source in another syntax, which is an error: `(Documents)`, `as Documents`.
fn without_colon(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<ColumnType> {
    let declaration = match cursor.declaration() {
        [before @ .., comma] if is_punct(Some(comma), ',') => before,
        all => all,
    };
    let first = declaration.first()?;
    let length = match declaration {
        [TokenTree::Ident(word), ..] if ident::is(word, "as") => 1,
        [minus, more, ..] if is_punct(Some(minus), '-') && is_punct(Some(more), '>') => 2,
        [TokenTree::Ident(_)] => 0,
        // Any other name after it is rather a compute step.
        [equals, .., last] if is_punct(Some(equals), '=') && is_ident(Some(last), "Documents") => 1,
        _ if is_group(first, Delimiter::Parenthesis) => 0,
        _ => return None,
    };
    let after = declaration.get(length..).unwrap_or_default();
    let after = after.get(..end(after)).unwrap_or_default();
    let trees = match after {
        [TokenTree::Group(list)] if list.delimiter() == Delimiter::Parenthesis => trees_of(list),
        _ => after.to_vec(),
    };
    let ty = tokens(&trees);
    if begins_step(&trees) || !is_type(&ty) {
        return None;
    }
    let written = tokens(cursor.take(length + after.len()));
    if is_text(&ty) {
        errors.at(written, columns::SOURCE_OF_TEXT);
        return None;
    }
    errors.at(written, columns::source_type_without_colon(name, &shown(&ty)));
    // Any other type is an error of its own when this one is mended.
    let is_partial = shown(&ty) != "Documents";
    Some(ColumnType { colon: first.span(), ty, is_partial })
}

/// The type of the field of a struct, which begins with its `:`; `None` for text.
pub(super) fn of_field(trees: &[TokenTree]) -> Option<ColumnType> {
    let (colon, ty) = trees.split_first()?;
    let ty = tokens(ty);
    let is_documents = is_type(&ty) && !is_text(&ty);
    is_documents.then(|| ColumnType { colon: colon.span(), ty, is_partial: false })
}

/// The kind of the declaration with the type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Column,
    Source,
}

fn parse_of(name: &Ident, kind: Kind, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<ColumnType> {
    let (sign, length) = sign(cursor)?;
    let declaration = cursor.declaration();
    let after = declaration.get(length..).unwrap_or_default();
    let (after, may_be_missing) = match (kind, comma_before_sources(after)) {
        // Where nothing follows, the missing compute step is the error.
        (Kind::Column, _) => (after, after.is_empty()),
        // The comma is in place of the `;`, or before another source.
        (Kind::Source, Some(comma)) => (after.get(..comma).unwrap_or_default(), true),
        // A missing `;` is the error.
        (Kind::Source, None) => (after, !is_punct(cursor.rest().get(declaration.len()), ';')),
    };
    let end = end(after);
    // `column mood(user): prompt("...");` has a step, after a wrong sign.
    if kind == Kind::Column && length == 1 && end == after.len() && begins_step(after) {
        return None;
    }
    let (ty, is_partial) = completed(after.get(..end).unwrap_or_default());
    // Without the `=` after it, an arrow may have nothing to do with a type.
    if length == 2 && !is_punct(after.get(end), '=') {
        return None;
    }
    let written = tokens(cursor.take(length + end));
    if is_text(&ty) {
        let message = if kind == Kind::Source { columns::SOURCE_OF_TEXT } else { columns::TYPE_OF_TEXT };
        errors.at(written, message);
        return None;
    }
    let colon = sign.span();
    if ty.is_empty() {
        if !may_be_missing {
            errors.at(sign, columns::no_type(name));
        }
    } else if !is_type(&ty) || is_slice(&ty) {
        let message = if is_slice(&ty) { columns::slice(&ty) } else { columns::not_a_type(name, &ty) };
        errors.at(&ty, message);
        return Some(ColumnType { colon, ty: TokenStream::new(), is_partial: false });
    } else if is_partial {
        let written = tokens(after.get(..end).unwrap_or_default());
        errors.at(&written, columns::not_a_type(name, &written));
    } else if length == 2 {
        errors
            .at(tokens(declaration.get(..length).unwrap_or_default()), columns::type_after_arrow(name, &ty));
    }
    Some(ColumnType { colon, ty, is_partial })
}

/// Takes `: String`, without an error.
pub(super) fn skip_text(cursor: &mut Cursor<'_>) {
    if let Some((_, 1)) = sign(cursor) {
        let after = cursor.declaration().get(1..).unwrap_or_default();
        let end = end(after);
        if is_text(&tokens(after.get(..end).unwrap_or_default())) {
            cursor.take(1 + end);
        }
    }
}

/// Whether tokens are a compute step, or views, rather than a type: they begin with `|`, `async`, a text or braces, or with
/// a path in lower case.
pub(super) fn begins_step(trees: &[TokenTree]) -> bool {
    const KEYWORDS: [&str; 6] = ["dyn", "impl", "fn", "for", "unsafe", "extern"];
    let Some((mut last, mut rest)) = trees.split_first() else { return false };
    while let [colon, more, next @ TokenTree::Ident(_), after @ ..] = rest
        && is_punct(Some(colon), ':')
        && is_punct(Some(more), ':')
    {
        (last, rest) = (next, after);
    }
    // `score::` is a type that is not typed to its end.
    let is_path_that_ends = !is_punct(rest.first(), ':') || is_punct(rest.get(2), '<');
    match last {
        TokenTree::Ident(name) => {
            let text = ident_text(name);
            let is_type = KEYWORDS.contains(&&*text) || is_primitive(&text);
            text.starts_with(|first: char| first.is_ascii_lowercase()) && !is_type && is_path_that_ends
        }
        TokenTree::Literal(_) => true,
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(_) => is_punct(trees.first(), '|'),
    }
}

/// Whether this is the name of a type of the language.
pub(crate) fn is_primitive(name: &str) -> bool {
    const PRIMITIVES: [&str; 17] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char", "str",
    ];
    PRIMITIVES.contains(&name)
}

/// Takes a type before the views, which is an error.
pub(super) fn before_views(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<ColumnType> {
    let (sign, 1) = sign(cursor)? else { return None };
    let after = cursor.declaration().get(1..).unwrap_or_default();
    let head = after.get(..end(after)).unwrap_or_default();
    let (last, ty) = head.split_last()?;
    if !is_group(last, Delimiter::Parenthesis) || ty.is_empty() {
        return None;
    }
    cursor.take(1 + ty.len());
    let (ty, is_partial) = completed(ty);
    errors.at(&ty, columns::type_before_views(name, &ty));
    let ty = if is_type(&ty) { ty } else { TokenStream::new() };
    Some(ColumnType { colon: sign.span(), ty, is_partial })
}

/// The `:` or the `->` that comes next, and its number of tokens.
fn sign<'t>(cursor: &Cursor<'t>) -> Option<(&'t TokenTree, usize)> {
    let rest = cursor.rest();
    match rest {
        [TokenTree::Punct(colon), next, ..] if colon.as_char() == ':' => {
            // `:=` is a misspelt `=`.
            let is_operator = colon.spacing() == Spacing::Joint && is_punct(Some(next), '=');
            (!is_operator).then_some((rest.first()?, 1))
        }
        [TokenTree::Punct(colon)] if colon.as_char() == ':' => Some((rest.first()?, 1)),
        [minus, more, ..] if is_punct(Some(minus), '-') && is_punct(Some(more), '>') => Some((minus, 2)),
        _ => None,
    }
}

/// The number of tokens of the type: up to the first `=` or `was` outside angle brackets, else to the first one.
fn end(trees: &[TokenTree]) -> usize {
    let is_was = |at: usize| match trees.get(at..) {
        Some([TokenTree::Ident(was), next, ..]) if matches!(ungrouped(next), TokenTree::Literal(_)) => {
            ident::is(was, "was")
        }
        // No type has two names in a row, and an earlier name without quotes is an error of its own.
        Some([TokenTree::Ident(was), TokenTree::Ident(_), ..]) => at > 0 && ident::is(was, "was"),
        _ => false,
    };
    let is_other_form =
        |at: usize| trees.get(at..).is_some_and(|trees| earlier_name_in_other_form(trees).is_some());
    let ends = |at: usize| is_punct(trees.get(at), '=') || is_was(at) || is_other_form(at);
    let mut depth = 0_usize;
    for (at, tree) in trees.iter().enumerate() {
        let is_arrow = at.checked_sub(1).is_some_and(|before| is_punct(trees.get(before), '-'));
        match tree {
            // Inside angle brackets a `=` binds an associated type: `Box<dyn Iterator<Item = u8>>`.
            _ if depth == 0 && ends(at) => return at,
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' && !is_arrow => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    // Angle brackets that never close would hide the `=` before the compute step.
    (0..trees.len()).find(|&at| ends(at)).unwrap_or(trees.len())
}

/// Words in place of `was`.
const OTHER_WORDS: [&str; 8] =
    ["as", "from", "formerly", "previously", "renamed", "renamed_from", "alias", "is"];

/// The earlier name that comes next in another syntax, and the number of its tokens: `was("subjects")`, `was: "subjects"`,
/// `as "subjects"`.
pub(super) fn earlier_name_in_other_form(trees: &[TokenTree]) -> Option<(LitStr, usize)> {
    let [TokenTree::Ident(word), written, after @ ..] = trees else { return None };
    let is_was = ident::is(word, "was");
    let text = ident_text(word).to_lowercase();
    if !is_was && text != "was" && !OTHER_WORDS.contains(&&*text) {
        return None;
    }
    let (name, length) = match (ungrouped(written), after) {
        (TokenTree::Group(list), _) if is_was || text == "as" => (list.stream(), 2),
        // A source may also have its type after `as`.
        (TokenTree::Ident(name), [equals, ..]) if !is_was && is_punct(Some(equals), '=') => {
            (name.into_token_stream(), 2)
        }
        (TokenTree::Literal(literal), _) if !is_was => (literal.into_token_stream(), 2),
        (TokenTree::Punct(sign), [literal @ TokenTree::Literal(_), ..])
            if is_was && [':', '='].contains(&sign.as_char()) =>
        {
            (literal.to_token_stream(), 3)
        }
        _ => return None,
    };
    let quoted = syn::parse2(name.clone()).ok();
    let quoted = quoted
        .or_else(|| syn::parse2(name).ok().map(|name: Ident| LitStr::new(&ident_text(&name), name.span())));
    Some((quoted?, length))
}

/// The type, and whether it is partial. Then it ends with a name, as the expansion for an editor does.
fn completed(trees: &[TokenTree]) -> (TokenStream, bool) {
    let ty = tokens(trees);
    match trees {
        [.., colon, more] if is_punct(Some(colon), ':') && is_punct(Some(more), ':') => {
            (quote!(#ty __), true)
        }
        [.., more, TokenTree::Ident(last)] if is_punct(Some(more), ':') && ident_text(last).is_empty() => {
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

/// Whether the type is that of a column without one.
pub(super) fn is_text(ty: &TokenStream) -> bool {
    let ty = ident::without_marker(ty.to_string());
    // The spaces of `to_string` may change from one compiler to another.
    ["String", "str", "& str", "&str", "& 'static str", "&'static str"].contains(&ty.as_str())
}
