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
use super::columns::is_typed;

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
        let ty = self.others.struct_arguments().map_or_else(|| quote!(#name), |list| quote!(#name #list));
        let definition = self.columns(&Visibility::Inherited, &name, " The columns of this flow.");
        let (words, columns) = (self.words(), self.impl_columns(&name));
        let mentions = self.inline_mentions(&ty);
        let (steps, all) = if self.others.are_none() {
            (quote!([#(#steps),*]), quote!(#private::Vec::from(steps)))
        } else {
            let modules = self.modules().map(|(module, other)| self.module_steps(module, other));
            let steps = quote!(([#(#steps),*], [#(#modules),*]));
            (steps, quote!(#private::join(#private::Vec::from(steps.0), steps.1)))
        };
        let typed = self.inline_typed(&ty);
        quote! {
            match #steps {
                steps => {
                    #words
                    #definition
                    #columns
                    #mentions
                    #typed
                    #errors
                    #private::Typed::<'_, #ty, #private::Name>::__new(#all)
                }
            }
        }
    }

    /// Makes the steps of typed columns such, now that there are fields that know the types.
    fn inline_typed(&self, columns: &TokenStream) -> TokenStream {
        let own = (!self.others.are_none()).then(|| quote!(.0));
        let typed = self.flow.columns.iter().enumerate().filter(|(_, column)| is_typed(column));
        let typed: TokenStream = typed
            .map(|(at, column)| {
                let step = Self::typed_step(column, columns, quote!(step));
                quote!(steps #own[#at] = steps #own[#at].take().map(|step| #step);)
            })
            .collect();
        if typed.is_empty() { typed } else { quote!(let mut steps = steps; #typed) }
    }

    /// Mentions the columns that are read. A closure knows the parameters around it.
    fn inline_mentions(&self, columns: &TokenStream) -> TokenStream {
        let read = self.flow.columns.iter().filter_map(|column| {
            let views = &column.derived.as_ref()?.views;
            Some(views.iter().map(|view| self.mention(view, &column.name)).collect::<TokenStream>())
        });
        let inputs = self.flow.modules.iter().map(Self::module_mentions);
        quote! {
            #[allow(unexpected_cfgs)]
            let _ = |here: &#columns| { #(#read)* #(#inputs)* };
        }
    }
}
