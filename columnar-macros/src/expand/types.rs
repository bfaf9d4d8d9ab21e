//! The types that a flow is made of.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use super::Tokens;
use super::other::Others;
use crate::syntax::Header;

pub(super) struct Types {
    /// The struct of the columns.
    pub(super) columns: Tokens,
    /// The enum of the derived columns.
    pub(super) id: TokenStream,
    /// What the flow derefs to.
    pub(super) flow: TokenStream,
    /// A compute step.
    pub(super) step: Tokens,
    /// What a flow derefs to that extends this one, with its columns `__C` and its enum `__I`.
    pub(super) extended: TokenStream,
}

impl Types {
    pub(super) fn new(
        private: &Tokens,
        header: &Header,
        others: &Others<'_>,
        columns: &Ident,
        id: &Ident,
    ) -> Self {
        let (others_columns, others_ids) = (others.struct_arguments(), others.enum_arguments());
        let (columns, id) = (quote!(#columns #others_columns), quote!(#id #others_ids));
        let (flow, step) = match &others.extended {
            // The steps of an extension live as long as those of the flow that is extended.
            Some(extended) => (extended.part("Extended"), extended.part("Step")),
            None => {
                let lifetime = lifetime(header);
                (quote!(#private::Typed), quote!(#private::Step<#lifetime>))
            }
        };
        let lifetime = others.extended.is_none().then(|| lifetime(header)).map(|lifetime| quote!(#lifetime,));
        Self {
            flow: quote!(#flow<#lifetime #columns, #id>),
            extended: quote!(#flow<#lifetime __C, __I>),
            columns: columns.into(),
            id,
            step: step.into(),
        }
    }
}

/// How long the compute steps live: as long as the first lifetime of the flow, or for ever.
pub(super) fn lifetime(header: &Header) -> TokenStream {
    let first = header.generics.lifetimes().next();
    first.map_or_else(|| quote!('static), |param| param.lifetime.to_token_stream())
}
