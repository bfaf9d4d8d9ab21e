//! The constructors of a flow:
//!
//! ```text
//! pub fn new(model: M) -> Self;
//! pub async fn open(store: impl IntoOpenOptions, model: M) -> Result<Self>;
//! pub fn __STEPS(model: M) -> Vec<Option<Step<'static>>>;
//! impl Default for Chat { … }
//! ```
//!
//! or, for an extension:
//!
//! ```text
//! pub async fn extend(base: impl Borrow<FeltBase>, model: M) -> Result<Self>;
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;

use super::scope::Item;
use crate::expand::tokens::{hidden_ident, list};
use crate::syntax::{Base, Param};

impl Item<'_> {
    pub(super) fn constructors(&self) -> TokenStream {
        let steps = self.fn_steps();
        let constructors = match &self.header.base {
            None => [self.fn_new(), self.fn_open()].into_iter().collect(),
            Some(base) => self.fn_extend(base),
        };
        quote!(#steps #constructors)
    }

    fn fn_new(&self) -> TokenStream {
        let private = &self.emitter.private;
        let (vis, params, names) = (&self.header.vis, self.owned_params(), self.param_names());
        quote! {
            /// A new flow, with its values in memory.
            #vis fn new(#(#params),*) -> Self {
                let flow = #private::Typed::__new(Self::__STEPS(#(#names),*));
                Self { __flow: flow, __marker: ::core::marker::PhantomData }
            }
        }
    }

    fn fn_open(&self) -> TokenStream {
        let private = &self.emitter.private;
        let (vis, params, names) = (&self.header.vis, self.owned_params(), self.param_names());
        // With this hygiene a parameter of the flow may have the same name.
        let store = Ident::new("store", Span::mixed_site());
        let local = Ident::new("steps", Span::mixed_site());
        quote! {
            /// Opens a flow in a store and resumes from its stored steps.
            ///
            /// # Errors
            ///
            /// If the store cannot be opened or read, if its values are impossible, or if a stored column has changed.
            #vis async fn open(#store: impl #private::IntoOpenOptions, #(#params),*) -> #private::Result<Self> {
                // The parameters end here, so that the future need not hold them.
                let #local = Self::__STEPS(#(#names),*);
                let flow = #private::Typed::__open(#store, #local).await?;
                #private::Result::Ok(Self { __flow: flow, __marker: ::core::marker::PhantomData })
            }
        }
    }

    fn fn_extend(&self, base: &Base) -> TokenStream {
        let private = &self.emitter.private;
        let (vis, params, names) = (&self.header.vis, self.owned_params(), self.param_names());
        let steps = quote!(Self::__STEPS(#(#names),*));
        // With this hygiene a parameter of the flow may have the same name.
        let (local, flow) = (Ident::new("base", Span::mixed_site()), &self.types.flow);
        let (ty, extended) = match &self.emitter.dependencies.base {
            Some(base) => {
                let ty = base.ty();
                let borrowed = quote!(#private::Borrow::<#ty>::borrow(&#local));
                let extended = quote!(#private::extend(#private::Deref::deref(#borrowed), #steps));
                (quote!(#private::Borrow<#ty>), extended)
            }
            // The base could not be read, which is reported.
            None => {
                let flow = quote!(#private::Result::Ok(<#flow>::__new(#steps)));
                (quote!(::core::marker::Sized), quote!(::core::future::ready::<#private::Result<_>>(#flow)))
            }
        };
        let name = base.name().map_or_else(String::new, |name| name.unraw().to_string());
        let docs = format!(
            " Continues a `{name}` with these additional columns: with the same values, in the same store."
        );
        quote! {
            #[doc = #docs]
            ///
            /// The current run, or else the next one, computes the new columns from step 0 on; the others do not
            /// change. The extended flow remains another handle of the same flow.
            ///
            /// # Errors
            ///
            /// If the flow already has a column with one of these names, or if the store cannot be read. Then
            /// nothing has changed.
            #vis async fn extend(#local: impl #ty, #(#params),*) -> #private::Result<Self> {
                // The base and the parameters end here, so that the future need not hold them.
                let extended = {
                    let #local = #local;
                    #extended
                };
                let flow = extended.await?;
                #private::Result::Ok(Self { __flow: flow, __marker: ::core::marker::PhantomData })
            }
        }
    }

    /// The compute steps by column, for this flow and for flows that use it.
    fn fn_steps(&self) -> TokenStream {
        let private = &self.emitter.private;
        let (take, names, step) = (self.owned_params(), self.param_names(), &self.types.step);
        // An extension cannot be a module, so no other flow needs its compute steps.
        let vis = self.header.base.is_none().then_some(&self.header.vis);
        let derived = self.emitter.flow.columns.iter().filter(|column| column.derived.is_some());
        let functions = derived.map(|column| hidden_ident("", &column.name));
        // The functions are called through pointers, if their type can be named. With all calls in one body the
        // compiler would look at what each drops if it panics.
        let types = self.header.params.iter().map(Param::ty);
        let (ty, functions, calls) = if self.header.params.iter().any(Param::is_impl_trait) {
            let call = quote!((#(&#names),*));
            (step.to_token_stream(), quote!(#(Self::#functions #call,)*), quote!(step.clone()))
        } else {
            let functions = list(functions.map(|function| format!("Self::{function}")));
            (quote!(fn(#(&#types),*) -> #step), functions, quote!(step(#(&#names),*)))
        };
        let steps = quote!(#private::steps::<Self, _>(steps.iter().map(|step| #calls)));
        let steps = if self.emitter.flow.modules.is_empty() {
            steps
        } else {
            let modules = self.emitter.flow.modules.iter().map(|module| {
                let function = hidden_ident("", &module.name);
                quote!(Self::#function(#(&#names),*))
            });
            quote!(#private::join(#steps, [#(#modules),*]))
        };
        quote! {
            #[doc(hidden)]
            #vis fn __STEPS(#(#take),*) -> #private::Vec<#private::Option<#step>> {
                let steps: &[#ty] = &[#functions];
                #steps
            }
        }
    }

    /// A flow without parameters has a default.
    pub(super) fn impl_default(&self) -> TokenStream {
        // An extension has no `new`: it extends a flow that exists.
        if !self.header.params.is_empty() || self.header.base.is_some() {
            return TokenStream::new();
        }
        let private = &self.emitter.private;
        let head = self.impl_head(&quote!(#private::Default for), &self.bounded());
        quote! {
            #head {
                fn default() -> Self {
                    Self::new()
                }
            }
        }
    }
}
