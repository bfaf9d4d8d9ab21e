//! The constructors of a flow:
//!
//! ```text
//! pub fn new(model: M) -> Self;
//! pub fn open(in_store: impl IntoOpenOptions, model: M) -> Opening<'static, Self>;
//! pub fn __STEPS(model: M) -> Vec<Option<Step<'static>>>;
//! impl Default for Chat { … }
//! ```
//!
//! or, for an extension:
//!
//! ```text
//! pub fn extend(of_base: impl Extends<FeltBase>, model: M) -> <FeltBase as Base>::Opening<Self>;
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;

use super::docs::first_paragraph;
use super::scope::ItemEmitter;
use crate::expand::tokens::{Private, hidden_ident, list};
use crate::ident::ident_text;
use crate::syntax::{BaseDecl, Param};

impl ItemEmitter<'_> {
    pub(super) fn constructors(&self) -> TokenStream {
        let steps = self.fn_steps();
        let constructors = match &self.header.base {
            None => [self.fn_new(), self.fn_open()].into_iter().collect(),
            Some(base) => self.fn_extend(base),
        };
        quote!(#steps #constructors)
    }

    fn fn_new(&self) -> TokenStream {
        let params = self.owned_params();
        let names = self.param_names();
        let docs = self.param_docs();
        quote! {
            /// A new flow, with its values in memory.
            #docs
            pub fn new(#(#params),*) -> Self {
                Self::__OF(#Private::Typed::__new(Self::__STEPS(#(#names),*)))
            }
        }
    }

    fn fn_open(&self) -> TokenStream {
        let params = self.owned_params();
        let names = self.param_names();
        // With this hygiene a parameter of the flow may have the same name.
        let store = Ident::new("in_store", Span::mixed_site());
        let future = self.future();
        quote! {
            /// Opens a flow in a store and resumes from its stored steps.
            ///
            /// # Errors
            ///
            /// If the store cannot be opened or read, if its values are impossible, or if a stored column has changed.
            // A future without generic parameters: rustc would check the parameters of an `async fn` again at each
            // await.
            pub fn open(
                #store: impl #Private::IntoOpenOptions,
                #(#params),*
            ) -> #future {
                #Private::open(#store, Self::__STEPS(#(#names),*), Self::__OF)
            }
        }
    }

    fn fn_extend(&self, base: &BaseDecl) -> TokenStream {
        let params = self.owned_params();
        let names = self.param_names();
        let steps = quote!(Self::__STEPS(#(#names),*));
        // With this hygiene a parameter of the flow may have the same name.
        let local = Ident::new("of_base", Span::mixed_site());
        let future = self.future();
        let (ty, extended) = match &self.emitter.dependencies.base {
            Some(base) => {
                let named = base.unchecked();
                let this = base.of_base("This");
                let borrowed = quote!(#Private::Extends::<#this>::base(&#local));
                let extended =
                    quote!(#Private::extend(#Private::Deref::deref(#borrowed), #steps, Self::__OF));
                (quote!(#Private::Extends<#named>), extended)
            }
            // The base could not be read, which is reported.
            None => (quote!(#Private::Sized), quote!(#Private::broken_extension(#steps, Self::__OF))),
        };
        let name = base.name().map_or_else(String::new, |name| name.unraw().to_string());
        let docs = format!(
            " Continues a `{name}` with these additional columns: with the same values, in the same store."
        );
        let param_docs = self.param_docs();
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
            #param_docs
            pub fn extend(#local: impl #ty, #(#params),*) -> #future {
                #extended
            }
        }
    }

    /// The parameters that have documentation.
    fn param_docs(&self) -> Option<TokenStream> {
        let documented = self.header.params.iter().filter(|param| !param.docs.is_empty());
        let line =
            |param: &Param| format!("- `{}`: {}\n", ident_text(&param.name), first_paragraph(&param.docs));
        let lines: String = documented.map(line).collect();
        let section = format!("# Parameters\n\n{lines}");
        (!lines.is_empty()).then(|| quote!(#[doc = ""] #[doc = #section]))
    }

    /// The compute steps by column, for this flow and for flows that use this one.
    fn fn_steps(&self) -> TokenStream {
        let take = self.owned_params();
        let names = self.param_names();
        let step = &self.types.step;
        // An extension cannot be a module, so no other flow needs its compute steps.
        let vis = self.header.base.is_none().then(|| quote!(pub));
        let derived = self.emitter.flow.columns.iter().filter(|column| column.derived.is_some());
        let functions = derived.map(|column| hidden_ident("STEP_", &column.name));
        // The functions are called through pointers, if their type can be named. With all calls in one body, the
        // compiler would look at what each call drops in a panic.
        let types = self.header.params.iter().map(Param::borrowed);
        let (ty, functions, calls) = if self.header.params.iter().any(Param::is_impl_trait) {
            let call = quote!((#(&#names),*));
            (step.to_token_stream(), quote!(#(Self::#functions #call,)*), quote!(#Private::Clone::clone))
        } else {
            let functions = list(functions.map(|function| format!("Self::{function}")));
            (quote!(fn(#(#types),*) -> #step), functions, quote!(|__step| __step(#(&#names),*)))
        };
        let steps = quote!(#Private::steps::<Self, _, _>(__steps, #calls));
        let steps = if self.emitter.flow.modules.is_empty() {
            steps
        } else {
            let modules = self.emitter.flow.modules.iter().map(|module| {
                let function = hidden_ident("STEP_", &module.name);
                quote!(Self::#function(#(&#names),*))
            });
            quote!(#Private::join(#steps, [#(#modules),*]))
        };
        quote! {
            #[doc(hidden)]
            #vis fn __STEPS(#(#take),*) -> #Private::Vec<#Private::Option<#step>> {
                let __steps: &[#ty] = &[#functions];
                #steps
            }
        }
    }

    /// A clone is the same flow. A derive of the user has bounds on the parameters, and takes the place of this one.
    pub(super) fn impl_clone(&self) -> TokenStream {
        if self.header.derives("Clone") {
            return TokenStream::new();
        }
        let marker = self.marker();
        let head = self.impl_head(&quote!(#Private::Clone for), &self.header.generics);
        quote! {
            #head {
                fn clone(&self) -> Self {
                    let __flow = #Private::Clone::clone(#Private::Deref::deref(self));
                    Self { __flow, #marker }
                }
            }
        }
    }

    pub(super) fn impl_debug(&self) -> TokenStream {
        if self.header.derives("Debug") {
            return TokenStream::new();
        }
        let name = self.header.name.unraw().to_string();
        let head = self.impl_head(&quote!(#Private::core::fmt::Debug for), &self.header.generics);
        quote! {
            #head {
                fn fmt(&self, __f: &mut #Private::core::fmt::Formatter<'_>) -> #Private::core::fmt::Result {
                    #Private::fmt_flow(#name, #Private::Deref::deref(self), __f)
                }
            }
        }
    }

    /// A flow without parameters has a default.
    pub(super) fn impl_default(&self) -> TokenStream {
        // An extension has no `new`: an extension needs a flow that exists.
        if !self.header.params.is_empty() || self.header.base.is_some() {
            return TokenStream::new();
        }
        let head = self.impl_head(&quote!(#Private::Default for), &self.bounded());
        quote! {
            #head {
                fn default() -> Self {
                    Self::new()
                }
            }
        }
    }
}
