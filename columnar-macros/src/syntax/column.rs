//! A derived column, after its name: `(views): Type was "old" = step;`.

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};

use super::cursor::{Cursor, is_punct};
use super::{ColumnType, Derived, Former, column_type, former, tokens, view};
use crate::diagnostics::{Errors, columns, declarations, views};

pub(super) fn parse(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> (Option<Former>, Derived) {
    let early = column_type::before_views(name, cursor, errors);
    let list = list(name, cursor, errors);
    let ty = early.or_else(|| column_type::parse(name, cursor, errors));
    let former = former::parse(name, cursor, errors);
    let ty = ty.or_else(|| late_type(name, former.as_ref(), cursor, errors));
    let mut step = TokenStream::new();
    if list.is_some() || is_punct(cursor.peek(), '=') {
        if let Some(equals) = equals(name, cursor, errors) {
            step = self::step(name, equals, cursor, errors);
        }
    } else {
        cursor.skip_declaration();
    }
    let span = list.as_ref().map_or(name.span(), Group::span);
    let (views, whole) = list.map_or_else(|| (Vec::new(), false), |list| view::parse_list(&list, errors));
    (former, Derived { list: span, views, whole, ty, step })
}

/// A type behind the former name.
fn late_type(
    name: &Ident,
    former: Option<&Former>,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> Option<ColumnType> {
    former?;
    let told = errors.len();
    let late = column_type::parse(name, cursor, errors)?;
    if errors.len() == told {
        errors.on(late.colon, columns::type_after_was(name));
    }
    Some(late)
}

/// The views, in parentheses. Other brackets are told, and read all the same.
fn list(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Group> {
    match cursor.peek() {
        Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::None => {
            cursor.next();
            if group.delimiter() != Delimiter::Parenthesis {
                errors.on(group.span_open(), views::no_views(name));
            }
            Some(group.clone())
        }
        equals if is_punct(equals, '=') => {
            errors.at(equals, views::no_views(name));
            None
        }
        _ => {
            errors.at(name, views::no_views(name));
            None
        }
    }
}

/// Takes the `=`. `None` where there is none, with the rest of the declaration skipped.
fn equals<'t>(name: &Ident, cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<&'t TokenTree> {
    let length = operator(cursor.rest());
    let found: String = tokens(cursor.rest().get(..length).unwrap_or_default()).to_string();
    match found.as_str() {
        "=" => cursor.next(),
        "==" | "=>" | ":=" => {
            let operator = cursor.take(length);
            errors.at(tokens(operator), columns::not_equals(&found));
            operator.first()
        }
        _ => {
            let rest = cursor.skip_declaration();
            match rest.first() {
                Some(comma) if rest.len() == 1 && is_punct(Some(comma), ',') => {
                    errors.at(comma, declarations::COMMA);
                }
                Some(found) => errors.at(found, columns::no_equals(name)),
                None => errors.at(name, columns::no_step(name)),
            }
            None
        }
    }
}

/// How many tokens the operator has that stands first.
fn operator(trees: &[TokenTree]) -> usize {
    let mut length = 0;
    for tree in trees {
        let TokenTree::Punct(punct) = tree else { break };
        length += 1;
        if punct.spacing() == Spacing::Alone {
            break;
        }
    }
    // In `=|cx| ...`, `=-1` and the like the expression begins at once.
    let is_expression =
        is_punct(trees.first(), '=') && !is_punct(trees.get(1), '=') && !is_punct(trees.get(1), '>');
    if is_expression { length.min(1) } else { length.min(2) }
}

fn step(name: &Ident, equals: &TokenTree, cursor: &mut Cursor<'_>, errors: &mut Errors) -> TokenStream {
    let mut step = cursor.skip_declaration();
    let Some(last) = step.last() else {
        errors.at(equals, columns::empty_step(name));
        return TokenStream::new();
    };
    if is_punct(Some(last), ',') {
        errors.at(last, declarations::COMMA);
        step = step.split_last().map_or(step, |(_, before)| before);
    } else if !cursor.took_semicolon() {
        errors.on(last_span(last), declarations::NO_SEMICOLON);
    }
    tokens(step)
}

/// The last token in the sense of a reader: of a group, what closes it.
fn last_span(tree: &TokenTree) -> Span {
    match tree {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    }
}
