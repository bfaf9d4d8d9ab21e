//! The parameters of a flow in closures: in a compute step that is async, and in a condition.
//!
//! ```text
//! let style = Clone::clone(style);
//! async move |user| { let style = &style; format!("{style}: {user}") }
//! ```
//!
//! So a parameter has the same type in a closure as in any other step. An editor sees the closure without these
//! variables, which would count as the definitions of the parameter there.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use super::emitter::Emitter;
use super::tokens::{Private, unlocated_param};
use crate::ident::{self, ident_text};
use crate::syntax::{Capture, ClosureParam, Param, closure, hidden_at_marks, is_punct, mark, trees};

/// The clones of the parameters that a closure uses.
pub(super) struct Clones {
    /// The statements before the closure.
    pub(super) statements: TokenStream,
    /// The statements at the beginning of the body.
    references: TokenStream,
}

impl Clones {
    pub(super) fn of(captures: &[Capture<'_>]) -> Self {
        let names: Vec<Ident> = captures.iter().map(|capture| unlocated_param(&capture.param.name)).collect();
        // rustc reports a parameter without `Clone` at its use.
        let clones = captures.iter().map(|capture| {
            let mut used = capture.param.name.clone();
            used.set_span(used.span().located_at(capture.at));
            quote!(#Private::Clone::clone(#used))
        });
        // The body may have a variable of this name instead.
        let of_rustc = quote!(#[cfg(not(rust_analyzer))] #[allow(unused_variables)]);
        let statements = quote!(#(#of_rustc let #names = #clones;)*);
        let references = quote!(#(#of_rustc let #names = &#names;)*);
        Self { statements, references }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The body of the closure.
    pub(super) fn body(&self, body: &TokenStream) -> TokenStream {
        if self.is_empty() {
            return body.clone();
        }
        let references = &self.references;
        let trees = trees(body);
        let Some((last, before)) = trees.split_last() else { return body.clone() };
        // The type that the closure returns is before a block.
        let has_type = is_punct(before.first(), '-') && is_punct(before.get(1), '>');
        let (before, inside) =
            if has_type { (before, last.to_token_stream()) } else { (&[][..], body.clone()) };
        let mut block = Group::new(Delimiter::Brace, quote!(#references #inside));
        // rustc underlines the closure from the first token to the last.
        block.set_span(last.span());
        quote!(#(#before)* #block)
    }
}

impl Emitter<'_> {
    pub(super) fn params(&self) -> &[Param] {
        self.flow.header().map_or(&[], |header| &header.params)
    }

    /// A compute step, or the settings after one, whose conditions have clones of parameters.
    pub(super) fn with_conditions(&self, step: &TokenStream) -> TokenStream {
        let names = self.flow.params();
        if names.is_empty() {
            return step.clone();
        }
        let mut count = 0;
        let marked = map_conditions(step, &mut |_| {
            count += 1;
            Some(mark(count).into_token_stream())
        });
        let hidden = marked.map(|marked| hidden_at_marks(&names, &marked)).unwrap_or_default();
        let mut number = 0;
        let changed = map_conditions(step, &mut |condition| {
            number += 1;
            self.condition(condition, hidden.get(&mark(number)).map_or(&[], Vec::as_slice))
        });
        changed.unwrap_or_else(|| step.clone())
    }

    /// `None` for a condition that uses no parameter, except those with these names.
    fn condition(&self, condition: &TokenStream, hidden: &[String]) -> Option<TokenStream> {
        let closure = closure(&trees(condition)).filter(|closure| closure.around.is_empty())?;
        let params = self.params().iter().filter(|param| !hidden.contains(&ident_text(&param.name)));
        let clones = Clones::of(&closure.captures(params));
        let [ClosureParam { mutable, name, ty }] = closure.params.as_slice() else { return None };
        if clones.is_empty() {
            return None;
        }
        let [opening, closing] = &closure.bars;
        let ty = ty.as_ref().map(|ty| quote!(: #ty));
        let statements = &clones.statements;
        let body = clones.body(&closure.body);
        let by_value = Ident::new("move", opening.span());
        Some(quote!({ #statements #by_value #opening #mutable #name #ty #closing #body }))
    }
}

/// The step with other arguments of the methods `when`. `None` if none of them changes.
fn map_conditions(
    step: &TokenStream,
    map: &mut dyn FnMut(&TokenStream) -> Option<TokenStream>,
) -> Option<TokenStream> {
    let mut trees = trees(step);
    let mut is_changed = false;
    for at in 0..trees.len() {
        let (before, rest) = trees.split_at_mut(at);
        let Some(TokenTree::Group(group)) = rest.first_mut() else { continue };
        let is_condition = matches!(before, [.., dot, TokenTree::Ident(when)]
            if is_punct(&*dot, '.') && ident::is(when, "when"));
        let inside = if is_condition { map(&group.stream()) } else { map_conditions(&group.stream(), map) };
        if let Some(inside) = inside {
            let mut changed = Group::new(group.delimiter(), inside);
            changed.set_span(group.span());
            *group = changed;
            is_changed = true;
        }
    }
    is_changed.then(|| trees.into_iter().collect())
}
