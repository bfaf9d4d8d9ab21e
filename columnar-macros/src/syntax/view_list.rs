//! Parses a list of views with its groups: `(user, group("debate", pro.latest, con.latest), self)`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::LitStr;

use super::cursor::{Cursor, is_blank, is_ident, is_punct, tokens, trees_of, ungrouped};
use super::modifiers;
use super::view::{GroupTag, State, View};
use crate::diagnostics::{Errors, views};
use crate::ident::{self, ident_text, is_gen, is_name, replace, rust_ident};
use crate::keywords::{MODIFIERS, nearest, nearest_modifier};

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
    let mut is_named = false;
    let mut list = ViewList { views: Vec::new(), is_complete: true };
    for part in &parts {
        let comma = commas.next();
        match (is_blank(part), comma) {
            // Where one view has its tag before it, others have it for the same reason.
            (false, _) if is_named && has_name(part) => {
                list.is_complete = false;
                list.views.push(View::missing(None));
            }
            (false, _) => {
                is_named |= has_name(part);
                let item = parse_item(part, groups, errors);
                list.views.extend(item.views);
                list.is_complete &= item.is_complete;
            }
            (true, Some(comma)) => {
                // The view stays in the list, so that an editor can complete it.
                errors.at(comma, views::EMPTY_VIEW);
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

/// A view, or those of a group.
fn parse_item(trees: &[TokenTree], groups: usize, errors: &mut Errors) -> ViewList {
    // Without brackets `group` is the name of a column.
    if let Some((word, list, after)) = group_list(trees, errors) {
        if groups == MAX_GROUPS {
            errors.at(tokens(trees), views::NESTED_GROUPS);
            return ViewList::default();
        }
        return parse_group(&word, list, after, groups + 1, errors);
    }
    if let [TokenTree::Ident(tag), sign, TokenTree::Group(list)] = trees
        && is_assignment(Some(sign))
        && list.delimiter() == Delimiter::Parenthesis
    {
        errors.at(tokens(trees), views::group_as_tuple(tag, &modifiers::shown(&list.stream())));
        // The views are in no group then, which is no second error.
        return parse_items(&trees_of(list), groups, errors);
    }
    let view = parse_view(trees, errors);
    let is_complete = view.is_some();
    ViewList { views: vec![view.unwrap_or_else(|| View::missing(None))], is_complete }
}

/// The word `group`, the list after it, and the tokens after that. A misspelt word, `group!(...)` and other brackets than
/// parentheses are reported.
fn group_list<'t>(
    trees: &'t [TokenTree],
    errors: &mut Errors,
) -> Option<(Ident, &'t Group, &'t [TokenTree])> {
    let (TokenTree::Ident(name), rest) = trees.split_first()? else { return None };
    if !ident::is(name, "group") {
        return match rest {
            [TokenTree::Group(list), after @ ..] if is_misspelt_group(name, list) => {
                errors.at(name, views::not_group(name));
                Some((replace(name, &Ident::new("group", name.span())), list, after))
            }
            _ => None,
        };
    }
    let name = name.clone();
    match rest {
        [TokenTree::Group(list), after @ ..] => {
            if list.delimiter() != Delimiter::Parenthesis {
                errors.on(list.span_open(), views::not_parentheses(&name));
            }
            Some((name, list, after))
        }
        // `group debate(pro.latest, con.latest)`; the list then begins without its tag.
        [TokenTree::Ident(_), TokenTree::Group(list), after @ ..] => Some((name, list, after)),
        [bang, TokenTree::Group(list), after @ ..] if is_punct(Some(bang), '!') => {
            errors.at(bang, views::GROUP_MACRO);
            Some((name, list, after))
        }
        _ => None,
    }
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
        errors.at(tokens(after), views::AFTER_GROUP);
    }
    let inside = trees_of(list);
    let mut cursor = Cursor::new(&inside);
    let tag = group_tag(word, list, &mut cursor, errors);
    let is_tag_unquoted = tag.is_none() && begins_with_name(cursor.rest());
    let mut group = parse_items(cursor.rest(), groups, errors);
    let is_empty = group.views.iter().all(|view| view.state == State::NoColumn);
    // A group without a tag is reported already.
    if is_empty && group.is_complete && tag.is_some() {
        errors.at(list, views::EMPTY_GROUP);
    }
    if is_tag_unquoted && let Some(view) = group.views.first_mut() {
        // `group(facts, user)`: the name may be the tag, so it is not also unknown.
        view.state = State::NoColumn;
        group.is_complete = false;
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

/// Whether a tag is before a view: `heard: user.latest`, `heard = user.latest`.
fn has_name(trees: &[TokenTree]) -> bool {
    matches!(trees, [TokenTree::Ident(_), sign, TokenTree::Ident(view), ..]
        if is_assignment(Some(sign)) && is_name(&ident_text(view)))
}

fn is_assignment(sign: Option<&TokenTree>) -> bool {
    [':', '='].iter().any(|&known| is_punct(sign, known))
}

/// Whether a name alone is before a comma.
fn begins_with_name(trees: &[TokenTree]) -> bool {
    matches!(trees, [TokenTree::Ident(name), comma, ..] if is_punct(Some(comma), ',') && is_name(&ident_text(name)))
}

/// Takes the tag of a group, and the comma after it.
fn group_tag(word: &Ident, list: &Group, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<GroupTag> {
    let literal = match (cursor.peek(), cursor.peek().map(ungrouped)) {
        (_, Some(literal @ TokenTree::Literal(_))) => {
            cursor.next();
            literal
        }
        // The token is not taken: it may be the first view.
        (found, _) => {
            match found {
                Some(found) => errors.at(found, views::NO_GROUP_TAG),
                None => errors.at(list, views::NO_GROUP_TAG),
            }
            return None;
        }
    };
    match cursor.peek() {
        comma if is_punct(comma, ',') => drop(cursor.next()),
        Some(found) => {
            errors.at(found, views::no_comma(found));
            if is_assignment(Some(found)) {
                cursor.next();
                cursor.punct('>');
            }
        }
        None => {}
    }
    match syn::parse2::<LitStr>(literal.clone().into()) {
        Ok(tag) if is_name(&tag.value()) => return Some(GroupTag::new(word, tag.span(), &tag.value())),
        Ok(tag) => errors.at(&tag, views::bad_tag(&tag.value())),
        Err(_) => errors.at(literal, views::NO_GROUP_TAG),
    }
    None
}

/// One view; `None` if it does not begin like one.
pub(super) fn parse_view(trees: &[TokenTree], errors: &mut Errors) -> Option<View> {
    let trees = without_modifier(trees, errors);
    if let Some((word, parts)) = called(trees) {
        return view_of_call(word, &parts, trees, errors);
    }
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
    if is_punct(trees.get(1), ':') && is_punct(trees.get(2), ':') {
        errors.at(tokens(trees), views::PATH_VIEW);
        return None;
    }
    if let [_, sign, value @ TokenTree::Literal(_), ..] = trees
        && is_assignment(Some(sign))
    {
        errors.at(tokens(trees), views::setting(&base, &value.to_string()));
        return None;
    }
    if has_name(trees) || is_punct(trees.get(1), '=') {
        let view = tokens(trees.get(2..).unwrap_or_default()).to_string().replace(' ', "");
        errors.at(tokens(trees), views::tag_before(&base, &view));
        return None;
    }
    if is_punct(trees.get(1), ':') {
        errors.at(tokens(trees.get(1..).unwrap_or_default()), views::TYPED_VIEW);
        let mut view = View::new(base, tokens(trees.get(..1).unwrap_or_default()));
        view.state = State::Invalid;
        return Some(view);
    }
    let mut view = View::new(base, tokens(trees));
    view.path = path(&mut cursor);
    modifiers::parse(&mut view, &mut cursor, errors);
    Some(view)
}

/// The word and the arguments of a view as a function: `window(user, 3)`, `previous topics`.
fn called(trees: &[TokenTree]) -> Option<(&Ident, Vec<Vec<TokenTree>>)> {
    match trees {
        [TokenTree::Ident(word), TokenTree::Group(list), ..]
            if list.delimiter() == Delimiter::Parenthesis =>
        {
            let trees = trees_of(list);
            Some((word, trees.split(|tree| is_punct(Some(tree), ',')).map(<[_]>::to_vec).collect()))
        }
        [TokenTree::Ident(word), TokenTree::Ident(column), ..]
            if ident::is_one_of(word, &["prev", "previous", "latest", "newest"])
                && nearest_modifier(&ident_text(column)).is_none() =>
        {
            Some((word, vec![trees.get(1..)?.to_vec()]))
        }
        _ => None,
    }
}

/// Reports a view as a function, and reads it all the same.
fn view_of_call(
    word: &Ident,
    parts: &[Vec<TokenTree>],
    trees: &[TokenTree],
    errors: &mut Errors,
) -> Option<View> {
    let written = column_first(word, parts);
    let shown = written.as_ref().map(|written| modifiers::shown(&tokens(written)));
    errors.at(tokens(trees), views::view_as_function(shown.as_deref()));
    // Its other mistakes are errors when this one is mended.
    let mut view = parse_view(&written?, &mut Errors::default())?;
    view.state = State::Invalid;
    Some(view)
}

/// The tokens of `user.window(3)` for `window(user, 3)`.
fn column_first(word: &Ident, parts: &[Vec<TokenTree>]) -> Option<Vec<TokenTree>> {
    let is_view = |part: &Vec<TokenTree>| matches!(part.first(), Some(TokenTree::Ident(_)));
    let at = parts.iter().position(is_view)?;
    let (before, after) = parts.split_at_checked(at)?;
    let (view, after) = after.split_first()?;
    let others = before.iter().chain(after).filter(|part| !part.is_empty());
    let arguments: TokenStream =
        others.map(|part| tokens(part)).reduce(|all, part| quote!(#all, #part)).unwrap_or_default();
    // The span of the user, because an editor looks for the word there.
    let dotted = |name: &str, arguments: Option<&TokenStream>| {
        let name = Ident::new(name, word.span());
        let list = arguments.map(|arguments| Group::new(Delimiter::Parenthesis, arguments.clone()));
        quote!(. #name #list)
    };
    let list = Some(&arguments);
    let modifier = match (nearest_modifier(&ident_text(word))?, arguments.is_empty()) {
        // `self` ends at the step before.
        ("prev", true) if is_ident(view.first(), "self") => dotted("latest", None),
        ("prev", true) => dotted("prev", None),
        ("latest" | "window", true) => dotted("latest", None),
        ("prev", false) => [dotted("prev", None), dotted("window", list)].into_iter().collect(),
        ("latest", false) => dotted("window", list),
        (known, _) => dotted(known, list),
    };
    Some(view.iter().cloned().chain(modifier).collect())
}

/// The view without the `mut` or `ref` before it, which is reported.
fn without_modifier<'t>(trees: &'t [TokenTree], errors: &mut Errors) -> &'t [TokenTree] {
    match trees.split_first() {
        Some((TokenTree::Ident(word), view @ [TokenTree::Ident(_), ..]))
            if ["mut", "ref", "pub", "move", "let", "const", "static"].iter().any(|&known| word == known) =>
        {
            errors.at(word, views::modifier(word));
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
