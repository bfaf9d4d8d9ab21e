//! `: Chat<M>` in a header: the flow that this one extends.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::{Path, Token, token};

use super::cursor::{begins_declaration, is_punct};
use super::path::{Angles, has_a_name};
use super::tokens;
use crate::diagnostics::{Errors, flow};
use crate::ident;

pub(crate) struct Base {
    /// `None` if it cannot be read.
    pub(crate) path: Option<Path>,
}

impl Base {
    /// The name of the flow.
    pub(crate) fn name(&self) -> Option<&Ident> {
        self.path.as_ref()?.segments.last().map(|segment| &segment.ident)
    }
}

/// The flow that the flow `name` extends, if it does.
pub(super) fn parse(input: ParseStream<'_>, name: &Ident, errors: &mut Errors) -> syn::Result<Option<Base>> {
    if let Some(colon) = input.parse::<Option<Token![:]>>()? {
        let trees = trees(input)?;
        if trees.is_empty() {
            errors.at(colon, flow::no_base(name));
        }
        return Ok(Some(read(&trees, name, errors)));
    }
    let ahead = trees(&input.fork())?;
    if begins_declaration(&ahead) {
        return Ok(None);
    }
    let Some(length) = connector(&ahead) else { return Ok(None) };
    let trees = trees(input)?;
    let (instead, base) = trees.split_at_checked(length).unwrap_or_default();
    let (found, flow) = (tokens(instead).to_string(), tokens(base).to_string());
    match base.first() {
        first if instead.is_empty() => errors.at(first, flow::no_colon(name, &flow)),
        _ => errors.at(tokens(instead), flow::not_colon(&found, name, &flow)),
    }
    if instead.is_empty() && declares_a_source(input)? {
        // It is no extension, and what stands here is something else.
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
    Ok(body
        .into_iter()
        .flatten()
        .any(|tree| matches!(tree, TokenTree::Ident(word) if ident::is(&word, "source"))))
}

/// Everything up to the parameters, the `where` or the braces.
fn trees(input: ParseStream<'_>) -> syn::Result<Vec<TokenTree>> {
    let (mut trees, mut angles) = (Vec::new(), Angles::default());
    while !input.is_empty() {
        let is_end = input.peek(token::Brace) || input.peek(token::Paren) || input.peek(Token![where]);
        if is_end && angles.open == 0 {
            break;
        }
        let tree: TokenTree = input.parse()?;
        angles.pass(&tree);
        trees.push(tree);
    }
    Ok(trees)
}

/// How many tokens stand where a `:` should, before the name of a flow. `None` if there is no name.
fn connector(trees: &[TokenTree]) -> Option<usize> {
    let is_word = |tree: &TokenTree| matches!(tree, TokenTree::Ident(_));
    match trees {
        [TokenTree::Ident(_), TokenTree::Ident(_), ..] => Some(1),
        _ => trees.iter().position(is_word),
    }
}

fn read(trees: &[TokenTree], name: &Ident, errors: &mut Errors) -> Base {
    let (base, more) = trees.split_at_checked(first_base(trees)).unwrap_or_default();
    let path = match syn::parse2::<Path>(tokens(base)) {
        Ok(path) if path.is_ident(name) => {
            errors.at(&path, flow::own_base(name));
            None
        }
        Ok(path) if has_a_name(&path) => {
            if !more.is_empty() {
                errors.at(tokens(more), flow::SECOND_BASE);
            }
            Some(path)
        }
        _ if trees.is_empty() => None,
        _ => {
            errors.at(tokens(trees), flow::not_a_base(name));
            None
        }
    };
    Base { path }
}

/// How many tokens there are before a second flow.
fn first_base(trees: &[TokenTree]) -> usize {
    let mut angles = Angles::default();
    let end = trees.iter().position(|tree| {
        angles.pass(tree);
        angles.open == 0 && ['+', ','].iter().any(|&end| is_punct(Some(tree), end))
    });
    end.unwrap_or(trees.len())
}
