//! The inline form, an expression:
//!
//! ```text
//! match [None, Some(column(prompt("…")))] {
//!     steps => {
//!         /* the struct of the columns, as in the item form, named Columns */
//!         Typed::<Columns, Name>::__new(Vec::from(steps))
//!     }
//! }
//! ```
//!
//! The compute steps stand outside the block with the struct, so that they see the user's types and
//! not ours.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Visibility;

use super::Emission;

impl Emission<'_> {
    pub(super) fn inline(&self, errors: &TokenStream) -> TokenStream {
        let private = &self.private;
        let name = Ident::new("Columns", Span::mixed_site());
        let steps = self.flow.columns.iter().map(|column| match &column.derived {
            None => quote!(#private::None),
            Some(derived) => {
                let step = self.step(&column.keyword, derived);
                quote!(#private::Some(#step))
            }
        });
        let definition = self.columns(&Visibility::Inherited, &name, " The columns of this flow.");
        let (words, columns) = (self.words(), self.impl_columns(&name));
        quote! {
            match [#(#steps),*] {
                steps => {
                    #words
                    #definition
                    #columns
                    #errors
                    #private::Typed::<'_, #name, #private::Name>::__new(#private::Vec::from(steps))
                }
            }
        }
    }
}
