//! The ends of statements, expressions and arms, without a parser of Rust.

use proc_macro2::{Delimiter, TokenTree};

use super::cursor::{is_group, is_ident, is_punct};
use crate::ident;

/// The pattern and the value of a `let`.
pub(super) fn split_pattern(statement: &[TokenTree]) -> (&[TokenTree], &[TokenTree]) {
    let is_sign = |at: usize, sign| is_punct(statement.get(at), sign);
    // The `=` of `..=` is a part of the pattern.
    let is_equals = |&at: &usize| is_sign(at, '=') && !is_sign(at - 1, '.');
    let equals = (1..statement.len()).find(is_equals).unwrap_or(statement.len());
    let is_colon = |&at: &usize| is_sign(at, ':') && !is_sign(at + 1, ':') && !is_sign(at - 1, ':');
    let end = (1..equals).find(is_colon).unwrap_or(equals);
    (statement.get(1..end).unwrap_or_default(), statement.get(equals + 1..).unwrap_or_default())
}

/// The number of tokens up to the next `;`, with it.
pub(super) fn end_of_statement(rest: &[TokenTree]) -> usize {
    rest.iter().position(|tree| is_punct(Some(tree), ';')).map_or(rest.len(), |end| end + 1)
}

/// The number of tokens of the expression up to a comma or the end of the statement. A comma of generics is none:
/// `Ok::<String, Error>(…)`.
pub(super) fn end_of_expression(trees: &[TokenTree]) -> usize {
    let (mut generics, mut at) = (0_usize, 0);
    while let Some(tree) = trees.get(at) {
        let is_sign = |at, sign| is_punct(trees.get(at), sign);
        let begins_generics = is_sign(at, ':') && is_sign(at + 1, ':') && is_sign(at + 2, '<');
        match tree {
            _ if begins_generics => {
                generics += 1;
                at += 2;
            }
            TokenTree::Punct(sign) if generics > 0 => match sign.as_char() {
                '<' => generics += 1,
                '>' if !at.checked_sub(1).is_some_and(|before| is_sign(before, '-')) => generics -= 1,
                _ => {}
            },
            TokenTree::Punct(sign) if [',', ';'].contains(&sign.as_char()) => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The number of tokens of the body of an arm. After one that ends with a block the comma may be missing.
pub(super) fn end_of_arm(body: &[TokenTree]) -> usize {
    const BLOCKS: [&str; 6] = ["for", "if", "loop", "match", "unsafe", "while"];
    let is_brace = |tree: &TokenTree| is_group(tree, Delimiter::Brace);
    let begins_block = match body.first() {
        Some(TokenTree::Ident(word)) => ident::is_one_of(word, &BLOCKS),
        Some(first) => is_brace(first),
        None => false,
    };
    let end = end_of_expression(body);
    if !begins_block {
        return end;
    }
    let is_end = |&at: &usize| {
        let after = body.get(at + 1);
        let goes_on = after.is_some_and(is_brace)
            || is_ident(after, "else")
            || matches!(after, Some(TokenTree::Punct(sign)) if !['&', '_'].contains(&sign.as_char()));
        body.get(at).is_some_and(is_brace) && !goes_on
    };
    (0..end).find(is_end).map_or(end, |last| last + 1)
}

/// The position of the next `=>`.
pub(super) fn position_of_arrow(trees: &[TokenTree]) -> Option<usize> {
    trees.windows(2).position(|pair| is_punct(pair.first(), '=') && is_punct(pair.get(1), '>'))
}
