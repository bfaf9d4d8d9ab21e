//! A compute step that is not written yet: `todo!()` or `unimplemented!("…")`, with settings or without.
//!
//! The macro never returns, so the call is no compute step. The expansion has a step instead whose cells fail with the
//! same words.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;
use syn::Macro;
use syn::parse::Parser;

use super::tokens::Private;
use crate::syntax::{is_punct, trees, with_rest};

/// The step in place of one that is not written, with its settings; `None` for any other step.
pub(super) fn unwritten(step: &TokenStream) -> Option<TokenStream> {
    if let [TokenTree::Group(group), settings @ ..] = trees(step).as_slice()
        && matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Brace)
    {
        let inner = unwritten(&group.stream())?;
        return Some(quote!(#inner #(#settings)*));
    }
    let (Macro { path, tokens: text, .. }, settings) = with_rest::<Macro>.parse2(step.clone()).ok()?;
    let path: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let words = match path.join("::").trim_start_matches("std::").trim_start_matches("core::") {
        "todo" => "not yet implemented",
        "unimplemented" => "not implemented",
        _ => return None,
    };
    // Without arguments `format!` is an error.
    let text = if text.is_empty() { quote!("") } else { text };
    let is_whole = trees(&settings).first().is_none_or(|first| is_punct(first, '.'));
    is_whole.then(|| quote!(#Private::unwritten(#words, &#Private::format!(#text)) #settings))
}
