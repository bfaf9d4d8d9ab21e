//! The header of a flow and the types that follow from the header, for every part of the item form.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Generics, parse_quote};

use crate::expand::dependencies::Dependencies;
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{Private, Tokens, unlocated, unlocated_param};
use crate::syntax::{FlowHeader, Param, uses};

pub(super) struct ItemEmitter<'e> {
    pub(super) emitter: &'e Emitter<'e>,
    pub(super) header: &'e FlowHeader,
    pub(super) types: Types,
}

impl ItemEmitter<'_> {
    /// `impl<…> Trait for Chat<…> where …`.
    pub(super) fn impl_head(&self, of: &TokenStream, generics: &Generics) -> TokenStream {
        let name = unlocated(&self.header.name);
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        // The user deprecates the uses of the flow, and not the items of the flow itself.
        let mut attributes = self.header.attrs.iter();
        let is_deprecated = attributes.any(|attribute| attribute.path().is_ident("deprecated"));
        let allowed = is_deprecated.then(|| quote!(#[allow(deprecated)]));
        quote!(#allowed impl #impl_generics #of #name #ty_generics #where_clause)
    }

    /// The generics, with the bounds of compute steps that hold a parameter.
    pub(super) fn bounded(&self) -> Generics {
        let mut generics = self.header.generics.clone();
        let lifetime = lifetime(self.header);
        let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
        if !types.is_empty() {
            let predicates = &mut generics.make_where_clause().predicates;
            predicates.extend(types.iter().map(|ty| -> syn::WherePredicate { parse_quote!(#ty: #lifetime) }));
        }
        generics
    }

    /// The future of this flow, in the user's type.
    pub(super) fn future(&self) -> TokenStream {
        match &self.emitter.dependencies.base {
            Some(base) => {
                let base = base.ty();
                quote!(#Private::OpeningOf<#base, Self>)
            }
            None => {
                let lifetime = lifetime(self.header);
                quote!(#Private::Opening<#lifetime, Self>)
            }
        }
    }

    /// The parameters of a constructor.
    pub(super) fn owned_params(&self) -> Vec<TokenStream> {
        let types = self.header.params.iter().map(Param::ty);
        self.param_names().iter().zip(types).map(|(name, ty)| quote!(#name: #ty)).collect()
    }

    /// The parameters of a compute step.
    pub(super) fn borrowed_params(&self) -> Vec<TokenStream> {
        // The position of the user's name: compute steps mention the parameter.
        let names = self.header.params.iter().map(|param| &param.name);
        let types = self.header.params.iter().map(Param::borrowed);
        names.zip(types).map(|(name, ty)| quote!(#name: #ty)).collect()
    }

    /// The uses of the parameters in all compute steps, for editors:
    ///
    /// ```text
    /// #[cfg(rust_analyzer)]
    /// fn __USES(style: &String) { let _ = style; let _ = style; }
    /// ```
    ///
    /// An editor renames a variable in one function alone, and each compute step is a function with these parameters.
    pub(super) fn fn_uses(&self) -> Option<TokenStream> {
        let flow = self.emitter.flow;
        let names = flow.params();
        let steps = flow.columns.iter().filter_map(|column| Some(column.derived.as_ref()?.step.clone()));
        let arguments = flow.modules.iter().filter_map(|module| Some(module.arguments.as_ref()?.stream()));
        let uses = steps.chain(arguments).filter(|_| !names.is_empty()).map(|tokens| uses(&names, &tokens));
        let uses = uses.map(|uses| uses.into_iter().filter_map(|used| used.ident).collect());
        let uses: Vec<Vec<Ident>> = uses.filter(|uses: &Vec<Ident>| !uses.is_empty()).collect();
        let params = self.borrowed_params();
        // A parameter of one step is renamed there.
        (uses.len() > 1).then(|| {
            let uses = uses.iter().flatten();
            quote!(#[cfg(rust_analyzer)] fn __USES(#(#params),*) { #(let _ = #uses;)* })
        })
    }

    pub(super) fn param_names(&self) -> Vec<Ident> {
        self.header.params.iter().map(|param| unlocated_param(&param.name)).collect()
    }
}

pub(super) struct Types {
    /// The struct of the columns.
    pub(super) columns: Tokens,
    /// The enum of the derived columns.
    pub(super) id: TokenStream,
    /// The target of the deref of the flow.
    pub(super) flow: TokenStream,
    /// A compute step.
    pub(super) step: Tokens,
    /// The target of the deref of an extension of this flow, with the columns `__C` and the enum `__I` of the
    /// extension.
    pub(super) extended: TokenStream,
    /// The future of a flow `__F` with compute steps that live as long as these.
    pub(super) opening: TokenStream,
}

impl Types {
    pub(super) fn new(
        header: &FlowHeader,
        dependencies: &Dependencies<'_>,
        columns: &Ident,
        id: &Ident,
    ) -> Self {
        let others_columns = dependencies.struct_arguments();
        let others_ids = dependencies.enum_arguments();
        let columns = quote!(#columns #others_columns);
        let id = quote!(#id #others_ids);
        let (flow, step, opening) = match &dependencies.base {
            // The steps of an extension live as long as the steps of the base.
            Some(base) => {
                let opening = base.of_base("Opening");
                (base.of_base("Extended"), base.of_base("Step"), quote!(#opening<__F>))
            }
            None => {
                let lifetime = lifetime(header);
                let opening = quote!(#Private::Opening<#lifetime, __F>);
                (quote!(#Private::Typed), quote!(#Private::Step<#lifetime>), opening)
            }
        };
        let lifetime =
            dependencies.base.is_none().then(|| lifetime(header)).map(|lifetime| quote!(#lifetime,));
        Self {
            flow: quote!(#flow<#lifetime #columns, #id>),
            extended: quote!(#flow<#lifetime __C, __I>),
            columns: columns.into(),
            id,
            step: step.into(),
            opening,
        }
    }
}

/// The lifetime of the compute steps: the first one of the flow, or `'static`.
pub(super) fn lifetime(header: &FlowHeader) -> TokenStream {
    let first = header.generics.lifetimes().next();
    first.map_or_else(|| quote!('static), |param| param.lifetime.to_token_stream())
}
