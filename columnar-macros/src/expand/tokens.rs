//! Helpers for generated tokens: where the tokens are located, and how they get to the compiler.
//!
//! Where generated tokens get into the body of a function, by themselves or by a derive, they have no position among the
//! user's lines: rustc's incremental compilation fails there once lines above such a position are removed.

use std::cell::RefCell;
use std::fmt::Display;

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::Attribute;

use crate::ident::{ident_text, without_marker};

thread_local! {
    /// The path of the expansion that runs.
    static PRIVATE: RefCell<Vec<TokenTree>> = const { RefCell::new(Vec::new()) };
}

/// The path `columnar::__private`. Nearly all generated tokens need the path, and, as the span of the call, the path is the
/// same in a whole expansion.
pub(super) struct Private;

impl Private {
    /// Runs an expansion that has this path.
    pub(super) fn within<T>(path: TokenStream, expand: impl FnOnce() -> T) -> T {
        PRIVATE.set(path.into_iter().collect());
        let _end = EndOfExpansion;
        expand()
    }

    /// A `<` at a position, before a type of this path. rustc reports a panic in a call at the beginning of the whole
    /// expression, if beginning and end have different hygiene.
    pub(super) fn opening(at: Span) -> Punct {
        let mut opening = Punct::new('<', Spacing::Alone);
        let first = PRIVATE.with_borrow(|path| path.first().map_or_else(Span::call_site, TokenTree::span));
        opening.set_span(first.located_at(at));
        opening
    }
}

/// Takes the path out at the end of an expansion, also of one that panics: tokens of a compiler end with the call of the
/// macro, and an editor calls the macro again in the same thread.
struct EndOfExpansion;

impl Drop for EndOfExpansion {
    fn drop(&mut self) {
        PRIVATE.take();
    }
}

impl ToTokens for Private {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        PRIVATE.with_borrow(|path| tokens.extend(path.iter().cloned()));
    }
}

/// Tokens that are interpolated often. A single token costs the compiler little, a stream inside another
/// stream much.
pub(super) struct Tokens(Vec<TokenTree>);

impl From<TokenStream> for Tokens {
    fn from(tokens: TokenStream) -> Self {
        Self(tokens.into_iter().collect())
    }
}

impl ToTokens for Tokens {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().cloned());
    }
}

/// Items with a comma after each. The compiler parses text faster than tokens from a macro, so this function is for
/// lists as long as the flow. The items are never tokens of the user.
pub(super) fn list(items: impl IntoIterator<Item: Display>) -> TokenStream {
    let text: String = items.into_iter().fold(String::new(), |text, item| text + &item.to_string() + ",");
    // The parser of `proc_macro2` would check the text a second time.
    let tokens = if proc_macro::is_available() {
        text.parse::<proc_macro::TokenStream>().ok().map(TokenStream::from)
    } else {
        // The unit tests run without a compiler.
        text.parse().ok()
    };
    tokens.unwrap_or_else(|| unreachable!("names, numbers and literals are tokens"))
}

/// Tokens of the user as text. `to_string` has spaces that may change from one compiler to another.
pub(super) fn text_of(tokens: TokenStream) -> String {
    let mut text = String::new();
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                text += open;
                text += &text_of(group.stream());
                text += close;
            }
            TokenTree::Punct(punct) if punct.as_char() == ',' => text += ", ",
            TokenTree::Punct(punct) => text.push(punct.as_char()),
            word => {
                if text.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
                    text.push(' ');
                }
                text += &without_marker(word.to_string());
            }
        }
    }
    text
}

/// A further mention of a type or a field of the user. Without a position, no editor takes the mention for the user's
/// own.
pub(super) fn unlocated(name: &Ident) -> Ident {
    let mut name = name.clone();
    // Such names have no hygiene. With the hygiene of the user, rustc would report errors of the names in the file of
    // `columnar::flow!`.
    name.set_span(Span::call_site());
    name
}

/// A further mention of a parameter, with the hygiene of the user, without which compute steps would not see the
/// parameter.
pub(super) fn unlocated_param(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site().resolved_at(name.span()));
    name
}

/// The position of the last of some tokens, without the beginning of a group: an editor takes generated parentheses at
/// the position of the user's parentheses for the user's.
pub(super) fn end_of(last: &TokenTree) -> Span {
    match last {
        TokenTree::Group(group) if group.delimiter() != Delimiter::None => group.span_close(),
        other => other.span(),
    }
}

/// The tokens with the punctuation at a position, where rustc underlines them. Names get no position: an editor takes
/// each name at the position of a token for the meaning of that token. rustc underlines from the first token to the
/// last, so a path to a function begins with a `<` and ends with `::<>`.
pub(super) fn underlined(at: Span, tokens: TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|mut tree| {
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), underlined(at, group.stream())).into();
        }
        if !matches!(tree, TokenTree::Ident(_) | TokenTree::Literal(_)) {
            tree.set_span(tree.span().located_at(at));
        }
        tree
    });
    tokens.collect()
}

/// A span for generated tokens that rustc may underline.
pub(super) fn located(at: Span) -> Span {
    Span::call_site().located_at(at)
}

/// The name of a generated item that belongs to a column. `role` is in upper case, as no column is.
pub(super) fn hidden_ident(role: &str, column: &Ident) -> Ident {
    format_ident!("__{role}{}", ident_text(column), span = Span::mixed_site())
}

/// The name of a generated constant that belongs to a column. rustc prints the name where an error is inside the
/// constant. A name from [`hidden_ident`] begins with a `_` instead.
pub(super) fn constant_ident(role: &str, column: &Ident) -> Ident {
    format_ident!("{role}_of_{}", ident_text(column), span = Span::mixed_site())
}

/// The documentation of the user, or `text`, so that `missing_docs` does not warn.
pub(super) fn docs_or(docs: &[Attribute], text: &str) -> TokenStream {
    if docs.is_empty() {
        let text = format!(" {text}");
        quote!(#[doc = #text])
    } else {
        quote!(#(#docs)*)
    }
}
