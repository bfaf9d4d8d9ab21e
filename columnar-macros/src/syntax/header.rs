//! The head of the item form: `pub struct Chat<M: Model>(model: M) where ...`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Generics, Token, Type, Visibility, parenthesized, token};

use super::cursor::Cursor;
use crate::errors::{self, Errors};

pub(crate) struct Header {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) keyword: Token![struct],
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) params: Vec<Param>,
}

/// A parameter of `new`.
pub(crate) struct Param {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

/// Whether the tokens begin as a struct does.
pub(super) fn is_item(trees: &[TokenTree]) -> bool {
    let mut cursor = Cursor::new(trees);
    while cursor.attribute().is_some() {}
    if matches!(cursor.peek(), Some(TokenTree::Ident(word)) if word == "pub") {
        cursor.next();
        if matches!(cursor.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
        {
            cursor.next();
        }
    }
    matches!(cursor.peek(), Some(TokenTree::Ident(word)) if word == "struct")
}

/// The head and the braces after it. Without a head that can be read there is nothing to declare,
/// but the declarations are still checked.
pub(super) fn split(trees: &[TokenTree], errors: &mut Errors) -> (Option<Header>, Option<Group>) {
    let is_body =
        |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let at = trees.iter().position(is_body).unwrap_or(trees.len());
    let (head, body) = trees.split_at_checked(at).unwrap_or((trees, &[]));
    let header = match syn::parse2(head.iter().cloned().collect::<TokenStream>()) {
        Ok(header) => Some(header),
        Err(error) => {
            errors.push(error);
            None
        }
    };
    let body = match body {
        [TokenTree::Group(body), rest @ ..] => {
            if let Some(found) = rest.first() {
                errors.at(found, "expected the end of the flow: one `flow!` declares one");
            }
            Some(body.clone())
        }
        _ => {
            if let (Some(last), Some(_)) = (head.last(), &header) {
                errors.at(last, errors::NO_BODY);
            }
            None
        }
    };
    (header, body)
}

impl Parse for Header {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let keyword = input.parse()?;
        let name = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let mut params = Vec::new();
        if input.peek(token::Paren) {
            let list;
            parenthesized!(list in input);
            params = Punctuated::<Param, Token![,]>::parse_terminated(&list)?.into_iter().collect();
        }
        generics.where_clause = input.parse()?;
        Ok(Self { attrs, vis, keyword, name, generics, params })
    }
}

impl Parse for Param {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse()?;
        if !input.peek(Token![:]) {
            return Err(syn::Error::new(name.span(), format!("expected `:` and the type of `{name}`")));
        }
        input.parse::<Token![:]>()?;
        Ok(Self { name, ty: input.parse()? })
    }
}
