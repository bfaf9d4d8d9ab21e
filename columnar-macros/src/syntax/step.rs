//! Parses a compute step: one expression, up to the `;`.
//!
//! It stays tokens. Other tokens after it would be another argument of the call that it becomes, and rustc would
//! report each of them several times. So one error is reported here, and the step ends before them.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::LitStr;

use super::column_type::{is_text, is_type};
use super::cursor::{Cursor, is_group, is_ident, is_punct, tokens, trees_of};
use super::expression::{self, Expression};
use crate::diagnostics::{Errors, columns, steps};
use crate::ident::{self, ident_text};
use crate::keywords::{CONDITIONS, METHODS_OF_STEPS};

/// The compute step, and the tokens after it that are no part of it.
#[derive(Default)]
pub(super) struct Step<'t> {
    /// Empty if it is reported as a whole.
    pub(super) tokens: TokenStream,
    pub(super) after: &'t [TokenTree],
}

/// Parses the compute step of the column `name`.
pub(super) fn parse<'t>(name: &Ident, trees: &'t [TokenTree], errors: &mut Errors) -> Step<'t> {
    let Some(expression) = expression::first(trees) else {
        return Step { tokens: ungrouped(tokens(trees)), after: &[] };
    };
    let Expression { tokens: step, after, .. } = expression;
    let is_step = if after.is_empty() {
        check_prompt(step, errors) & check_tag(step, errors)
    } else {
        report_after(name, &expression, errors)
    };
    Step { tokens: if is_step { ungrouped(tokens(step)) } else { TokenStream::new() }, after }
}

/// The tokens of a step that a `macro_rules!` of the user passed on. Before a method they get parentheses: without them the
/// method would be called on the last operand.
fn ungrouped(step: TokenStream) -> TokenStream {
    let mut trees = step.clone().into_iter();
    match trees.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
            let after: TokenStream = trees.collect();
            if after.is_empty() {
                return ungrouped(group.stream());
            }
            let mut operand = Group::new(Delimiter::Parenthesis, group.stream());
            operand.set_span(group.span());
            quote!(#operand #after)
        }
        _ => step,
    }
}

fn is_name(trees: &[TokenTree]) -> bool {
    matches!(trees.first(), Some(TokenTree::Ident(_)))
}

/// Reports the tokens after an expression. Returns whether it is a step all the same.
fn report_after(name: &Ident, expression: &Expression<'_>, errors: &mut Errors) -> bool {
    let &Expression { tokens: step, after, is_bare, is_closure_without_body } = expression;
    let Some(first) = after.first() else { return true };
    if let Some(word) = method_without_parentheses(step, after) {
        let text = ident_text(word);
        errors.at(word, steps::not_parentheses(word, &call(&text, after)));
        return false;
    }
    let arrow = after.get(..2).unwrap_or_default();
    let is_arrow = |sign: char| is_punct(after.first(), sign) && is_punct(after.get(1), '>');
    match first {
        _ if is_closure_without_body => errors.at(tokens(arrow), steps::CLOSURE_ARROW),
        _ if is_arrow('=') => errors.at(tokens(arrow), steps::NOT_A_CLOSURE),
        _ if is_ident(step.first(), "lambda") => errors.at(tokens(step), steps::NOT_A_CLOSURE),
        TokenTree::Literal(_) if is_bare && is_name(step) => {
            errors.at(first, steps::no_parentheses(&shown(step)));
        }
        TokenTree::Group(group) if is_bare && is_name(step) && is_bare_text(group) => {
            errors.on(group.span_open(), steps::no_parentheses(&shown(step)));
        }
        _ if is_ident(Some(first), "was") => {
            let earlier = after.get(1).filter(|tree| is_string(tree)).map(ToString::to_string);
            errors.at(first, steps::late_was(name, earlier.as_deref().unwrap_or("\"...\"")));
            return true;
        }
        _ if is_punct(Some(first), ':') && !is_punct(after.get(1), ':') || is_arrow('-') => {
            report_type(name, after, errors);
            return true;
        }
        _ => {
            let is_known = report_word(name, after, is_bare, errors);
            // A name alone, as in `the mood`, is no step.
            return !is_bare || is_name(step) && (is_known || is_punct(Some(first), ','));
        }
    }
    false
}

/// The name of a method of a step at its end: `prompt("...").retry`, before `3` or `: 3`.
fn method_without_parentheses<'t>(step: &'t [TokenTree], after: &[TokenTree]) -> Option<&'t Ident> {
    let [.., before, dot, TokenTree::Ident(word)] = step else { return None };
    let is_method = is_punct(Some(dot), '.') && ident::is_one_of(word, &METHODS_OF_STEPS);
    // A step may be a field of this name.
    let is_call =
        is_group(before, Delimiter::Parenthesis) || matches!(after.first(), Some(TokenTree::Literal(_)));
    (is_method && is_call).then_some(word)
}

/// `prompt("...") -> String` or `prompt("..."): Score`
fn report_type(name: &Ident, after: &[TokenTree], errors: &mut Errors) {
    let length = if is_punct(after.first(), ':') { 1 } else { 2 };
    let (sign, ty) = after.split_at_checked(length).unwrap_or((after, &[]));
    let ty = tokens(ty);
    match () {
        () if is_text(&ty) => errors.at(tokens(after), columns::TYPE_OF_TEXT),
        () if is_type(&ty) => {
            let text = ty.to_string().replace(" < ", "<").replace(" >", ">").replace(" :: ", "::");
            errors.at(tokens(sign), steps::late_type(name, &text));
        }
        () => errors.at(tokens(sign), steps::late_type(name, "Score")),
    }
}

/// Reports a word after the step, such as `retry(3)`, `, retry(3)`, `and retry(3)` or `if x`. Returns whether it is the
/// name of a method of a step.
fn report_word(name: &Ident, after: &[TokenTree], is_bare: bool, errors: &mut Errors) -> bool {
    let Some(first) = after.first() else { return false };
    // Commas, `and` and `|>` may be before the word.
    let at = after
        .iter()
        .take(3)
        .position(|tree| matches!(tree, TokenTree::Ident(word) if ident::is_one_of(word, &METHODS_OF_STEPS)));
    if let Some(TokenTree::Ident(word)) = at.and_then(|at| after.get(at)) {
        let rest = at.and_then(|at| after.get(at + 1..)).unwrap_or_default();
        let call = call(&ident_text(word), rest);
        if at == Some(0) {
            errors.at(first, steps::no_dot(&ident_text(word), &call));
        } else {
            errors.at(first, steps::setting(&call));
        }
        return true;
    }
    match first {
        TokenTree::Ident(word) if ident::is_one_of(word, &CONDITIONS) => {
            errors.at(first, steps::condition(&ident_text(word)));
            return true;
        }
        TokenTree::Group(group) => {
            let message = settings_in(group).unwrap_or_else(|| steps::after(name, None));
            errors.on(group.span_open(), message);
        }
        _ if is_bare => errors.at(first, steps::words(name)),
        TokenTree::Literal(_) => errors.at(first, steps::after(name, None)),
        _ => errors.at(first, steps::after(name, Some(&ident::without_marker(first.to_string())))),
    }
    false
}

/// The message about braces with settings: `{ retry: 3 }`.
fn settings_in(braces: &Group) -> Option<String> {
    let inside = trees_of(braces);
    let (TokenTree::Ident(word), after) = inside.split_first()? else { return None };
    let [sign, value, ..] = after else { return None };
    let is_settings =
        braces.delimiter() == Delimiter::Brace && is_punct(Some(sign), ':') && is_setting(sign, value);
    is_settings.then(|| steps::setting(&call(&ident_text(word), after)))
}

/// The call of a method that is probably meant: `.retry(3)` for `retry(3)`, `retry 3`, `retry = 3` and `retry: 3`.
fn call(word: &str, rest: &[TokenTree]) -> String {
    let without_arguments =
        ["or_skip", "or_wait", "document", "allow_empty", "allow_truncated"].contains(&word);
    let value = match rest {
        [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Parenthesis => {
            return format!(".{word}{}", short(&group.to_string()).unwrap_or("(...)"));
        }
        [TokenTree::Literal(value), ..] => Some(value),
        [sign, TokenTree::Literal(value), ..] if is_punct(Some(sign), '=') || is_punct(Some(sign), ':') => {
            Some(value)
        }
        _ => None,
    };
    let value = value.map(ToString::to_string);
    match value.as_deref().and_then(short) {
        Some(value) => format!(".{word}({value})"),
        None if without_arguments => format!(".{word}()"),
        None => format!(".{word}(...)"),
    }
}

/// A text, if a message can show it.
fn short(text: &str) -> Option<&str> {
    (text.len() <= 40 && !text.contains(['"', '\n'])).then_some(text)
}

/// The name before a text, as messages have it.
fn shown(step: &[TokenTree]) -> String {
    let text = tokens(step).to_string().replace(' ', "");
    short(&text).unwrap_or("prompt").to_owned()
}

fn is_bare_text(braces: &Group) -> bool {
    matches!(trees_of(braces).first(), Some(tree) if is_string(tree))
}

fn is_string(tree: &TokenTree) -> bool {
    syn::parse2::<LitStr>(tree.to_token_stream()).is_ok()
}

/// `prompt` takes one text. Wrong: `prompt("..." "...")`, `prompt("...", temperature = 0.2)`.
fn check_prompt(step: &[TokenTree], errors: &mut Errors) -> bool {
    let [TokenTree::Ident(prompt), TokenTree::Group(group), ..] = step else { return true };
    if !ident::is(prompt, "prompt") || group.delimiter() != Delimiter::Parenthesis {
        return true;
    }
    let arguments = trees_of(group);
    let Some(Expression { after, .. }) = expression::first(&arguments) else { return true };
    match after {
        [text, ..] if !is_punct(Some(text), ',') => {
            if matches!(text, TokenTree::Literal(_)) {
                errors.at(text, steps::TWO_TEXTS);
            } else {
                report_word_in_prompt(after, text, errors);
            }
            false
        }
        [_, TokenTree::Ident(word), sign, value, ..] if is_setting(sign, value) => {
            let call = call(&ident_text(word), after.get(2..).unwrap_or_default());
            errors.at(word, steps::setting(&call));
            false
        }
        [_, TokenTree::Group(group), ..] => {
            let message = settings_in(group);
            let is_step = message.is_none();
            message.into_iter().for_each(|message| errors.on(group.span_open(), message));
            is_step
        }
        // rustc counts arguments.
        _ => true,
    }
}

/// Whether these are `= 3` or `: 3` after a name, and not `== 3` or `::`.
fn is_setting(sign: &TokenTree, value: &TokenTree) -> bool {
    [':', '='].iter().any(|&known| is_punct(Some(sign), known) && !is_punct(Some(value), known))
}

fn report_word_in_prompt(after: &[TokenTree], text: &TokenTree, errors: &mut Errors) {
    match text {
        TokenTree::Ident(word) if ident::is_one_of(word, &METHODS_OF_STEPS) => {
            let call = call(&ident_text(word), after.get(1..).unwrap_or_default());
            errors.at(text, steps::setting(&call));
        }
        TokenTree::Group(group) => errors.on(group.span_open(), steps::ONE_TEXT),
        _ => errors.at(text, steps::ONE_TEXT),
    }
}

/// A step has no tag. Wrong: `prompt("...").as("tone")`, where rustc would read a keyword.
fn check_tag(step: &[TokenTree], errors: &mut Errors) -> bool {
    let mut cursor = Cursor::new(step);
    while !cursor.is_empty() {
        if let [dot, word @ TokenTree::Ident(_), list, ..] = cursor.rest()
            && is_punct(Some(dot), '.')
            && is_ident(Some(word), "as")
            && is_group(list, Delimiter::Parenthesis)
        {
            errors.at(word, steps::TAGGED_STEP);
            return false;
        }
        cursor.next();
    }
    true
}

/// Whether a step without views before it may be a step. Otherwise the views are probably in it, in a form that only a
/// reader understands: `= |user| prompt("...")`, `= prompt(user, "...")`, `= user.window(3) | prompt("...")`.
pub(super) fn is_plain(trees: &[TokenTree]) -> bool {
    let has_comma = |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if trees_of(group).iter().any(|tree| is_punct(Some(tree), ',')));
    is_name(trees)
        && expression::first(trees).is_none_or(|step| step.after.is_empty())
        && !trees.iter().any(|tree| is_punct(Some(tree), '|') || has_comma(tree))
}
