//! The parameters of a compute step that is a closure: `async |user, topics| …`.
//!
//! A parameter without a type is the name of a view. The body stays tokens, as every compute step does.

use proc_macro2::{Delimiter, Spacing, TokenTree};

use super::cursor::{Angles, is_ident, is_punct, tokens, trees_of};
use super::tree::{Around, Closure, ClosureParam};
use crate::ident;

/// Reads a compute step that is a closure, or ends with one in parentheses or braces. `None` for any other step, and for
/// patterns that are no names.
pub(crate) fn parse(step: &[TokenTree]) -> Option<Closure> {
    let [TokenTree::Group(group), after @ ..] = step else { return parse_bare(step) };
    let inner = trees_of(group);
    let (before, closure) = match group.delimiter() {
        // `(async |user| …).retry(3)`
        Delimiter::Parenthesis => inner.split_at_checked(0)?,
        // `{ let style = style.clone(); move |user| … }`
        Delimiter::Brace => {
            let last = inner.iter().rposition(|tree| is_punct(Some(tree), ';'));
            inner.split_at_checked(last.map_or(0, |last| last + 1))?
        }
        Delimiter::Bracket | Delimiter::None => return None,
    };
    let around = Around { group: group.clone(), before: tokens(before), after: tokens(after) };
    Some(Closure { around: Some(around), ..parse_bare(closure)? })
}

fn parse_bare(step: &[TokenTree]) -> Option<Closure> {
    let is_word = |tree: &&TokenTree| is_ident(Some(tree), "async") || is_ident(Some(tree), "move");
    let words = step.iter().take_while(is_word).count();
    let (head, rest) = step.split_at_checked(words)?;
    let (opening, rest) = rest.split_first().filter(|(bar, _)| is_bar(bar))?;
    let end = rest.iter().position(is_bar)?;
    let (list, rest) = rest.split_at_checked(end)?;
    let (closing, body) = rest.split_first()?;
    let params = split(list).into_iter().map(parse_param).collect::<Option<Vec<_>>>()?;
    let bars = [opening.clone(), closing.clone()];
    Some(Closure { head: tokens(head), bars, params, body: tokens(body), around: None })
        .filter(|closure| !closure.params.is_empty())
}

/// A `|` that is no part of `||`.
fn is_bar(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(bar) if bar.as_char() == '|' && bar.spacing() == Spacing::Alone)
}

/// The parameters, at the commas outside of angle brackets.
fn split(list: &[TokenTree]) -> Vec<&[TokenTree]> {
    let mut angles = Angles::default();
    let is_comma = |tree: &TokenTree| {
        angles.pass(tree);
        angles.open == 0 && is_punct(Some(tree), ',')
    };
    let params = list.split(is_comma);
    params.filter(|param| !param.is_empty()).collect()
}

fn parse_param(param: &[TokenTree]) -> Option<ClosureParam> {
    let (mutable, rest) = match param {
        [TokenTree::Ident(word), rest @ ..] if ident::is(word, "mut") => (Some(word.clone()), rest),
        _ => (None, param),
    };
    match rest {
        [TokenTree::Ident(name)] => Some(ClosureParam { mutable, name: name.clone(), ty: None }),
        [TokenTree::Ident(name), colon, ty @ ..] if is_punct(Some(colon), ':') => {
            Some(ClosureParam { mutable, name: name.clone(), ty: Some(tokens(ty)) })
        }
        _ => None,
    }
}
