//! The parameters of a compute step that is a closure: `async |user, topics| …`.
//!
//! A parameter without a type is the name of a view. The body stays tokens, as every compute step does.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parser;
use syn::{Block, Stmt};

use super::cursor::{Angles, is_group, is_punct, tokens, trees_of};
use super::expression::shape;
use super::tree::{Around, Closure, ClosureParam};
use crate::ident;

/// Reads a compute step that is a closure, or ends with one in parentheses or braces. `None` for any other step, and for
/// patterns that are no names.
pub(crate) fn parse(step: &[TokenTree]) -> Option<Closure> {
    let (step, around) = find(step)?;
    let (params, closure) = bare(&step)?;
    let params = params.into_iter().map(parse_param).collect::<Option<Vec<_>>>()?;
    (!params.is_empty()).then_some(Closure { params, around, ..closure })
}

/// The parameters without a type that are no names: `user.latest`, `(user, topics)`.
pub(crate) fn patterns(step: &[TokenTree]) -> Vec<TokenStream> {
    let Some((closure, _)) = find(step) else { return Vec::new() };
    let params = bare(&closure).map(|(params, _)| params).into_iter().flatten();
    params.filter(|param| is_pattern(param)).map(tokens).collect()
}

fn is_pattern(param: &[TokenTree]) -> bool {
    // The pattern of a struct has a type, as a token of a macro of the user may have.
    let is_other = param.iter().any(|tree| {
        is_group(tree, Delimiter::None) || is_group(tree, Delimiter::Brace) || is_punct(tree, '#')
    });
    parse_param(param).is_none() && !has_type(param) && !is_other
}

/// The `=>` before the body of a closure, which is an error: `|cx| => …`.
pub(super) fn arrow(step: &[TokenTree]) -> Option<TokenStream> {
    let (_, closure) = bare(step)?;
    let arrow: Vec<TokenTree> = closure.body.into_iter().take(2).collect();
    (is_punct(arrow.first(), '=') && is_punct(arrow.get(1), '>')).then(|| tokens(&arrow))
}

/// Finds the closure of a compute step, and the tokens around it, the outermost first.
fn find(step: &[TokenTree]) -> Option<(Vec<TokenTree>, Vec<Around>)> {
    let [TokenTree::Group(group), after @ ..] = step else { return Some((step.to_vec(), Vec::new())) };
    let inner = trees_of(group);
    let (before, inner) = match group.delimiter() {
        // `(async |user| …).retry(3)`
        Delimiter::Parenthesis => inner.split_at_checked(0)?,
        // `{ let style = style.to_uppercase(); async move |user| … }`
        Delimiter::Brace => inner.split_at_checked(last_expression(&inner))?,
        // A token of a macro of the user.
        Delimiter::None if after.is_empty() => return find(&inner),
        Delimiter::Bracket | Delimiter::None => return None,
    };
    let around = Around { group: group.clone(), before: tokens(before), after: tokens(after) };
    let (closure, mut inside) = find(inner)?;
    inside.insert(0, around);
    Some((closure, inside))
}

/// The beginning of the last expression of a block. Where a statement is half typed, it is after the last `;`.
fn last_expression(block: &[TokenTree]) -> usize {
    let statements = Block::parse_within.parse2(shape(block).into_iter().collect());
    match statements.ok().as_deref() {
        Some([.., Stmt::Expr(last, None)]) => block.len() - last.to_token_stream().into_iter().count(),
        _ => block.iter().rposition(|tree| is_punct(tree, ';')).map_or(0, |last| last + 1),
    }
}

/// The tokens of each parameter, and a closure that has no parameters yet.
fn bare(closure: &[TokenTree]) -> Option<(Vec<&[TokenTree]>, Closure)> {
    let (asynchronous, rest) = word(closure, "async");
    let (by_value, rest) = word(rest, "move");
    let (opening, rest) = rest.split_first().filter(|(bar, _)| is_punct(*bar, '|'))?;
    // `||` has no parameters.
    let end = rest.iter().position(|tree| is_punct(tree, '|')).filter(|end| *end > 0)?;
    let (list, rest) = rest.split_at_checked(end)?;
    let (closing, body) = rest.split_first()?;
    let bars = [opening.clone(), closing.clone()];
    let body = tokens(body);
    let closure = Closure { asynchronous, by_value, bars, params: Vec::new(), body, around: Vec::new() };
    Some((split(list), closure))
}

/// A word that may come first, and the tokens after it.
fn word<'t>(trees: &'t [TokenTree], expected: &str) -> (Option<Ident>, &'t [TokenTree]) {
    match trees {
        [TokenTree::Ident(word), after @ ..] if ident::is(word, expected) => (Some(word.clone()), after),
        _ => (None, trees),
    }
}

/// The parameters, at the commas outside of angle brackets.
fn split(list: &[TokenTree]) -> Vec<&[TokenTree]> {
    let mut angles = Angles::default();
    let params = list.split(|tree| {
        angles.pass(tree);
        angles.open == 0 && is_punct(tree, ',')
    });
    params.filter(|param| !param.is_empty()).collect()
}

fn parse_param(param: &[TokenTree]) -> Option<ClosureParam> {
    let (mutable, rest) = word(param, "mut");
    match rest {
        [TokenTree::Ident(name)] => Some(ClosureParam { mutable, name: name.clone(), ty: None }),
        [TokenTree::Ident(name), colon, ty @ ..] if is_punct(colon, ':') => {
            Some(ClosureParam { mutable, name: name.clone(), ty: Some(tokens(ty)) })
        }
        _ => None,
    }
}

/// Whether a `:` is in it that is no part of `::`.
fn has_type(param: &[TokenTree]) -> bool {
    let mut colons = param.split(|tree| !is_punct(tree, ':')).map(<[_]>::len);
    colons.any(|count| count == 1)
}
