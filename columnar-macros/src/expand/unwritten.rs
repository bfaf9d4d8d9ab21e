//! A compute step that is not written yet: `todo!()` or `unimplemented!("…")`, with settings or without.
//!
//! The macro never returns, so the call is no compute step. The expansion has a step instead whose cells fail with the
//! same words.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Macro;
use syn::parse::Parser;

use crate::syntax::{is_punct, trees, with_rest};

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
        if let [TokenTree::Group(group), after @ ..] = trees(step).as_slice()
            && matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Brace)
        {
            let mut inner = Self::of(&group.stream())?;
            inner.settings.extend(after.iter().cloned());
            return Some(inner);
        }
        let (Macro { path, tokens: text, .. }, settings) = with_rest::<Macro>.parse2(step.clone()).ok()?;
        let path: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let words = match path.join("::").trim_start_matches("std::").trim_start_matches("core::") {
            "todo" => "not yet implemented",
            "unimplemented" => "not implemented",
            _ => return None,
        };
        let is_whole = trees(&settings).first().is_none_or(|first| is_punct(first, '.'));
        is_whole.then_some(Self { words, text, settings })
    }
}
