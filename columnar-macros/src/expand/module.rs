//! What a flow has for each flow that it uses:
//!
//! ```text
//! impl Chat {
//!     fn __debate() -> Vec<Step<'static>> { lend(Debate::__STEPS()) }
//!     fn __READS_debate(here: &ChatColumns) { let _ = here.debate.topic; let _ = here.user; }
//! }
//! impl ChatColumns {
//!     const __AT_debate: Place = Place::__new(2, &<… as Columns>::GRAPH);
//!     const __USE_debate: Used =
//!         Used::__new("debate", Self::__AT_debate, &[(Self::__AT_debate.__source("topic"), Self::__HERE_user.__column())]);
//! }
//! ```

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::composed::{here, mention};
use super::other::{Other, Role};
use super::{Emission, again, at, docs_or, hidden, literal};
use crate::syntax::Module;

impl Emission<'_> {
    /// The modules, each with its types.
    pub(super) fn modules(&self) -> impl Iterator<Item = (&Module, &Other<'_>)> {
        self.others.modules.iter().filter_map(|other| match other.role {
            Role::Module(module) => Some((module, other)),
            Role::Extended => None,
        })
    }

    /// Where the modules have their columns, and what their inputs are.
    pub(super) fn module_constants(&self, first: &TokenStream) -> TokenStream {
        let private = &self.private;
        let mut first = first.clone();
        let constants = self.modules().map(|(module, other)| {
            let (place, used) = (hidden("AT_", &module.name), hidden("USE_", &module.name));
            let (columns, name) = (other.inner_part("Columns"), self.name(&module.name, &module.keyword));
            let inputs = module.inputs.iter().filter_map(|input| {
                let (name, column) = (literal(&input.name), here(input.read()?, &input.name));
                let name = quote_spanned!(at(input.name.span())=> Self::#place.__source(#name));
                Some(quote!((#name, Self::#column.__column())))
            });
            let constants = quote! {
                const #place: #private::Place =
                    #private::Place::__new(#first, &<#columns as #private::Columns>::GRAPH);
                const #used: #private::Used =
                    #private::Used::__new(#name, Self::#place, &[#(#inputs),*]);
            };
            first = quote!(Self::#place.__end());
            constants
        });
        constants.collect()
    }

    /// The compute steps of a module, of arguments that are in scope.
    ///
    /// The trait is for what is no flow, of which that alone is to be told.
    pub(super) fn module_steps(&self, module: &Module, other: &Other<'_>) -> TokenStream {
        let private = &self.private;
        if !module.is_complete {
            return quote!(#private::vec![]);
        }
        let arguments = match &module.arguments {
            Some(arguments) => arguments.clone(),
            None => {
                let mut none = Group::new(Delimiter::Parenthesis, TokenStream::new());
                none.set_span(module.keyword.span());
                none
            }
        };
        let steps = Ident::new("__STEPS", module.keyword.span());
        let types = (0..count(&arguments)).map(|at| format_ident!("__A{at}", span = Span::mixed_site()));
        let types: Vec<Ident> = types.collect();
        // From here to the keyword is what rustc underlines, and behind it what it proposes.
        let path = other.path();
        let end = path.to_token_stream().into_iter().last().map_or(module.keyword.span(), |last| last.span());
        let path = quote_spanned!(end=> <#path>);
        quote! {{
            #[allow(dead_code, non_snake_case)]
            trait __Otherwise {
                fn __STEPS<'a #(, #types)*>(#(_: #types),*) -> #private::Vec<#private::Option<#private::Step<'a>>> {
                    #private::vec![]
                }
            }
            impl<T> __Otherwise for T {}
            #private::lend(#path::#steps #arguments)
        }}
    }

    /// Mentions the inputs of a module, and the columns that they are.
    pub(super) fn module_mentions(module: &Module) -> TokenStream {
        let name = again(&module.name);
        let inputs = module.inputs.iter().map(|input| {
            let source = &input.name;
            let column = input.column.as_ref().map(|column| mention(column, &input.name));
            quote!(let _ = here.#name.#source; #column)
        });
        inputs.collect()
    }

    /// Their fields, bound to a flow.
    pub(super) fn module_binds(&self) -> TokenStream {
        let private = &self.private;
        let binds = self.modules().map(|(module, other)| {
            let (field, name, columns) =
                (again(&module.name), literal(&module.name), other.inner_part("Columns"));
            let inputs = module.inputs.iter().filter_map(|input| {
                let (input, column) = (literal(&input.name), input.read()?.name());
                Some(quote!((#input, #column)))
            });
            quote!(#field: <#columns as #private::Columns>::__bind(&flow.__module(#name, &[#(#inputs),*])),)
        });
        binds.collect()
    }

    pub(super) fn module_fields(&self) -> TokenStream {
        let fields = self.modules().map(|(module, other)| {
            let (name, columns) = (&module.name, other.inner_part("Columns"));
            let docs = docs_or(&module.docs, &module.keyword, &format!("The module `{}`.", literal(name)));
            quote!(#docs pub #name: #columns,)
        });
        fields.collect()
    }
}

/// How many arguments there are.
fn count(arguments: &Group) -> usize {
    let (mut count, mut is_begun) = (0, false);
    for tree in arguments.stream() {
        let is_comma = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == ',');
        count += usize::from(!is_comma && !is_begun);
        is_begun = !is_comma;
    }
    count
}
