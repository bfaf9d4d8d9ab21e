//! Parts of the struct of the columns that every flow has.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::expand::emitter::{Emitter, call_at_type};
use crate::expand::generics::TypeParam;
use crate::expand::tokens::{Private, Tokens, docs_or};
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, EarlierName, TypeDecl};

/// The parts that differ with the dependencies of a flow.
pub(super) struct ColumnsParts {
    /// The constants that the graph mentions.
    pub(super) constants: TokenStream,
    /// The graph of the columns of this flow: each column, with the number of literal views and of constant lists before it;
    /// the literal views; the lists of views, one for each column that has a constant view; and the order.
    pub(super) graph: TokenStream,
    /// The body of the function that binds the columns to a flow.
    pub(super) bind: TokenStream,
}

impl Emitter<'_> {
    pub(super) fn field(&self, column: &ColumnDecl) -> TokenStream {
        let name = &column.name;
        let ty = self.field_type(column);
        let kind = if column.derived.is_some() { "column" } else { "source" };
        let docs = docs_or(&column.docs, &format!("The {kind} `{}`.", ident_text(name)));
        quote!(#docs pub #name: #ty,)
    }

    fn field_type(&self, column: &ColumnDecl) -> Tokens {
        let untyped = untyped(column);
        let Some(TypeDecl { ty, is_partial, .. }) = &column.ty else { return untyped };
        match self.dependencies.types.iter().find(|param| *param.column == column.name) {
            Some(TypeParam { param, .. }) => quote!(#untyped<#param>).into(),
            // The error in a partial or missing type is reported.
            None if column.is_source() && (*is_partial || ty.is_empty()) => {
                quote!(#untyped<#Private::Documents>).into()
            }
            None if *is_partial => untyped,
            None => quote!(#untyped<#ty>).into(),
        }
    }

    /// The sources of documents, as a call on the graph.
    pub(super) fn documents(&self) -> Option<TokenStream> {
        let columns = self.flow.columns.iter().enumerate();
        let documents = columns.filter(|(_, column)| column.has_documents()).map(|(at, _)| at);
        let documents: Vec<usize> = documents.collect();
        (!documents.is_empty()).then(|| quote!(.__documents(&[#(#documents),*])))
    }

    /// The earlier names of columns, as a call on the graph.
    pub(super) fn renames(&self) -> Option<TokenStream> {
        let columns = self.flow.columns.iter().enumerate();
        let renames = columns.filter_map(|(at, column)| {
            let EarlierName { keyword, name } = column.renamed_from.as_ref()?;
            Some(quote!(#Private::RenamedFrom::#keyword(#at, #name)))
        });
        let renames: Vec<TokenStream> = renames.collect();
        (!renames.is_empty()).then(|| quote!(.__renames(&[#(#renames),*])))
    }
}

/// The type of a field, without the type of the values.
pub(super) fn untyped(column: &ColumnDecl) -> Tokens {
    if column.derived.is_some() { quote!(#Private::Derived) } else { quote!(#Private::Source) }.into()
}

/// The call that makes a column a column of the declared type.
pub(super) fn typed(column: &ColumnDecl) -> Option<TokenStream> {
    let ty = column.ty.as_ref()?;
    Some(if column.is_source() {
        call_at_type(column, ty, "__of", &quote_spanned!(ty.colon=> Self))
    } else {
        quote!(.__typed())
    })
}

/// Whether the values of a column are more than text.
pub(in crate::expand) fn is_typed(column: &ColumnDecl) -> bool {
    !column.is_source() && column.ty.is_some()
}
