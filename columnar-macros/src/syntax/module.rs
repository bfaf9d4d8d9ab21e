//! Another flow as a part of this one, after the `use`: `Debate(arguments) { topic: user } as debate;`.

use proc_macro2::{Delimiter, Group, Ident, TokenTree};
use syn::{Attribute, Path};

use super::cursor::{Cursor, is_punct};
use super::declaration::name;
use super::path::{Angles, has_a_name};
use super::view::{State, View, is_empty, parse as view};
use super::{tokens, trees_of};
use crate::diagnostics::{Errors, declarations, modules};
use crate::ident::{self, ident_text, nearest_name};

pub(crate) struct Module {
    pub(crate) docs: Vec<Attribute>,
    /// `use`, where it was written.
    pub(crate) keyword: Ident,
    /// The flow.
    pub(crate) path: Path,
    /// In parentheses.
    pub(crate) arguments: Option<Group>,
    pub(crate) inputs: Vec<Input>,
    /// Whether every input could be read; if not, too few of them is no mistake of its own.
    pub(crate) whole: bool,
    pub(crate) name: Ident,
}

impl Module {
    /// The columns that its inputs are.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &View> {
        self.inputs.iter().filter_map(Input::read)
    }
}

/// A source of the module, and the column that it is in this flow.
pub(crate) struct Input {
    pub(crate) name: Ident,
    /// The column, as a view of it; `None` if it cannot be read.
    pub(crate) column: Option<View>,
}

impl Input {
    /// The column, where it is one.
    pub(crate) fn read(&self) -> Option<&View> {
        self.column.as_ref().filter(|column| column.state != State::Void)
    }
}

/// The module, or the tokens of what is none.
pub(super) fn parse<'t>(
    docs: Vec<Attribute>,
    keyword: &Ident,
    cursor: &mut Cursor<'t>,
    errors: &mut Errors,
) -> Result<Module, &'t [TokenTree]> {
    let declaration = cursor.skip_declaration();
    let has_semicolon = cursor.took_semicolon();
    let mut cursor = Cursor::new(declaration);
    let path = path(keyword, &mut cursor, errors).ok_or(declaration)?;
    let (arguments, list) = groups(&path, &mut cursor, errors).ok_or(declaration)?;
    let name = named(&path, &mut cursor, list.as_ref(), errors).ok_or(declaration)?;
    match (cursor.peek(), declaration.last()) {
        (Some(comma), _) if is_punct(Some(comma), ',') => errors.at(comma, declarations::COMMA),
        (Some(found), _) => errors.at(found, modules::AFTER_NAME),
        (None, Some(last)) if !has_semicolon => errors.at(last, declarations::NO_SEMICOLON),
        _ => {}
    }
    let (inputs, whole) = list.map_or_else(|| (Vec::new(), false), |list| inputs(&list, errors));
    Ok(Module { docs, keyword: keyword.clone(), path, arguments, inputs, whole, name })
}

/// Everything up to the arguments, the inputs or the `as`.
fn path(keyword: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Path> {
    let mut angles = Angles::default();
    let ends = |tree: &TokenTree| {
        let is_end = match tree {
            TokenTree::Group(group) => group.delimiter() != Delimiter::None,
            TokenTree::Ident(word) => ident::is(word, "as"),
            _ => false,
        };
        angles.pass(tree);
        is_end && angles.open == 0
    };
    let rest = cursor.rest();
    let trees = cursor.take(rest.iter().position(ends).unwrap_or(rest.len()));
    match syn::parse2::<Path>(tokens(trees)) {
        Ok(path) if has_a_name(&path) && (!cursor.is_empty() || path.segments.len() == 1) => Some(path),
        _ if is_empty(trees) => {
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

/// The arguments, and the inputs in braces; these are told and `None` where there are none.
fn groups(
    path: &Path,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> Option<(Option<Group>, Option<Group>)> {
    let shown = path.segments.last().map(|last| ident_text(&last.ident)).unwrap_or_default();
    let (mut arguments, mut list) = (None, None);
    while let Some(TokenTree::Group(group)) = cursor.peek() {
        cursor.next();
        match group.delimiter() {
            Delimiter::Parenthesis if arguments.is_none() && list.is_none() => {
                arguments = Some(group.clone());
            }
            Delimiter::Brace if list.is_none() => list = Some(group.clone()),
            _ => {
                errors.on(group.span_open(), modules::brackets(&shown));
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

/// The name after `as`. Where it is missing, the one that the module would be given.
fn named(path: &Path, cursor: &mut Cursor<'_>, list: Option<&Group>, errors: &mut Errors) -> Option<Ident> {
    let flow = path.segments.last().map(|last| &last.ident)?;
    let likely = nearest_name(&ident_text(flow)).unwrap_or_else(|| "module".to_owned());
    let repaired =
        || syn::parse_str::<Ident>(&likely).ok().map(|name| Ident::new(&name.to_string(), flow.span()));
    let Some(found) = cursor.peek() else {
        errors.on(list.map_or(flow.span(), Group::span_close), modules::no_as(&likely));
        return repaired();
    };
    if !matches!(found, TokenTree::Ident(word) if ident::is(word, "as")) {
        errors.at(found, modules::not_as(found, &likely));
        cursor.take(cursor.rest().len());
        return repaired();
    }
    cursor.next();
    match cursor.next() {
        Some(TokenTree::Ident(word)) if !ident_text(word).is_empty() => name(word, errors),
        other => {
            errors.at(other.unwrap_or(found), modules::no_name_after_as(&likely));
            cursor.take(cursor.rest().len());
            repaired()
        }
    }
}

fn inputs(list: &Group, errors: &mut Errors) -> (Vec<Input>, bool) {
    let trees = trees_of(list);
    let mut parts: Vec<&[TokenTree]> = trees.split(|tree| is_punct(Some(tree), ',')).collect();
    // One comma may follow the last input.
    if parts.last().is_some_and(|last| is_empty(last)) {
        parts.pop();
    }
    let mut commas = trees.iter().filter(|tree| is_punct(Some(tree), ','));
    let (mut inputs, mut whole) = (Vec::new(), true);
    for part in parts {
        let comma = commas.next();
        if is_empty(part) {
            errors.at(comma, modules::EMPTY_INPUT);
            whole = false;
            continue;
        }
        let input = input(list, part, errors);
        whole &= input.as_ref().is_some_and(|input| input.column.is_some());
        inputs.extend(input);
    }
    (inputs, whole)
}

/// `topic: user`, or `user` alone for both.
fn input(list: &Group, trees: &[TokenTree], errors: &mut Errors) -> Option<Input> {
    let [TokenTree::Ident(first), rest @ ..] = trees else {
        errors.at(tokens(trees), modules::NOT_AN_INPUT);
        return None;
    };
    let name = name(first, errors)?;
    let column = match rest {
        [] => trees,
        [colon, column @ ..] if is_punct(Some(colon), ':') => {
            if is_empty(column) {
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
    let column = bound(list, &name, column, errors);
    Some(Input { name, column })
}

/// The column that an input is bound to.
fn bound(list: &Group, name: &Ident, trees: &[TokenTree], errors: &mut Errors) -> Option<View> {
    let [TokenTree::Ident(base), ..] = trees else {
        errors.at(tokens(trees), modules::not_a_column(name));
        return None;
    };
    if ident::is(base, "self") {
        errors.at(base, modules::INPUT_IS_SELF);
        return None;
    }
    view(list.span_open(), trees, errors)
}
