//! The rules about literals in the settings of a compute step: the interval, and the name of a model.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::{LitInt, LitStr};

use crate::diagnostics::{Errors, steps};
use crate::ident::{self, ident_text};
use crate::keywords::{OFFLINE, PROVIDERS};
use crate::syntax::Column;

/// A setting that is no literal is known only when the program runs. Wrong:
///
/// ```text
/// column digest(user.window(5)) = prompt("Summarise.").every(0);
/// column topics(user.latest) = prompt("List the topics.").model("opnai/gpt-4o-mini");
/// ```
pub(super) fn check_settings(column: &Column, errors: &mut Errors) {
    if let Some(derived) = &column.derived {
        check_calls(&trees(&derived.step), errors);
    }
}

/// Checks the calls of methods after the first operand: `prompt("…")`, a path, or an expression in parentheses.
fn check_calls(step: &[TokenTree], errors: &mut Errors) {
    let is_dot = |tree: &TokenTree| matches!(tree, TokenTree::Punct(dot) if dot.as_char() == '.');
    let (operand, mut calls) = match step {
        [TokenTree::Group(group), calls @ ..]
            if matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::None) =>
        {
            let inner = trees(&group.stream());
            check_calls(&inner, errors);
            (inner, calls)
        }
        _ => {
            let end = step.iter().position(is_dot).unwrap_or(step.len());
            let (operand, calls) = step.split_at_checked(end).unwrap_or((step, &[]));
            (operand.to_vec(), calls)
        }
    };
    if !is_path_or_call(&operand) && !matches!(step, [TokenTree::Group(_), ..]) {
        return;
    }
    let is_prompt = is_prompt(&operand);
    while let [dot, TokenTree::Ident(method), TokenTree::Group(arguments), rest @ ..] = calls
        && is_dot(dot)
    {
        check_call(method, arguments, is_prompt, errors);
        calls = rest;
    }
}

fn check_call(method: &Ident, arguments: &Group, is_prompt: bool, errors: &mut Errors) {
    let value = arguments.stream();
    if ident::is(method, "every") {
        let count = syn::parse2::<LitInt>(value).ok();
        if let Some(zero) = count.filter(|count| count.base10_digits() == "0") {
            errors.at(zero, steps::INTERVAL_OF_ZERO);
        }
    } else if ident::is(method, "model")
        && is_prompt
        && let Ok(name) = syn::parse2::<LitStr>(value)
        && !is_model(&name.value())
    {
        errors.at(&name, steps::unknown_model(&name.value()));
    }
}

/// Whether the runtime finds a model by this name.
fn is_model(name: &str) -> bool {
    let is_of_provider = |(provider, model): (&str, &str)| PROVIDERS.contains(&provider) && !model.is_empty();
    name == OFFLINE || name.split_once('/').is_some_and(is_of_provider)
}

/// A path, with the arguments of a call or without. A block, a closure or a condition is none: its methods may be those of
/// any type.
fn is_path_or_call(operand: &[TokenTree]) -> bool {
    let [path @ .., last] = operand else { return false };
    let path = if matches!(last, TokenTree::Group(_)) { path } else { operand };
    let is_separator = |tree: &TokenTree| matches!(tree, TokenTree::Punct(colon) if colon.as_char() == ':');
    // Two words in a row are a condition, as in `if x`.
    let is_in_path = |pair: &[TokenTree]| pair.iter().any(is_separator);
    let is_name = |tree: &TokenTree| matches!(tree, TokenTree::Ident(_)) || is_separator(tree);
    !path.is_empty() && path.iter().all(is_name) && path.windows(2).all(is_in_path)
}

/// `prompt("…")`, by whatever path, with or without settings.
fn is_prompt(operand: &[TokenTree]) -> bool {
    let call = operand.windows(2).find(|pair| matches!(pair, [_, TokenTree::Group(_)]));
    matches!(call, Some([TokenTree::Ident(name), _]) if ident_text(name) == "prompt")
}

fn trees(tokens: &TokenStream) -> Vec<TokenTree> {
    tokens.clone().into_iter().collect()
}
