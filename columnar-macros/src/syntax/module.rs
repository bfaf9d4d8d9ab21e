//! Parses a module after its keyword: `Debate(arguments) { topic: user } as debate;`.

use proc_macro2::{Delimiter, Group, Ident, TokenTree};
use syn::{Attribute, Path, PathArguments};

use super::cursor::{
    Angles, Cursor, can_name_struct, is_blank, is_group, is_ident, is_punct, tokens, trees_of,
};
use super::recovery::declared_name;
use super::tree::{Input, Module};
use super::view::View;
use super::view_list::parse_view;
use super::{module_forms, recovery};
use crate::diagnostics::{Errors, declarations, modules};
use crate::ident::{self, ident_text, nearest_name};
use crate::keywords::nearest_keyword;

/// Takes a module up to its `;`, or returns the tokens that could not be read.
pub(super) fn parse<'t>(
    docs: Vec<Attribute>,
    keyword: &Ident,
    cursor: &mut Cursor<'t>,
    errors: &mut Errors,
) -> Result<Module, &'t [TokenTree]> {
    let declaration = cursor.skip_declaration();
    let has_semicolon = cursor.took_semicolon();
    // A cursor of its own, so that no parser reads into the next declaration.
    let reordered = module_forms::with_as_at_the_end(declaration, errors);
    let mut cursor = Cursor::new(reordered.as_deref().unwrap_or(declaration));
    let mut path = path(keyword, &mut cursor, errors).ok_or(declaration)?;
    without_constructor(&mut path, &cursor, errors);
    let (mut arguments, list) = groups(&mut path, &mut cursor, errors).ok_or(declaration)?;
    let name = module_name(&path, &mut cursor, list.as_ref(), errors).ok_or(declaration)?;
    late_generics(&mut path, &mut cursor, errors);
    late_arguments(&path, &mut cursor, &mut arguments, errors);
    match (cursor.peek(), declaration.last()) {
        (Some(comma), _) if is_punct(Some(comma), ',') => errors.at(comma, declarations::COMMA),
        (Some(found), _) => errors.at(found, modules::AFTER_NAME),
        (None, Some(last)) if !has_semicolon => errors.at(last, declarations::NO_SEMICOLON),
        _ => {}
    }
    let missing = list.as_ref().and_then(missing);
    let (inputs, is_complete) = list.map_or_else(|| (Vec::new(), false), |list| inputs(&list, errors));
    Ok(Module { docs, keyword: keyword.clone(), path, arguments, inputs, missing, is_complete, name })
}

/// Takes the path: everything up to the arguments, the inputs or the `as`.
fn path(keyword: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Path> {
    let mut angles = Angles::default();
    let ends = |tree: &TokenTree| {
        let is_end = match tree {
            // A `$path:path` of the user's `macro_rules!` is a group without delimiters.
            TokenTree::Group(group) => group.delimiter() != Delimiter::None,
            TokenTree::Ident(ident) => ident::is(ident, "as"),
            _ => false,
        };
        angles.pass(tree);
        // The `as` of `Debate<<T as Tell>::Said>` does not end the path.
        is_end && angles.open == 0
    };
    let rest = cursor.rest();
    let trees = cursor.take(rest.iter().position(ends).unwrap_or(rest.len()));
    match syn::parse2::<Path>(tokens(trees)) {
        Ok(path) if can_name_struct(&path) && (!cursor.is_empty() || path.segments.len() == 1) => Some(path),
        _ if is_blank(trees) => {
            errors.at(keyword, modules::no_flow());
            None
        }
        Ok(_) if cursor.is_empty() => {
            errors.at(keyword, modules::import());
            None
        }
        _ => {
            errors.at(tokens(trees), modules::not_a_flow());
            None
        }
    }
}

/// Drops the `new` of `Debate::new()`, which is an error.
fn without_constructor(path: &mut Path, cursor: &Cursor<'_>, errors: &mut Errors) {
    let is_called = cursor.peek().is_some_and(|tree| is_group(tree, Delimiter::Parenthesis));
    let is_function = |name: &str| name.starts_with(|first: char| first.is_ascii_lowercase());
    if is_called && path.segments.len() > 1 && is_function(&name_of(path)) {
        let function = path.segments.pop();
        path.segments.pop_punct();
        errors.at(function, modules::constructor(&name_of(path)));
    }
}

/// Takes the arguments, and the inputs in braces. Missing inputs are reported.
fn groups(
    path: &mut Path,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> Option<(Option<Group>, Option<Group>)> {
    let shown = name_of(path);
    let (mut arguments, mut list) = (None, None);
    loop {
        late_generics(path, cursor, errors);
        if list.is_some() {
            late_arguments(path, cursor, &mut arguments, errors);
        }
        let Some(TokenTree::Group(group)) = cursor.peek() else { break };
        cursor.next();
        match group.delimiter() {
            Delimiter::Parenthesis if arguments.is_none() => arguments = Some(group.clone()),
            Delimiter::Brace if list.is_none() => list = Some(group.clone()),
            _ => {
                errors.on(group.span_open(), modules::brackets(&shown));
                // The inputs are read from wrong brackets, too, so that none is missing.
                list.get_or_insert_with(|| group.clone());
            }
        }
    }
    match (&list, cursor.peek()) {
        (None, Some(found)) => errors.at(found, modules::no_inputs(&shown)),
        (None, None) => {
            errors.at(path, modules::import());
            return None;
        }
        _ => {}
    }
    Some((arguments, list))
}

/// The last part of a path.
fn name_of(path: &Path) -> String {
    path.segments.last().map(|last| ident_text(&last.ident)).unwrap_or_default()
}

/// Takes generics that do not directly follow the name. The path gets them, so that none are missing.
fn late_generics(path: &mut Path, cursor: &mut Cursor<'_>, errors: &mut Errors) {
    if !is_punct(cursor.peek(), '<') {
        return;
    }
    let mut angles = Angles::default();
    let is_last = |tree: &TokenTree| {
        angles.pass(tree);
        angles.open == 0
    };
    let rest = cursor.rest();
    let written = tokens(cursor.take(rest.iter().position(is_last).map_or(rest.len(), |last| last + 1)));
    errors.at(&written, modules::late_generics(&name_of(path)));
    if let Some(last) = path.segments.last_mut().filter(|last| last.arguments.is_none())
        && let Ok(generics) = syn::parse2(written)
    {
        last.arguments = PathArguments::AngleBracketed(generics);
    }
}

/// Takes arguments that do not come before the inputs.
fn late_arguments(path: &Path, cursor: &mut Cursor<'_>, arguments: &mut Option<Group>, errors: &mut Errors) {
    if arguments.is_none()
        && let Some(TokenTree::Group(group)) = cursor.parentheses()
    {
        errors.on(group.span_open(), modules::late_arguments(&name_of(path)));
        *arguments = Some(group.clone());
    }
}

/// Takes the name after `as`. If it is missing, the name is derived from that of the flow.
fn module_name(
    path: &Path,
    cursor: &mut Cursor<'_>,
    list: Option<&Group>,
    errors: &mut Errors,
) -> Option<Ident> {
    let flow = path.segments.last().map(|last| &last.ident)?;
    let likely = nearest_name(&ident_text(flow)).unwrap_or_else(|| "module".to_owned());
    // A flow named `Type` has a keyword as its nearest name, so there may be none.
    let repaired =
        || syn::parse_str::<Ident>(&likely).ok().map(|name| Ident::new(&name.to_string(), flow.span()));
    let Some(found) = cursor.peek() else {
        errors.on(list.map_or(flow.span(), Group::span_close), modules::no_as(&likely));
        return repaired();
    };
    if !is_ident(Some(found), "as") {
        errors.at(found, modules::not_as(found, &likely));
        cursor.take(cursor.rest().len());
        return repaired();
    }
    cursor.next();
    // `as pub column …` is rather a module without a name before a column.
    let is_keyword =
        |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if nearest_keyword(word).is_some());
    if !cursor.rest().iter().take(2).any(is_keyword)
        && let Some(name) = recovery::name(cursor, errors)
    {
        return Some(name);
    }
    match cursor.next() {
        Some(TokenTree::Ident(ident)) if !ident_text(ident).is_empty() => declared_name(ident, errors),
        other => {
            errors.at(other.unwrap_or(found), modules::no_name_after_as(&likely));
            cursor.take(cursor.rest().len());
            repaired()
        }
    }
}

/// The marker of an editor where no input is typed yet.
fn missing(list: &Group) -> Option<Ident> {
    let trees = trees_of(list);
    let mut parts = trees.split(|tree| is_punct(Some(tree), ','));
    parts.find_map(|part| match part {
        [TokenTree::Ident(marker)] if is_blank(part) => Some(marker.clone()),
        _ => None,
    })
}

/// Parses the inputs, and whether every one could be read.
fn inputs(list: &Group, errors: &mut Errors) -> (Vec<Input>, bool) {
    let trees = trees_of(list);
    let mut parts: Vec<&[TokenTree]> = trees.split(|tree| is_punct(Some(tree), ',')).collect();
    // One comma may follow the last input.
    if parts.last().is_some_and(|last| is_blank(last)) {
        parts.pop();
    }
    let mut commas = trees.iter().filter(|tree| is_punct(Some(tree), ','));
    let (mut inputs, mut is_complete) = (Vec::new(), true);
    for part in parts {
        let comma = commas.next();
        if is_blank(part) {
            // Only the last part has no comma, and a blank last one is removed above.
            errors.at(comma, modules::EMPTY_INPUT);
            is_complete = false;
            continue;
        }
        let input = input(part, errors);
        is_complete &= input.as_ref().is_some_and(|input| input.column.is_some());
        inputs.extend(input);
    }
    (inputs, is_complete)
}

/// Parses `topic: user`, or `user` for both.
fn input(trees: &[TokenTree], errors: &mut Errors) -> Option<Input> {
    let [TokenTree::Ident(first), rest @ ..] = trees else {
        errors.at(tokens(trees), modules::NOT_AN_INPUT);
        return None;
    };
    let name = declared_name(first, errors)?;
    let column = match rest {
        [] => trees,
        [colon, column @ ..] if is_punct(Some(colon), ':') => {
            if is_blank(column) {
                errors.at(colon, modules::no_column(&name));
                return Some(Input { name, column: None });
            }
            column
        }
        [found, ..] => {
            errors.at(found, modules::no_colon(&name, found));
            return Some(Input { name, column: None });
        }
    };
    // Arguments are often written `model.clone()`, and no view has such a modifier.
    if column.iter().any(|tree| is_ident(Some(tree), "clone")) {
        errors.at(tokens(column), modules::INPUT_IS_VALUE);
        return None;
    }
    let column = bound(&name, column, errors);
    Some(Input { name, column })
}

/// Parses the column that an input is bound to.
fn bound(name: &Ident, trees: &[TokenTree], errors: &mut Errors) -> Option<View> {
    let [TokenTree::Ident(base), ..] = trees else {
        errors.at(tokens(trees), modules::not_a_column(name));
        return None;
    };
    if ident::is(base, "self") {
        errors.at(base, modules::INPUT_IS_SELF);
        return None;
    }
    parse_view(trees, errors)
}
