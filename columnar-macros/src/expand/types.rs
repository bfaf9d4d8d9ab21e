//! The types that a flow is made of.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use super::Private;
use super::extended::Extended;
use crate::syntax::Header;

pub(super) struct Types {
    /// The struct of the columns.
    pub(super) columns: TokenStream,
    /// The enum of the derived columns.
    pub(super) id: TokenStream,
    /// What the flow derefs to.
    pub(super) flow: TokenStream,
    /// A compute step.
    pub(super) step: TokenStream,
    /// What a flow derefs to that extends this one, with its columns `__C` and its enum `__I`.
    pub(super) extended: TokenStream,
}

impl Types {
    pub(super) fn new(
        private: &Private,
        header: &Header,
        extended: Option<&Extended<'_>>,
        columns: &Ident,
        id: &Ident,
    ) -> Self {
        let Some(extended) = extended else {
            let lifetime = lifetime(header);
            return Self {
                columns: quote!(#columns),
                id: quote!(#id),
                flow: quote!(#private::Typed<#lifetime, #columns, #id>),
                step: quote!(#private::Step<#lifetime>),
                extended: quote!(#private::Typed<#lifetime, __C, __I>),
            };
        };
        // The steps of an extension live as long as those of the flow that is extended.
        let (flow, step) = (extended.part("Extended"), extended.part("Step"));
        let (inherited, inherited_id) = (extended.arguments("Columns"), extended.arguments("Column"));
        Self {
            columns: quote!(#columns #inherited),
            id: quote!(#id #inherited_id),
            flow: quote!(#flow<#columns #inherited, #id #inherited_id>),
            step,
            extended: quote!(#flow<__C, __I>),
        }
    }
}

/// How long the compute steps live: as long as the first lifetime of the flow, or for ever.
pub(super) fn lifetime(header: &Header) -> TokenStream {
    let first = header.generics.lifetimes().next();
    first.map_or_else(|| quote!('static), |param| param.lifetime.to_token_stream())
}
