//! The enum that names the computed columns in events:
//!
//! ```text
//! pub enum ChatColumn { Topics, … }
//! impl ChatColumn { pub const fn name(self) -> &'static str { const NAMES: … = &["topics", …]; NAMES[self as usize] } }
//! impl Debug for ChatColumn { /* the name as the variant is written */ }
//! impl Display for ChatColumn { /* the name */ }
//! impl ColumnId for ChatColumn { /* from the index of a column */ }
//! impl ColumnEnum for ChatColumn {}
//! ```
//!
//! One variant holds the columns of the base, `Chat(ChatColumn)`, and one variant the columns of each module,
//! `Debate(DebateColumn)`. A base may have other extensions, too, which shift indices, so an extension finds columns by
//! name.
//!
//! An enum without such variants has lists instead of matches: a `match` with many arms and a derived `Debug` are slow
//! to compile.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use crate::expand::dependencies::{Dependencies, Dependency, FlowRole};
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{Private, docs_or, list, located};
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, FlowHeader};

impl Emitter<'_> {
    /// The enum `id` of the computed columns, for the struct `struct_of`.
    pub(super) fn column_enum(&self, header: &FlowHeader, id: &Ident, struct_of: &Ident) -> TokenStream {
        let all = self.flow.columns.iter().enumerate();
        let (derived, without): (Vec<_>, Vec<_>) =
            all.partition(|(_, column)| !column.is_source() && !column.is_duplicate);
        let (indices, columns): (Vec<usize>, Vec<&ColumnDecl>) = derived.into_iter().unzip();
        let without = without.into_iter().map(|(at, _)| at).collect();
        let names: Vec<String> = columns.iter().map(|column| ident_text(&column.name)).collect();
        let dependencies = &self.dependencies;
        let id = Enum { header, id, struct_of, dependencies, indices, without, columns, names };
        let definition = id.definition();
        let implementation = id.implementation();
        quote!(#definition #implementation)
    }
}

/// The enum. The lists are parallel, one item per computed column.
struct Enum<'e> {
    header: &'e FlowHeader,
    id: &'e Ident,
    /// The struct of the columns.
    struct_of: &'e Ident,
    dependencies: &'e Dependencies<'e>,
    indices: Vec<usize>,
    /// The columns that the enum does not name.
    without: Vec<usize>,
    columns: Vec<&'e ColumnDecl>,
    names: Vec<String>,
}

impl Enum<'_> {
    fn definition(&self) -> TokenStream {
        let vis = &self.header.vis;
        let id = self.id;
        let positions = self.columns.iter().map(|column| located(column.keyword.span()));
        let variants = positions.zip(&self.dependencies.variants).map(|(at, name)| Ident::new(name, at));
        let inherited = self.dependencies.base.as_ref().map(variant);
        let modules = self.dependencies.modules.iter().map(variant);
        let params = self.dependencies.own_enum_arguments();
        let debug = (!self.is_plain()).then(|| quote!(#Private::core::fmt::Debug,));
        let docs_of =
            format!(" The computed columns of a [`{}`], which its events name.", self.header.name.unraw());
        let named = self.columns.iter().zip(&self.names);
        let docs = named.map(|(column, name)| docs_or(&column.docs, &format!("The column `{name}`.")));
        quote! {
            #[doc = #docs_of]
            #[derive(
                #Private::core::clone::Clone, #Private::core::marker::Copy, #debug #Private::core::cmp::PartialEq,
                #Private::core::cmp::Eq, #Private::core::cmp::PartialOrd, #Private::core::cmp::Ord,
                #Private::core::hash::Hash,
            )]
            #[allow(non_camel_case_types, unreachable_pub)]
            #vis enum #id #params {
                #inherited
                #(#docs #variants,)*
                #(#modules)*
            }
        }
    }

    fn implementation(&self) -> TokenStream {
        let Self { id, struct_of, dependencies, .. } = self;
        let params = dependencies.enum_params();
        let arguments = dependencies.own_enum_arguments();
        // The name of a column of another flow is behind a trait, so the function is not constant.
        let constant = dependencies.is_empty().then(|| quote!(const));
        let columns = dependencies.struct_arguments_in_enum();
        let name = self.body_of_name();
        let (name_of, of) = self.body_of_of();
        let debug = self.is_plain().then(|| self.impl_debug());
        quote! {
            impl #params #id #arguments {
                /// The name of the column.
                #[allow(dead_code, unreachable_pub)]
                pub #constant fn name(self) -> &'static #Private::str {
                    #name
                }
            }

            #debug

            impl #params #Private::core::fmt::Display for #id #arguments {
                fn fmt(&self, __f: &mut #Private::core::fmt::Formatter<'_>) -> #Private::core::fmt::Result {
                    // Unlike `write_str`, `pad` obeys a width such as `{:10}`.
                    __f.pad(Self::name(*self))
                }
            }

            impl #params #Private::ColumnId for #id #arguments {
                fn __of(__column: #Private::usize, #name_of: &#Private::Name) -> #Private::Option<Self> {
                    #of
                }
            }

            impl #params #Private::ColumnEnum for #id #arguments {
                type Columns = #struct_of #columns;

                fn __name(self) -> &'static #Private::str {
                    Self::name(self)
                }
            }
        }
    }

    /// Whether every variant is the name of the column in camel case. Then `Debug` needs no list of variants.
    fn is_plain(&self) -> bool {
        // `unique_variant` and `camel_case` append a `_` to all other variants.
        self.dependencies.is_empty()
            && self.dependencies.variants.iter().all(|variant| !variant.ends_with('_'))
    }

    /// `Debug`, as a derive would write it.
    fn impl_debug(&self) -> TokenStream {
        let Self { id, .. } = self;
        quote! {
            impl #Private::core::fmt::Debug for #id {
                fn fmt(&self, __f: &mut #Private::core::fmt::Formatter<'_>) -> #Private::core::fmt::Result {
                    #Private::fmt_variant(Self::name(*self), __f)
                }
            }
        }
    }

    fn body_of_name(&self) -> TokenStream {
        let Self { dependencies, names, .. } = self;
        if !dependencies.is_empty() {
            let uses = self.uses();
            let modules = dependencies.modules.iter().map(|module| arm_of_name(module));
            let inherited = dependencies.base.as_ref().map(|base| arm_of_name(base));
            return quote!(match self { #inherited #(Self::#uses => #names,)* #(#modules)* });
        }
        if names.is_empty() {
            return quote!(match self {});
        }
        // Variants without discriminants count from 0, in the order of the names.
        let names = list(names.iter().map(|name| format!("{name:?}")));
        quote! {
            const NAMES: &[&#Private::str] = &[#names];
            NAMES[self as #Private::usize]
        }
    }

    /// The parameter for the name of a column, and how the variant of the column is found.
    fn body_of_of(&self) -> (TokenStream, TokenStream) {
        let Self { dependencies, indices, names, without, .. } = self;
        let uses = self.uses();
        if dependencies.is_empty() {
            let variants = list(uses.iter().map(|variant| format!("Self::{variant}")));
            return (quote!(_), quote!(#Private::listed(&[#variants], &[#(#without),*], __column)));
        }
        let mut modules = dependencies.modules.iter().map(|module| {
            let variant = module.variant();
            let name = ident_text(module.name());
            let ty = module.associated_in_definition("ColumnOf");
            quote!(<#ty as #Private::ColumnEnum>::__of_module(#name, __name).map(Self::#variant))
        });
        let first = modules.next().unwrap_or_else(|| quote!(#Private::None));
        let otherwise = quote!(#first #(.or_else(|| #modules))*);
        let found = uses.iter().map(|variant| quote!(#Private::Some(Self::#variant)));
        let Some(base) = &dependencies.base else {
            return (quote!(__name), quote!(match __column { #(#indices => #found,)* _ => #otherwise, }));
        };
        let variant = base.variant();
        let ty = base.associated_in_definition("ColumnOf");
        let of = quote! {
            if let #Private::Some(__column) = <#ty as #Private::ColumnId>::__of(__column, __name) {
                return #Private::Some(Self::#variant(__column));
            }
            match #Private::Name::as_str(__name) {
                #(#names => #found,)*
                _ => #otherwise,
            }
        };
        (quote!(__name), of)
    }

    /// The variants for bodies of functions. A span among the user's lines makes incremental compilation fail there,
    /// once lines above the span are removed; only the declaration may have such a span.
    fn uses(&self) -> Vec<Ident> {
        let variants = self.dependencies.variants.iter();
        variants.map(|variant| Ident::new(variant, Span::call_site())).collect()
    }
}

/// The variant for the columns of another flow. The field has no position: derives copy the field into bodies.
fn variant(dependency: &Dependency<'_>) -> TokenStream {
    let variant = dependency.variant();
    let name = dependency.name().unraw();
    let ty = dependency.associated_in_definition("ColumnOf");
    let docs = match dependency.role {
        FlowRole::Base => format!(" A column of the `{name}` that is extended."),
        FlowRole::Module(_) => format!(" A column of the module `{name}`."),
    };
    quote!(#[doc = #docs] #variant(#ty),)
}

fn arm_of_name(dependency: &Dependency<'_>) -> TokenStream {
    let variant = dependency.variant();
    let name = quote!(#Private::ColumnEnum::__name(__column));
    let name = match dependency.role {
        FlowRole::Base => name,
        FlowRole::Module(module) => {
            let module = ident_text(&module.name);
            quote!(<Self as #Private::ColumnEnum>::__name_in(#module, #name))
        }
    };
    quote!(Self::#variant(__column) => #name,)
}
