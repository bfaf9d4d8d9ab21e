//! The parameters of a flow that a closure in a compute step uses.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use super::cursor::{is_group, is_ident, is_punct, tokens, trees, trees_of, ungrouped};
use super::tree::{Closure, Param};
use super::uses::Scopes;
use crate::ident::{ident_text, is_variable};

/// A parameter of the flow in a closure.
pub(crate) struct Capture<'p> {
    pub(crate) param: &'p Param,
    /// The first use.
    pub(crate) at: Span,
}

/// A closure that returns a future: `async |user| body`, or `|user| async { body }`.
pub(crate) struct AsyncClosure {
    /// `async` and `move`, as far as they are there.
    pub(crate) head: TokenStream,
    pub(crate) body: TokenStream,
}

impl Closure {
    /// The parameters of the flow in the closure, among these. One whose clone costs nothing to ask for is in it wherever its
    /// name is.
    pub(crate) fn captures<'p>(&self, params: impl IntoIterator<Item = &'p Param>) -> Vec<Capture<'p>> {
        let params: Vec<&Param> = params.into_iter().collect();
        let names: Vec<String> = params.iter().map(|param| ident_text(&param.name)).collect();
        let Scopes { found, hidden, .. } = self.scopes(&names);
        let capture = |(param, name): (&'p Param, &String)| {
            let used = found.iter().find(|used| used.name == *name).map(|used| used.at);
            let may_be_used = param.is_certainly_clone() && !hidden.contains(name);
            let mention = || may_be_used.then(|| mention(name, &self.body)).flatten();
            Some(Capture { param, at: used.or_else(mention)? })
        };
        params.into_iter().zip(&names).filter_map(capture).collect()
    }

    /// The first parameter that the closure uses for certain.
    pub(crate) fn certain_capture<'p>(&self, params: &'p [Param]) -> Option<Capture<'p>> {
        let names: Vec<String> = params.iter().map(|param| ident_text(&param.name)).collect();
        let used = self.scopes(&names).found.into_iter().find(|used| used.is_certain)?;
        let param = params.iter().find(|param| ident_text(&param.name) == used.name)?;
        Some(Capture { param, at: used.at })
    }

    /// The uses of these names in the closure, and those that it or a statement before it hides.
    fn scopes<'n>(&self, names: &'n [String]) -> Scopes<'n> {
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
        scopes
    }

    /// Whether it is an async closure that has its captures by value.
    pub(crate) fn is_async_move(&self) -> bool {
        has_word(&self.head, "async") && has_word(&self.head, "move")
    }

    /// The closure as one that is async, if it returns the future of a block.
    pub(crate) fn as_async(&self) -> Option<AsyncClosure> {
        if has_word(&self.head, "async") {
            return Some(AsyncClosure { head: self.head.clone(), body: self.body.clone() });
        }
        let mut body = trees(&self.body);
        // A token of a macro of the user.
        while let [TokenTree::Group(token)] = body.as_slice()
            && token.delimiter() == Delimiter::None
        {
            body = trees_of(token);
        }
        if let [TokenTree::Group(block)] = body.as_slice()
            && block.delimiter() == Delimiter::Brace
        {
            return with_async_end(block);
        }
        let (head, block) = async_block(&body)?;
        (head.len() + 1 == body.len())
            .then(|| AsyncClosure { head: tokens(head), body: block.clone().into() })
    }
}

/// `{ let words = …; async move { … } }`, whose future an async closure awaits. Its variables end before that.
fn with_async_end(block: &Group) -> Option<AsyncClosure> {
    let inside = trees_of(block);
    let (head, _) = async_block(&inside)?;
    let statements = inside.get(..inside.len() - head.len() - 1)?;
    let is_statement = |tree: &TokenTree| is_punct(Some(tree), ';') || is_group(tree, Delimiter::Brace);
    if !statements.last().is_some_and(is_statement) {
        return None;
    }
    let future = Ident::new("__future", Span::mixed_site());
    let mut body = Group::new(Delimiter::Brace, quote!(let #future = #block; #future.await));
    body.set_span(block.span());
    let word = head.first().cloned().into_iter().collect();
    Some(AsyncClosure { head: word, body: TokenTree::from(body).into() })
}

/// The words and the block of an async block at the end.
fn async_block(trees: &[TokenTree]) -> Option<(&[TokenTree], TokenTree)> {
    let (block, before) = trees.split_last()?;
    let block = Some(ungrouped(block)).filter(|block| is_group(block, Delimiter::Brace))?;
    let length = match before {
        [.., word, by_value] if is_ident(Some(word), "async") && is_ident(Some(by_value), "move") => 2,
        [.., word] if is_ident(Some(word), "async") => 1,
        _ => return None,
    };
    Some((before.get(before.len() - length..)?, block))
}

impl AsyncClosure {
    /// The `async`.
    pub(crate) fn word(&self) -> Option<TokenTree> {
        self.head.clone().into_iter().find(|word| is_ident(Some(word), "async"))
    }

    /// The head with `move`.
    pub(crate) fn head_by_value(&self) -> TokenStream {
        let mut head = trees(&self.head);
        if !has_word(&self.head, "move")
            && let Some(word) = head.last()
        {
            head.push(Ident::new("move", word.span()).into());
        }
        tokens(&head)
    }
}

/// The first place that has this name, even if it means something else there.
fn mention(name: &str, tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) => mention(name, &group.stream()),
        TokenTree::Ident(ident) => is_variable(&ident, name).then(|| ident.span()),
        // A text of a macro may be a format, whatever is in it.
        TokenTree::Literal(text) => text.to_string().contains(name).then(|| text.span()),
        TokenTree::Punct(_) => None,
    })
}

fn has_word(head: &TokenStream, word: &str) -> bool {
    head.clone().into_iter().any(|tree| is_ident(Some(&tree), word))
}
