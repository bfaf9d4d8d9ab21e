//! The parameters of a flow that a closure in a compute step uses.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

use super::cursor::{is_ident, tokens, trees};
use super::tree::{Closure, Param};
use super::uses::{bound, formatted, mentions, uses};
use crate::ident::ident_text;

/// A parameter of the flow in a closure.
pub(crate) struct Capture<'p> {
    pub(crate) param: &'p Param,
    /// The first use.
    pub(crate) at: Span,
}

/// A closure that returns a future: `async |user| body` or `|user| async { body }`.
pub(crate) struct AsyncClosure {
    /// `async` and `move`, as far as they are there.
    pub(crate) head: TokenStream,
    pub(crate) body: TokenStream,
}

impl Closure {
    /// The parameters that the closure may use. A variable of the same name can be among them.
    pub(crate) fn captures<'p>(&self, params: &'p [Param]) -> Vec<Capture<'p>> {
        let capture = |param: &'p Param| {
            let names = self.free(param)?;
            let mention = mentions(&names, self.body.clone()).first().map(Ident::span);
            let at = mention.or_else(|| formatted(&names, self.body.clone()))?;
            Some(Capture { param, at })
        };
        params.iter().filter_map(capture).collect()
    }

    /// The first parameter that the closure uses for certain.
    pub(crate) fn certain_capture<'p>(&self, params: &'p [Param]) -> Option<Capture<'p>> {
        params.iter().find_map(|param| {
            let names = self.free(param)?;
            if !bound(&names, self.body.clone()).is_empty() {
                return None;
            }
            let used = uses(&names, self.body.clone()).first().map(Ident::span);
            let at = used.or_else(|| formatted(&names, self.body.clone()))?;
            Some(Capture { param, at })
        })
    }

    /// The name of a parameter, unless the statements before the closure or its own parameters bind it.
    fn free(&self, param: &Param) -> Option<[String; 1]> {
        let names = [ident_text(&param.name)];
        let before = self.around.as_ref().map_or_else(TokenStream::new, |around| around.before.clone());
        let is_own = self.params.iter().any(|own| names.contains(&ident_text(&own.name)));
        (!is_own && bound(&names, before).is_empty()).then_some(names)
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
        let body = trees(&self.body);
        let (TokenTree::Group(block), head) = body.split_last()? else { return None };
        let is_async = match head {
            [word] => is_ident(Some(word), "async"),
            [word, by_value] => is_ident(Some(word), "async") && is_ident(Some(by_value), "move"),
            _ => false,
        };
        let head = tokens(head);
        let body = TokenTree::Group(block.clone()).into();
        (is_async && block.delimiter() == Delimiter::Brace).then_some(AsyncClosure { head, body })
    }
}

impl AsyncClosure {
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

fn has_word(head: &TokenStream, word: &str) -> bool {
    head.clone().into_iter().any(|tree| is_ident(Some(&tree), word))
}
