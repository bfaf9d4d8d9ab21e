//! Parses the parameters of a flow: `(/// The tone. style: String, most: usize)`.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Attribute, Error, Ident, Token, Type, Visibility, parenthesized};

use super::column_type::begins_step;
use super::cursor::{Angles, shown, skip_until, tokens};
use super::tree::Param;
use crate::diagnostics::{Errors, flow};

/// Takes the parameters of the flow, in parentheses.
pub(super) fn in_parentheses(
    input: ParseStream<'_>,
    errors: &mut Errors,
    is_complete: &mut bool,
) -> syn::Result<Vec<Param>> {
    let params;
    parenthesized!(params in input);
    list(&params, errors, is_complete)
}

pub(super) fn list(
    list: ParseStream<'_>,
    errors: &mut Errors,
    is_complete: &mut bool,
) -> syn::Result<Vec<Param>> {
    let mut params: Vec<Param> = Vec::new();
    while !list.is_empty() {
        if let Some(comma) = list.parse::<Option<Token![,]>>()? {
            errors.at(comma, flow::NO_PARAM);
            continue;
        }
        let docs = before(list, errors)?;
        if list.is_empty() {
            break;
        }
        let mut param = param(list, errors).unwrap_or_else(|error| {
            errors.push(error);
            Param::new(format_ident!("__unread", span = Span::mixed_site()), None)
        });
        param.docs = docs;
        let has_type = param.ty.is_some();
        *is_complete &= has_type;
        // `new` has all of them as parameters, where rustc would refuse a name a second time.
        while params.iter().any(|other| other.name == param.name) {
            // Without a type the parameter is reported already.
            if has_type {
                errors.at(&param.name, flow::param_twice(&param.name));
            }
            param.name = format_ident!("{}_", param.name);
        }
        params.push(param);
        // A name and a colon begin the next parameter, even without a comma.
        let is_next =
            |list: ParseStream<'_>| list.peek(Ident) && list.peek2(Token![:]) && !list.peek2(Token![::]);
        skip_until(list, |list| list.peek(Token![,]) || has_type && is_next(list));
        list.parse::<Option<Token![,]>>()?;
    }
    Ok(params)
}

/// Takes the documentation of a parameter. All else before its name is an error.
fn before(list: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Vec<Attribute>> {
    let (docs, others): (Vec<_>, Vec<_>) = list
        .call(Attribute::parse_outer)?
        .into_iter()
        .partition(|attribute| attribute.path().is_ident("doc"));
    for attribute in others {
        errors.at(&attribute, flow::PARAM_ATTRIBUTE);
    }
    if list.peek(Token![pub]) {
        let vis: Visibility = list.parse()?;
        errors.at(&vis, flow::before_param(&shown(&vis)));
    }
    if list.peek(Token![mut]) || list.peek(Token![ref]) {
        let word: TokenTree = list.parse()?;
        errors.at(&word, flow::before_param(&word.to_string()));
    }
    let ahead = list.fork();
    if let Ok(receiver) = receiver(&ahead) {
        errors.at(receiver, flow::SELF_PARAM);
        list.advance_to(&ahead);
        list.parse::<Option<Token![,]>>()?;
    }
    Ok(docs)
}

/// Takes `self`, by value or by reference.
fn receiver(list: ParseStream<'_>) -> syn::Result<TokenStream> {
    let borrowed: Option<Token![&]> = list.parse()?;
    let mutable: Option<Token![mut]> = list.parse()?;
    let word: Token![self] = list.parse()?;
    Ok(quote!(#borrowed #mutable #word))
}

fn param(list: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Param> {
    if let Some(param) = param_without_colon(list, errors) {
        return Ok(param);
    }
    let span = list.cursor().span();
    let name: Ident = list.parse().map_err(|_| Error::new(span, flow::NO_PARAM))?;
    if !list.peek(Token![:]) {
        if begins_step(&[name.clone().into()]) {
            errors.at(&name, flow::no_param_type(&name));
        } else {
            errors.at(&name, flow::NO_PARAM_NAME);
        }
        return Ok(Param::new(name, None));
    }
    list.parse::<Token![:]>()?;
    if list.is_empty() || list.peek(Token![,]) {
        errors.at(&name, flow::no_param_type(&name));
        return Ok(Param::new(name, None));
    }
    // On a fork, because a parser that fails has already taken some of the tokens.
    if list.fork().parse::<Type>().is_err() {
        errors.at(bad_type(list)?, flow::bad_param_type(&name));
        return Ok(Param::new(name, None));
    }
    let ty = Some(list.parse()?);
    if list.peek(Token![=]) {
        skip_default(list, errors)?;
    } else if !list.is_empty() && !list.peek(Token![,]) {
        errors.on(list.cursor().span(), flow::PARAM_COMMA);
    }
    Ok(Param::new(name, ty))
}

/// Takes `String style` or `style String`, which is an error.
fn param_without_colon(list: ParseStream<'_>, errors: &mut Errors) -> Option<Param> {
    let begins_type = |tokens: TokenStream| !begins_step(&tokens.into_iter().collect::<Vec<_>>());
    [true, false].into_iter().find_map(|is_type_first| {
        let ahead = list.fork();
        let early_type: Option<Type> = if is_type_first { Some(ahead.parse().ok()?) } else { None };
        let name: Ident = ahead.parse().ok()?;
        let ty = early_type.or_else(|| ahead.parse().ok())?;
        let is_end = ahead.is_empty() || ahead.peek(Token![,]) || ahead.peek(Token![=]);
        if !is_end || begins_type(name.to_token_stream()) || !begins_type(ty.to_token_stream()) {
            return None;
        }
        let written = if is_type_first { quote!(#ty #name) } else { quote!(#name #ty) };
        errors.at(written, flow::param_without_colon(&name, &shown(&ty)));
        list.advance_to(&ahead);
        Some(Param::new(name, Some(ty)))
    })
}

/// Takes tokens that are no type, up to the next parameter.
fn bad_type(list: ParseStream<'_>) -> syn::Result<TokenStream> {
    let is_next = |list: ParseStream<'_>| list.peek(Token![,]) && list.peek2(Ident) && list.peek3(Token![:]);
    let mut written = TokenStream::new();
    while !list.is_empty() && !is_next(list) {
        list.parse::<TokenTree>()?.to_tokens(&mut written);
    }
    Ok(written)
}

/// Takes a default value, which is an error.
fn skip_default(list: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
    let (mut written, mut angles) = (Vec::new(), Angles::default());
    while !list.is_empty() && (angles.open > 0 || !list.peek(Token![,])) {
        let tree: TokenTree = list.parse()?;
        angles.pass(&tree);
        written.push(tree);
    }
    errors.at(tokens(&written), flow::DEFAULT_VALUE);
    Ok(())
}
