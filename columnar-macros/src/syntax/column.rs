//! Parses a source or a column after its name: `: Documents was "code"`, `(views): Type was "old" = step`.

use proc_macro2::{Delimiter, Ident, Spacing, TokenTree};
use syn::LitStr;
use syn::ext::IdentExt;

use super::closure;
use super::column_type;
use super::cursor::{Cursor, is_ident, is_punct, tokens, ungrouped};
use super::step;
use super::tree::{ColumnDecl, ComputedDecl, EarlierName, TypeDecl};
use super::view_list::{self, ViewList};
use crate::diagnostics::{Errors, NAME_RULE, SOURCE_FORM, no_end, quote};
use crate::ident::is_name;

/// Takes everything up to the `;`. `None` if a token is reported that the column cannot have.
pub(super) fn parse(column: &mut ColumnDecl, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<()> {
    if let Some(derived) = &mut column.derived {
        views(&column.name, derived, cursor, errors)?;
    }
    column_type::parse(column, cursor, errors)?;
    earlier_name(column, cursor, errors)?;
    let Some(derived) = &mut column.derived else { return end_of_source(column, cursor, errors) };
    equals(&column.name, cursor, errors)?;
    step(&column.name, derived, cursor, errors)
}

/// Reports tokens that no source has.
fn end_of_source(column: &mut ColumnDecl, cursor: &Cursor<'_>, errors: &mut Errors) -> Option<()> {
    let rest = cursor.declaration();
    match rest.first() {
        None => Some(()),
        equals if is_punct(equals, '=') => errors.stop(tokens(rest), source_step(&column.name)),
        Some(comma) if is_punct(comma, ',') => Some(()),
        Some(found) => {
            // The type may be among the tokens.
            column.ty.get_or_insert_with(|| TypeDecl::unread(found.span()));
            errors.stop(found, no_end(SOURCE_FORM))
        }
    }
}

/// Takes an earlier name.
fn earlier_name(column: &mut ColumnDecl, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<()> {
    let Some(TokenTree::Ident(keyword)) = cursor.peek().filter(|&tree| is_ident(tree, "was")) else {
        return Some(());
    };
    cursor.next();
    // Not `peek`: the next token may begin another declaration.
    let found = cursor.declaration().first().map(ungrouped);
    let Some(name) = found.and_then(|found| syn::parse2::<LitStr>(found.into()).ok()) else {
        return errors.stop(keyword, no_earlier_name(&column.name));
    };
    cursor.next();
    let text = name.value();
    // A column of a module is stored as `debate.critic`, so an earlier name may have dots.
    if text.split('.').all(is_name) {
        column.renamed_from = Some(EarlierName { keyword: keyword.clone(), name });
    } else {
        errors.at(&name, bad_earlier_name(&text));
    }
    Some(())
}

/// Takes the views, in parentheses. Other brackets are reported, and read all the same.
fn views(
    name: &Ident,
    derived: &mut ComputedDecl,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> Option<()> {
    match cursor.peek() {
        // A fragment that a `macro_rules!` passes on is a group without delimiters.
        Some(TokenTree::Group(list)) if list.delimiter() != Delimiter::None => {
            cursor.next();
            if list.delimiter() != Delimiter::Parenthesis {
                errors.on(list.span_open(), no_views(name));
            }
            let ViewList { views, is_complete } = view_list::parse(list, errors);
            *derived =
                ComputedDecl { list: list.span(), views, is_complete, ..ComputedDecl::unread(list.span()) };
        }
        // An editor completes the step before there are views.
        equals if is_punct(equals, '=') => errors.at(equals, no_views(name)),
        _ => {
            return match cursor.declaration().first() {
                Some(found) => errors.stop(found, no_views(name)),
                None => errors.stop(name, no_views_and_no_step(name)),
            };
        }
    }
    Some(())
}

/// Takes the `=`.
fn equals(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<()> {
    let length = operator(cursor.rest());
    let found: String = tokens(cursor.rest().get(..length).unwrap_or_default()).to_string();
    match found.as_str() {
        "=" => {}
        // A type would have been taken before.
        "==" | "=>" | ":=" | ":" => {
            errors.at(tokens(cursor.rest().get(..length)?), not_equals(&found));
        }
        _ => {
            return match cursor.declaration().first() {
                Some(found) => errors.stop(found, no_equals(name)),
                None => errors.stop(name, no_step(name)),
            };
        }
    }
    cursor.take(length);
    Some(())
}

/// The number of tokens of the operator that comes first.
fn operator(trees: &[TokenTree]) -> usize {
    let mut length = 0;
    for tree in trees {
        let TokenTree::Punct(punct) = tree else { break };
        length += 1;
        if punct.spacing() == Spacing::Alone {
            break;
        }
    }
    // In `=|cx| ...` and `=-1` the expression begins after the first token.
    let is_expression =
        is_punct(trees.first(), '=') && !is_punct(trees.get(1), '=') && !is_punct(trees.get(1), '>');
    // At most two, because in `==-1` the third one belongs to the expression.
    if is_expression { length.min(1) } else { length.min(2) }
}

/// Takes the compute step.
fn step(
    name: &Ident,
    derived: &mut ComputedDecl,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> Option<()> {
    let written = match cursor.declaration() {
        // The comma is in place of the `;`.
        [step @ .., comma] if is_punct(comma, ',') => step,
        step => step,
    };
    if written.is_empty() {
        return errors.stop(cursor.last(), empty_step(name));
    }
    // Without views, they are probably in the step.
    if !derived.is_complete && derived.views.is_empty() && !step::is_plain(written) {
        return None;
    }
    let step = step::parse(name, written, errors);
    cursor.take(written.len() - step.after.len());
    derived.closure = closure::parse(&step.tokens.clone().into_iter().collect::<Vec<_>>());
    derived.step = step.tokens;
    // The tokens after it are reported.
    step.after.is_empty().then_some(())
}

// Messages.

fn source_step(name: &Ident) -> String {
    format!(
        "a source has no compute step: your program pushes its values\n\nhelp: to compute them, write `column {}(...) = ...;`",
        name.unraw()
    )
}

fn no_step(name: &Ident) -> String {
    format!("column {} has no compute step\n\nhelp: add one, as in `= prompt(\"...\")`", quote(name))
}

fn empty_step(name: &Ident) -> String {
    format!("expected the compute step of {} after this\n\nhelp: as in `= prompt(\"...\")`", quote(name))
}

fn no_equals(name: &Ident) -> String {
    let text = name.unraw();
    format!(
        "expected `=` and the compute step of `{text}`\n\nhelp: as in `column {text}(...) = prompt(\"...\");`"
    )
}

fn not_equals(found: &str) -> String {
    format!("expected `=`, found `{found}`\n\nhelp: write `=`")
}

fn no_earlier_name(column: &Ident) -> String {
    format!(
        "expected the earlier name of {}, in quotes\n\nhelp: as in `was \"subjects\"`; without an earlier name, drop `was`",
        quote(column)
    )
}

fn bad_earlier_name(name: &str) -> String {
    // The literal may be a whole text, and its beginning is enough to find it.
    let name: String = name.chars().take(40).collect();
    format!("`{name}` cannot be the earlier name of a column\n\nhelp: {NAME_RULE}")
}

fn no_views(name: &Ident) -> String {
    let text = name.unraw();
    format!(
        "expected the views that `{text}` reads, in parentheses\n\nhelp: as in `column {text}(user.latest) = ...`"
    )
}

/// `column topics;`
fn no_views_and_no_step(name: &Ident) -> String {
    let text = name.unraw();
    format!(
        "expected the views that `{text}` reads, in parentheses\n\nhelp: as in `column {text}(...) = ...`; a source begins \
         with `source`"
    )
}
