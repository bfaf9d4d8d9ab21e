//! The rules about the settings of a compute step: the interval, the name of a model, and the condition.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::{LitInt, LitStr};

use crate::diagnostics::{Errors, steps};
use crate::ident::{self, ident_text};
use crate::keywords::{OFFLINE, PROVIDERS};
use crate::syntax::{Closure, Column, closure, is_punct, trees};

/// A setting that is no literal is known only at run time. Wrong:
///
/// ```text
/// column digest(user.window(5)) = prompt("Summarise.").every(0);
/// column topics(user.latest) = prompt("List the topics.").model("opnai/gpt-5.4-mini");
/// column praise(user.latest) = prompt("Praise the user.").when(async |cx| cx.step() > 3);
/// column topics(user.latest) = prompt("List the topics.").was("subjects");
/// ```
pub(super) fn check_settings(column: &mut Column, errors: &mut Errors) {
    let Column { name, derived: Some(derived), .. } = column else { return };
    for setting in settings(&derived.step) {
        derived.is_step_for_editors |= !setting.check(name, errors);
    }
}

/// The conditions of a compute step.
pub(super) fn conditions(step: &TokenStream) -> impl Iterator<Item = Closure> {
    settings(step).into_iter().filter_map(|setting| setting.condition())
}

/// A call of a method after the first operand: `prompt("…")`, a path, or an expression in parentheses.
struct Setting {
    method: Ident,
    arguments: Group,
    operand: Operand,
}

/// The value that has the settings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Prompt,
    Closure,
    /// Any other value, whose methods may belong to any type.
    Other,
}

fn settings(step: &TokenStream) -> Vec<Setting> {
    let mut settings = Vec::new();
    collect(&trees(step), &mut settings);
    settings
}

fn collect(step: &[TokenTree], settings: &mut Vec<Setting>) {
    let is_dot = |tree: &TokenTree| is_punct(Some(tree), '.');
    let (operand, mut calls) = match step {
        [TokenTree::Group(group), calls @ ..]
            if matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::None) =>
        {
            let inner = trees(&group.stream());
            collect(&inner, settings);
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
    let operand = match () {
        () if is_prompt(&operand) => Operand::Prompt,
        () if closure(&operand).is_some() => Operand::Closure,
        () => Operand::Other,
    };
    while let [dot, TokenTree::Ident(method), TokenTree::Group(arguments), rest @ ..] = calls
        && is_dot(dot)
    {
        settings.push(Setting { method: method.clone(), arguments: arguments.clone(), operand });
        calls = rest;
    }
}

impl Setting {
    /// Returns whether rustc can check the setting.
    fn check(&self, column: &Ident, errors: &mut Errors) -> bool {
        let Self { method, arguments, operand } = self;
        if ident::is(method, "was") && *operand != Operand::Other {
            errors.at(method, steps::late_was(column, &arguments.stream().to_string()));
            return false;
        }
        if ident::is(method, "every") {
            let count = syn::parse2::<LitInt>(arguments.stream()).ok();
            if let Some(zero) = count.filter(|count| count.base10_digits() == "0") {
                errors.at(zero, steps::INTERVAL_OF_ZERO);
            }
        } else if ident::is(method, "model")
            && *operand == Operand::Prompt
            && let Ok(name) = syn::parse2::<LitStr>(arguments.stream())
            && !is_model(&name.value())
        {
            errors.at(&name, steps::unknown_model(&name.value()));
        } else if *operand != Operand::Other
            && let Some(condition) = self.condition()
            && let Some(word) = async_word(&condition)
        {
            errors.at(word, steps::ASYNC_CONDITION);
            return false;
        }
        true
    }

    fn condition(&self) -> Option<Closure> {
        ident::is(&self.method, "when").then(|| closure(&trees(&self.arguments.stream())))?
    }
}

/// The `async` of `async |cx| …` or `|cx| async move { … }`.
fn async_word(condition: &Closure) -> Option<Ident> {
    let body = trees(&condition.body);
    // A method of such a block may return a condition.
    let is_block = body.len() < 4 && matches!(body.last(), Some(TokenTree::Group(_)));
    let words = condition.head.clone().into_iter().chain(body.into_iter().filter(|_| is_block));
    words.into_iter().find_map(|tree| match tree {
        TokenTree::Ident(word) if ident::is(&word, "async") => Some(word),
        _ => None,
    })
}

/// Whether the runtime finds a model by this name.
fn is_model(name: &str) -> bool {
    let is_of_provider = |(provider, model): (&str, &str)| PROVIDERS.contains(&provider) && !model.is_empty();
    name == OFFLINE || name.split_once('/').is_some_and(is_of_provider)
}

/// Whether the operand is a path, with the arguments of a call or without. A block, a closure or a condition is no
/// path: the methods of such a value may belong to any type.
fn is_path_or_call(operand: &[TokenTree]) -> bool {
    let [path @ .., last] = operand else { return false };
    let path = if matches!(last, TokenTree::Group(_)) { path } else { operand };
    let is_separator = |tree: &TokenTree| is_punct(Some(tree), ':');
    // Two words in a row are a condition, as in `if x`.
    let is_in_path = |pair: &[TokenTree]| pair.iter().any(is_separator);
    let is_name = |tree: &TokenTree| matches!(tree, TokenTree::Ident(_)) || is_separator(tree);
    !path.is_empty() && path.iter().all(is_name) && path.windows(2).all(is_in_path)
}

/// Whether the operand is `prompt("…")`, under any path, with or without settings.
fn is_prompt(operand: &[TokenTree]) -> bool {
    let call = operand.windows(2).find(|pair| matches!(pair, [_, TokenTree::Group(_)]));
    matches!(call, Some([TokenTree::Ident(name), _]) if ident_text(name) == "prompt")
}
