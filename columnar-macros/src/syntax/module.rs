//! Parses a module after its keyword: `Debate(arguments) { topic: user } as debate;`.

use std::fmt::Display;

use proc_macro2::{Delimiter, Group, Ident, TokenTree};
use syn::ext::IdentExt;
use syn::{Attribute, Path};

use super::cursor::{
    Angles, Cursor, as_ident, can_name_struct, comma_separated, is_blank, is_group, is_ident, is_punct,
    tokens, trees_of,
};
use super::modifiers::parse_view;
use super::rust::{declared_name, modifiers_of_name};
use super::tree::{InputDecl, ModuleDecl};
use super::view::ViewDecl;
use crate::diagnostics::{EXAMPLE, Errors, INPUT_IS_VALUE, quote};
use crate::ident::{self, ident_text, nearest_name};

/// Takes a module up to its `;`. `None` if a token is reported before its name.
pub(super) fn parse(
    docs: Vec<Attribute>,
    keyword: &Ident,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> Option<ModuleDecl> {
    let declaration = cursor.declaration();
    // A cursor of its own, so that no parser reads into the next declaration.
    let mut inside = Cursor::new(declaration);
    let mut path = path(keyword, &mut inside, errors)?;
    without_constructor(&mut path, &inside, errors);
    let arguments = inside.parentheses().cloned();
    let list = list(&path, &mut inside, errors);
    // A name without inputs is known all the same.
    if list.is_none() && !is_ident(inside.peek(), "as") {
        return None;
    }
    let (name, is_named) = module_name(&path, &mut inside, list.as_ref(), errors)?;
    if list.is_none() {
        // The inputs may be after the name.
        inside.take(inside.rest().len());
    }
    cursor.take(declaration.len() - inside.rest().len());
    let mut module = ModuleDecl {
        docs,
        keyword: keyword.clone(),
        path,
        arguments,
        inputs: Vec::new(),
        missing: None,
        // Tokens in place of the name, or after it, may be arguments.
        is_complete: list.is_some() && is_named && inside.is_empty(),
        name,
    };
    if let Some(list) = list {
        inputs(&mut module, &list, errors);
    }
    Some(module)
}

/// Takes the path: everything up to the arguments, the inputs or the `as`.
fn path(keyword: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Path> {
    let mut angles = Angles::default();
    let rest = cursor.rest();
    let end = rest.iter().position(|tree| {
        let is_end = match tree {
            // A `$path:path` of the user's `macro_rules!` is a group without delimiters.
            TokenTree::Group(group) => group.delimiter() != Delimiter::None,
            TokenTree::Ident(ident) => ident::is(ident, "as"),
            _ => false,
        };
        angles.pass(tree);
        // The `as` of `Debate<<T as Tell>::Said>` does not end the path.
        is_end && angles.open == 0
    });
    let trees = cursor.take(end.unwrap_or(rest.len()));
    match syn::parse2::<Path>(tokens(trees)) {
        Ok(path) if can_name_struct(&path) && (!cursor.is_empty() || path.segments.len() == 1) => Some(path),
        _ if is_blank(trees) => {
            errors.stop(keyword, format!("expected the name of a flow after this\n\nhelp: {EXAMPLE}"))
        }
        Ok(_) if cursor.is_empty() => errors.stop(keyword, import()),
        _ => errors.stop(tokens(trees), format!("expected the name of a flow\n\nhelp: {EXAMPLE}")),
    }
}

/// Drops the `new` of `Debate::new()`, which is an error.
fn without_constructor(path: &mut Path, cursor: &Cursor<'_>, errors: &mut Errors) {
    let is_called = cursor.peek().is_some_and(|tree| is_group(tree, Delimiter::Parenthesis));
    let is_function = name_of(path).starts_with(|first: char| first.is_ascii_lowercase());
    if is_called && is_function && path.segments.len() > 1 {
        let function = path.segments.pop();
        path.segments.pop_punct();
        errors.at(function, constructor(&name_of(path)));
    }
}

/// Takes the inputs, in braces. Other brackets are reported, and read all the same.
fn list(path: &Path, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Group> {
    match cursor.peek() {
        Some(TokenTree::Group(list)) => {
            cursor.next();
            if list.delimiter() != Delimiter::Brace {
                errors.on(list.span_open(), brackets(name_of(path)));
            }
            Some(list.clone())
        }
        Some(found) => errors.stop(found, no_inputs(name_of(path))),
        None => errors.stop(path, import()),
    }
}

/// The last part of a path.
fn name_of(path: &Path) -> String {
    path.segments.last().map(|last| ident_text(&last.ident)).unwrap_or_default()
}

/// Takes the name after `as`, and whether there is one. If not, the name is derived from the name of the flow.
fn module_name(
    path: &Path,
    cursor: &mut Cursor<'_>,
    list: Option<&Group>,
    errors: &mut Errors,
) -> Option<(Ident, bool)> {
    let flow = path.segments.last().map(|last| &last.ident)?;
    let likely = nearest_name(&ident_text(flow)).unwrap_or_else(|| "module".to_owned());
    let (at, expected) = match cursor.next() {
        None => (list.map_or(flow.span(), Group::span_close), "`as` and a name after this".to_owned()),
        Some(word) if is_ident(word, "as") => {
            modifiers_of_name(cursor, errors);
            match cursor.next() {
                Some(TokenTree::Ident(name)) if !ident_text(name).is_empty() => {
                    return Some((declared_name(name, errors)?, true));
                }
                found => (found.unwrap_or(word).span(), "a name after `as`".to_owned()),
            }
        }
        Some(found) => (found.span(), format!("`as` and a name, found `{found}`")),
    };
    errors.on(at, format!("expected {expected}\n\nhelp: as in `as {likely}`"));
    cursor.take(cursor.rest().len());
    // A flow named `Type` has a keyword as its nearest name, so there may be none.
    let name = syn::parse_str::<Ident>(&likely).ok()?;
    Some((Ident::new(&name.to_string(), flow.span()), false))
}

/// Parses the inputs of a module.
fn inputs(module: &mut ModuleDecl, list: &Group, errors: &mut Errors) {
    for (part, comma) in comma_separated(&trees_of(list)) {
        if !is_blank(part) {
            let input = input(part, errors);
            module.is_complete &= input.as_ref().is_some_and(|input| input.column.is_some());
            module.inputs.extend(input);
            continue;
        }
        module.missing = module.missing.take().or_else(|| part.first().and_then(as_ident).cloned());
        // One comma may follow the last input.
        if let Some(comma) = comma {
            errors.at(comma, "expected an input before this comma");
            module.is_complete = false;
        }
    }
}

/// Parses `topic: user`, or `user` for both.
fn input(trees: &[TokenTree], errors: &mut Errors) -> Option<InputDecl> {
    let [TokenTree::Ident(first), rest @ ..] = trees else {
        return errors.stop(tokens(trees), "expected an input and its column\n\nhelp: as in `topic: user`");
    };
    let name = declared_name(first, errors)?;
    let column = match rest {
        [] => Some(trees),
        [colon, column @ ..] if is_punct(colon, ':') && is_blank(column) => {
            errors.stop(colon, no_column(&name))
        }
        [colon, column @ ..] if is_punct(colon, ':') => Some(column),
        [found, ..] => errors.stop(found, no_colon(&name, found)),
    };
    let Some(column) = column else { return Some(InputDecl { name, column: None }) };
    // Arguments are often written `model.clone()`, and no view has such a modifier.
    if column.iter().any(|tree| is_ident(tree, "clone")) {
        return errors.stop(tokens(column), INPUT_IS_VALUE);
    }
    let column = bound(&name, column, errors);
    Some(InputDecl { name, column })
}

/// Parses the column that an input is bound to.
fn bound(name: &Ident, trees: &[TokenTree], errors: &mut Errors) -> Option<ViewDecl> {
    let [TokenTree::Ident(base), ..] = trees else {
        return errors.stop(tokens(trees), not_a_column(name));
    };
    if ident::is(base, "self") {
        return errors
            .stop(base, "an input is a column, not `self`\n\nhelp: name a column, as in `topic: user`");
    }
    parse_view(trees, errors)
}

// Messages.

/// `use std::fmt;` inside a flow.
fn import() -> String {
    format!(
        "a flow contains only declarations\n\nhelp: put the import before `flow!`; a module has inputs, \
         {EXAMPLE}"
    )
}

fn no_inputs(path: impl Display) -> String {
    format!("expected the inputs of `{path}`, in braces, before this\n\nhelp: {EXAMPLE}")
}

fn brackets(path: impl Display) -> String {
    format!("expected the inputs of `{path}` in braces\n\nhelp: {EXAMPLE}")
}

/// `use Debate::new(model) { topic: user } as debate;`
fn constructor(flow: &str) -> String {
    format!(
        "a module is the flow itself, without a function\n\nhelp: drop this, and write arguments as in \
         `use {flow}(model) {{ topic: user }} as debate;`"
    )
}

fn no_colon(name: &Ident, found: impl Display) -> String {
    let name = ident_text(name);
    format!("expected `:` or `,` after `{name}`, found `{found}`\n\nhelp: as in `{name}: user`")
}

fn no_column(name: &Ident) -> String {
    let name = ident_text(name);
    format!("expected the column for the input `{name}` after this\n\nhelp: as in `{name}: user`")
}

fn not_a_column(name: &Ident) -> String {
    format!("expected the column for the input {}\n\nhelp: as in `{}: user`", quote(name), name.unraw())
}
