//! The parameters of a flow in closures: in a compute step that is async, and in a condition.
//!
//! ```text
//! let style = Clone::clone(style);
//! async move |user| { let style = &style; format!("{style}: {user}") }
//! ```
//!
//! So a parameter has the same type in a closure as in any other step. An editor sees the closure without these variables:
//! they would be the definitions of the parameter there.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use super::emitter::Emitter;
use super::tokens::unlocated_param;
use crate::ident::{self, ident_text};
use crate::syntax::{Capture, Closure, ClosureParam, Param, closure, hidden_at_marks, is_punct, mark, trees};

/// The clones of the parameters that a closure uses.
pub(super) struct Clones {
    /// The statements before the closure.
    pub(super) statements: TokenStream,
    /// Those at the beginning of its body.
    references: TokenStream,
}

impl Clones {
    pub(super) fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The body of the closure.
    pub(super) fn body(&self, body: &TokenStream) -> TokenStream {
        if self.is_empty() {
            return body.clone();
        }
        let (references, trees) = (&self.references, trees(body));
        let Some((last, before)) = trees.split_last() else { return body.clone() };
        // The type that the closure returns is before a block.
        let has_type = is_punct(before.first(), '-') && is_punct(before.get(1), '>');
        let (before, inside) =
            if has_type { (before, last.to_token_stream()) } else { (&[][..], body.clone()) };
        let mut block = Group::new(Delimiter::Brace, quote!(#references #inside));
        // rustc underlines the closure from its first token to its last.
        block.set_span(last.span());
        quote!(#(#before)* #block)
    }
}

impl Emitter<'_> {
    pub(super) fn clones(&self, captures: &[Capture<'_>]) -> Clones {
        let private = self.private;
        let names: Vec<Ident> = captures.iter().map(|capture| unlocated_param(&capture.param.name)).collect();
        // rustc reports a parameter without `Clone` at its use.
        let clones = captures.iter().map(|capture| {
            let mut used = capture.param.name.clone();
            used.set_span(used.span().located_at(capture.at));
            quote!(#private::Clone::clone(#used))
        });
        // The body may have a variable of this name instead.
        let of_rustc = quote!(#[cfg(not(rust_analyzer))] #[allow(unused_variables)]);
        let statements = quote!(#(#of_rustc let #names = #clones;)*);
        let references = quote!(#(#of_rustc let #names = &#names;)*);
        Clones { statements, references }
    }

    pub(super) fn params(&self) -> &[Param] {
        self.flow.header().map_or(&[], |header| &header.params)
    }

    /// A compute step, or the settings after one, whose conditions have clones of the parameters that they use.
    pub(super) fn with_conditions(&self, step: &TokenStream) -> TokenStream {
        let names = self.flow.params();
        let mut conditions = Vec::new();
        let mut to_mark = |condition: Condition| {
            conditions.push(condition);
            Some(mark(conditions.len()).into_token_stream())
        };
        let marked = map_conditions(step, true, &mut to_mark).filter(|_| !names.is_empty());
        let Some(marked) = marked else { return step.clone() };
        let hidden = hidden_at_marks(&names, &marked);
        let mut number = 0;
        let mut with_clones = |condition: Condition| {
            number += 1;
            self.condition(&condition, hidden.get(&mark(number)).map_or(&[], Vec::as_slice))
        };
        map_conditions(step, true, &mut with_clones).unwrap_or_else(|| step.clone())
    }

    /// `None` for a condition that uses no parameter, except those with these names.
    fn condition(&self, condition: &Condition, hidden: &[String]) -> Option<TokenStream> {
        // Inside a step, other types may have a method `when`, too.
        let closure = closure(&trees(&condition.tokens))
            .filter(|closure| closure.around.is_empty() && (condition.is_of_step || is_condition(closure)))?;
        let params = self.params().iter().filter(|param| !hidden.contains(&ident_text(&param.name)));
        let clones = self.clones(&closure.captures(params));
        if clones.is_empty() {
            return None;
        }
        let Closure { bars: [opening, closing], params, body, .. } = &closure;
        let params = params.iter().map(|ClosureParam { mutable, name, ty }| {
            let ty = ty.as_ref().map(|ty| quote!(: #ty));
            quote!(#mutable #name #ty)
        });
        let (statements, body) = (&clones.statements, clones.body(body));
        let by_value = Ident::new("move", opening.span());
        Some(quote!({ #statements #by_value #opening #(#params),* #closing #body }))
    }
}

/// The argument of a method `when`.
struct Condition {
    tokens: TokenStream,
    /// Whether the method is one of the step itself.
    is_of_step: bool,
}

/// The step with other conditions. `None` if none of them changes.
fn map_conditions(
    step: &TokenStream,
    is_step: bool,
    map: &mut dyn FnMut(Condition) -> Option<TokenStream>,
) -> Option<TokenStream> {
    let mut trees = trees(step);
    let mut is_changed = false;
    for at in 0..trees.len() {
        let (before, rest) = trees.split_at_mut(at);
        let Some(TokenTree::Group(group)) = rest.first_mut() else { continue };
        let tokens = group.stream();
        let inside = match before {
            [.., dot, TokenTree::Ident(when)] if is_punct(Some(dot), '.') && ident::is(when, "when") => {
                map(Condition { tokens, is_of_step: is_step })
            }
            // `(prompt("…").when(…)).retry(3)`
            [] => map_conditions(&tokens, is_step && group.delimiter() == Delimiter::Parenthesis, map),
            _ => map_conditions(&tokens, false, map),
        };
        let Some(inside) = inside else { continue };
        let mut changed = Group::new(group.delimiter(), inside);
        changed.set_span(group.span());
        *group = changed;
        is_changed = true;
    }
    is_changed.then(|| trees.into_iter().collect())
}

/// Whether the closure takes a context alone, as far as its body tells.
fn is_condition(closure: &Closure) -> bool {
    const METHODS: [&str; 7] = ["column", "input", "inputs", "messages", "notes", "step", "values"];
    let [context] = closure.params.as_slice() else { return false };
    let body = trees(&closure.body);
    context.is_context()
        || ident_text(&context.name).starts_with('_')
        || calls(&body, &context.name, &METHODS)
}

/// Whether a method of these is called on a variable.
fn calls(trees: &[TokenTree], variable: &Ident, methods: &[&str]) -> bool {
    let is_call = |part: &[TokenTree]| {
        matches!(part, [TokenTree::Ident(name), dot, TokenTree::Ident(method)]
            if name == variable && is_punct(Some(dot), '.') && ident::is_one_of(method, methods))
    };
    let is_inside = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => calls(&self::trees(&group.stream()), variable, methods),
        _ => false,
    };
    trees.windows(3).any(is_call) || trees.iter().any(is_inside)
}
