//! The inline form, an expression:
//!
//! ```text
//! "a flow without a header is …" | Inline(match [None, Some(column(prompt("…")))] {
//!     __steps => {
//!         /* the struct of the columns, as in the item form, named Columns */
//!         Typed::<Columns, Name>::__new(inline_steps(__steps))
//!     }
//! })
//! ```
//!
//! The compute steps are outside the block with the struct, so that the steps see the types of the user and not ours.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{LitStr, Visibility};

use super::columns::{is_typed, module_mentions, module_steps};
use super::emitter::{Emitter, type_of_step};
use super::tokens::{Private, located};

pub(super) fn expand(emitter: &Emitter<'_>, first: Span, errors: &TokenStream) -> TokenStream {
    // No macro knows where it is called. Where rustc expects items, it prints the first token of an expression.
    let words = LitStr::new(NO_HEADER, located(first));
    let name = Ident::new("Columns", Span::mixed_site());
    let steps = emitter.flow.columns.iter().map(|column| match &column.derived {
        None => quote!(#Private::None),
        Some(derived) => {
            let step = emitter.step(column, derived);
            quote!(#Private::Some(#step))
        }
    });
    let ty =
        emitter.dependencies.struct_arguments().map_or_else(|| quote!(#name), |list| quote!(#name #list));
    let definition = emitter.columns(&Visibility::Inherited, &name, " The columns of this flow.");
    let completions = emitter.completions();
    let columns = emitter.impl_columns(&name);
    let mentions = emitter.inline_mentions(&ty);
    let (steps, all) = if emitter.dependencies.is_empty() {
        (quote!([#(#steps),*]), quote!(#Private::inline_steps(__steps)))
    } else {
        let modules = emitter.modules().map(|(module, dependency)| module_steps(module, dependency));
        let steps = quote!(([#(#steps),*], [#(#modules),*]));
        (steps, quote!(#Private::join(#Private::inline_steps(__steps.0), __steps.1)))
    };
    let typed = emitter.inline_typed(&ty);
    quote! {
        #words | #Private::Inline(match #steps {
            __steps => {
                #completions
                #definition
                #columns
                #mentions
                #typed
                #errors
                #Private::Typed::<'_, #ty, #Private::Name>::__new(#all)
            }
        })
    }
}

impl Emitter<'_> {
    /// Gives the steps of typed columns the declared types, which only the fields of the struct know.
    fn inline_typed(&self, columns: &TokenStream) -> TokenStream {
        let own = (!self.dependencies.is_empty()).then(|| quote!(.0));
        let typed = self.flow.columns.iter().enumerate().filter(|(_, column)| is_typed(column));
        let typed: TokenStream = typed
            .map(|(at, column)| {
                let ty = type_of_step(column, columns);
                quote!(#Private::with_type(&mut __steps #own[#at], |__step| __step #ty);)
            })
            .collect();
        if typed.is_empty() { typed } else { quote!(let mut __steps = __steps; #typed) }
    }

    /// Mentions the columns that are read. A closure, unlike a function, can name the parameters around it.
    fn inline_mentions(&self, columns: &TokenStream) -> TokenStream {
        let read = self.flow.columns.iter().filter_map(|column| {
            let views = &column.derived.as_ref()?.views;
            Some(views.iter().map(|view| self.mention(view, &column.name)).collect::<TokenStream>())
        });
        let inputs = self.modules().map(|(module, dependency)| module_mentions(module, dependency));
        quote! {
            #[allow(unexpected_cfgs)]
            let _ = |__here: &#columns| { #(#read)* #(#inputs)* };
        }
    }
}

// Messages.

/// rustc prints it inside a sentence, on one line and in backticks.
const NO_HEADER: &str = "a flow without a header is an expression: write pub struct Chat { ... } around it, or let chat = flow! { ... }; in a function";
