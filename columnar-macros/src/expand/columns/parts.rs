//! Parts of the struct of the columns that every flow has.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::expand::emitter::Emitter;
use crate::expand::generics::TypeParam;
use crate::expand::tokens::{Tokens, docs_or};
use crate::ident::ident_text;
use crate::syntax::{Column, RenamedFrom};

impl Emitter<'_> {
    pub(super) fn field(&self, column: &Column) -> TokenStream {
        let (name, ty) = (&column.name, self.field_type(column));
        let kind = if column.derived.is_some() { "column" } else { "source" };
        let docs = docs_or(&column.docs, &column.keyword, &format!("The {kind} `{}`.", ident_text(name)));
        quote!(#docs pub #name: #ty,)
    }

    fn field_type(&self, column: &Column) -> Tokens {
        let untyped = self.untyped(column);
        let Some(ty) = column.derived.as_ref().and_then(|derived| derived.ty.as_ref()) else {
            return untyped;
        };
        match self.dependencies.types.iter().find(|param| *param.column == column.name) {
            Some(TypeParam { param, .. }) => quote!(#untyped<#param>).into(),
            // The error in a partial type is reported.
            None if ty.is_partial => untyped,
            None => {
                let ty = &ty.ty;
                quote!(#untyped<#ty>).into()
            }
        }
    }

    /// The type of a field, without the type of the values.
    pub(super) fn untyped(&self, column: &Column) -> Tokens {
        let private = self.private;
        if column.derived.is_some() { quote!(#private::Derived) } else { quote!(#private::Source) }.into()
    }

    /// The name of the struct alone. A derive would make the compiler look at each field.
    pub(super) fn impl_debug(
        name: &Ident,
        params: Option<&TokenStream>,
        arguments: Option<&TokenStream>,
    ) -> TokenStream {
        let text = ident_text(name);
        quote! {
            impl #params ::core::fmt::Debug for #name #arguments {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(#text).finish_non_exhaustive()
                }
            }
        }
    }

    pub(super) fn fn_plan(&self) -> TokenStream {
        let private = self.private;
        quote! {
            fn __plan() -> &'static #private::TypePlan {
                // A generic impl has this static once, for all arguments; their graphs are the same.
                static PLAN: #private::TypePlan = #private::TypePlan::new();
                &PLAN
            }
        }
    }

    /// The earlier names of columns, as a call on the graph.
    pub(super) fn renames(&self) -> Option<TokenStream> {
        let private = self.private;
        let columns = self.flow.columns.iter().enumerate();
        let renames = columns.filter_map(|(at, column)| {
            let RenamedFrom { keyword, name } = column.renamed_from.as_ref()?;
            Some(quote!(#private::RenamedFrom::#keyword(#at, #name)))
        });
        let renames: Vec<TokenStream> = renames.collect();
        (!renames.is_empty()).then(|| quote!(.__renames(&[#(#renames),*])))
    }
}

/// The call that makes a column one of its type.
pub(super) fn typed(column: &Column) -> Option<TokenStream> {
    is_typed(column).then(|| quote!(.__typed()))
}

/// Whether the values of a column are more than text.
pub(in crate::expand) fn is_typed(column: &Column) -> bool {
    column.derived.as_ref().is_some_and(|derived| derived.ty.is_some())
}
