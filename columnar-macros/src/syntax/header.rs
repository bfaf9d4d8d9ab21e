//! Parses the header of the item form: `pub struct Felt<M: Model>(model: M): Chat<M> where ...`.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Generics, Token, Type, Visibility, braced, parenthesized, parse2, token};

use super::column_type::begins_step;
use super::cursor::{
    Angles, Cursor, begins_declaration, is_group, is_ident, is_punct, shown, tokens, trees_of,
};
use super::tree::{Header, Param};
use super::{attributes, base};
use crate::diagnostics::{Errors, flow};
use crate::ident;

/// Whether the tokens begin an item, and not a declaration.
pub(super) fn is_item(trees: &[TokenTree]) -> bool {
    let mut cursor = Cursor::new(trees);
    while cursor.attribute().is_some() {}
    match cursor.peek() {
        // A visibility that a `macro_rules!` of the user passed on.
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::None,
        Some(TokenTree::Ident(ident)) if ident::is(ident, "pub") => {
            cursor.next();
            cursor.parentheses();
            // `pub source user;` is a declaration, and its `pub` is an error of its own.
            !begins_declaration(cursor.rest())
        }
        Some(TokenTree::Ident(ident)) => {
            ident::is_one_of(ident, &["struct", "enum", "mod", "trait"])
                || is_ident(cursor.rest().get(1), "struct")
                || ends_with_body(cursor.rest())
        }
        _ => false,
    }
}

/// Whether the last token is braces with declarations: `Chat { … }`, `flow Chat { … }`.
fn ends_with_body(trees: &[TokenTree]) -> bool {
    let [head @ .., body] = trees else { return false };
    let names = head.iter().take_while(|tree| matches!(tree, TokenTree::Ident(_))).count();
    let is_list = |tree: &TokenTree| is_group(tree, Delimiter::Parenthesis);
    let is_head = names <= 2 && head.iter().skip(names).all(is_list);
    !begins_declaration(trees) && is_head && braces(body).is_some_and(|body| declares(&body))
}

fn declares(body: &Group) -> bool {
    begins_declaration(&trees_of(body))
}

/// Parses the header and the braces after it. Without a name there is nothing to declare, but the
/// declarations are checked all the same.
pub(super) fn parse(trees: &[TokenTree], errors: &mut Errors) -> (Option<Header>, Option<Group>) {
    let parser = |input: ParseStream<'_>| {
        let (header, declared) = head(input, errors)?;
        let body = body(input, errors)?;
        input.parse::<TokenStream>()?;
        let body = body.map(|body| {
            let inside = body.stream();
            let mut with_declared = Group::new(body.delimiter(), quote!(#declared #inside));
            with_declared.set_span(body.span());
            if declared.is_empty() { body } else { with_declared }
        });
        Ok((header, body))
    };
    match parser.parse2(tokens(trees)) {
        Ok((header, body)) => (Some(header), body),
        Err(error) => {
            errors.push(error);
            (None, trees.iter().find_map(braces))
        }
    }
}

fn braces(tree: &TokenTree) -> Option<Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.clone()),
        _ => None,
    }
}

/// Takes everything up to the braces. The tokens are declarations in it that belong there.
fn head(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<(Header, TokenStream)> {
    let mut attrs = attributes::without_bang(input.call(Attribute::parse_inner)?, errors);
    attrs.extend(input.call(Attribute::parse_outer)?);
    let mut lints = Vec::new();
    attrs.retain(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        let is_lint = attributes::denies_our_lint(attribute);
        // Only the struct gets the attributes: a `cfg` would remove it and leave its impls.
        if is_cfg {
            errors.at(attribute, flow::FLOW_CFG);
        }
        if is_lint {
            lints.extend(attributes::lints(attribute, errors));
        }
        let has_other_level = attributes::has_other_level(attribute);
        if has_other_level {
            errors.at(attribute, flow::LINT_LEVEL);
        }
        !is_cfg && !is_lint && !has_other_level
    });
    let vis: Visibility = input.parse()?;
    let keyword = keyword(input, &vis, errors)?;
    let name: Ident = input.parse().map_err(|_| Error::new(keyword.span, flow::NO_FLOW_NAME))?;
    let mut is_complete = true;
    // On a fork, because a parser that fails has already taken some of the tokens.
    let names = generic_names(&input.fork());
    let with_colons = generics_with_colons(input, errors);
    let mut generics: Generics = with_colons.unwrap_or_else(|| or_report(input, errors, &mut is_complete));
    if !is_complete {
        // The flow keeps its number of parameters, so `Chat<M>` elsewhere is no further error.
        generics = names;
    }
    let is_list = |input: ParseStream<'_>| {
        let is_other = body_in_parentheses(input).is_some() || base::in_parentheses(input).is_some();
        input.peek(token::Paren) && !is_other
    };
    let mut declared = TokenStream::new();
    let mut params = match () {
        () if input.peek(token::Brace) && input.peek2(token::Brace) => {
            errors.on(input.cursor().span(), flow::params_in_braces(&name));
            let list;
            braced!(list in input);
            param_list(&list, errors, &mut is_complete)?
        }
        () if input.peek(token::Paren) && input.peek2(token::Brace) && declares(&input.fork().parse()?) => {
            let list: Group = input.parse()?;
            errors.at(list.stream(), flow::DECLARED_PARAM);
            declared = separated(&list);
            Vec::new()
        }
        () if is_list(input) => params(input, errors, &mut is_complete)?,
        () => Vec::new(),
    };
    no_return_type(input, errors)?;
    let base = base::parse(input, &name, errors)?;
    if is_list(input) {
        if base.is_some() {
            errors.on(input.cursor().span(), flow::LATE_PARAMS);
        }
        params = self::params(input, errors, &mut is_complete)?;
    }
    generics.where_clause = or_report(input, errors, &mut is_complete);
    Ok((Header { attrs, lints, vis, keyword, name, generics, params, base, is_complete }, declared))
}

/// Declarations in parentheses, each with its `;`.
fn separated(list: &Group) -> TokenStream {
    let trees = trees_of(list);
    let parts = trees.split(|tree| [',', ';'].iter().any(|&end| is_punct(Some(tree), end)));
    parts.filter(|part| !part.is_empty()).map(tokens).map(|part| quote!(#part;)).collect()
}

/// Takes `-> String`, which is an error: a base comes after a `:`.
fn no_return_type(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
    let arrow: TokenStream = match () {
        () if input.peek(Token![->]) => input.parse::<Token![->]>()?.into_token_stream(),
        () if input.peek(Token![=>]) => input.parse::<Token![=>]>()?.into_token_stream(),
        () => TokenStream::new(),
    };
    if !arrow.is_empty() {
        errors.at(arrow, flow::RETURN_TYPE);
        skip_until(input, |input| input.peek(token::Brace) || input.peek(Token![where]));
    }
    Ok(())
}

/// Takes `struct`, or another identifier instead.
fn keyword(input: ParseStream<'_>, vis: &Visibility, errors: &mut Errors) -> syn::Result<Token![struct]> {
    if input.peek(Token![struct]) {
        return input.parse();
    }
    let Some((found, after)) = input.cursor().ident() else {
        return Err(Error::new(vis.span(), flow::NO_STRUCT));
    };
    errors.at(&found, flow::no_struct(&found));
    match after.ident() {
        Some((ident, _)) if ident::is(&ident, "struct") => {
            input.parse::<TokenTree>()?;
            return input.parse();
        }
        Some(_) => drop(input.parse::<TokenTree>()?),
        None => {}
    }
    Ok(Token![struct](found.span()))
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

/// Takes generics whose only mistake are missing colons: `<M Model>`.
fn generics_with_colons(input: ParseStream<'_>, errors: &mut Errors) -> Option<Generics> {
    let ahead = input.fork();
    let (mut written, mut missing, mut angles) = (Vec::new(), Vec::new(), Angles::default());
    while written.is_empty() || angles.open > 0 {
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
    let generics = parse2(tokens(&written)).ok().filter(|_| !missing.is_empty())?;
    for (name, bound) in missing {
        errors.at(&bound, flow::no_bound_colon(&name, &bound));
    }
    input.advance_to(&ahead);
    Some(generics)
}

/// The names of generics that cannot be parsed: the identifiers after `<` and after commas.
fn generic_names(input: ParseStream<'_>) -> Generics {
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

/// Takes the parameters of the flow, in parentheses.
fn params(input: ParseStream<'_>, errors: &mut Errors, is_complete: &mut bool) -> syn::Result<Vec<Param>> {
    let list;
    parenthesized!(list in input);
    param_list(&list, errors, is_complete)
}

fn param_list(list: ParseStream<'_>, errors: &mut Errors, is_complete: &mut bool) -> syn::Result<Vec<Param>> {
    let mut params: Vec<Param> = Vec::new();
    while !list.is_empty() {
        if let Some(comma) = list.parse::<Option<Token![,]>>()? {
            errors.at(comma, flow::NO_PARAM);
            continue;
        }
        let mut param = param(list, errors).unwrap_or_else(|error| {
            errors.push(error);
            Param { name: format_ident!("__unread", span = Span::mixed_site()), ty: None }
        });
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
            |list: ParseStream<'_>| list.peek(syn::Ident) && list.peek2(Token![:]) && !list.peek2(Token![::]);
        skip_until(list, |list| list.peek(Token![,]) || has_type && is_next(list));
        list.parse::<Option<Token![,]>>()?;
    }
    Ok(params)
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
        return Ok(Param { name, ty: None });
    }
    list.parse::<Token![:]>()?;
    if list.is_empty() || list.peek(Token![,]) {
        errors.at(&name, flow::no_param_type(&name));
        return Ok(Param { name, ty: None });
    }
    // On a fork, because a parser that fails has already taken some of the tokens.
    if list.fork().parse::<Type>().is_err() {
        errors.at(bad_type(list)?, flow::bad_param_type(&name));
        return Ok(Param { name, ty: None });
    }
    let ty = Some(list.parse()?);
    if list.peek(Token![=]) {
        skip_default(list, errors)?;
    } else if !list.is_empty() && !list.peek(Token![,]) {
        errors.on(list.cursor().span(), flow::PARAM_COMMA);
    }
    Ok(Param { name, ty })
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
        Some(Param { name, ty: Some(ty) })
    })
}

/// Takes tokens that are no type, up to the next parameter.
fn bad_type(list: ParseStream<'_>) -> syn::Result<TokenStream> {
    let is_next =
        |list: ParseStream<'_>| list.peek(Token![,]) && list.peek2(syn::Ident) && list.peek3(Token![:]);
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

/// Takes the braces, and reports tokens after them. Declarations without braces are parsed, too.
fn body(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Option<Group>> {
    if let Some(list) = body_in_parentheses(input) {
        errors.on(list.span_open(), flow::BODY_IN_PARENTHESES);
        input.parse::<TokenStream>()?;
        return Ok(Some(list));
    }
    if !input.peek(token::Brace) {
        errors.on(input.cursor().prev_span(), flow::NO_BODY);
        let rest: TokenStream = input.fork().parse()?;
        let bare = Group::new(Delimiter::Brace, rest);
        if declares(&bare) {
            input.parse::<TokenStream>()?;
            return Ok(Some(bare));
        }
        skip_until(input, |input| input.peek(token::Brace));
    }
    let body = input.parse::<Option<TokenTree>>()?;
    if !input.is_empty() {
        errors.on(input.cursor().span(), flow::AFTER_BODY);
    }
    Ok(body.as_ref().and_then(braces))
}

/// The parentheses that come next, if they hold declarations.
fn body_in_parentheses(input: ParseStream<'_>) -> Option<Group> {
    let list = if input.peek(token::Paren) { input.fork().parse::<Group>().ok()? } else { return None };
    declares(&list).then_some(list)
}

fn skip_until(input: ParseStream<'_>, is_end: impl Fn(ParseStream<'_>) -> bool) {
    while !is_end(input) && input.parse::<TokenTree>().is_ok() {}
}
