//! Generic parameters: which parameters of the header some tokens use, and how a parameter is declared and named.
//!
//! The parameters of the header are not in scope in the struct of the columns. Where the type of a column names such a
//! parameter, an alias has the type, and the struct has a parameter for it.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{ConstParam, GenericParam};

use super::tokens::located;
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, FlowHeader};

/// The type of a column that names parameters of the header.
pub(super) struct TypeParam<'e> {
    pub(super) column: &'e Ident,
    alias: Ident,
    ty: &'e TokenStream,
    /// The parameters of the header in the type.
    params: Vec<&'e GenericParam>,
    /// The parameter of the struct of the columns.
    pub(super) param: Ident,
}

impl<'e> TypeParam<'e> {
    /// `None` for text, and for a type without parameters.
    pub(super) fn new(header: &'e FlowHeader, column: &'e ColumnDecl, variant: &str) -> Option<Self> {
        let ty = &column.value_type()?.ty;
        let params = used_params(header, ty.clone());
        let alias = format_ident!("__{}{variant}", header.name.unraw(), span = located(header.keyword.span));
        let param = format_ident!("__{variant}", span = Span::call_site());
        (!params.is_empty()).then_some(Self { column: &column.name, alias, ty, params, param })
    }

    pub(super) fn alias_definition(&self, header: &FlowHeader) -> TokenStream {
        let definition = type_alias(header, &self.alias, &self.params, self.ty);
        quote!(#[doc(hidden)] #definition)
    }

    /// The type, where the parameters of the header are in scope.
    pub(super) fn ty(&self) -> TokenStream {
        let alias = &self.alias;
        let params = self.params.iter().map(|param| argument(param));
        quote!(#alias<#(#params),*>)
    }
}

/// An alias that is as visible as the flow, for a type with these parameters of the header.
pub(super) fn type_alias(
    header: &FlowHeader,
    alias: &Ident,
    params: &[&GenericParam],
    ty: &impl ToTokens,
) -> TokenStream {
    let vis = &header.vis;
    let params = params.iter().map(|param| declaration(param));
    quote!(#[allow(dead_code, unreachable_pub)] #vis type #alias<#(#params),*> = #ty;)
}

/// The items in angle brackets; empty if there are none.
pub(super) fn angled(items: impl Iterator<Item = TokenStream>) -> Option<TokenStream> {
    let mut items = items.peekable();
    items.peek()?;
    Some(quote!(<#(#items),*>))
}

/// The parameters of the header that these tokens use.
pub(super) fn used_params(header: &FlowHeader, tokens: TokenStream) -> Vec<&GenericParam> {
    let used = names(tokens);
    let params = header.generics.params.iter();
    params.filter(|param| names(argument(param)).iter().all(|name| used.contains(name))).collect()
}

/// A parameter at the declaration, without bounds.
pub(super) fn declaration(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Const(ConstParam { ident, ty, .. }) => quote!(const #ident: #ty),
        other => argument(other),
    }
}

/// A parameter at a use.
pub(super) fn argument(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    }
}

/// The identifiers and lifetimes among the tokens.
fn names(tokens: TokenStream) -> Vec<String> {
    let mut names = Vec::new();
    let mut quote = "";
    for tree in tokens {
        // A lifetime is two tokens: a `'` and an identifier.
        let is_quote = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '\'');
        match tree {
            TokenTree::Ident(ident) => names.push(format!("{quote}{}", ident_text(&ident))),
            TokenTree::Group(group) => names.extend(self::names(group.stream())),
            _ => {}
        }
        quote = if is_quote { "'" } else { "" };
    }
    names
}
