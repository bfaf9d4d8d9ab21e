//! Parses the parameters of a flow: `(/// The tone. style: String, most: usize)`.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Attribute, Ident, Receiver, Token, Type, Visibility};

use super::cursor::{as_ident, shown, skip_until};
use super::tree::Param;
use crate::diagnostics::{Errors, quote};
use crate::ident::{is_gen, rust_ident};

fn is_name_with_colon(list: ParseStream<'_>) -> bool {
    list.peek(Ident::peek_any) && list.peek2(Token![:]) && !list.peek2(Token![::])
}

/// Takes all parameters.
pub(super) fn list(list: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Vec<Param>> {
    let mut params: Vec<Param> = Vec::new();
    let mut names = HashSet::new();
    while !list.is_empty() {
        if is_self(list, errors) {
            continue;
        }
        if let Some(comma) = list.parse::<Option<Token![,]>>()? {
            errors.at(comma, NO_PARAM);
            continue;
        }
        let docs = before(list, errors)?;
        if list.is_empty() {
            break;
        }
        let mut param = Param { docs, ..param(list, errors)? };
        let has_type = param.ty.is_some();
        // `new` has all of them as parameters, where rustc would refuse a name a second time.
        // Without a type the parameter is reported already.
        if has_type && names.contains(&param.name) {
            errors.at(&param.name, format!("two parameters are named {}", quote(&param.name)));
        }
        while !names.insert(param.name.clone()) {
            param.name = format_ident!("{}_{}", param.name, params.len());
        }
        params.push(param);
        // A name and a colon begin the next parameter, even without a comma.
        skip_until(list, |list| list.peek(Token![,]) || has_type && is_name_with_colon(list));
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
        errors.at(&attribute, PARAM_ATTRIBUTE);
    }
    if list.peek(Token![pub]) {
        let vis: Visibility = list.parse()?;
        errors.at(&vis, before_param(&shown(&vis)));
    }
    let ahead = list.fork();
    let mut words = TokenStream::new();
    while !is_name_with_colon(&ahead)
        && (ahead.peek(Token![&]) || ahead.peek(Token![mut]) || ahead.peek(Token![ref]))
    {
        words.extend(ahead.parse::<TokenTree>()?.into_token_stream());
    }
    if is_name_with_colon(&ahead) && !words.is_empty() {
        errors.at(&words, before_param(&shown(&words)));
        list.advance_to(&ahead);
    }
    Ok(docs)
}

/// Takes `self`, by value or by reference, maybe with a type, which is an error.
fn is_self(list: ParseStream<'_>, errors: &mut Errors) -> bool {
    let ahead = list.fork();
    let Ok(written) = ahead.parse::<Receiver>() else { return false };
    errors.at(written, SELF_PARAM);
    list.advance_to(&ahead);
    // The comma after it belongs to it.
    list.parse::<Option<Token![,]>>().is_ok()
}

/// Takes one parameter up to its first token that is wrong. Then it has no type.
fn param(list: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Param> {
    if !is_name_with_colon(list) {
        let found: TokenTree = list.parse()?;
        errors.at(&found, NO_PARAM);
        let name = as_ident(&found).and_then(rust_ident);
        let name = name.unwrap_or_else(|| format_ident!("__unread", span = Span::mixed_site()));
        return Ok(Param::new(name, None));
    }
    let word = list.call(Ident::parse_any)?;
    let name = rust_ident(&word).unwrap_or_else(|| word.clone());
    if name != word && !is_gen(&word) {
        // `pub struct Chat(type: String)`
        errors.at(&word, format!("`{word}` is a keyword of Rust\n\nhelp: write `r#{word}`"));
    }
    let colon: Token![:] = list.parse()?;
    // On a fork, because a parser that fails has already taken some of the tokens.
    let Ok(ty) = list.fork().parse::<Type>() else {
        let is_missing = list.is_empty() || list.peek(Token![,]);
        let found =
            if is_missing { colon.into_token_stream() } else { list.fork().parse::<TokenTree>()?.into() };
        errors.at(found, no_param_type(&name));
        return Ok(Param::new(name, None));
    };
    list.parse::<Type>()?;
    if !list.is_empty() && !list.peek(Token![,]) {
        errors.on(list.cursor().span(), "expected `,` before this");
    }
    if let Some(sized) = sized(&ty) {
        // `pub struct Chat(style: str)`, where `sized` is `String`.
        errors.at(&ty, format!("a parameter has no type of unknown size\n\nhelp: write `{sized}`"));
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

// Messages.

/// `pub struct Chat(#[serde(default)] style: String)`
const PARAM_ATTRIBUTE: &str = "a parameter has no other attribute than its documentation\n\nhelp: drop this";

/// `pub struct Chat(mut style: String)` or `pub struct Chat(pub style: String)`
fn before_param(word: &str) -> String {
    format!(
        "expected the name of a parameter, found `{word}`\n\nhelp: drop `{word}`: compute steps have each parameter by reference"
    )
}

/// `pub struct Chat(&self, style: String)`
const SELF_PARAM: &str = "a flow has no `self`\n\nhelp: drop this; the parameters are those of `new`";

/// `pub struct Chat(String)`
const NO_PARAM: &str = "a parameter is a name, a colon and a type\n\nhelp: as in `style: String`";

/// `pub struct Chat(count: 5)`
fn no_param_type(name: &Ident) -> String {
    format!("expected the type of {}\n\nhelp: as in `{}: String`", quote(name), name.unraw())
}
