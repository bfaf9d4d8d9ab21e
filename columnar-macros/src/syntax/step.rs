//! Parses a compute step: one expression, up to the `;`.
//!
//! It stays tokens. Other tokens after it would be another argument of the call that it becomes, and rustc would
//! report each of them several times. So one error is reported here, and the step ends before them.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use super::closure;
use super::column_type::{is_text, is_type};
use super::cursor::{is_group, is_ident, is_punct, shown, tokens, trees_of};
use super::expression::{self, Expression, is_string};
use crate::diagnostics::{Errors, TYPE_OF_TEXT, late_was, not_parentheses, quote};
use crate::ident::{self, ident_text};
use crate::keywords::{CONDITIONS, is_setting};

/// The compute step, and the tokens after it that are no part of it.
#[derive(Default)]
pub(super) struct StepTokens<'t> {
    /// Empty if it is reported as a whole.
    pub(super) tokens: TokenStream,
    pub(super) after: &'t [TokenTree],
}

/// Parses the compute step of the column `name`.
pub(super) fn parse<'t>(name: &Ident, trees: &'t [TokenTree], errors: &mut Errors) -> StepTokens<'t> {
    let first = expression::first(trees);
    let (step, after) = first.as_ref().map_or((trees, &[][..]), |first| (first.tokens, first.after));
    let is_step = match &first {
        Some(expression) if !after.is_empty() => report_after(name, expression, errors),
        Some(_) => mistake_in_prompt(step).map(|(at, message)| errors.on(at, message)).is_none(),
        None => check_unread(trees, errors),
    };
    StepTokens { tokens: if is_step { ungrouped(tokens(step)) } else { TokenStream::new() }, after }
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
    let &Expression { tokens: step, after, is_bare } = expression;
    let Some(first) = after.first() else { return true };
    if let Some(word) = method_without_parentheses(step, after) {
        let text = ident_text(word);
        errors.at(word, format!("{}\n\nhelp: write `{}`", not_parentheses(word), call(&text, after)));
        return false;
    }
    let arrow = after.get(..2).unwrap_or_default();
    let before_angle = after.first().filter(|_| is_punct(after.get(1), '>'));
    match first {
        _ if is_punct(before_angle, '=') => errors.at(tokens(arrow), NOT_A_CLOSURE),
        _ if is_ident(step.first(), "lambda") => errors.at(tokens(step), NOT_A_CLOSURE),
        _ if is_bare && is_name(step) && is_bare_text(first) => {
            let function = tokens(step).to_string().replace(' ', "");
            errors.on(start_of(first), no_parentheses(short(&function).unwrap_or("prompt")));
        }
        _ if is_ident(first, "was") => {
            let earlier = after.get(1).filter(|tree| is_string(tree)).map(ToString::to_string);
            errors.at(first, late_was(name, earlier.as_deref().unwrap_or("\"...\"")));
            return true;
        }
        _ if is_punct(first, ':') && !is_punct(after.get(1), ':') || is_punct(before_angle, '-') => {
            report_type(name, after, errors);
            return true;
        }
        _ => {
            let is_known = report_word(name, after, is_bare, errors);
            // A name alone, as in `the mood`, is no step.
            return !is_bare || is_name(step) && (is_known || is_punct(first, ','));
        }
    }
    false
}

/// The name of a method of a step at its end: `prompt("...").retry`, before `3` or `: 3`.
fn method_without_parentheses<'t>(step: &'t [TokenTree], after: &[TokenTree]) -> Option<&'t Ident> {
    let [.., before, dot, TokenTree::Ident(word)] = step else { return None };
    let is_method = is_punct(dot, '.') && is_setting(word);
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
        () if is_text(&ty) => errors.at(tokens(after), TYPE_OF_TEXT),
        () if is_type(&ty) => {
            errors.at(tokens(sign), late_type(name, &shown(&ty)));
        }
        () => errors.at(tokens(sign), late_type(name, "Score")),
    }
}

/// Reports a word after the step, such as `retry(3)`, `, retry(3)`, `and retry(3)` or `if x`. Returns whether it is the
/// name of a method of a step.
fn report_word(name: &Ident, after: &[TokenTree], is_bare: bool, errors: &mut Errors) -> bool {
    let Some(first) = after.first() else { return false };
    // Commas, `and` and `|>` may be before the word.
    let method = after.iter().take(3).position(is_method).and_then(|at| after.get(at..));
    let (message, is_known) = match (method, first) {
        (Some([TokenTree::Ident(word), rest @ ..]), _) => {
            let word = ident_text(word);
            let call = call(&word, rest);
            (if is_method(first) { no_dot(&word, &call) } else { setting(&call) }, true)
        }
        (_, TokenTree::Ident(word)) if ident::is_one_of(word, &CONDITIONS) => {
            (condition(&ident_text(word)), true)
        }
        (_, TokenTree::Group(_)) => (settings(after).unwrap_or_else(|| not_the_end(name, None)), false),
        _ if is_bare => (several_words(name), false),
        (_, TokenTree::Literal(_)) => (not_the_end(name, None), false),
        _ => (not_the_end(name, Some(&ident::without_marker(first.to_string()))), false),
    };
    errors.on(start_of(first), message);
    is_known
}

/// Whether this is the name of a method of a step.
fn is_method(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Ident(word) if is_setting(word))
}

/// The message about settings that are no methods: `retry = 3`, `retry: 3`, `{ retry: 3 }`.
fn settings(trees: &[TokenTree]) -> Option<String> {
    match trees {
        [TokenTree::Group(braces), ..] if braces.delimiter() == Delimiter::Brace => {
            settings(&trees_of(braces))
        }
        [TokenTree::Ident(word), after @ ..] if let [sign, value, ..] = after => {
            // Not `== 3` or `::`.
            let mut signs = [':', '='].into_iter();
            let is_setting = signs.any(|known| is_punct(sign, known) && !is_punct(value, known));
            is_setting.then(|| setting(&call(&ident_text(word), after)))
        }
        _ => None,
    }
}

/// Where a message about a token is: of brackets, it is at the first one.
fn start_of(tree: &TokenTree) -> Span {
    match tree {
        TokenTree::Group(group) => group.span_open(),
        _ => tree.span(),
    }
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
        [sign, TokenTree::Literal(value), ..] if is_punct(sign, '=') || is_punct(sign, ':') => Some(value),
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

/// Whether this is a text without parentheses: `"..."` or `{ "..." }`.
fn is_bare_text(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Group(group) => trees_of(group).first().is_some_and(is_string),
        _ => matches!(tree, TokenTree::Literal(_)),
    }
}

/// The mistake in the arguments of `prompt`, which takes one text. Wrong: `prompt("..." "...")`,
/// `prompt("...", temperature = 0.2)`.
fn mistake_in_prompt(step: &[TokenTree]) -> Option<(Span, String)> {
    let [TokenTree::Ident(prompt), TokenTree::Group(group), ..] = step else { return None };
    if !ident::is(prompt, "prompt") || group.delimiter() != Delimiter::Parenthesis {
        return None;
    }
    let arguments = trees_of(group);
    let (first, rest) = expression::first(&arguments)?.after.split_first()?;
    if is_punct(first, ',') {
        // rustc counts arguments.
        return Some((start_of(rest.first()?), settings(rest)?));
    }
    let message = match first {
        TokenTree::Literal(_) => TWO_TEXTS.to_owned(),
        TokenTree::Ident(word) if is_setting(word) => setting(&call(&ident_text(word), rest)),
        _ => ONE_TEXT.to_owned(),
    };
    Some((start_of(first), message))
}

/// Checks a step that only rustc can read. Wrong: `prompt("...").as("tone")`, where rustc would read a keyword, and
/// `|cx| => ...`.
fn check_unread(step: &[TokenTree], errors: &mut Errors) -> bool {
    let tag = step.windows(3).find_map(|window| match window {
        [dot, word, list] if is_punct(dot, '.') && is_group(list, Delimiter::Parenthesis) => {
            Some(word).filter(|&word| is_ident(word, "as"))
        }
        _ => None,
    });
    if let Some(arrow) = closure::arrow(step) {
        errors.at(arrow, CLOSURE_ARROW);
    } else if let Some(word) = tag {
        errors.at(word, TAGGED_STEP);
    } else {
        return true;
    }
    false
}

/// Whether a step without views before it may be a step. Otherwise the views are probably in it, in a form that only a
/// reader understands: `= |user| prompt("...")`, `= prompt(user, "...")`, `= user.window(3) | prompt("...")`.
pub(super) fn is_plain(trees: &[TokenTree]) -> bool {
    is_name(trees)
        && expression::first(trees).is_none_or(|step| step.after.is_empty())
        && !trees.iter().any(|tree| match tree {
            TokenTree::Group(group) => trees_of(group).iter().any(|tree| is_punct(tree, ',')),
            _ => is_punct(tree, '|'),
        })
}

// Messages.

/// `prompt("..."), retry(3)` or `prompt("..."), temperature = 0.2`
fn setting(call: &str) -> String {
    format!("a setting of a compute step is a method of it\n\nhelp: write `{call}` after the step")
}

/// `prompt("...") -> Score` or `prompt("..."): Score`
fn late_type(name: &Ident, ty: &str) -> String {
    let name = ident_text(name);
    format!("the type of `{name}` comes before the `=`\n\nhelp: as in `column {name}(...): {ty} = ...`")
}

/// `prompt("...") retry(3)`
fn no_dot(word: &str, call: &str) -> String {
    format!("expected `.` before `{word}`\n\nhelp: write `{call}`")
}

/// `prompt("...") if x`
fn condition(word: &str) -> String {
    format!(
        "a compute step has no `{word}`\n\nhelp: write `.when(|cx| ...)` after the step, which gets its context"
    )
}

/// `prompt "..."` or `prompt { "..." }`
fn no_parentheses(function: &str) -> String {
    format!("expected parentheses around this text\n\nhelp: as in `{function}(\"...\")`")
}

/// `prompt("..." "...")`
const TWO_TEXTS: &str =
    "a prompt is one text\n\nhelp: write one string, which may have several lines, or `format!(\"...\")`";

/// `prompt("..." temperature)`
const ONE_TEXT: &str = "a prompt is one text\n\nhelp: drop this, or write a setting as a method, as in `.temperature(0.2)` after the step";

/// `(cx) => ...` or `lambda cx: ...`
const NOT_A_CLOSURE: &str =
    "the arguments of a closure are between `|` and `|`\n\nhelp: as in `async |cx: Context| ...`";

/// `|cx| => ...`
const CLOSURE_ARROW: &str = "a closure has no `=>` before its body\n\nhelp: drop it";

/// `prompt("...").as("tone")`
const TAGGED_STEP: &str =
    "a compute step has no tag\n\nhelp: write the tag where the column is read, as in `mood.as(\"tone\")`";

/// `the mood`
fn several_words(name: &Ident) -> String {
    format!(
        "expected one expression as the compute step of {}\n\nhelp: as in `prompt(\"...\")`, or the name of a function",
        quote(name)
    )
}

/// Any other tokens after a complete step. `found` is the first one, if a message can show it.
fn not_the_end(name: &Ident, found: Option<&str>) -> String {
    let found = found.map_or_else(|| "before this".to_owned(), |found| format!("before `{found}`"));
    format!(
        "expected `;` {found}: the compute step of {} is complete\n\n\
         help: drop the rest, or write a setting as a method, as in `.retry(3)`",
        quote(name)
    )
}
