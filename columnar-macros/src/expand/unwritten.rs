//! A compute step that is not written yet: `todo!()` or `unimplemented!("…")`.
//!
//! Its macro never returns, so it is no compute step. In its place comes a step whose cells fail with the same words.

use proc_macro2::{TokenStream, TokenTree};

pub(super) struct Unwritten {
    /// The words of the macro before the text.
    pub(super) words: &'static str,
    /// The arguments of the macro.
    pub(super) text: TokenStream,
}

impl Unwritten {
    /// `None` for any other step.
    pub(super) fn of(step: &TokenStream) -> Option<Self> {
        let trees: Vec<TokenTree> = step.clone().into_iter().collect();
        let (TokenTree::Ident(name), TokenTree::Punct(bang), TokenTree::Group(arguments)) =
            last_three(&trees)?
        else {
            return None;
        };
        let words = match name.to_string().as_str() {
            "todo" => "not yet implemented",
            "unimplemented" => "not implemented",
            _ => return None,
        };
        (bang.as_char() == '!').then(|| Self { words, text: arguments.stream() })
    }
}

/// The tokens of a macro call: the last three, if those before them are the path of the standard library.
fn last_three(trees: &[TokenTree]) -> Option<(&TokenTree, &TokenTree, &TokenTree)> {
    let (path, [name, bang, arguments]) = trees.split_last_chunk()?;
    let path: TokenStream = path.iter().cloned().collect();
    let path = path.to_string().replace(' ', "");
    let is_std = ["", "std::", "core::", "::std::", "::core::"].contains(&path.as_str());
    is_std.then_some((name, bang, arguments))
}
