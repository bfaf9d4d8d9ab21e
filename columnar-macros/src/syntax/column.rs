//! A derived column, after its name: `(views) = step;`.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use super::Derived;
use super::cursor::Cursor;
use super::view;
use crate::errors::{self, Errors};

pub(super) fn parse(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Derived {
    let list = views(name, cursor, errors);
    let span = list.as_ref().map_or(name.span(), Group::span);
    let mut whole = list.is_some();
    let views = list.map_or_else(Vec::new, |list| view::parse_list(&list, &mut whole, errors));
    let step = if equals(name, cursor, errors) { step(name, cursor, errors) } else { TokenStream::new() };
    Derived { list: span, views, whole, step }
}

fn views(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Group> {
    match cursor.peek() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            cursor.next();
            Some(group.clone())
        }
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            cursor.next();
            errors.on(group.span_open(), errors::no_views(name));
            Some(group.clone())
        }
        Some(TokenTree::Punct(equals)) if equals.as_char() == '=' => {
            errors.on(equals.span(), errors::no_views(name));
            None
        }
        _ => {
            errors.at(name, errors::no_views(name));
            None
        }
    }
}

/// Takes the `=`. `false` where there is none, with the rest of the declaration skipped.
fn equals(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> bool {
    if let [TokenTree::Punct(first), ..] = cursor.declaration()
        && matches!(first.as_char(), ':' | '-')
    {
        let is_equals = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '=');
        let ty: Vec<_> = cursor.declaration().iter().take_while(|tree| !is_equals(tree)).cloned().collect();
        cursor.skip(ty.len());
        errors.at(TokenStream::from_iter(ty), errors::COLUMN_TYPE);
    }
    let Some(equals) = cursor.punct('=') else {
        let rest = cursor.skip_declaration();
        match rest.first() {
            Some(comma @ TokenTree::Punct(punct)) if punct.as_char() == ',' && rest.len() == 1 => {
                errors.at(comma, errors::COMMA);
            }
            Some(found) => errors.at(found, errors::no_equals(name)),
            None => errors.at(name, errors::no_step(name)),
        }
        return false;
    };
    if let Some(second) = cursor.punct('=') {
        let both: TokenStream = [equals.clone(), second.clone()].into_iter().collect();
        errors.at(both, "expected `=`, found `==`");
    }
    let empty = cursor.declaration().is_empty();
    if empty {
        errors.at(equals, errors::empty_step(name));
        cursor.skip_declaration();
    }
    !empty
}

fn step(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> TokenStream {
    let mut step = cursor.skip_declaration();
    if let [body @ .., TokenTree::Punct(comma)] = step
        && comma.as_char() == ','
    {
        errors.on(comma.span(), errors::COMMA);
        step = body;
    } else if !cursor.took_semicolon() {
        let last = step.last().map_or(name.span(), last_span);
        errors.on(last, errors::NO_SEMICOLON);
    }
    step.iter().cloned().collect()
}

/// The last token in the sense of a reader: of a group, what closes it.
fn last_span(tree: &TokenTree) -> Span {
    match tree {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    }
}
