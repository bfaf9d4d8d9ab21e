//! Parses the parameters of a flow: `(/// The tone. style: String, most: usize)`.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Ident, Token, Type, Visibility, parenthesized};

use super::column_type::begins_step;
use super::cursor::{Angles, is_punct, shown, skip_until, tokens, trees};
use super::recovery::with_underscores;
use super::tree::Param;
use crate::diagnostics::{Errors, flow};
use crate::ident::{is_gen, is_name, quoted_name, rust_ident};

/// Takes the parameters of the flow, in parentheses.
pub(super) fn in_parentheses(
    input: ParseStream<'_>,
    params: &mut Vec<Param>,
    errors: &mut Errors,
    is_complete: &mut bool,
) -> syn::Result<()> {
    let inside;
    parenthesized!(inside in input);
    list(&inside, params, errors, is_complete)
}

/// Whether parameters in parentheses come next, and no types as in `Fn(u8)`.
pub(super) fn are_next(input: ParseStream<'_>) -> bool {
    let Ok(TokenTree::Group(list)) = input.fork().parse() else { return false };
    let is_list = list.delimiter() == Delimiter::Parenthesis;
    is_list && begins_param.parse2(list.stream()).is_ok()
}

/// Takes all of the tokens of a list that begins with a name and a colon.
fn begins_param(list: ParseStream<'_>) -> syn::Result<TokenStream> {
    list.call(Attribute::parse_outer)?;
    if is_name_with_colon(list) { list.parse() } else { Err(list.error(flow::NO_PARAM)) }
}

fn is_name_with_colon(list: ParseStream<'_>) -> bool {
    list.peek(Ident::peek_any) && list.peek2(Token![:]) && !list.peek2(Token![::])
}

/// Takes parameters, after those that are there.
pub(super) fn list(
    list: ParseStream<'_>,
    params: &mut Vec<Param>,
    errors: &mut Errors,
    is_complete: &mut bool,
) -> syn::Result<()> {
    while !list.is_empty() {
        if let Some(comma) = list.parse::<Option<Token![,]>>()? {
            errors.at(comma, flow::NO_PARAM);
            continue;
        }
        if is_no_param(list, errors) {
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
        skip_until(list, |list| list.peek(Token![,]) || has_type && is_name_with_colon(list));
        list.parse::<Option<Token![,]>>()?;
    }
    Ok(())
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
    let (ahead, mut words) = (list.fork(), TokenStream::new());
    while !is_name_with_colon(&ahead)
        && (ahead.peek(Token![&]) || ahead.peek(Token![*]) || ahead.peek(Ident::peek_any))
    {
        words.extend(ahead.parse::<TokenTree>()?.into_token_stream());
    }
    if is_name_with_colon(&ahead) && !words.is_empty() {
        errors.at(&words, flow::before_param(&shown(&words)));
        list.advance_to(&ahead);
    }
    Ok(docs)
}

/// Takes `self` or `..`, which is an error.
fn is_no_param(list: ParseStream<'_>, errors: &mut Errors) -> bool {
    let (of_self, of_dots) = (list.fork(), list.fork());
    if let Ok(written) = receiver(&of_self) {
        errors.at(written, flow::SELF_PARAM);
        list.advance_to(&of_self);
    } else if let Ok(written) = dots(&of_dots) {
        errors.at(written, flow::REST_PARAM);
        list.advance_to(&of_dots);
    } else {
        return false;
    }
    // The comma after it belongs to it.
    list.parse::<Option<Token![,]>>().is_ok()
}

/// Takes `self`, by value or by reference, maybe with a type.
fn receiver(list: ParseStream<'_>) -> syn::Result<TokenStream> {
    let borrowed: Option<Token![&]> = list.parse()?;
    let mutable: Option<Token![mut]> = list.parse()?;
    let word: Token![self] = list.parse()?;
    let colon: Option<Token![:]> = list.parse()?;
    let ty: Option<Type> = if colon.is_some() { Some(list.parse()?) } else { None };
    Ok(quote!(#borrowed #mutable #word #colon #ty))
}

/// Takes `..` or `...`, maybe with a name.
fn dots(list: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut written = list.parse::<Token![..]>()?.into_token_stream();
    while !list.is_empty() && !list.peek(Token![,]) {
        list.parse::<TokenTree>()?.to_tokens(&mut written);
    }
    Ok(written)
}

fn param(list: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Param> {
    if let Some(param) = param_without_colon(list, errors) {
        return Ok(param);
    }
    let span = list.cursor().span();
    let misspelt = misspelt_name(list, errors);
    let name = misspelt.map_or_else(|| list.parse(), Ok).map_err(|_| Error::new(span, flow::NO_PARAM))?;
    if list.peek(Token![::]) || !list.peek(Token![:]) {
        if !list.peek(Token![::]) && begins_step(&[name.clone().into()]) {
            errors.at(&name, flow::no_param_type(&name));
        } else {
            errors.at(&name, flow::NO_PARAM_NAME);
        }
        return Ok(Param::new(name, None));
    }
    let colon: Token![:] = list.parse()?;
    if list.is_empty() || list.peek(Token![,]) {
        errors.at(colon, flow::no_type_after_colon(&name));
        return Ok(Param::new(name, None));
    }
    // On a fork, because a parser that fails has already taken some of the tokens.
    if list.fork().parse::<Type>().is_err() {
        errors.at(bad_type(list)?, flow::bad_param_type(&name));
        return Ok(Param::new(name, None));
    }
    let ty: Type = list.parse()?;
    if list.peek(Token![=]) {
        skip_default(list, errors)?;
    } else if !list.is_empty() && !list.peek(Token![,]) {
        errors.on(list.cursor().span(), flow::PARAM_COMMA);
    }
    if let Some(sized) = sized(&ty) {
        errors.at(&ty, flow::unsized_param(&sized));
        return Ok(Param::new(name, None));
    }
    Ok(Param::new(name, Some(ty)))
}

/// The type to write for one of unknown size.
pub(crate) fn sized(ty: &Type) -> Option<String> {
    match ty {
        // A `$ty:ty` of the user's `macro_rules!`.
        Type::Group(group) => sized(&group.elem),
        Type::Paren(paren) => sized(&paren.elem),
        Type::Path(path) => path.path.is_ident("str").then(|| "String".to_owned()),
        Type::Slice(slice) => Some(format!("Vec<{}>", shown(&slice.elem))),
        Type::TraitObject(object) => Some(format!("Box<{}>", shown(object))),
        _ => None,
    }
}

/// Takes a name before a colon that is a keyword, `"in quotes"` or `with-hyphens`.
fn misspelt_name(list: ParseStream<'_>, errors: &mut Errors) -> Option<Ident> {
    let trees = trees(&list.fork().parse().ok()?);
    let (first, rest) = trees.split_first()?;
    let (name, length) = match first {
        TokenTree::Ident(word) if is_name_with_colon(list) => {
            let name = rust_ident(word).filter(|name| name != word && !is_gen(word))?;
            errors.at(word, flow::keyword_as_param(word));
            (name, 1)
        }
        TokenTree::Ident(word) => {
            let (text, length) = with_underscores(&trees)?;
            let (written, rest) = trees.split_at_checked(length).filter(|_| is_name(&text))?;
            is_punct(rest.first(), ':')
                .then(|| errors.at(tokens(written), flow::param_with_hyphens(&text)))?;
            (Ident::new(&text, word.span()), length)
        }
        TokenTree::Literal(literal) if is_punct(rest.first(), ':') => {
            let text = quoted_name(first.clone())?;
            let name = rust_ident(&Ident::new(&text, literal.span()))?;
            errors.at(literal, flow::param_in_quotes(&name));
            (name, 1)
        }
        _ => return None,
    };
    for _ in 0..length {
        list.parse::<TokenTree>().ok()?;
    }
    Some(name)
}

/// Takes `String style`, `style String` or `style:: String`, which is an error.
fn param_without_colon(list: ParseStream<'_>, errors: &mut Errors) -> Option<Param> {
    let begins_type = |tokens: TokenStream| !begins_step(&tokens.into_iter().collect::<Vec<_>>());
    [true, false].into_iter().find_map(|is_type_first| {
        let ahead = list.fork();
        let early_type: Option<Type> = if is_type_first { Some(ahead.parse().ok()?) } else { None };
        let name: Ident = ahead.parse().ok()?;
        let colons = if is_type_first { None } else { ahead.parse::<Option<Token![::]>>().ok()? };
        let ty = early_type.or_else(|| ahead.parse().ok())?;
        // A path of more names is rather a type.
        let is_path = colons.is_some() && matches!(&ty, Type::Path(ty) if ty.path.segments.len() > 1);
        let is_end = ahead.is_empty() || ahead.peek(Token![,]) || ahead.peek(Token![=]);
        if !is_end || is_path || begins_type(name.to_token_stream()) || !begins_type(ty.to_token_stream()) {
            return None;
        }
        let written = match &colons {
            Some(colons) => colons.into_token_stream(),
            None if is_type_first => quote!(#ty #name),
            None => quote!(#name #ty),
        };
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
