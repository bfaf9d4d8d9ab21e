//! Parses a column after its name: `(views): Type was "old" = step;`.

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenTree};
use syn::LitStr;

use super::closure;
use super::column_type::{self, begins_step};
use super::cursor::{Cursor, is_group, is_ident, is_punct, tokens, trees_of, ungrouped};
use super::step::{self, Step};
use super::tree::{ColumnType, Derived, RenamedFrom};
use super::view_list::{self, ViewList};
use crate::diagnostics::{Errors, columns, declarations, views};
use crate::ident::{self, ident_text, is_name};

/// Takes a computed column up to its `;`. The last part are the tokens in it that could not be read.
pub(super) fn parse<'t>(
    name: &Ident,
    cursor: &mut Cursor<'t>,
    errors: &mut Errors,
) -> (Option<RenamedFrom>, Derived, &'t [TokenTree]) {
    let early_name = early_name(name, cursor, errors);
    let early_type = column_type::before_views(name, cursor, errors);
    let mut list = list(name, cursor, errors);
    if list.is_none() {
        // `column mood: String = ...` has one mistake.
        column_type::skip_text(cursor);
    }
    let ty = early_type.or_else(|| column_type::parse(name, cursor, errors));
    let renamed_from = early_name.or_else(|| renamed_from(name, cursor, errors));
    let ty = ty.or_else(|| late_type(name, renamed_from.as_ref(), cursor, errors));
    let mut step = Step::default();
    // Without views and `=`, a missing step would be a second error of one mistake.
    if list.is_some() || is_punct(cursor.peek(), '=') {
        if let Some(equals) = equals(name, cursor, errors) {
            step = self::step(name, equals, &mut list, cursor, errors);
        }
    } else {
        cursor.skip_declaration();
    }
    let span = list.as_ref().map_or(name.span(), Group::span);
    let views = list.map(|list| view_list::parse(&list, errors));
    let ViewList { views, is_complete } = views.unwrap_or_default();
    let closure = closure::parse(&step.tokens.clone().into_iter().collect::<Vec<_>>());
    (
        renamed_from,
        Derived {
            list: span,
            views,
            is_complete,
            ty,
            step: step.tokens,
            closure,
            is_step_for_editors: false,
        },
        step.after,
    )
}

/// Takes the type and the earlier name of a source.
pub(super) fn parse_source(
    name: &Ident,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> (Option<RenamedFrom>, Option<ColumnType>) {
    let ty = column_type::of_source(name, cursor, errors);
    let renamed_from = renamed_from(name, cursor, errors);
    let ty = ty.or_else(|| late_type(name, renamed_from.as_ref(), cursor, errors));
    (renamed_from, ty)
}

/// Takes an earlier name.
fn renamed_from(column: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<RenamedFrom> {
    let in_other_form = in_other_form(column, cursor, errors);
    let renamed_from = in_other_form.or_else(|| after_was(column, cursor, errors))?;
    more_names(cursor, errors);
    let text = renamed_from.name.value();
    // A column of a module is stored as `debate.critic`, so an earlier name may have dots.
    if !text.split('.').all(is_name) {
        errors.at(&renamed_from.name, columns::bad_earlier_name(&text));
        return None;
    }
    Some(renamed_from)
}

/// Takes an earlier name before the views, which is an error.
fn early_name(column: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<RenamedFrom> {
    let first = cursor.peek()?;
    let length = match cursor.rest() {
        [was, name, ..] if is_ident(Some(was), "was") && is_string(name) => 2,
        trees => column_type::earlier_name_in_other_form(trees)?.1,
    };
    let views = cursor.rest().get(length)?;
    if !is_group(views, Delimiter::Parenthesis) {
        return None;
    }
    let reported = errors.len();
    let renamed_from = renamed_from(column, cursor, errors);
    // A name in another form is one error, wherever it is.
    if errors.len() == reported
        && let Some(RenamedFrom { name, .. }) = &renamed_from
    {
        errors.at(first, columns::early_was(column, &name.value(), true));
    }
    renamed_from
}

/// Takes `was("subjects")` or `as "subjects"`, which is an error.
fn in_other_form(column: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<RenamedFrom> {
    let (name, length) = column_type::earlier_name_in_other_form(cursor.rest())?;
    let (TokenTree::Ident(keyword), written) = cursor.take(length).split_first()? else { return None };
    match () {
        () if ident::is(keyword, "was") => {
            errors.at(tokens(written), columns::earlier_name_in_brackets(&name.value()));
        }
        () if ident::is(keyword, "as") => errors.at(keyword, columns::as_for_was(column, &name.value())),
        () => errors.at(keyword, columns::not_was(keyword, &name.value())),
    }
    Some(RenamedFrom { keyword: ident::replace(keyword, &Ident::new("was", keyword.span())), name })
}

/// Takes `was` and a name. Other tokens after `was` are reported; an identifier is taken for the name.
fn after_was(column: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<RenamedFrom> {
    let Some(TokenTree::Ident(keyword)) = cursor.peek().filter(|tree| is_ident(Some(tree), "was")) else {
        return None;
    };
    cursor.next();
    // Not `peek`: the next identifier may be the keyword of another declaration.
    let name = match cursor.declaration().first().map(ungrouped) {
        Some(literal @ TokenTree::Literal(_)) => {
            cursor.next();
            syn::parse2::<LitStr>(literal.clone().into()).ok().or_else(|| {
                errors.at(literal, columns::no_earlier_name(column));
                None
            })?
        }
        Some(TokenTree::Ident(name)) => {
            cursor.next();
            errors.at(&name, columns::earlier_name_not_quoted(&name));
            LitStr::new(&ident_text(&name), name.span())
        }
        _ => {
            errors.at(keyword, columns::no_earlier_name(column));
            return None;
        }
    };
    Some(RenamedFrom { keyword: keyword.clone(), name })
}

/// Takes `, "points"` after an earlier name, which is an error.
fn more_names(cursor: &mut Cursor<'_>, errors: &mut Errors) {
    let pairs = cursor.rest().chunks_exact(2);
    let is_more =
        |pair: &&[TokenTree]| matches!(pair, [comma, name] if is_punct(Some(comma), ',') && is_string(name));
    let count = pairs.take_while(is_more).count();
    if count > 0 {
        errors.at(tokens(cursor.take(2 * count)), columns::SECOND_EARLIER_NAME);
    }
}

fn is_string(tree: &TokenTree) -> bool {
    syn::parse2::<LitStr>(ungrouped(tree).into()).is_ok()
}

/// Takes a type after the earlier name, which is an error.
fn late_type(
    name: &Ident,
    renamed_from: Option<&RenamedFrom>,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> Option<ColumnType> {
    renamed_from?;
    let reported = errors.len();
    let late = column_type::parse(name, cursor, errors)?;
    // A type that is wrong in itself is one error, wherever it is.
    if errors.len() == reported {
        errors.on(late.colon, columns::type_after_was(name));
    }
    Some(late)
}

/// Takes the views, in parentheses. Other brackets are reported, and read all the same.
fn list(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Group> {
    match cursor.peek() {
        // A fragment that a `macro_rules!` passes on is a group without delimiters.
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
        // `column mood: (user.latest) = ...`
        colon if is_punct(colon, ':') && views_after_colon(cursor).is_some() => {
            errors.at(colon, views::no_views(name));
            let views = views_after_colon(cursor).cloned();
            cursor.take(2);
            views
        }
        _ if cursor.declaration().is_empty() => {
            errors.at(name, views::no_views_and_no_step(name));
            None
        }
        _ => {
            errors.at(name, views::no_views(name));
            None
        }
    }
}

fn views_after_colon<'t>(cursor: &Cursor<'t>) -> Option<&'t Group> {
    match cursor.rest() {
        [_, TokenTree::Group(views), equals, ..] if is_punct(Some(equals), '=') => {
            let is_list = views.delimiter() == Delimiter::Parenthesis && begins_step(&trees_of(views));
            is_list.then_some(views)
        }
        _ => None,
    }
}

/// Takes the `=`. Where there is none, it skips the rest of the declaration.
fn equals<'t>(name: &Ident, cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<&'t TokenTree> {
    let length = operator(cursor.rest());
    let found: String = tokens(cursor.rest().get(..length).unwrap_or_default()).to_string();
    match found.as_str() {
        "=" => cursor.next(),
        // A type would have been taken before.
        "==" | "=>" | ":=" | ":" => {
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

/// Takes the compute step and the `;`. Where the views are missing, they may be in the step.
fn step<'t>(
    name: &Ident,
    equals: &TokenTree,
    list: &mut Option<Group>,
    cursor: &mut Cursor<'t>,
    errors: &mut Errors,
) -> Step<'t> {
    let mut step = cursor.skip_declaration();
    let Some(last) = step.last() else {
        errors.at(equals, columns::empty_step(name));
        return Step::default();
    };
    if is_punct(Some(last), ',') {
        errors.at(last, declarations::COMMA);
        step = step.split_last().map_or(step, |(_, before)| before);
    } else if !cursor.took_semicolon() {
        errors.on(last_span(last), declarations::NO_SEMICOLON);
    }
    if list.is_none() {
        if let Some((views, rest)) = step::views_before(step) {
            *list = Some(views.clone());
            step = rest;
        } else if !step::is_plain(step) {
            return Step { after: step, ..Step::default() };
        }
    }
    step::parse(name, step, errors)
}

/// The span of the last token; of a group, that of its closing bracket.
fn last_span(tree: &TokenTree) -> Span {
    match tree {
        // The message says `after this`, and the whole group may be many lines.
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    }
}
