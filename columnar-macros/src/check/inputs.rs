//! The rules about the inputs that a compute step names.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::LitStr;

use super::columns::shows_documents;
use super::steps::conditions;
use crate::diagnostics::{Errors, columns, inputs};
use crate::ident::{ident_text, is_name};
use crate::keywords::MODIFIERS;
use crate::syntax::{Closure, ClosureParam, Column, Derived, State, View, is_punct, patterns};

/// A parameter without a type is the tag of a view, and so is the text in `cx.input("…")`. Wrong:
///
/// ```text
/// column shout(user.latest) = async |usr| usr.to_uppercase();
/// column shout(user.latest) = async |cx: Context| cx.input("usr").map(|text| text.to_uppercase());
/// column shout(user.latest) = prompt("Shout.").when(|cx| cx.input("usr").is_some());
/// column shout(user.latest) = async |user.latest| user.to_uppercase();
/// ```
pub(super) fn check_inputs(
    column: &mut Column,
    documents: &HashSet<String>,
    params: &[String],
    errors: &mut Errors,
) {
    let Column { name, derived: Some(derived), .. } = column else { return };
    check_patterns(name, derived, errors);
    // A view that is wrong may be the one that is named.
    if !derived.is_complete || derived.reads().any(|view| view.state != State::Valid) {
        let is_unknown = |param: &ClosureParam| param.ty.is_none() && derived.view_of(name, param).is_none();
        derived.is_step_for_editors |=
            derived.closure.iter().flat_map(|closure| &closure.params).any(is_unknown);
        return;
    }
    let tags: Vec<String> = derived.reads().filter_map(|view| view.input(name)).collect();
    for condition in conditions(&derived.step) {
        check_contexts(&condition, |_| true, (name, &tags), errors);
    }
    let Some(closure) = &derived.closure else { return };
    let is_documents = |param: &ClosureParam| {
        let is_it = |view: &View| ident_text(view.last()) == ident_text(&param.name);
        derived.reads().any(|view| shows_documents(view, documents) && is_it(view))
    };
    let mut unknown = Vec::new();
    for param in closure.params.iter().filter(|param| !param.is_context()) {
        let is_input = derived.view_of(name, param).is_some();
        if is_documents(param) {
            errors.at(&param.name, inputs::documents(&param.name));
        } else if !is_input && params.contains(&ident_text(&param.name)) {
            errors.at(&param.name, inputs::param_of_flow(&param.name));
        } else if !is_input && (param.ty.is_none() || param.has_type_of_input()) {
            errors.at(&param.name, inputs::unknown_param(&param.name, name, &tags));
        } else {
            continue;
        }
        unknown.push(param.name.clone());
    }
    check_contexts(closure, ClosureParam::is_context, (name, &tags), errors);
    if !unknown.is_empty() {
        derived.drop_step(unknown);
    }
}

/// Checks that parameters without a type are names, and that none has an empty type.
fn check_patterns(column: &Ident, derived: &mut Derived, errors: &mut Errors) {
    if derived.closure.is_none() {
        let patterns = patterns(&derived.step.clone().into_iter().collect::<Vec<_>>());
        for pattern in &patterns {
            errors.at(pattern, inputs::pattern(&tags_in(pattern)));
        }
        if !patterns.is_empty() {
            derived.drop_step(Vec::new());
        }
    }
    // In any other closure rustc reports an empty type.
    let params = derived.closure_of_inputs(column).into_iter().flat_map(|closure| &closure.params);
    let untyped: Vec<_> =
        params.filter(|param| param.ty.as_ref().is_some_and(TokenStream::is_empty)).collect();
    for param in &untyped {
        errors.at(&param.name, columns::no_type(&param.name));
    }
    derived.is_step_for_editors |= !untyped.is_empty();
}

/// The tags that a pattern probably means: `user` for `user.latest`, `user` and `topics` for `(user, topics)`.
fn tags_in(pattern: &TokenStream) -> Vec<String> {
    let trees: Vec<TokenTree> = pattern.clone().into_iter().collect();
    if let [TokenTree::Group(group)] = trees.as_slice() {
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        return inner.split(|tree| is_punct(Some(tree), ',')).filter_map(tag_in).collect();
    }
    tag_in(&trees).into_iter().collect()
}

/// The last name that is no modifier.
fn tag_in(pattern: &[TokenTree]) -> Option<String> {
    let mut names = pattern.iter().filter_map(|tree| match tree {
        TokenTree::Ident(name) => Some(ident_text(name)),
        _ => None,
    });
    let is_tag =
        |name: &String| is_name(name) && !["mut", "ref"].contains(&&**name) && !MODIFIERS.contains(&&**name);
    names.rfind(is_tag)
}

/// Checks the tags that a closure asks its context for.
fn check_contexts(
    closure: &Closure,
    is_context: impl Fn(&ClosureParam) -> bool,
    of: (&Ident, &[String]),
    errors: &mut Errors,
) {
    for context in closure.params.iter().filter(|param| is_context(param)) {
        check_tags(&closure.body, &context.name, of, errors);
    }
}

/// Checks the literals in calls of `input` and `values` on the context.
fn check_tags(body: &TokenStream, context: &Ident, of: (&Ident, &[String]), errors: &mut Errors) {
    let trees: Vec<TokenTree> = body.clone().into_iter().collect();
    for tree in &trees {
        if let TokenTree::Group(group) = tree {
            check_tags(&group.stream(), context, of, errors);
        }
    }
    for window in trees.windows(4) {
        let [
            TokenTree::Ident(receiver),
            TokenTree::Punct(dot),
            TokenTree::Ident(method),
            TokenTree::Group(arguments),
        ] = window
        else {
            continue;
        };
        let is_call = arguments.delimiter() == Delimiter::Parenthesis
            && dot.as_char() == '.'
            && receiver == context
            && (method == "input" || method == "values");
        let Some(tag) = syn::parse2::<LitStr>(arguments.stream()).ok().filter(|_| is_call) else { continue };
        let (name, tags) = of;
        if !tags.contains(&tag.value()) {
            errors.at(&tag, inputs::unknown_tag(&tag.value(), name, tags));
        }
    }
}
