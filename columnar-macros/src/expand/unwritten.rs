//! A compute step that is not written yet: `todo!()` or `unimplemented!("…")`, with settings or without.
//!
//! The macro never returns, so the call is no compute step. The expansion has a step instead whose cells fail with the
//! same words.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::syntax::is_punct;

pub(super) struct Unwritten {
    /// The words of the macro before the text.
    pub(super) words: &'static str,
    /// The arguments of the macro.
    pub(super) text: TokenStream,
    /// The settings after the macro.
    pub(super) settings: TokenStream,
}

impl Unwritten {
    /// The unwritten step; `None` for any other step.
    pub(super) fn of(step: &TokenStream) -> Option<Self> {
        let trees: Vec<TokenTree> = step.clone().into_iter().collect();
        if let [TokenTree::Group(group), after @ ..] = trees.as_slice()
            && matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Brace)
        {
            let inner = Self::of(&group.stream())?;
            let settings = inner.settings.into_iter().chain(after.iter().cloned()).collect();
            return Some(Self { settings, ..inner });
        }
        let bang = trees.iter().position(|tree| is_punct(Some(tree), '!'))?;
        let (path, after) = trees.split_at_checked(bang)?;
        let ([path @ .., TokenTree::Ident(name)], [_, TokenTree::Group(arguments), settings @ ..]) =
            (path, after)
        else {
            return None;
        };
        let words = match name.to_string().as_str() {
            "todo" => "not yet implemented",
            "unimplemented" => "not implemented",
            _ => return None,
        };
        let is_unwritten = is_std(path) && (settings.is_empty() || is_punct(settings.first(), '.'));
        let settings = settings.iter().cloned().collect();
        is_unwritten.then(|| Self { words, text: arguments.stream(), settings })
    }
}

/// Whether these tokens before a name are the path of the standard library.
fn is_std(path: &[TokenTree]) -> bool {
    let path: TokenStream = path.iter().cloned().collect();
    let path = path.to_string().replace(' ', "");
    ["", "std::", "core::", "::std::", "::core::"].contains(&path.as_str())
}
