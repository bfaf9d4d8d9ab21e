//! Parses the base in a header, the flow that this one extends: `: Chat<M>`.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::{Path, Token, token};

use super::cursor::{Angles, begins_declaration, can_name_struct, is_ident, is_punct, tokens};
use super::tree::Base;
use crate::diagnostics::{Errors, flow};

/// Takes the base of the flow `name`, if it has one. Other tokens instead of the `:` are reported.
pub(super) fn parse(input: ParseStream<'_>, name: &Ident, errors: &mut Errors) -> syn::Result<Option<Base>> {
    if let Some(colon) = input.parse::<Option<Token![:]>>()? {
        let trees = trees(input)?;
        if trees.is_empty() {
            errors.at(colon, flow::no_base(name));
        }
        return Ok(Some(read(&trees, name, errors)));
    }
    // On a fork: if these tokens name no base, they belong to the parameters or the body.
    let ahead = trees(&input.fork())?;
    // Where the braces are missing, the first declaration comes directly after the name.
    if begins_declaration(&ahead) {
        return Ok(None);
    }
    let Some(length) = connector_length(&ahead) else { return Ok(None) };
    let trees = trees(input)?;
    let (connector, base) = trees.split_at_checked(length).unwrap_or_default();
    let (found, flow) = (tokens(connector).to_string(), tokens(base).to_string());
    match base.first() {
        first if connector.is_empty() => errors.at(first, flow::no_colon(name, &flow)),
        _ => errors.at(tokens(connector), flow::not_colon(&found, name, &flow)),
    }
    if connector.is_empty() && declares_a_source(input)? {
        // An extension has no sources, so these tokens are no base.
        return Ok(None);
    }
    Ok(Some(read(base, name, errors)))
}

fn declares_a_source(input: ParseStream<'_>) -> syn::Result<bool> {
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
        angles.pass(&tree);
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
