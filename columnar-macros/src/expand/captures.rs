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
use quote::quote;

use super::emitter::Emitter;
use super::tokens::unlocated_param;
use crate::ident;
use crate::syntax::{Closure, ClosureParam, Form, Param, closure, is_punct, trees};

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
        let (before, inside) = match last {
            // A block, maybe after the type that it returns.
            TokenTree::Group(block)
                if block.delimiter() == Delimiter::Brace && (before.is_empty() || is_arrow(before)) =>
            {
                (before, block.stream())
            }
            _ => (&[][..], body.clone()),
        };
        let mut block = Group::new(Delimiter::Brace, quote!(#references #inside));
        // rustc underlines the closure from its first token to its last.
        block.set_span(last.span());
        quote!(#(#before)* #block)
    }
}

fn is_arrow(trees: &[TokenTree]) -> bool {
    is_punct(trees.first(), '-') && is_punct(trees.get(1), '>')
}

impl Emitter<'_> {
    pub(super) fn clones(&self, closure: &Closure) -> Clones {
        let private = self.private;
        let captures = closure.captures(self.params());
        let names: Vec<Ident> = captures.iter().map(|capture| unlocated_param(&capture.param.name)).collect();
        // rustc reports a parameter without `Clone` at its use.
        let clones = captures.iter().map(|capture| {
            let mut used = capture.param.name.clone();
            used.set_span(used.span().located_at(capture.at));
            quote!(#private::Clone::clone(#used))
        });
        let statements = quote!(#(#[cfg(not(rust_analyzer))] let #names = #clones;)*);
        let references = quote!(#(
            // The body may have a variable of this name instead.
            #[cfg(not(rust_analyzer))] #[allow(unused_variables)] let #names = &#names;
        )*);
        Clones { statements, references }
    }

    fn params(&self) -> &[Param] {
        match &self.flow.form {
            Form::Item(header) => &header.params,
            Form::Inline | Form::Unknown => &[],
        }
    }

    /// A compute step, or the settings after one, whose conditions have clones of the parameters that they use.
    pub(super) fn with_conditions(&self, step: &TokenStream) -> TokenStream {
        let mut trees = trees(step);
        for at in 0..trees.len() {
            let is_call = is_punct(at.checked_sub(2).and_then(|dot| trees.get(dot)), '.');
            let is_when = matches!(
                at.checked_sub(1).and_then(|word| trees.get(word)),
                Some(TokenTree::Ident(word)) if ident::is(word, "when")
            );
            let Some(TokenTree::Group(group)) = trees.get_mut(at) else { continue };
            let inside = match () {
                () if is_call && is_when => self.condition(&group.stream()),
                () if at == 0 && group.delimiter() == Delimiter::Parenthesis => {
                    Some(self.with_conditions(&group.stream()))
                }
                () => None,
            };
            if let Some(inside) = inside {
                let mut with_clones = Group::new(group.delimiter(), inside);
                with_clones.set_span(group.span());
                *group = with_clones;
            }
        }
        trees.into_iter().collect()
    }

    /// `None` for a condition that uses no parameter.
    fn condition(&self, condition: &TokenStream) -> Option<TokenStream> {
        let closure = closure(&trees(condition)).filter(|closure| closure.around.is_none())?;
        let clones = self.clones(&closure);
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
