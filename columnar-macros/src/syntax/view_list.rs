//! Parses a list of views with its groups: `(user, group("debate", pro.latest, con.latest), self)`.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenTree};
use syn::LitStr;

use super::cursor::{Cursor, is_blank, is_group, is_ident, is_punct, literal, tokens, trees_of};
use super::modifiers;
use super::view::{GroupTag, State, View};
use crate::diagnostics::{Errors, views};
use crate::ident::{ident_text, is_name, rust_ident};
use crate::keywords::MODIFIERS;

/// The most groups around a view, as at run time. A parser without a limit could use up the stack.
const MAX_GROUPS: usize = 32;

/// The views of a list.
#[derive(Default)]
pub(super) struct ViewList {
    pub(super) views: Vec<View>,
    /// Whether every view could be read.
    pub(super) is_complete: bool,
}

pub(super) fn parse(list: &Group, errors: &mut Errors) -> ViewList {
    parse_items(list.span_open(), &trees_of(list), 0, errors)
}

/// The views after an opening parenthesis, inside this many groups.
fn parse_items(open: Span, trees: &[TokenTree], groups: usize, errors: &mut Errors) -> ViewList {
    let parts: Vec<&[TokenTree]> = trees.split(|tree| is_punct(Some(tree), ',')).collect();
    let mut commas = trees.iter().filter(|tree| is_punct(Some(tree), ','));
    let (mut before, mut list) = (open, ViewList { views: Vec::new(), is_complete: true });
    for part in &parts {
        let comma = commas.next();
        match (is_blank(part), comma) {
            (false, _) => {
                let item = parse_item(before, part, groups, errors);
                list.views.extend(item.views);
                list.is_complete &= item.is_complete;
            }
            (true, Some(comma)) => {
                // The view stays in the list, so that an editor can complete it.
                errors.at(comma, views::EMPTY_VIEW);
                list.is_complete = false;
                list.views.push(missing(before, part));
            }
            // One comma may follow the last view.
            (true, None) => list.views.push(missing(before, part)),
        }
        before = comma.map_or(before, TokenTree::span);
    }
    list
}

fn missing(before: Span, trees: &[TokenTree]) -> View {
    match trees {
        [TokenTree::Ident(marker)] => View::missing(before, Some(marker)),
        _ => View::missing(before, None),
    }
}

/// A view, or those of a group.
fn parse_item(before: Span, trees: &[TokenTree], groups: usize, errors: &mut Errors) -> ViewList {
    // Without brackets `group` is the name of a column.
    if let [ident, TokenTree::Group(list), after @ ..] = trees
        && is_ident(Some(ident), "group")
    {
        if groups == MAX_GROUPS {
            errors.at(tokens(trees), views::NESTED_GROUPS);
            return ViewList::default();
        }
        return parse_group(list, after, groups + 1, errors);
    }
    let view = parse_view(before, trees, errors);
    let is_complete = view.is_some();
    ViewList { views: vec![view.unwrap_or_else(|| View::missing(before, None))], is_complete }
}

/// The views of a group, each with the tag of the group.
fn parse_group(list: &Group, after: &[TokenTree], groups: usize, errors: &mut Errors) -> ViewList {
    if !after.is_empty() {
        errors.at(tokens(after), views::AFTER_GROUP);
    }
    let inside = trees_of(list);
    let mut cursor = Cursor::new(&inside);
    let tag = group_tag(list, &mut cursor, errors);
    let mut group = parse_items(list.span_open(), cursor.rest(), groups, errors);
    let is_empty = group.views.iter().all(|view| view.state == State::NoColumn);
    // A group without a tag is reported already.
    if is_empty && group.is_complete && tag.is_some() {
        errors.at(list, views::EMPTY_GROUP);
    }
    for view in &mut group.views {
        let message = match () {
            () if view.is_self() => Some(views::GROUPED_SELF),
            () if view.is_instruction() => Some(views::GROUPED_INSTRUCTION),
            () => None,
        };
        match message {
            Some(message) if view.state == State::Valid && tag.is_some() => {
                errors.at(&view.written, message);
                view.state = State::Invalid;
            }
            // The views have the tags of inner groups already, and the outermost one is first.
            _ => drop(view.groups.splice(0..0, tag.clone())),
        }
    }
    // Otherwise a column with an empty group would also be reported as one that reads nothing.
    group.is_complete &= !is_empty;
    group
}

/// Takes the tag of a group, and the comma after it.
fn group_tag(list: &Group, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<GroupTag> {
    let Some(literal) = literal(cursor.peek()) else {
        // The token is not taken: it may be the first view.
        match cursor.peek() {
            Some(found) => errors.at(found, views::NO_GROUP_TAG),
            None => errors.at(list, views::NO_GROUP_TAG),
        }
        return None;
    };
    cursor.next();
    let literal = syn::parse2::<LitStr>(TokenTree::from(literal).into());
    match cursor.peek() {
        comma if is_punct(comma, ',') => drop(cursor.next()),
        Some(found) => errors.at(found, views::no_comma(found)),
        None => {}
    }
    match literal {
        Ok(tag) if is_name(&tag.value()) => return Some(GroupTag::new(tag.span(), &tag.value())),
        Ok(tag) => errors.at(&tag, views::bad_tag(&tag.value())),
        Err(_) => errors.on(list.span_open(), views::NO_GROUP_TAG),
    }
    None
}

/// One view; `None` if it does not begin like one.
pub(super) fn parse_view(before: Span, trees: &[TokenTree], errors: &mut Errors) -> Option<View> {
    let mut cursor = Cursor::new(trees);
    let base = match cursor.next()? {
        TokenTree::Ident(base) => base.clone(),
        _ if is_punct(trees.first(), ':') => {
            errors.at(tokens(trees), views::PATH_VIEW);
            return None;
        }
        other => {
            errors.at(other, views::not_a_view(trees));
            return None;
        }
    };
    let message = match (trees.get(1), trees.get(2)) {
        (colon, more) if is_punct(colon, ':') && is_punct(more, ':') => Some(views::PATH_VIEW),
        (Some(list), _) if is_group(list, Delimiter::Parenthesis) => Some(views::VIEW_AS_FUNCTION),
        (equals, _) if is_punct(equals, '=') => Some(views::TAG_BEFORE),
        _ => None,
    };
    if let Some(message) = message {
        errors.at(tokens(trees), message);
        return None;
    }
    let mut view = View::new(before, base, tokens(trees));
    view.path = path(&mut cursor);
    modifiers::parse(&mut view, &mut cursor, errors);
    Some(view)
}

/// Takes the names of columns that come next: identifiers that are not modifiers.
fn path(cursor: &mut Cursor<'_>) -> Vec<Ident> {
    let mut path = Vec::new();
    // All other fields are read as modifiers, which report them or leave them to rustc.
    while let [dot, TokenTree::Ident(name), rest @ ..] = cursor.rest()
        && is_punct(Some(dot), '.')
        && !matches!(rest.first(), Some(TokenTree::Group(_)))
        && !is_modifier(name)
        && !ident_text(name).is_empty()
        && rust_ident(name).as_ref() == Some(name)
    {
        path.push(name.clone());
        cursor.take(2);
    }
    path
}

/// Whether this is a modifier, or a name that is often written instead of one.
fn is_modifier(name: &Ident) -> bool {
    let text = ident_text(name);
    // A column of a module may have these names. As modifiers they have parentheses, and are in no path.
    let is_method = ["tiered", "target", "context", "instruction"].contains(&&*text);
    !is_method && MODIFIERS.iter().chain(&["all", "named"]).any(|&modifier| text == modifier)
}
