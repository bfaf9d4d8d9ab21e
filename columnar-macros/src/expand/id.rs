//! The enum that names the derived columns in events:
//!
//! ```text
//! pub enum ChatColumn { Topics, … }
//! impl ChatColumn { pub const fn name(self) -> &'static str { match self { Self::Topics => "topics", … } } }
//! impl Display for ChatColumn { /* the name */ }
//! impl ColumnId for ChatColumn { fn __of(column: usize, _: &Name) -> Self { match column { 1 => Self::Topics, … } } }
//! ```

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use super::{Emission, at, docs_or, literal};
use crate::name::camel;
use crate::syntax::{Column, Header};

impl Emission<'_> {
    pub(super) fn id(&self, header: &Header, id: &Ident) -> TokenStream {
        let private = &self.private;
        let vis = &header.vis;
        let columns = self.flow.columns.iter().enumerate().filter(|(_, column)| column.derived.is_some());
        let (indices, derived): (Vec<usize>, Vec<&Column>) = columns.unzip();
        let names: Vec<String> = derived.iter().map(|column| literal(&column.name)).collect();
        let variants = variants(&derived);
        // Inside a body, a place among the user's lines makes incremental compilation fail when lines
        // above it go; only the declaration may point there.
        let uses: Vec<Ident> =
            variants.iter().map(|variant| Ident::new(&variant.to_string(), Span::call_site())).collect();
        let docs = derived
            .iter()
            .zip(&names)
            .map(|(column, name)| docs_or(column, &format!("The column `{name}`.")));
        let docs_of =
            format!(" The computed columns of a [`{}`], as its events name them.", header.name.unraw());
        quote! {
            #[doc = #docs_of]
            #[derive(
                ::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq,
                ::core::cmp::Eq, ::core::cmp::PartialOrd, ::core::cmp::Ord, ::core::hash::Hash,
            )]
            #[allow(non_camel_case_types, unreachable_pub)]
            #vis enum #id {
                #(#docs #variants,)*
            }

            impl #id {
                /// The name of the column.
                #[allow(dead_code, unreachable_pub)]
                #vis const fn name(self) -> &'static str {
                    match self {
                        #(Self::#uses => #names,)*
                    }
                }
            }

            impl ::core::fmt::Display for #id {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.pad(self.name())
                }
            }

            impl #private::ColumnId for #id {
                fn __of(column: usize, _: &#private::Name) -> Self {
                    match column {
                        #(#indices => Self::#uses,)*
                        _ => ::core::unreachable!(),
                    }
                }
            }
        }
    }
}

/// The columns as variants, told apart where two names become the same.
fn variants(columns: &[&Column]) -> Vec<Ident> {
    let mut taken = HashSet::new();
    let tell_apart = |column: &&Column| {
        let mut variant = camel(&literal(&column.name));
        while !taken.insert(variant.clone()) {
            variant.push('_');
        }
        Ident::new(&variant, at(column.keyword.span()))
    };
    columns.iter().map(tell_apart).collect()
}
