//! What has a place in Rust and none in a flow, and is written by habit: told once, and read as it was
//! meant where that can be known.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use super::cursor::{Cursor, begins_declaration, is_punct};
use super::{Column, Derived, tokens};
use crate::diagnostics::{Errors, declarations};
use crate::ident::{self, ident_text, is_name, quoted_name, rust_ident};
use crate::keywords::nearest_keyword;

/// Items and statements that end with `;`.
const UP_TO_A_SEMICOLON: [&str; 5] = ["let", "const", "static", "type", "return"];

/// Items and statements that end with braces.
const UP_TO_BRACES: [&str; 12] =
    ["struct", "enum", "trait", "impl", "mod", "unsafe", "extern", "if", "for", "while", "loop", "match"];

/// Something in the place of a declaration.
#[derive(Default)]
pub(super) struct Habit<'t> {
    /// The column that it was meant to declare, without documentation.
    pub(super) column: Option<Column>,
    /// What it may have been meant to declare.
    pub(super) lost: &'t [TokenTree],
}

/// Takes what stands before a declaration, as before an item: `pub`, `async`.
pub(super) fn modifiers(cursor: &mut Cursor<'_>, errors: &mut Errors) {
    while let Some(TokenTree::Ident(word)) = cursor.peek() {
        let before_a_declaration = cursor.rest().get(1..).is_some_and(begins_declaration);
        if ident::is(word, "pub") {
            // The field of a struct is told as a whole.
            if !is_punct(cursor.rest().get(2), ':') {
                errors.at(word, declarations::PUB);
            }
        } else if before_a_declaration
            && ["async", "const", "static", "unsafe"].iter().any(|it| ident::is(word, it))
        {
            errors.at(word, declarations::modifier(word));
        } else {
            return;
        }
        cursor.next();
        cursor.parentheses();
    }
}

/// Takes a statement, an item or the field of a struct, if one stands next.
pub(super) fn declaration<'t>(cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<Habit<'t>> {
    match cursor.rest() {
        [TokenTree::Ident(word), rest @ ..] if ident::is(word, "fn") || is_async_fn(word, rest) => {
            function(cursor, errors)
        }
        [TokenTree::Ident(word), bang, TokenTree::Group(_), ..] if is_punct(Some(bang), '!') => {
            if ident::is(word, "flow") {
                errors.at(word, declarations::FLOW_INSIDE);
            } else {
                errors.at(word, declarations::rust_item(&format!("{word}!")));
            }
            let lost = cursor.take(3);
            cursor.punct(';');
            Some(Habit { lost, ..Habit::default() })
        }
        [TokenTree::Ident(name), colon, ..] if is_punct(Some(colon), ':') => field(name, cursor, errors),
        [TokenTree::Ident(word), next, ..] if !is_punct(Some(next), ';') => {
            let is_one_of = |words: &[&str]| words.iter().any(|known| ident::is(word, known));
            let lost = match () {
                () if is_one_of(&UP_TO_A_SEMICOLON) => cursor.skip_declaration(),
                () if is_one_of(&UP_TO_BRACES) => skip_braces(cursor),
                () => return None,
            };
            errors.at(word, declarations::rust_item(&word.to_string()));
            Some(Habit { lost, ..Habit::default() })
        }
        _ => None,
    }
}

fn is_async_fn(word: &Ident, rest: &[TokenTree]) -> bool {
    ident::is(word, "async") && matches!(rest.first(), Some(TokenTree::Ident(next)) if ident::is(next, "fn"))
}

/// `fn topics(user: &str) -> String { … }`. What looks like a column but for its keyword is left to be read.
fn function<'t>(cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<Habit<'t>> {
    let rest = cursor.rest();
    let at = rest.iter().position(|tree| matches!(tree, TokenTree::Ident(word) if ident::is(word, "fn")))?;
    let [TokenTree::Ident(name), TokenTree::Group(list), next @ ..] = rest.get(at + 1..)? else {
        return None;
    };
    if at == 0 && is_punct(next.first(), '=') {
        return None;
    }
    errors.at(tokens(cursor.take(at + 1)), declarations::function(name));
    let column = rust_ident(name).map(|name| broken(rest.get(at), name, list.span()));
    Some(Habit { column, lost: skip_braces(cursor) })
}

/// `user: String,` or `topics: column(user.latest) = …,`.
fn field<'t>(name: &Ident, cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<Habit<'t>> {
    if !is_name(&ident_text(name)) {
        return None;
    }
    let all = cursor.declaration();
    let end = all.iter().position(|tree| is_punct(Some(tree), ',')).unwrap_or(all.len());
    let written = cursor.take(end);
    if cursor.punct(',').is_none() {
        cursor.punct(';');
    }
    let is_source = !written.iter().any(|tree| is_punct(Some(tree), '='));
    errors.at(name, declarations::no_keyword(name, if is_source { "source" } else { "column" }));
    let name = rust_ident(name)?;
    let mut column = broken(written.first(), name, Span::call_site());
    if is_source {
        column.keyword = Ident::new("source", column.keyword.span());
        column.derived = None;
    }
    Some(Habit { column: Some(column), lost: &[] })
}

/// A column of which no more is known than its name.
fn broken(place: Option<&TokenTree>, name: Ident, list: Span) -> Column {
    let keyword = Ident::new("column", place.map_or_else(Span::call_site, TokenTree::span));
    let derived = Derived { list, views: Vec::new(), whole: false, ty: None, step: TokenStream::new() };
    Column {
        docs: Vec::new(),
        denied: Vec::new(),
        keyword,
        name,
        is_second: false,
        former: None,
        derived: Some(derived),
    }
}

/// Moves behind the next braces, if there are any before the next declaration.
fn skip_braces<'t>(cursor: &mut Cursor<'t>) -> &'t [TokenTree] {
    let is_braces =
        |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    match cursor.declaration().iter().position(is_braces) {
        Some(at) => cursor.take(at + 1),
        None => cursor.skip_declaration(),
    }
}

/// Takes a keyword that stands behind its name.
pub(super) fn keyword_behind(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Ident> {
    match cursor.rest() {
        [TokenTree::Ident(keyword), ..]
            if (ident::is(keyword, "source") || ident::is(keyword, "column"))
                && nearest_keyword(name).is_none()
                && !begins_declaration(cursor.rest()) =>
        {
            errors.at(quote!(#name #keyword), declarations::keyword_after_name(keyword, name));
            cursor.next();
            Some(keyword.clone())
        }
        _ => None,
    }
}

/// Takes a name that is not written as one, after a keyword: `mut user`, `"user"`, `running-summary`.
pub(super) fn name(cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Ident> {
    match cursor.rest() {
        [TokenTree::Ident(word), TokenTree::Ident(name), ..] if ident::is(word, "mut") => {
            errors.at(word, declarations::modifier(word));
            cursor.take(2);
            rust_ident(name)
        }
        [TokenTree::Literal(literal), ..] => {
            let text = quoted_name(literal.clone().into())?;
            errors.at(literal, declarations::name_in_quotes(&text));
            cursor.next();
            rust_ident(&Ident::new(&text, literal.span()))
        }
        [TokenTree::Ident(first), rest @ ..] => {
            let mut text = first.to_string();
            let mut count = 1;
            for pair in rest.chunks_exact(2) {
                let [hyphen, TokenTree::Ident(next)] = pair else { break };
                if !is_punct(Some(hyphen), '-') {
                    break;
                }
                text = format!("{text}_{next}");
                count += 2;
            }
            if count == 1 || !is_name(&text) {
                return None;
            }
            let written = cursor.take(count);
            errors.at(tokens(written), declarations::name_with_hyphens(&text));
            Some(Ident::new(&text, first.span()))
        }
        _ => None,
    }
}
