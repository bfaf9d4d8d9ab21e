//! Parses the base in a header, the flow that this one extends: `: Chat<M>`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Path, PathSegment, Token, token};

use super::cursor::{
    Angles, begins_declaration, can_name_struct, is_ident, is_punct, shown, tokens, trees_of,
};
use super::tree::Base;
use crate::diagnostics::{Errors, flow};
use crate::ident::ident_text;

/// Takes the base of the flow `name`, if it has one. Other tokens instead of the `:` are reported.
pub(super) fn parse(input: ParseStream<'_>, name: &Ident, errors: &mut Errors) -> syn::Result<Option<Base>> {
    if let Some(list) = in_parentheses(input) {
        input.parse::<Group>()?;
        errors.at(&list, flow::base_in_parentheses(name, &shown(list.stream())));
        return Ok(Some(read(&trees_of(&list), name, errors)));
    }
    if input.peek(Token![:]) && !input.peek(Token![::]) {
        let colon: Token![:] = input.parse()?;
        let trees = trees(input)?;
        if trees.is_empty() && declares_a_source(input)? {
            errors.at(colon, flow::stray(":"));
            return Ok(None);
        }
        if trees.is_empty() {
            errors.at(colon, flow::no_base(name));
        }
        let base = read(&trees, name, errors);
        return without_call(base, input, errors).map(Some);
    }
    // On a fork: if these tokens name no base, they belong to the parameters or the body.
    let ahead = trees(&input.fork())?;
    // Where the braces are missing, the first declaration comes directly after the name.
    if begins_declaration(&ahead) {
        return Ok(None);
    }
    let Some(length) = connector_length(&ahead) else { return Ok(None) };
    let trees = trees(input)?;
    let (connector, written) = trees.split_at_checked(length).unwrap_or_default();
    // An extension has no sources, so otherwise these tokens are no base.
    let base = if connector.is_empty() && declares_a_source(input)? {
        None
    } else {
        Some(without_call(read(written, name, errors), input, errors)?)
    };
    let path = base.as_ref().and_then(|base| base.path.as_ref());
    let flow = path.map_or_else(|| shown(tokens(written)), shown);
    if connector.is_empty() {
        errors.at(written.first(), flow::no_colon(name, &flow));
    } else {
        let connector = tokens(connector);
        errors.at(&connector, flow::not_colon(&connector.to_string(), name, &flow));
    }
    Ok(base)
}

/// The parentheses that come next, if they hold a base, as in Python: `Felt(Chat) { column ... }`.
pub(super) fn in_parentheses(input: ParseStream<'_>) -> Option<Group> {
    let is_head = input.peek(token::Paren) && input.peek2(token::Brace);
    // An extension has no sources.
    if !is_head || declares_a_source(input).unwrap_or(true) {
        return None;
    }
    let list: Group = input.fork().parse().ok()?;
    let path: Path = syn::parse2(list.stream()).ok()?;
    path.segments.last().is_some_and(is_type).then_some(list)
}

fn is_type(segment: &PathSegment) -> bool {
    ident_text(&segment.ident).starts_with(|first: char| first.is_ascii_uppercase())
}

/// Drops the call of `Chat::new()` or `Chat()`, which is an error.
fn without_call(base: Base, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Base> {
    let Base { path: Some(mut path) } = base else { return Ok(base) };
    let mut written = path.to_token_stream();
    let is_flow = path.segments.iter().rev().nth(1).is_some_and(is_type);
    let is_function = is_flow && !path.segments.last().is_some_and(is_type);
    if is_function {
        path.segments.pop();
        path.segments.pop_punct();
    }
    let list = if input.peek(token::Paren) { Some(input.fork().parse::<Group>()?) } else { None };
    if let Some(list) = list.filter(|list| is_function || list.stream().is_empty()) {
        input.parse::<Group>()?;
        list.to_tokens(&mut written);
    } else if !is_function {
        return Ok(Base { path: Some(path) });
    }
    errors.at(written, flow::called_base(&shown(&path)));
    Ok(Base { path: Some(path) })
}

/// Whether the body has a source. Then the flow extends no other.
pub(super) fn declares_a_source(input: ParseStream<'_>) -> syn::Result<bool> {
    let rest: TokenStream = input.fork().parse()?;
    let body = rest.into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    });
    Ok(body.into_iter().flatten().any(|tree| is_ident(Some(&tree), "source")))
}

/// Takes everything up to the parameters, the `where` or the braces.
fn trees(input: ParseStream<'_>) -> syn::Result<Vec<TokenTree>> {
    let (mut trees, mut angles) = (Vec::new(), Angles::default());
    while !input.is_empty() {
        let is_end = input.peek(token::Brace) || input.peek(token::Paren) || input.peek(Token![where]);
        // Inside angle brackets these belong to the path: `Chat<{ 3 }, fn() -> (u8, u8)>`.
        if is_end && angles.open == 0 {
            break;
        }
        let tree: TokenTree = input.parse()?;
        // The `<` of `Felt < Chat` opens nothing.
        if !trees.is_empty() {
            angles.pass(&tree);
        }
        trees.push(tree);
    }
    Ok(trees)
}

/// The number of tokens instead of the `:`, before the name of a flow. `None` if there is no name.
fn connector_length(trees: &[TokenTree]) -> Option<usize> {
    match trees {
        [TokenTree::Ident(_), TokenTree::Ident(_), ..] => Some(1),
        _ => trees.iter().position(|tree| matches!(tree, TokenTree::Ident(_))),
    }
}

/// The base that these tokens name.
fn read(trees: &[TokenTree], name: &Ident, errors: &mut Errors) -> Base {
    let (base, more) = trees.split_at_checked(first_base(trees)).unwrap_or_default();
    let path = match syn::parse2::<Path>(tokens(base)) {
        Ok(path) if path.is_ident(name) => {
            errors.at(&path, flow::own_base(name));
            None
        }
        Ok(path) if can_name_struct(&path) => {
            if !more.is_empty() {
                errors.at(tokens(more), flow::SECOND_BASE);
            }
            Some(path)
        }
        // The missing path is reported at the `:`.
        _ if trees.is_empty() => None,
        _ => {
            errors.at(tokens(trees), flow::not_a_base(name));
            None
        }
    };
    Base { path }
}

/// The number of tokens before a second flow.
fn first_base(trees: &[TokenTree]) -> usize {
    let mut angles = Angles::default();
    let end = trees.iter().position(|tree| {
        angles.pass(tree);
        angles.open == 0 && ['+', ','].iter().any(|&end| is_punct(Some(tree), end))
    });
    end.unwrap_or(trees.len())
}
