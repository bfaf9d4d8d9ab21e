//! The parameters of a flow that a closure in a compute step uses.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use super::cursor::{is_group, is_punct, trees, trees_of, ungrouped};
use super::tree::{Closure, Param};
use super::uses::{Scopes, Use};
use crate::ident::{self, ident_text};

/// A parameter of the flow in a closure.
pub(crate) struct Capture<'p> {
    pub(crate) param: &'p Param,
    /// The first use.
    pub(crate) at: Span,
}

/// A closure that returns a future: `async |user| body`, or `|user| async { body }`.
pub(crate) struct AsyncClosure {
    pub(crate) asynchronous: Ident,
    /// `move`.
    pub(crate) by_value: Option<Ident>,
    pub(crate) body: TokenStream,
}

impl Closure {
    /// The parameters of the flow in the closure, among these.
    pub(crate) fn captures<'p>(&self, params: impl IntoIterator<Item = &'p Param>) -> Vec<Capture<'p>> {
        let params: Vec<&Param> = params.into_iter().collect();
        let names: Vec<String> = params.iter().map(|param| ident_text(&param.name)).collect();
        let uses = self.uses(&names);
        let captures = params.into_iter().zip(&names).filter_map(|(param, name)| {
            let used = uses.iter().find(|used| used.name == *name)?;
            Some(Capture { param, at: used.at })
        });
        captures.collect()
    }

    /// The first parameter that the closure uses for certain.
    pub(crate) fn certain_capture<'p>(&self, params: &'p [Param]) -> Option<Capture<'p>> {
        let names: Vec<String> = params.iter().map(|param| ident_text(&param.name)).collect();
        let used = self.uses(&names).into_iter().find(|used| used.is_certain)?;
        let param = params.iter().find(|param| ident_text(&param.name) == used.name)?;
        Some(Capture { param, at: used.at })
    }

    /// The uses of these names in the closure, except those that it or a statement before it hides.
    fn uses(&self, names: &[String]) -> Vec<Use> {
        let mut scopes = Scopes::new(names);
        for around in &self.around {
            scopes.enter(&around.before);
        }
        for param in &self.params {
            scopes.hide(&param.name);
        }
        scopes.found.clear();
        // The body may begin with the type that it returns.
        let body = &self.body;
        scopes.enter(&quote!(|| #body));
        scopes.found
    }

    /// Whether it is an async closure that has its captures by value.
    pub(crate) const fn is_async_move(&self) -> bool {
        self.asynchronous.is_some() && self.by_value.is_some()
    }

    /// The closure as one that is async, if it returns the future of a block.
    pub(crate) fn as_async(&self) -> Option<AsyncClosure> {
        if let Some(asynchronous) = self.asynchronous.clone() {
            return Some(AsyncClosure {
                asynchronous,
                by_value: self.by_value.clone(),
                body: self.body.clone(),
            });
        }
        let mut body = trees(&self.body);
        // A token of a macro of the user.
        while let [TokenTree::Group(token)] = body.as_slice()
            && token.delimiter() == Delimiter::None
        {
            body = trees_of(token);
        }
        match body.as_slice() {
            [TokenTree::Group(block)] if block.delimiter() == Delimiter::Brace => async_at_end(block),
            body => async_block(body).filter(|(before, _)| before.is_empty()).map(|(_, closure)| closure),
        }
    }
}

/// `{ let words = …; async move { … } }`, whose future an async closure awaits. Its variables end before that.
fn async_at_end(block: &Group) -> Option<AsyncClosure> {
    let inside = trees_of(block);
    let (before, closure) = async_block(&inside)?;
    let is_statement = |tree: &TokenTree| is_punct(tree, ';') || is_group(tree, Delimiter::Brace);
    before.last().is_none_or(is_statement).then(|| {
        let future = Ident::new("__future", Span::mixed_site());
        let mut body = Group::new(Delimiter::Brace, quote!(let #future = #block; #future.await));
        body.set_span(block.span());
        AsyncClosure { by_value: None, body: TokenTree::from(body).into(), ..closure }
    })
}

/// An async block at the end, and the tokens before it.
fn async_block(trees: &[TokenTree]) -> Option<(&[TokenTree], AsyncClosure)> {
    let (block, before) = trees.split_last()?;
    let block = Some(ungrouped(block)).filter(|block| is_group(block, Delimiter::Brace))?;
    let (before, by_value) = before_word(before, "move");
    let (before, asynchronous) = before_word(before, "async");
    Some((before, AsyncClosure { asynchronous: asynchronous?, by_value, body: block.into() }))
}

/// The tokens before a word at the end.
fn before_word<'t>(trees: &'t [TokenTree], expected: &str) -> (&'t [TokenTree], Option<Ident>) {
    match trees {
        [before @ .., TokenTree::Ident(word)] if ident::is(word, expected) => (before, Some(word.clone())),
        _ => (trees, None),
    }
}
