//! Parses the generic parameters in a header, and the `where` after the parameters: `<M: Model> … where M: Clone`.

use proc_macro2::{Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::{Generics, Path, Token, WhereClause, bracketed, parse2, token};

use super::base;
use super::cursor::{Angles, is_ident, is_punct, shown, skip_until, tokens};
use super::params;
use crate::diagnostics::{Errors, flow};

/// Takes the generic parameters after the name of a flow.
pub(super) fn parse(
    input: ParseStream<'_>,
    name: &Ident,
    errors: &mut Errors,
    is_complete: &mut bool,
) -> syn::Result<Generics> {
    if is_base(input) {
        return Ok(Generics::default());
    }
    if input.peek(token::Bracket) && input.peek2(token::Paren) {
        return in_brackets(input, name, errors);
    }
    // On a fork, because a parser that fails has already taken some of the tokens.
    let names = names(&input.fork());
    let generics = repaired(input, errors).unwrap_or_else(|| or_report(input, errors, is_complete));
    // The flow keeps its number of parameters, so `Chat<M>` elsewhere is no further error.
    Ok(if *is_complete { generics } else { names })
}

/// Whether these are the `<` and the base of an extension, as in Ruby: `Felt < Chat { column ... }`.
fn is_base(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let is_path = ahead.parse::<Token![<]>().is_ok() && ahead.parse::<Path>().is_ok();
    is_path && ahead.peek(token::Brace) && !base::declares_a_source(&ahead).unwrap_or(true)
}

/// Takes `[M: Model]` before parameters, which is an error.
fn in_brackets(input: ParseStream<'_>, name: &Ident, errors: &mut Errors) -> syn::Result<Generics> {
    let span = input.cursor().span();
    let list;
    bracketed!(list in input);
    let list: TokenStream = list.parse()?;
    errors.on(span, flow::generics_in_brackets(&shown(quote!(#name<#list>))));
    Ok(parse2(quote!(<#list>)).unwrap_or_default())
}

/// Takes generics whose only mistakes are missing colons, `<M Model>`, or the `>` that is missing before the parameters or
/// the braces.
fn repaired(input: ParseStream<'_>, errors: &mut Errors) -> Option<Generics> {
    let ahead = input.fork();
    let (mut written, mut missing, mut angles) = (Vec::new(), Vec::new(), Angles::default());
    let mut last = None;
    while written.is_empty() || angles.open > 0 {
        if angles.open > 0 && is_after_generics(&ahead, written.last()) {
            last = written.last().map(TokenTree::span);
            written.push(Punct::new('>', Spacing::Alone).into());
            break;
        }
        let tree =
            ahead.parse::<TokenTree>().ok().filter(|tree| angles.open > 0 || is_punct(Some(tree), '<'))?;
        if let [.., before, TokenTree::Ident(name)] = written.as_slice()
            && let TokenTree::Ident(bound) = &tree
            && ['<', ','].iter().any(|&sign| is_punct(Some(before), sign))
            && angles.open == 1
            && name != "const"
        {
            missing.push((name.clone(), bound.clone()));
            written.push(Punct::new(':', Spacing::Alone).into());
        }
        angles.pass(&tree);
        written.push(tree);
    }
    let generics = parse2(tokens(&written)).ok().filter(|_| last.is_some() || !missing.is_empty())?;
    for (name, bound) in missing {
        errors.at(&bound, flow::no_bound_colon(&name, &bound));
    }
    if let Some(last) = last {
        errors.on(last, flow::NO_ANGLE);
    }
    input.advance_to(&ahead);
    Some(generics)
}

/// Whether the parameters of the flow or its body come next.
fn is_after_generics(input: ParseStream<'_>, before: Option<&TokenTree>) -> bool {
    let ahead = input.fork();
    let is_last = input.peek(token::Brace) && ahead.parse::<TokenTree>().is_ok() && ahead.is_empty();
    is_last || !is_ident(before, "fn") && params::are_next(input)
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
            Ok(tree) => is_name = is_punct(Some(&tree), ','),
            Err(_) => break,
        }
    }
    parse2(quote!(<#(#names),*>)).unwrap_or_default()
}

/// Takes generics after the parameters, `Chat(model: M)<M: Model>`, which is an error.
pub(super) fn late(input: ParseStream<'_>, name: &Ident, generics: &mut Generics, errors: &mut Errors) {
    let ahead = input.fork();
    if !generics.params.is_empty() || !input.peek(Token![<]) {
        return;
    }
    if let Ok(late) = ahead.parse::<Generics>() {
        errors.at(&late, flow::late_generics(&shown(quote!(#name #late))));
        input.advance_to(&ahead);
        *generics = late;
    }
}

/// Takes a `where` before the parameters, which is an error.
pub(super) fn early_where(input: ParseStream<'_>, errors: &mut Errors) -> Option<WhereClause> {
    let ahead = input.fork();
    let mut written: Vec<TokenTree> = Vec::new();
    if !input.peek(Token![where]) {
        return None;
    }
    while is_ident(written.last(), "fn") || !params::are_next(&ahead) {
        written.push(ahead.parse().ok()?);
    }
    let clause: WhereClause = parse2(tokens(&written)).ok()?;
    errors.at(clause.to_token_stream(), flow::EARLY_WHERE);
    input.advance_to(&ahead);
    Some(clause)
}

/// Takes the `where` after the parameters and the base.
pub(super) fn late_where(
    input: ParseStream<'_>,
    errors: &mut Errors,
    is_complete: &mut bool,
) -> Option<WhereClause> {
    or_report(input, errors, is_complete)
}

/// Parses a `T`. If it cannot be read, that is reported, its tokens are skipped, and it is the default.
fn or_report<T: Parse + Default>(input: ParseStream<'_>, errors: &mut Errors, is_complete: &mut bool) -> T {
    input.parse().unwrap_or_else(|error| {
        errors.push(error);
        *is_complete = false;
        skip_until(input, |input| input.peek(token::Paren) || input.peek(token::Brace));
        T::default()
    })
}
