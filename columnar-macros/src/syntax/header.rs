//! Parses the header of the item form: `pub struct Felt<M: Model>(model: M): Chat<M> where ...`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Token, Visibility, braced, bracketed, token};

use super::cursor::{
    Cursor, begins_declaration, is_group, is_ident, is_punct, shown, skip_until, tokens, trees_of,
};
use super::tree::{Header, Param};
use super::{attributes, base, generics, params};
use crate::diagnostics::{Errors, flow};
use crate::ident::{self, ident_text, rust_ident};

/// Whether the tokens begin an item, and not a declaration.
pub(super) fn is_item(trees: &[TokenTree]) -> bool {
    let mut cursor = Cursor::new(trees);
    while cursor.attribute().is_some()
        || attributes::lints_in_other_form(&mut cursor, &mut Errors::default()).is_some()
    {}
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
    let mut cursor = Cursor::new(trees);
    let mut denies = Vec::new();
    while let Some(more) = attributes::lints_in_other_form(&mut cursor, errors) {
        denies.extend(more);
    }
    let parser = |input: ParseStream<'_>| {
        let (mut header, declared) = head(input, errors)?;
        header.lints.extend(denies.iter().flat_map(|deny| attributes::lints(deny, errors)));
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
    match parser.parse2(tokens(cursor.rest())) {
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
    for attribute in &mut attrs {
        attributes::take_underivable(attribute, errors);
    }
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
    let vis = visibility(input, errors)?;
    let keyword = keyword(input, &vis, errors)?;
    let name = name(input, keyword, errors)?;
    let (mut is_complete, mut params) = (true, Vec::new());
    let mut generics = generics::parse(input, &name, errors, &mut is_complete)?;
    let early_where = generics::early_where(input, errors);
    let declared = first_list(input, &name, &mut params, errors, &mut is_complete)?;
    more_lists(input, &mut params, errors, &mut is_complete)?;
    generics::late(input, &name, &mut generics, errors);
    no_return_type(input, errors)?;
    stray(input, errors)?;
    let base = base::parse(input, &name, errors)?;
    if base.is_some() && params.is_empty() && is_list(input) {
        errors.on(input.cursor().span(), flow::LATE_PARAMS);
        params::in_parentheses(input, &mut params, errors, &mut is_complete)?;
    }
    more_lists(input, &mut params, errors, &mut is_complete)?;
    let late_where = generics::late_where(input, errors, &mut is_complete);
    generics.where_clause = early_where.or(late_where);
    stray(input, errors)?;
    Ok((Header { attrs, lints, vis, keyword, name, generics, params, base, is_complete }, declared))
}

/// Takes the visibility of the flow. One that Rust does not have, such as `pub(crat)`, is reported.
fn visibility(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Visibility> {
    let vis: Visibility = input.parse()?;
    if matches!(vis, Visibility::Public(_)) && input.peek(token::Paren) {
        let list: Group = input.parse()?;
        errors.at(&list, flow::bad_visibility(&list.stream().to_string()));
    }
    Ok(vis)
}

/// Takes the name of the flow. Wrong: `struct Chat::Inner { source user; ... }`.
fn name(input: ParseStream<'_>, keyword: Token![struct], errors: &mut Errors) -> syn::Result<Ident> {
    let mut name: Ident = input.parse().map_err(|_| Error::new(keyword.span, flow::NO_FLOW_NAME))?;
    let (mut ahead, mut before) = (input.fork(), TokenStream::new());
    // Without a source it is an extension, whose `:` is misspelt.
    while let (Ok(colons), Ok(next)) = (ahead.parse::<Token![::]>(), ahead.parse::<Ident>())
        && base::declares_a_source(input)?
    {
        before.extend(quote!(#name #colons));
        name = next;
        input.advance_to(&ahead);
        ahead = input.fork();
    }
    if !before.is_empty() {
        errors.at(quote!(#before #name), flow::path_as_name(&name));
    }
    Ok(name)
}

/// Whether the parameters of the flow come next.
fn is_list(input: ParseStream<'_>) -> bool {
    let is_other = body_in_parentheses(input).is_some() || base::in_parentheses(input).is_some();
    input.peek(token::Paren) && !is_other
}

/// Takes the parameters after the name. The tokens are declarations in their place.
fn first_list(
    input: ParseStream<'_>,
    name: &Ident,
    params: &mut Vec<Param>,
    errors: &mut Errors,
    is_complete: &mut bool,
) -> syn::Result<TokenStream> {
    let is_bracket = input.peek(token::Bracket);
    if is_bracket || input.peek(token::Brace) && input.peek2(token::Brace) {
        errors.on(input.cursor().span(), flow::params_in_brackets(name));
        let list;
        if is_bracket {
            bracketed!(list in input);
        } else {
            braced!(list in input);
        }
        params::list(&list, params, errors, is_complete)?;
    } else if input.peek(token::Paren) && input.peek2(token::Brace) && declares(&input.fork().parse()?) {
        let list: Group = input.parse()?;
        errors.at(list.stream(), flow::DECLARED_PARAM);
        return Ok(separated(&list));
    } else if is_list(input) {
        params::in_parentheses(input, params, errors, is_complete)?;
    }
    Ok(TokenStream::new())
}

/// Takes further lists of parameters, which are an error.
fn more_lists(
    input: ParseStream<'_>,
    params: &mut Vec<Param>,
    errors: &mut Errors,
    is_complete: &mut bool,
) -> syn::Result<()> {
    let second = input.cursor().span();
    if !is_list(input) {
        return Ok(());
    }
    while is_list(input) {
        params::in_parentheses(input, params, errors, is_complete)?;
    }
    let typed =
        params.iter().filter_map(|Param { name, ty, .. }| Some(format!("{name}: {}", shown(ty.as_ref()?))));
    let list: Vec<String> = typed.collect();
    errors.on(second, flow::second_params(&list.join(", ")));
    Ok(())
}

/// Takes a token before the braces that does not belong there: `Chat(style: String) = { ... }`.
fn stray(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
    // An empty `where` is valid.
    if !input.peek2(token::Brace) || input.peek(Token![where]) {
        return Ok(());
    }
    let is_stray = match input.fork().parse()? {
        TokenTree::Punct(punct) => [',', ';', '='].contains(&punct.as_char()),
        // A keyword of Rust names no flow, and a flow with a source extends none.
        TokenTree::Ident(word) => {
            let is_lower = ident_text(&word).starts_with(|first: char| first.is_ascii_lowercase());
            rust_ident(&word).as_ref() != Some(&word) || is_lower && base::declares_a_source(input)?
        }
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    };
    if is_stray {
        let found: TokenTree = input.parse()?;
        errors.at(&found, flow::stray(&found.to_string()));
    }
    Ok(())
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
