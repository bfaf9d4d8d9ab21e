//! The rules about the inputs that a compute step names.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::LitStr;

use super::columns::shows_documents;
use super::steps::conditions;
use crate::diagnostics::{Errors, listed, no_type, quote};
use crate::ident::{ident_text, is_name};
use crate::keywords::MODIFIERS;
use crate::syntax::{Closure, ClosureParam, ComputedDecl, as_ident, is_punct, patterns, trees};

/// A parameter without a type is the tag of a view, and so is the text in `cx.input("…")`. Wrong:
///
/// ```text
/// column shout(user.latest) = async |usr| usr.to_uppercase();
/// column shout(user.latest) = async |cx: Context| cx.input("usr").map(|text| text.to_uppercase());
/// column shout(user.latest) = prompt("Shout.").when(|cx| cx.input("usr").is_some());
/// column shout(user.latest) = async |user.latest| user.to_uppercase();
/// ```
pub(super) fn check_inputs(
    name: &Ident,
    derived: &mut ComputedDecl,
    documents: &HashSet<String>,
    params: &[String],
    errors: &mut Errors,
) {
    check_patterns(name, derived, errors);
    // An invalid view may be the named one.
    if !derived.has_all_views() {
        let mut params = derived.closure.iter().flat_map(|closure| &closure.params);
        derived.is_step_for_editors |=
            params.any(|param| param.ty.is_none() && derived.view_of(name, param).is_none());
        return;
    }
    let tags: Vec<String> = derived.reads().filter_map(|view| view.input(name)).collect();
    let of_conditions = conditions(&derived.step).flat_map(|condition| asked_tags(&condition, |_| true));
    let of_step = derived.closure.iter().flat_map(|closure| asked_tags(closure, ClosureParam::is_context));
    let known: HashSet<&String> = tags.iter().collect();
    for tag in of_conditions.chain(of_step).filter(|tag| !known.contains(&tag.value())) {
        // The literal may be a whole text, and its beginning is enough to find it.
        let text: String = tag.value().chars().take(40).collect();
        let near = errors.nearest(&text, &tags);
        errors.at(&tag, unknown_tag(&text, name, &help_of(near, &tags)));
    }
    let Some(closure) = &derived.closure else { return };
    let of_documents = derived.reads().filter(|view| shows_documents(view, documents));
    let of_documents: Vec<String> = of_documents.map(|view| ident_text(view.last())).collect();
    let mut unknown = Vec::new();
    for param in closure.params.iter().filter(|param| !param.is_context()) {
        let is_input = derived.view_of(name, param).is_some();
        if of_documents.contains(&ident_text(&param.name)) {
            errors.at(&param.name, documents_as_param(&param.name));
        } else if !is_input && params.contains(&ident_text(&param.name)) {
            errors.at(&param.name, param_of_flow(&param.name));
        } else if !is_input && (param.ty.is_none() || param.has_type_of_input()) {
            let near = errors.nearest(&ident_text(&param.name), &tags);
            errors.at(&param.name, unknown_param(&param.name, name, &help_of(near, &tags)));
        } else {
            continue;
        }
        unknown.push(param.name.clone());
    }
    if !unknown.is_empty() {
        derived.drop_step(unknown);
    }
}

/// Checks that parameters without a type are names, and that none has an empty type.
fn check_patterns(column: &Ident, derived: &mut ComputedDecl, errors: &mut Errors) {
    if derived.closure.is_none() {
        let patterns = patterns(&trees(&derived.step));
        for pattern in &patterns {
            errors.at(pattern, not_a_tag(&tags_in(pattern)));
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
        errors.at(&param.name, no_type(&param.name));
    }
    derived.is_step_for_editors |= !untyped.is_empty();
}

/// The tags that a pattern probably means: `user` for `user.latest`, `user` and `topics` for `(user, topics)`.
fn tags_in(pattern: &TokenStream) -> Vec<String> {
    let list = match trees(pattern).as_slice() {
        [TokenTree::Group(group)] => trees(&group.stream()),
        pattern => pattern.to_vec(),
    };
    list.split(|tree| is_punct(tree, ',')).filter_map(tag_in).collect()
}

/// The last name that is no modifier.
fn tag_in(pattern: &[TokenTree]) -> Option<String> {
    let mut names = pattern.iter().filter_map(as_ident).map(ident_text);
    let is_tag =
        |name: &String| is_name(name) && !["mut", "ref"].contains(&&**name) && !MODIFIERS.contains(&&**name);
    names.rfind(is_tag)
}

/// The tags that a closure asks these of its parameters for, in calls of `input` and `values`.
fn asked_tags(closure: &Closure, is_context: impl Fn(&ClosureParam) -> bool) -> Vec<LitStr> {
    let mut tags = Vec::new();
    for context in closure.params.iter().filter(|param| is_context(param)) {
        collect_tags(&closure.body, &context.name, &mut tags);
    }
    tags
}

fn collect_tags(body: &TokenStream, context: &Ident, tags: &mut Vec<LitStr>) {
    let trees = trees(body);
    for (at, tree) in trees.iter().enumerate() {
        let TokenTree::Group(group) = tree else { continue };
        collect_tags(&group.stream(), context, tags);
        if let Some([.., TokenTree::Ident(receiver), dot, TokenTree::Ident(method)]) = trees.get(..at)
            && is_punct(dot, '.')
            && receiver == context
            && (method == "input" || method == "values")
        {
            tags.extend(syn::parse2(group.stream()));
        }
    }
}

// Messages.

/// `async |usr| …` for a column that reads `user`.
fn unknown_param(param: &Ident, column: &Ident, known: &str) -> String {
    let text = ident_text(param);
    let help = match text.as_str() {
        "cx" | "ctx" | "context" | "_" => format!("the context needs its type: `{text}: Context`"),
        _ if text == ident_text(column) => "add the view `self` for its values at earlier steps".to_owned(),
        _ => known.to_owned(),
    };
    format!("{} reads nothing with the tag `{text}`\n\nhelp: {help}", quote(column))
}

/// `async |user, style| …` where `style` is a parameter of the flow.
fn param_of_flow(param: &Ident) -> String {
    let param = ident_text(param);
    format!("`{param}` is a parameter of the flow\n\nhelp: drop it here: a closure uses it by its name")
}

/// `async |user.latest| …` or `async |(user, topics)| …`, with the tags that are probably meant.
fn not_a_tag(tags: &[String]) -> String {
    let help = match tags {
        [] => "write the tag, as in `|user|`".to_owned(),
        [tag] => format!("write the tag, as in `|{tag}|`"),
        tags => format!("write `|{}|`", tags.join(", ")),
    };
    format!("a parameter of a compute step is the tag of a view\n\nhelp: {help}")
}

/// `cx.input("usr")` in the step of a column that reads `user`.
fn unknown_tag(tag: &str, column: &Ident, known: &str) -> String {
    format!("{} reads nothing with the tag `{tag}`\n\nhelp: {known}", quote(column))
}

/// `async |files| …` for a column that reads documents.
fn documents_as_param(param: &Ident) -> String {
    format!(
        "{} are documents, which cannot be a parameter of a compute step\n\n\
         help: take the context, as in `|cx: Context|`: `cx.messages().documents()` has them",
        quote(param)
    )
}

fn help_of(near: Option<&str>, tags: &[String]) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("its inputs are {}", listed(tags)),
    }
}
