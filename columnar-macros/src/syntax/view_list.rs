//! Parses a list of views with its groups: `(user, group("debate", pro.latest, con.latest), self)`.

use proc_macro2::{Delimiter, Group, Ident, TokenTree};
use syn::LitStr;

use super::cursor::{Cursor, is_blank, is_punct, tokens, trees_of, ungrouped};
use super::modifiers;
use super::view::{GroupTag, State, View};
use crate::diagnostics::{Errors, bad_tag, no_separator, not_parentheses, quote};
use crate::ident::{self, ident_text, is_gen, is_name, replace, rust_ident};
use crate::keywords::{MODIFIERS, nearest};

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
    parse_items(&trees_of(list), 0, errors)
}

/// The views inside this many groups.
fn parse_items(trees: &[TokenTree], groups: usize, errors: &mut Errors) -> ViewList {
    let parts: Vec<&[TokenTree]> = trees.split(|tree| is_punct(Some(tree), ',')).collect();
    let mut commas = trees.iter().filter(|tree| is_punct(Some(tree), ','));
    let mut list = ViewList { views: Vec::new(), is_complete: true };
    for part in &parts {
        let comma = commas.next();
        match (is_blank(part), comma) {
            (false, _) => {
                let item = parse_item(part, groups, errors);
                list.views.extend(item.views);
                list.is_complete &= item.is_complete;
            }
            (true, Some(comma)) => {
                // The view stays in the list, so that an editor can complete it.
                errors.at(comma, EMPTY_VIEW);
                list.is_complete = false;
                list.views.push(missing(part));
            }
            // One comma may follow the last view.
            (true, None) => list.views.push(missing(part)),
        }
    }
    list
}

fn missing(trees: &[TokenTree]) -> View {
    match trees {
        [TokenTree::Ident(marker)] => View::missing(Some(marker)),
        _ => View::missing(None),
    }
}

/// A view, or the views of a group.
fn parse_item(trees: &[TokenTree], groups: usize, errors: &mut Errors) -> ViewList {
    // Without brackets `group` is the name of a column.
    if let Some((word, list, after)) = group_list(trees, errors) {
        if groups == MAX_GROUPS {
            errors.at(tokens(trees), NESTED_GROUPS);
            return ViewList::default();
        }
        return parse_group(&word, list, after, groups + 1, errors);
    }
    let view = parse_view(trees, errors);
    let is_complete = view.is_some();
    ViewList { views: vec![view.unwrap_or_else(|| View::missing(None))], is_complete }
}

/// The word `group`, the list after it, and the tokens after that. A misspelt word and other brackets than parentheses are
/// reported.
fn group_list<'t>(
    trees: &'t [TokenTree],
    errors: &mut Errors,
) -> Option<(Ident, &'t Group, &'t [TokenTree])> {
    let [TokenTree::Ident(name), TokenTree::Group(list), after @ ..] = trees else { return None };
    if ident::is(name, "group") {
        if list.delimiter() != Delimiter::Parenthesis {
            errors.on(list.span_open(), not_parentheses(name));
        }
        return Some((name.clone(), list, after));
    }
    is_misspelt_group(name, list).then(|| {
        errors.at(name, not_group(name));
        (replace(name, &Ident::new("group", name.span())), list, after)
    })
}

fn is_misspelt_group(name: &Ident, list: &Group) -> bool {
    let has_tag = matches!(trees_of(list).first().map(ungrouped), Some(TokenTree::Literal(_)));
    has_tag
        && list.delimiter() == Delimiter::Parenthesis
        && nearest(&ident_text(name).to_lowercase(), ["group"].into_iter()).is_some()
}

/// The views of a group, each with the tag of the group.
fn parse_group(
    word: &Ident,
    list: &Group,
    after: &[TokenTree],
    groups: usize,
    errors: &mut Errors,
) -> ViewList {
    if !after.is_empty() {
        errors.at(tokens(after), AFTER_GROUP);
    }
    let inside = trees_of(list);
    let mut cursor = Cursor::new(&inside);
    let Some(tag) = group_tag(word, list, &mut cursor, errors) else { return ViewList::default() };
    let mut group = parse_items(cursor.rest(), groups, errors);
    let is_empty = group.views.iter().all(|view| view.state == State::NoColumn);
    if is_empty && group.is_complete {
        errors.at(list, EMPTY_GROUP);
    }
    for view in &mut group.views {
        let message = match () {
            () if view.is_self() => Some(GROUPED_SELF),
            () if view.is_instruction() => Some(GROUPED_INSTRUCTION),
            () => None,
        };
        match message {
            Some(message) if view.state == State::Valid => {
                errors.at(&view.written, message);
                view.state = State::Invalid;
            }
            // The views have the tags of inner groups already, and the outermost one is first.
            _ => view.groups.insert(0, tag.clone()),
        }
    }
    // Otherwise a column with an empty group would also be reported as one that reads nothing.
    group.is_complete &= !is_empty;
    group
}

/// Takes the tag of a group, and the comma after it.
fn group_tag(word: &Ident, list: &Group, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<GroupTag> {
    let Some(found) = cursor.next() else { return errors.stop(list, NO_GROUP_TAG) };
    let Ok(tag) = syn::parse2::<LitStr>(ungrouped(found).into()) else {
        return errors.stop(found, NO_GROUP_TAG);
    };
    match cursor.next() {
        Some(found) if !is_punct(Some(found), ',') => return errors.stop(found, no_comma(found)),
        _ => {}
    }
    let text = tag.value();
    if is_name(&text) {
        return Some(GroupTag::new(word, tag.span(), &text));
    }
    errors.at(&tag, bad_tag(&text));
    // The views are checked all the same.
    Some(GroupTag::new(word, tag.span(), "group"))
}

/// One view; `None` if it does not begin like one.
pub(super) fn parse_view(trees: &[TokenTree], errors: &mut Errors) -> Option<View> {
    let trees = without_modifier(trees, errors);
    let mut cursor = Cursor::new(trees);
    let base = match cursor.next()? {
        TokenTree::Ident(base) => base.clone(),
        _ if is_punct(trees.first(), ':') => return errors.stop(tokens(trees), PATH_VIEW),
        other => return errors.stop(other, not_a_view(other)),
    };
    match cursor.peek() {
        Some(colon) if is_punct(Some(colon), ':') && is_punct(trees.get(2), ':') => {
            return errors.stop(tokens(trees), PATH_VIEW);
        }
        Some(found) if !is_punct(Some(found), '.') => return errors.stop(found, no_separator(found)),
        _ => {}
    }
    let mut view = View::new(base, tokens(trees));
    view.path = path(&mut cursor);
    modifiers::parse(&mut view, &mut cursor, errors);
    Some(view)
}

/// The view without the `mut` or `ref` before it, which is reported.
fn without_modifier<'t>(trees: &'t [TokenTree], errors: &mut Errors) -> &'t [TokenTree] {
    match trees.split_first() {
        Some((TokenTree::Ident(word), view @ [TokenTree::Ident(_), ..]))
            if ["mut", "ref", "pub", "move", "let", "const", "static"].iter().any(|&known| word == known) =>
        {
            errors.at(word, modifier(word));
            view
        }
        _ => trees,
    }
}

/// Takes the names of columns that come next: identifiers that are not modifiers.
fn path(cursor: &mut Cursor<'_>) -> Vec<Ident> {
    let mut path = Vec::new();
    // All other fields are read as modifiers, which report them.
    while let [dot, TokenTree::Ident(name), rest @ ..] = cursor.rest()
        && is_punct(Some(dot), '.')
        && !matches!(rest.first(), Some(TokenTree::Group(_)))
        && !is_modifier(name)
        && !ident_text(name).is_empty()
        && let Some(raw) = rust_ident(name)
        && (raw == *name || is_gen(name))
    {
        path.push(raw);
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

// Messages.

/// `&user`, `"user"` or another token where a view should be.
fn not_a_view(found: &TokenTree) -> String {
    const NOT_A_VIEW: &str = "expected a column name or `self`";
    match found {
        TokenTree::Punct(punct) if punct.as_char() == '&' => format!("{NOT_A_VIEW}\n\nhelp: drop the `&`"),
        _ => format!("{NOT_A_VIEW}\n\nhelp: as in `user.latest`"),
    }
}

/// `groups("debate", pro.latest)`
fn not_group(found: &Ident) -> String {
    format!("no view begins with {} and a text\n\nhelp: did you mean `group`?", quote(found))
}

/// `mut user`
fn modifier(found: &Ident) -> String {
    format!("a view takes no `{found}`\n\nhelp: drop it")
}

const EMPTY_VIEW: &str = "expected a view before this comma";

const PATH_VIEW: &str =
    "a view names a column of this flow\n\nhelp: write its name without a path, as in `user`";

const GROUPED_INSTRUCTION: &str =
    "an instruction is in the system text, so it cannot be in a group\n\nhelp: put it after the group";

const NO_GROUP_TAG: &str =
    "expected the tag of the group\n\nhelp: as in `group(\"debate\", pro.latest, con.latest)`";

const EMPTY_GROUP: &str =
    "this group has no views\n\nhelp: add some, as in `group(\"debate\", pro.latest, con.latest)`";

const NESTED_GROUPS: &str =
    "this group is inside 32 others, which is the most\n\nhelp: put its views into one of those around it";

const AFTER_GROUP: &str = "a group takes no modifiers\n\nhelp: put this on the views inside";

const GROUPED_SELF: &str =
    "`self` is shown as assistant messages, so it cannot be in a group\n\nhelp: put it after the group";

fn no_comma(found: &TokenTree) -> String {
    format!("expected `,` before `{found}`")
}
