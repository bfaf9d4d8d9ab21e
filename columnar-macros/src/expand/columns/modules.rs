//! The parts of a flow for each of its modules:
//!
//! ```text
//! impl Chat {
//!     fn __debate() -> Vec<Step<'static>> { lend(Debate::__STEPS()) }
//!     fn __READS_debate(here: &ChatColumns) {
//!         type __Inputs = <__ChatDebate as Module>::Inputs;
//!         let _ = __Inputs { topic: { let _ = here.user; } };
//!     }
//! }
//! impl ChatColumns {
//!     const __AT_debate: ModuleColumns = ModuleColumns::__new(2, &<… as Columns>::GRAPH);
//!     const inputs_of_debate: Used =
//!         Used::__new("debate", Self::__AT_debate, &[("topic", Self::__HERE_user.__column())]);
//! }
//! ```
//!
//! The inputs are fields of a struct, so rustc finds the missing and the unknown ones, and editors complete them.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::views::{constant_of, mention_column};
use crate::expand::dependencies::{Dependency, FlowRole, InputsAlias};
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{Private, constant_ident, docs_or, hidden_ident, unlocated};
use crate::ident::ident_text;
use crate::syntax::{ModuleDecl, is_punct};

impl Emitter<'_> {
    /// The modules, each with its types.
    pub(in crate::expand) fn modules(&self) -> impl Iterator<Item = (&ModuleDecl, &Dependency<'_>)> {
        self.dependencies.modules.iter().filter_map(|dependency| match dependency.role {
            FlowRole::Module(module) => Some((module, dependency)),
            FlowRole::Base => None,
        })
    }

    /// The indices of the columns of each module, from `first` on, and the columns that are bound to the inputs of the
    /// module.
    pub(super) fn module_constants(&self, first: &TokenStream) -> TokenStream {
        let mut first = first.clone();
        let constants = self.modules().map(|(module, dependency)| {
            let columns_of = hidden_ident("AT_", &module.name);
            let used = constant_ident("inputs", &module.name);
            let columns = dependency.associated_in_definition("ColumnsOf");
            let name = ident_text(&module.name);
            let inputs = module.inputs.iter().filter_map(|input| {
                let column = constant_of(input.read()?, &input.name);
                let name = ident_text(&input.name);
                Some(quote!((#name, Self::#column.__column())))
            });
            let constants = quote! {
                const #columns_of: #Private::ModuleColumns =
                    #Private::ModuleColumns::__new(#first, &<#columns as #Private::Columns>::GRAPH);
                const #used: #Private::Used =
                    #Private::Used::__new(#name, Self::#columns_of, &[#(#inputs),*]);
            };
            first = quote!(Self::#columns_of.__end());
            constants
        });
        constants.collect()
    }

    /// The fields of the modules, bound to a flow.
    pub(super) fn module_binds(&self) -> TokenStream {
        let binds = self.modules().map(|(module, dependency)| {
            let field = unlocated(&module.name);
            let name = ident_text(&module.name);
            let columns = dependency.associated_in_definition("ColumnsOf");
            let inputs = module.inputs.iter().filter_map(|input| {
                let column = input.read()?.name();
                let input = ident_text(&input.name);
                Some(quote!((#input, #column)))
            });
            quote!(#field: <#columns as #Private::Columns>::__bind(&__FLOW.__module(#name, &[#(#inputs),*])),)
        });
        binds.collect()
    }

    pub(super) fn module_fields(&self) -> TokenStream {
        let fields = self.modules().map(|(module, dependency)| {
            let name = &module.name;
            let columns = dependency.associated_in_definition("ColumnsOf");
            let docs = docs_or(&module.docs, &format!("The module `{}`.", ident_text(name)));
            quote!(#docs pub #name: #columns,)
        });
        fields.collect()
    }
}

/// The compute steps of a module, made from arguments that are in scope.
///
/// The local trait gives every type a `__STEPS`, so that a path that names no flow is a single error.
pub(in crate::expand) fn module_steps(module: &ModuleDecl, dependency: &Dependency<'_>) -> TokenStream {
    if !module.is_complete {
        return quote!(#Private::vec![]);
    }
    let arguments = module.arguments.clone().unwrap_or_else(|| {
        let mut none = Group::new(Delimiter::Parenthesis, TokenStream::new());
        none.set_span(module.keyword.span());
        none
    });
    let steps = Ident::new("__STEPS", module.keyword.span());
    let types = (0..count(&arguments)).map(|at| format_ident!("__A{at}", span = Span::mixed_site()));
    let types: Vec<Ident> = types.collect();
    // rustc underlines from the angle brackets to the keyword, and suggests changes after the keyword.
    let path = dependency.path;
    let flow = dependency.unchecked();
    let end = path.to_token_stream().into_iter().last().map_or(module.keyword.span(), |last| last.span());
    let path = quote_spanned!(end=> <#flow>);
    quote! {{
        #[allow(dead_code, non_snake_case)]
        // rustc prefers an inherent function to a function of a trait, so a flow always has the inherent one.
        trait __Otherwise {
            fn __STEPS<'a #(, #types)*>(#(_: #types),*) -> #Private::Vec<#Private::Option<#Private::Step<'a>>> {
                #Private::vec![]
            }
        }
        impl<T> __Otherwise for T {}
        #Private::lend(#path::#steps #arguments)
    }}
}

/// Mentions the inputs of a module, and the columns bound to them.
pub(in crate::expand) fn module_mentions(module: &ModuleDecl, dependency: &Dependency<'_>) -> TokenStream {
    let name = unlocated(&module.name);
    let inputs = module.inputs.iter().map(|input| {
        let column = input.column.as_ref().map(|column| mention_column(column, &input.name));
        (input, column)
    });
    let mentions = inputs.clone().map(|(input, column)| {
        let source = &input.name;
        let typed = input.column.as_ref();
        let typed = typed.filter(|column| !column.is_valid() && column.name() == ident_text(source));
        let typed = typed.and_then(|_| typed_input(dependency, source));
        quote!(#typed let _ = __here.#name.#source; #column)
    });
    let Some(InputsAlias { definition, path }) = dependency.inputs(module.keyword.span()) else {
        return mentions.collect();
    };
    // The expansion without a marker has an identifier, too.
    let none = Ident::new("__", Span::call_site());
    let typed = typed_input(dependency, module.missing.as_ref().unwrap_or(&none));
    let fields = inputs.map(|(input, column)| {
        let source = &input.name;
        quote!(#source: { #column },)
    });
    // Inputs that could not be read are reported, so they do not count as missing.
    let others = (!module.is_complete).then(|| quote!(..#Private::broken_inputs()));
    let mut literal = Group::new(Delimiter::Brace, quote!(#(#fields)* #others));
    // rustc suggests a field if the literal is the user's.
    literal.set_span(module.keyword.span());
    quote! {
        #[cfg(rust_analyzer)]
        let _ = || { #(#mentions)* #typed };
        #[cfg(not(rust_analyzer))]
        let _ = || {
            #definition
            let _ = #path #literal;
        };
    }
}

/// An input of a module that is not typed yet, which an editor completes.
fn typed_input(dependency: &Dependency<'_>, name: &Ident) -> Option<TokenStream> {
    let InputsAlias { definition, path } = dependency.inputs(Span::call_site())?;
    Some(quote! {
        #[cfg(rust_analyzer)]
        let _ = || {
            #definition
            let _ = #Private::broken_inputs::<#path>().#name;
        };
    })
}

/// The number of arguments.
fn count(arguments: &Group) -> usize {
    let mut count = 0;
    let mut is_inside = false;
    for tree in arguments.stream() {
        let is_comma = is_punct(&tree, ',');
        count += usize::from(!is_comma && !is_inside);
        is_inside = !is_comma;
    }
    count
}
