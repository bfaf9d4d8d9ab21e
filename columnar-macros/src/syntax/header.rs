//! Parses the header of the item form: `pub struct Felt<M: Model>(model: M): Chat<M> where ...`.
//!
//! The first token before the braces that a header cannot have is an error, and the rest up to the braces is skipped.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Error, Path, PathArguments, Token, Visibility, WhereClause, braced, parenthesized, token};

use super::cursor::{
    Cursor, as_group, begins_declaration, can_name_struct, is_group, is_ident, skip_until, tokens, trees_of,
};
use super::tree::{BaseDecl, FlowHeader, Param};
use super::{attributes, generics, params};
use crate::diagnostics::{Errors, quote};
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
    let is_head = names <= 2 && head.iter().skip(names).all(|tree| is_group(tree, Delimiter::Parenthesis));
    let body = as_group(body, Delimiter::Brace).map(trees_of).unwrap_or_default();
    !begins_declaration(trees) && is_head && begins_declaration(&body)
}

/// Parses the header and the braces after it. Without a name there is nothing to declare, but the
/// declarations are checked all the same.
pub(super) fn parse(trees: &[TokenTree], errors: &mut Errors) -> (Option<FlowHeader>, Option<Group>) {
    let parsed = Parser::parse2(|input: ParseStream<'_>| item(input, errors), tokens(trees));
    match parsed {
        Ok((header, body)) => (Some(header), body),
        Err(error) => {
            errors.push(error);
            (None, trees.iter().find_map(|tree| as_group(tree, Delimiter::Brace)).cloned())
        }
    }
}

fn item(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<(FlowHeader, Option<Group>)> {
    let reported = errors.len();
    let header = head(input, errors)?;
    let body = body(input, errors, errors.len() > reported)?;
    input.parse::<TokenStream>()?;
    Ok((header, body))
}

/// Takes everything up to the braces.
fn head(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<FlowHeader> {
    let (attrs, lints) = attributes::of_flow(input, errors)?;
    let vis = visibility(input, errors)?;
    let keyword = keyword(input, &vis, errors)?;
    let name: Ident = input.parse().map_err(|_| Error::new(keyword.span, NO_FLOW_NAME))?;
    let reported = errors.len();
    let (mut generics, mut is_complete) = generics::parse(input, errors);
    let params = params(input, &name, errors)?;
    is_complete &= params.iter().all(|param| param.ty.is_some());
    let mut base = base(input, &name, errors)?;
    if input.peek(Token![where]) {
        generics.where_clause = generics::or_report::<WhereClause>(input, errors);
        is_complete &= generics.where_clause.is_some();
    }
    if !is_body(input) && !input.is_empty() {
        let found: TokenTree = input.fork().parse()?;
        if errors.len() == reported {
            report_stray(input, &found, errors);
        }
        let skipped = skip_until(input, is_body);
        // The flow that is probably extended, in `struct Felt extends Chat`.
        let path = skipped.last().and_then(|last| syn::parse2::<Path>(last.clone().into()).ok());
        let path = path.filter(|path| can_name_struct(path) && !path.is_ident(&name));
        base = base.or(Some(BaseDecl { path, is_guessed: true }));
        is_complete = false;
    } else if !is_complete {
        // The flow that this one extends may be among the tokens that are skipped.
        base = base.or(Some(BaseDecl { path: None, is_guessed: true }));
    }
    // Without declarations nothing tells an extension, and `new` is what others call.
    let base = base.filter(|_| !input.is_empty());
    Ok(FlowHeader { attrs, lints, vis, keyword, name, generics, params, base, is_complete })
}

/// Whether the declarations come next, in braces or without.
fn is_body(input: ParseStream<'_>) -> bool {
    input.peek(token::Brace)
        || input.fork().parse().is_ok_and(|rest: TokenStream| begins_declaration(&super::trees(&rest)))
}

/// Reports a token in place of the braces. It may be the arrow of `-> String`.
fn report_stray(input: ParseStream<'_>, found: &TokenTree, errors: &mut Errors) {
    match input.fork().parse::<Token![->]>() {
        Ok(arrow) => errors.at(arrow, RETURN_TYPE),
        Err(_) => errors.at(found, stray(&found.to_string())),
    }
}

/// Takes the visibility of the flow. One that Rust does not have, such as `pub(crat)`, is reported.
fn visibility(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Visibility> {
    let vis: Visibility = input.parse()?;
    if matches!(vis, Visibility::Public(_)) && input.peek(token::Paren) {
        let list: Group = input.parse()?;
        let found = list.stream();
        errors.at(&list, format!("expected a visibility, found `pub({found})`\n\nhelp: as in `pub(crate)`"));
    }
    Ok(vis)
}

/// Takes `struct`, or another identifier instead.
fn keyword(input: ParseStream<'_>, vis: &Visibility, errors: &mut Errors) -> syn::Result<Token![struct]> {
    if input.peek(Token![struct]) {
        return input.parse();
    }
    let Some((found, after)) = input.cursor().ident() else {
        return Err(Error::new(vis.span(), "expected `struct` and the name of the flow after this"));
    };
    errors.at(&found, no_struct(&found));
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

/// Takes the parameters after the name. In braces, as the fields of a struct, they are an error.
fn params(input: ParseStream<'_>, name: &Ident, errors: &mut Errors) -> syn::Result<Vec<Param>> {
    let list;
    if input.peek(token::Brace) && input.peek2(token::Brace) {
        errors.on(input.cursor().span(), params_in_braces(name));
        braced!(list in input);
    } else if input.peek(token::Paren) {
        parenthesized!(list in input);
    } else {
        return Ok(Vec::new());
    }
    params::list(&list, errors)
}

/// Takes the flow that this one extends: `: Chat<M>`.
fn base(input: ParseStream<'_>, name: &Ident, errors: &mut Errors) -> syn::Result<Option<BaseDecl>> {
    if !input.peek(Token![:]) || input.peek(Token![::]) {
        return Ok(None);
    }
    let colon: Token![:] = input.parse()?;
    if input.peek(token::Brace) {
        errors.at(colon, no_base(name));
        return Ok(Some(BaseDecl { path: None, is_guessed: true }));
    }
    let found = input.fork().parse::<TokenTree>().map_or_else(|_| colon.into_token_stream(), Into::into);
    let path: Option<Path> = input.fork().parse().ok();
    let path = path.filter(|path| {
        let mut arguments = path.segments.iter().map(|segment| &segment.arguments);
        can_name_struct(path) && !arguments.any(|list| matches!(list, PathArguments::Parenthesized(_)))
    });
    match path {
        Some(path) if path.is_ident(name) => errors.at(&path, format!("{} extends itself", quote(name))),
        Some(path) => {
            input.parse::<Path>()?;
            return Ok(Some(BaseDecl { path: Some(path), is_guessed: false }));
        }
        None => errors.at(found, format!("expected the name of a flow\n\nhelp: as in {}", extension(name))),
    }
    skip_until(input, |input| input.peek(token::Brace) || input.peek(Token![where]));
    Ok(Some(BaseDecl { path: None, is_guessed: true }))
}

/// Takes the braces, and reports tokens after them. Declarations without braces are parsed, too.
fn body(input: ParseStream<'_>, errors: &mut Errors, is_reported: bool) -> syn::Result<Option<Group>> {
    if !input.peek(token::Brace) {
        if !is_reported {
            errors.on(input.cursor().prev_span(), NO_BODY);
        }
        let bare: TokenStream = input.parse()?;
        return Ok((!bare.is_empty()).then(|| Group::new(Delimiter::Brace, bare)));
    }
    let body: Group = input.parse()?;
    if !input.is_empty() {
        errors.on(input.cursor().span(), "expected the end of `flow!`, which declares one flow");
    }
    Ok(Some(body))
}

// Messages.

const NO_FLOW_NAME: &str =
    "expected the name of the flow after this\n\nhelp: as in `pub struct Chat { ... }`";

const NO_BODY: &str = "expected the declarations of the flow, in braces, after this";

/// `pub struct Chat(style: String) = { ... }`
fn stray(found: &str) -> String {
    format!(
        "expected the declarations of the flow, in braces, found `{found}`\n\n\
         help: as in `struct Chat(style: String) {{ ... }}` or `struct Felt: Chat {{ ... }}`"
    )
}

/// `pub struct Chat { style: String } { source user; ... }`
fn params_in_braces(name: &Ident) -> String {
    format!(
        "the parameters of a flow are in parentheses\n\nhelp: as in `struct {}(style: String) {{ ... }}`",
        name.unraw()
    )
}

/// `pub struct Chat(style: String) -> String`
const RETURN_TYPE: &str = "a flow has no return type\n\nhelp: drop it; a column holds text, or values of its own type: `column score(user.latest): Score = ...`";

/// `pub enum Chat { ... }`, where `found` is `enum`.
fn no_struct(found: &Ident) -> String {
    format!(
        "expected `struct`, found {}\n\nhelp: a flow is declared as a struct: `pub struct Chat {{ ... }}`",
        quote(found)
    )
}

/// An example of the declaration of an extension.
fn extension(name: &Ident) -> String {
    format!("`struct {}: Chat {{ ... }}`", name.unraw())
}

fn no_base(name: &Ident) -> String {
    format!("expected the flow that {} extends after this\n\nhelp: as in {}", quote(name), extension(name))
}
