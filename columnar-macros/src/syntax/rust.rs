//! Rust among the declarations of a flow: items, statements, words before a name, and keywords as names. Each is one error.

use proc_macro2::{Delimiter, Ident, TokenTree};
use syn::ext::IdentExt;

use super::cursor::{Cursor, begins_declaration, is_group, is_ident, is_punct, tokens};
use crate::diagnostics::{Errors, bad_name, rust_keyword};
use crate::ident::{self, ident_text, is_gen, is_one_of, rust_ident};

/// Items and statements that end with `;`.
const UP_TO_A_SEMICOLON: [&str; 5] = ["let", "const", "static", "type", "return"];

/// Items and statements that end with braces.
const UP_TO_BRACES: [&str; 12] =
    ["struct", "enum", "trait", "impl", "mod", "unsafe", "extern", "if", "for", "while", "loop", "match"];

/// An item or a statement of Rust.
pub(super) struct RustItem<'t> {
    /// The name of a function, probably the name of a column.
    pub(super) function: Option<&'t Ident>,
    /// The tokens that may declare more.
    pub(super) skipped: &'t [TokenTree],
}

/// Takes an item or a statement, if one comes next.
pub(super) fn item<'t>(cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<RustItem<'t>> {
    if let Some((length, name)) = function(cursor.rest()) {
        errors.at(tokens(cursor.take(length)), no_function(name));
        return Some(RustItem { function: Some(name), skipped: skip_braces(cursor) });
    }
    let (TokenTree::Ident(word), rest) = cursor.rest().split_first()? else { return None };
    let skipped = match rest {
        [bang, TokenTree::Group(_), ..] if is_punct(bang, '!') => {
            if ident::is(word, "flow") {
                errors.at(word, FLOW_INSIDE);
            } else {
                errors.at(word, rust_item(&format!("{word}!")));
            }
            let skipped = cursor.take(3);
            cursor.punct(';');
            return Some(RustItem { function: None, skipped });
        }
        // `let topics(user) = …` is a column with a wrong keyword, and `type;` a source without one.
        [TokenTree::Ident(_), TokenTree::Group(_), next, ..]
            if is_one_of(word, &UP_TO_A_SEMICOLON) && !is_punct(next, ';') =>
        {
            return None;
        }
        [] => return None,
        [end, ..] if is_punct(end, ';') => return None,
        _ if is_one_of(word, &UP_TO_A_SEMICOLON) => cursor.skip_declaration(),
        _ if is_one_of(word, &UP_TO_BRACES) => skip_braces(cursor),
        _ => return None,
    };
    errors.at(word, rust_item(&word.to_string()));
    Some(RustItem { function: None, skipped })
}

/// The number of tokens before the name of a function, and the name: `fn topics(user: &str) -> String { … }`.
fn function(trees: &[TokenTree]) -> Option<(usize, &Ident)> {
    let length = match trees {
        [word, ..] if is_ident(word, "fn") => 1,
        [word, other, ..] if is_ident(word, "async") && is_ident(other, "fn") => 2,
        _ => return None,
    };
    let [TokenTree::Ident(name), TokenTree::Group(_), next @ ..] = trees.get(length..)? else { return None };
    // `fn topics(user) = …` is a column with a wrong keyword.
    (!is_punct(next.first(), '=')).then_some((length, name))
}

/// Moves past the next braces, if there are any before the next declaration.
fn skip_braces<'t>(cursor: &mut Cursor<'t>) -> &'t [TokenTree] {
    match cursor.declaration().iter().position(|tree| is_group(tree, Delimiter::Brace)) {
        Some(at) => cursor.take(at + 1),
        None => cursor.skip_declaration(),
    }
}

/// Takes the words of an item before a declaration: `pub`, `async`.
pub(super) fn modifiers(cursor: &mut Cursor<'_>, errors: &mut Errors) {
    while let [TokenTree::Ident(word), after @ ..] = cursor.rest() {
        // The field of a struct is one error, with its `pub`.
        let is_field = is_punct(after.get(1), ':');
        // Elsewhere `async` and `const` begin an item.
        let is_modifier =
            is_one_of(word, &["async", "const", "static", "unsafe"]) && begins_declaration(after);
        if is_modifier || ident::is(word, "pub") && !is_field {
            report(word, errors);
        } else if !ident::is(word, "pub") {
            return;
        }
        cursor.next();
        cursor.parentheses();
    }
}

/// Takes the words of a variable before a name: `mut`.
pub(super) fn modifiers_of_name(cursor: &mut Cursor<'_>, errors: &mut Errors) {
    const WORDS: [&str; 6] = ["mut", "ref", "pub", "let", "const", "static"];
    while let [TokenTree::Ident(word), TokenTree::Ident(name), ..] = cursor.rest()
        && is_one_of(word, &WORDS)
        && !ident::is(name, "was")
    {
        report(word, errors);
        cursor.next();
    }
}

fn report(word: &Ident, errors: &mut Errors) {
    if ident::is(word, "pub") {
        errors.at(word, "the columns of a flow are as public as the flow\n\nhelp: drop `pub`");
    } else {
        errors.at(word, modifier(word));
    }
}

/// The name of a declaration, raw if it is a keyword of Rust. An invalid name is reported.
pub(super) fn declared_name(name: &Ident, errors: &mut Errors) -> Option<Ident> {
    let Some(identifier) = rust_ident(name).filter(|name| !ident_text(name).is_empty()) else {
        return match ident_text(name).as_str() {
            "self" => errors.stop(name, NAMED_SELF),
            _ => errors.stop(name, bad_name(name)),
        };
    };
    // Identifiers are compared with their `r#`.
    if identifier != *name && !is_gen(name) {
        errors.at(name, rust_keyword(name));
    }
    Some(identifier)
}

// Messages.

const FLOW_INSIDE: &str = "a flow contains only declarations\n\nhelp: put the other `flow!` before this one";

/// `let`, `impl` or another keyword of Rust where a declaration should be.
fn rust_item(found: &str) -> String {
    let help = match found {
        "if" | "for" | "while" | "loop" | "match" => {
            "to declare columns at run time, call the functions `source`, `column` and `flow`".to_owned()
        }
        _ => format!("put `{found}` before `flow!`; compute steps can use it"),
    };
    format!("a flow contains only declarations\n\nhelp: {help}")
}

/// `fn topics(...) { ... }` where a column should be.
fn no_function(name: &Ident) -> String {
    let text = name.unraw();
    format!("a flow contains columns, not functions\n\nhelp: as in `column {text}(user.latest) = ...;`")
}

/// `mut`, `async` or another modifier before a declaration or a name.
fn modifier(found: &Ident) -> String {
    format!("a declaration takes no `{found}`\n\nhelp: drop it")
}

const NAMED_SELF: &str =
    "a column cannot be named `self`: as a view, `self` is the history of the column itself";
