//! Parses the header of the item form: `pub struct Felt<M: Model>(model: M): Chat<M> where ...`.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Generics, Token, Visibility, braced, parse2, token};

use super::cursor::{
    Angles, Cursor, begins_declaration, is_group, is_ident, is_punct, skip_until, tokens, trees_of,
};
use super::tree::Header;
use super::{attributes, base, params};
use crate::diagnostics::{Errors, flow};
use crate::ident;

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
            params::list(&list, errors, &mut is_complete)?
        }
        () if input.peek(token::Paren) && input.peek2(token::Brace) && declares(&input.fork().parse()?) => {
            let list: Group = input.parse()?;
            errors.at(list.stream(), flow::DECLARED_PARAM);
            declared = separated(&list);
            Vec::new()
        }
        () if is_list(input) => params::in_parentheses(input, errors, &mut is_complete)?,
        () => Vec::new(),
    };
    no_return_type(input, errors)?;
    let base = base::parse(input, &name, errors)?;
    if is_list(input) {
        if base.is_some() {
            errors.on(input.cursor().span(), flow::LATE_PARAMS);
        }
        params = params::in_parentheses(input, errors, &mut is_complete)?;
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
