//! Parses the generic parameters in a header, and the `where` after the parameters: `<M: Model> … where M: Clone`.

use proc_macro2::{Ident, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Generics, Token, parse2, token};

use super::cursor::{is_punct, skip_until};
use crate::diagnostics::Errors;

/// Takes the generic parameters after the name of a flow. `false` if they could not be read.
pub(super) fn parse(input: ParseStream<'_>, errors: &mut Errors) -> (Generics, bool) {
    let names = names(&input.fork());
    // The flow keeps its number of parameters, so `Chat<M>` elsewhere is no further error.
    or_report(input, errors).map_or((names, false), |generics| (generics, true))
}

/// The names of generics that cannot be parsed: the identifiers after `<` and after commas.
fn names(input: ParseStream<'_>) -> Generics {
    let mut names: Vec<Ident> = Vec::new();
    let mut is_name = input.parse::<Option<Token![<]>>().is_ok_and(|angle| angle.is_some());
    while !input.peek(Token![>]) && !input.peek(token::Paren) && !input.peek(token::Brace) {
        match input.parse::<TokenTree>() {
            Ok(TokenTree::Ident(name)) if is_name && !names.contains(&name) => {
                names.push(name);
                is_name = false;
            }
            Ok(tree) => is_name = is_punct(&tree, ','),
            Err(_) => break,
        }
    }
    parse2(quote!(<#(#names),*>)).unwrap_or_default()
}

/// Parses a `T`. If it cannot be read, that is reported, and its tokens are skipped.
pub(super) fn or_report<T: Parse>(input: ParseStream<'_>, errors: &mut Errors) -> Option<T> {
    // On a fork, because a parser that fails has already taken some of the tokens.
    if let Err(error) = input.fork().parse::<T>() {
        // `pub struct Chat<M Model>(model: M)`
        let help = "as in `struct Chat<M: Model>(model: M) where M: Clone { ... }`";
        errors.on(error.span(), format!("{error}\n\nhelp: {help}"));
        skip_until(input, |input| input.peek(token::Paren) || input.peek(token::Brace));
        return None;
    }
    input.parse().ok()
}
