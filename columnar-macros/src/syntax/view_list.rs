//! Parses a list of views with its groups: `(user.window(3), group("debate", pro, con.as("contra")), self)`.

use proc_macro2::{Delimiter, Group, Ident, TokenTree};
use syn::LitStr;

use super::cursor::{Cursor, as_ident, comma_separated, is_blank, is_punct, tokens, trees_of, ungrouped};
use super::modifiers::parse_view;
use super::view::{GroupTag, ViewDecl, ViewState};
use crate::diagnostics::{Errors, bad_tag, not_parentheses, quote};
use crate::ident::{self, ident_text, is_name, replace};
use crate::keywords::nearest;

/// The most groups around a view, as at run time. A parser without a limit could use up the stack.
const MAX_GROUPS: usize = 32;

/// The views of a list.
#[derive(Default)]
pub(super) struct ViewList {
    pub(super) views: Vec<ViewDecl>,
    /// Whether every view could be read.
    pub(super) is_complete: bool,
}

pub(super) fn parse(list: &Group, errors: &mut Errors) -> ViewList {
    parse_items(&trees_of(list), 0, errors)
}

/// The views inside this many groups.
fn parse_items(trees: &[TokenTree], depth: usize, errors: &mut Errors) -> ViewList {
    let mut list = ViewList { views: Vec::new(), is_complete: true };
    for (part, comma) in comma_separated(trees) {
        if !is_blank(part) {
            let item = parse_item(part, depth, errors);
            list.views.extend(item.views);
            list.is_complete &= item.is_complete;
            continue;
        }
        // One comma may follow the last view.
        if let Some(comma) = comma {
            errors.at(comma, "expected a view before this comma");
            list.is_complete = false;
        }
        // The view stays in the list, so that an editor can complete it.
        list.views.push(ViewDecl::missing(part.first().and_then(as_ident)));
    }
    list
}

/// A view, or the views of a group.
fn parse_item(trees: &[TokenTree], depth: usize, errors: &mut Errors) -> ViewList {
    // Without brackets `group` is the name of a column.
    if let Some(group) = group(trees, errors) {
        if depth == MAX_GROUPS {
            errors.at(tokens(trees), NESTED_GROUPS);
            return ViewList::default();
        }
        return parse_group(&group, depth + 1, errors);
    }
    let view = parse_view(trees, errors);
    let is_complete = view.is_some();
    ViewList { views: vec![view.unwrap_or_else(|| ViewDecl::missing(None))], is_complete }
}

/// The views of a group, each with the tag of the group.
fn parse_group(group: &GroupSyntax<'_>, depth: usize, errors: &mut Errors) -> ViewList {
    if !group.after.is_empty() {
        errors.at(tokens(group.after), "a group takes no modifiers\n\nhelp: put this on the views inside");
    }
    let inside = trees_of(group.list);
    let mut cursor = Cursor::new(&inside);
    let Some(tag) = tag(group, &mut cursor, errors) else { return ViewList::default() };
    let mut inner = parse_items(cursor.rest(), depth, errors);
    let is_empty = inner.views.iter().all(|view| view.state == ViewState::NoColumn);
    if is_empty && inner.is_complete {
        errors.at(group.list, EMPTY_GROUP);
    }
    for view in &mut inner.views {
        let written = view.written.clone();
        if view.is_valid() && view.is_self {
            view.report(written, GROUPED_SELF, errors);
        } else if view.is_valid() && view.is_instruction() {
            view.report(written, GROUPED_INSTRUCTION, errors);
        } else {
            // The views have the tags of inner groups already, and the outermost one is first.
            view.groups.insert(0, tag.clone());
        }
    }
    // Otherwise a column with an empty group would also be reported as one that reads nothing.
    inner.is_complete &= !is_empty;
    inner
}

/// A group as it was written.
struct GroupSyntax<'t> {
    word: Ident,
    list: &'t Group,
    after: &'t [TokenTree],
}

/// The group, if the tokens begin one. A misspelt word and other brackets than parentheses are reported.
fn group<'t>(trees: &'t [TokenTree], errors: &mut Errors) -> Option<GroupSyntax<'t>> {
    let [TokenTree::Ident(name), TokenTree::Group(list), after @ ..] = trees else { return None };
    if ident::is(name, "group") {
        if list.delimiter() != Delimiter::Parenthesis {
            errors.on(list.span_open(), not_parentheses(name));
        }
        return Some(GroupSyntax { word: name.clone(), list, after });
    }
    let has_tag = matches!(trees_of(list).first().map(ungrouped), Some(TokenTree::Literal(_)));
    let is_misspelt = has_tag
        && list.delimiter() == Delimiter::Parenthesis
        && nearest(&ident_text(name).to_lowercase(), ["group"].into_iter()).is_some();
    is_misspelt.then(|| {
        let found = quote(name);
        errors.at(name, format!("no view begins with {found} and a text\n\nhelp: did you mean `group`?"));
        GroupSyntax { word: replace(name, &Ident::new("group", name.span())), list, after }
    })
}

/// Takes the tag of a group, and the comma after it.
fn tag(group: &GroupSyntax<'_>, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<GroupTag> {
    let Some(found) = cursor.next() else { return errors.stop(group.list, NO_GROUP_TAG) };
    let Ok(tag) = syn::parse2::<LitStr>(ungrouped(found).into()) else {
        return errors.stop(found, NO_GROUP_TAG);
    };
    if let Some(found) = cursor.next().filter(|&found| !is_punct(found, ',')) {
        return errors.stop(found, format!("expected `,` before `{found}`"));
    }
    let text = tag.value();
    let is_valid = is_name(&text);
    if !is_valid {
        errors.at(&tag, bad_tag(&text));
    }
    // The views of a group with an invalid tag are checked all the same.
    let text = if is_valid { text.as_str() } else { "group" };
    Some(GroupTag { word: group.word.clone(), span: tag.span(), text: text.into() })
}

// Messages.

const NO_GROUP_TAG: &str =
    "expected the tag of the group\n\nhelp: as in `group(\"debate\", pro.latest, con.latest)`";
const GROUPED_INSTRUCTION: &str =
    "an instruction is in the system text, so it cannot be in a group\n\nhelp: put it after the group";
const EMPTY_GROUP: &str =
    "this group has no views\n\nhelp: add some, as in `group(\"debate\", pro.latest, con.latest)`";
const NESTED_GROUPS: &str =
    "this group is inside 32 others, which is the most\n\nhelp: put its views into one of those around it";
const GROUPED_SELF: &str =
    "`self` is shown as assistant messages, so it cannot be in a group\n\nhelp: put it after the group";
