//! The enum that names the derived columns in events:
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
//! One variant holds the columns of the flow that is extended: `Chat(ChatColumn)`, and one those of each module:
//! `Debate(DebateColumn)`. Others may have extended a flow, too, so in an extension a column is known by its name.
//!
//! An enum without such variants has lists: a `match` of many arms costs the compiler much, and so does a derived `Debug`.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use super::other::{Other, Others, Role, tell_apart};
use super::{Emission, Tokens, at, docs_or, list, literal};
use crate::syntax::{Column, Header};

impl Emission<'_> {
    /// The enum `id`, which goes with the struct `columns`.
    pub(super) fn id(&self, header: &Header, id: &Ident, columns: &Ident) -> TokenStream {
        let is_named = |column: &Column| column.derived.is_some() && !column.is_duplicate;
        let all = self.flow.columns.iter().enumerate();
        let (derived, without): (Vec<_>, Vec<_>) = all.partition(|(_, column)| is_named(column));
        let (indices, derived): (Vec<usize>, Vec<&Column>) = derived.into_iter().unzip();
        let without = without.into_iter().map(|(at, _)| at).collect();
        let names: Vec<String> = derived.iter().map(|column| literal(&column.name)).collect();
        let variants = variants(&derived, self.others.extended.as_ref());
        let (private, others) = (self.private, &self.others);
        let id = Enum {
            private,
            header,
            id,
            struct_of: columns,
            others,
            indices,
            without,
            columns: derived,
            names,
            variants,
        };
        let (definition, implementation) = (id.definition(), id.implementation());
        quote!(#definition #implementation)
    }
}

/// The enum; what is in lists goes by column.
struct Enum<'e> {
    private: &'e Tokens,
    header: &'e Header,
    id: &'e Ident,
    /// The struct of the columns.
    struct_of: &'e Ident,
    others: &'e Others<'e>,
    indices: Vec<usize>,
    /// The columns that it does not name.
    without: Vec<usize>,
    columns: Vec<&'e Column>,
    names: Vec<String>,
    variants: Vec<Ident>,
}

impl Enum<'_> {
    fn definition(&self) -> TokenStream {
        let (vis, id, variants) = (&self.header.vis, self.id, &self.variants);
        let inherited = self.others.extended.as_ref().map(variant);
        let modules = self.others.modules.iter().map(variant);
        let params = self.others.own_arguments();
        let debug = (!self.is_plain()).then(|| quote!(::core::fmt::Debug,));
        let docs_of =
            format!(" The computed columns of a [`{}`], as its events name them.", self.header.name.unraw());
        let named = self.columns.iter().zip(&self.names);
        let docs = named
            .map(|(column, name)| docs_or(&column.docs, &column.keyword, &format!("The column `{name}`.")));
        quote! {
            #[doc = #docs_of]
            #[derive(
                ::core::clone::Clone, ::core::marker::Copy, #debug ::core::cmp::PartialEq,
                ::core::cmp::Eq, ::core::cmp::PartialOrd, ::core::cmp::Ord, ::core::hash::Hash,
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
        let Self { private, header, id, struct_of, others, .. } = self;
        let vis = &header.vis;
        let (params, arguments) = (others.params(&quote!(#private::ColumnEnum)), others.own_arguments());
        // What names the column of another flow is no constant function.
        let constant = others.are_none().then(|| quote!(const));
        let columns = others.arguments_by_enum();
        let (name, of) = (self.body_of_name(), self.fn_of());
        let debug = self.is_plain().then(|| self.impl_debug());
        quote! {
            impl #params #id #arguments {
                /// The name of the column.
                #[allow(dead_code, unreachable_pub)]
                #vis #constant fn name(self) -> &'static str {
                    #name
                }
            }

            #debug

            impl #params ::core::fmt::Display for #id #arguments {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.pad(self.name())
                }
            }

            impl #params #private::ColumnId for #id #arguments {
                #of
            }

            impl #params #private::ColumnEnum for #id #arguments {
                type Columns = #struct_of #columns;

                fn __name(self) -> &'static str {
                    self.name()
                }
            }
        }
    }

    /// Whether a variant is the name of its column in camel case, and nothing else: then no text of it is needed.
    fn is_plain(&self) -> bool {
        // See `tell_apart` and `camel`.
        self.others.are_none() && self.variants.iter().all(|variant| !variant.to_string().ends_with('_'))
    }

    /// What a derived one prints.
    fn impl_debug(&self) -> TokenStream {
        let Self { private, id, .. } = self;
        quote! {
            impl ::core::fmt::Debug for #id {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    #private::fmt_variant(self.name(), f)
                }
            }
        }
    }

    fn body_of_name(&self) -> TokenStream {
        let Self { others, names, .. } = self;
        if !others.are_none() {
            let (uses, modules) = (self.uses(), others.modules.iter().map(|module| self.arm_of_name(module)));
            let inherited = others.extended.as_ref().map(|extended| self.arm_of_name(extended));
            return quote!(match self { #inherited #(Self::#uses => #names,)* #(#modules)* });
        }
        if names.is_empty() {
            return quote!(match self {});
        }
        let names = list(names.iter().map(|name| format!("{name:?}")));
        quote! {
            const NAMES: &[&str] = &[#names];
            NAMES[self as usize]
        }
    }

    fn fn_of(&self) -> TokenStream {
        let Self { private, others, indices, names, without, .. } = self;
        let uses = self.uses();
        if others.are_none() {
            let variants = list(uses.iter().map(|variant| format!("Self::{variant}")));
            return quote! {
                fn __of(column: usize, _: &#private::Name) -> #private::Option<Self> {
                    #private::listed(&[#variants], &[#(#without),*], column)
                }
            };
        }
        let of_module = |module: &Other<'_>| {
            let (variant, name, ty) = (module.variant(), literal(module.name()), module.inner_part("Column"));
            quote!(<#ty as #private::ColumnEnum>::__of_module(#name, name).map(Self::#variant))
        };
        let mut modules = others.modules.iter().map(of_module);
        let first = modules.next().unwrap_or_else(|| quote!(#private::None));
        let otherwise = quote!(#first #(.or_else(|| #modules))*);
        let Some(extended) = &others.extended else {
            return quote! {
                fn __of(column: usize, name: &#private::Name) -> #private::Option<Self> {
                    match column {
                        #(#indices => #private::Some(Self::#uses),)*
                        _ => #otherwise,
                    }
                }
            };
        };
        let (variant, ty) = (extended.variant(), extended.inner_part("Column"));
        quote! {
            fn __of(column: usize, name: &#private::Name) -> #private::Option<Self> {
                if let #private::Some(column) = <#ty as #private::ColumnId>::__of(column, name) {
                    return #private::Some(Self::#variant(column));
                }
                match name.as_str() {
                    #(#names => #private::Some(Self::#uses),)*
                    _ => #otherwise,
                }
            }
        }
    }

    fn arm_of_name(&self, other: &Other<'_>) -> TokenStream {
        let (private, variant) = (self.private, other.variant());
        let name = quote!(#private::ColumnEnum::__name(column));
        let name = match other.role {
            Role::Extended => name,
            Role::Module(module) => {
                let module = literal(&module.name);
                quote!(<Self as #private::ColumnEnum>::__name_in(#module, #name))
            }
        };
        quote!(Self::#variant(column) => #name,)
    }

    /// The variants for the bodies of functions. There a place among the user's lines makes incremental
    /// compilation fail when lines above it go; only the declaration may point there.
    fn uses(&self) -> Vec<Ident> {
        let variants = self.variants.iter();
        variants.map(|variant| Ident::new(&variant.to_string(), Span::call_site())).collect()
    }
}

/// The variant for the columns of another flow. Without a place: derives put that of a field into bodies.
fn variant(other: &Other<'_>) -> TokenStream {
    let (variant, name, ty) = (other.variant(), other.name().unraw(), other.inner_part("Column"));
    let docs = match other.role {
        Role::Extended => format!(" A column of the `{name}` that is extended."),
        Role::Module(_) => format!(" A column of the module `{name}`."),
    };
    quote!(#[doc = #docs] #variant(#ty),)
}

/// The columns as variants, told apart where two names become the same.
fn variants(columns: &[&Column], extended: Option<&Other<'_>>) -> Vec<Ident> {
    let mut taken: HashSet<String> = extended.map(|extended| literal(extended.name())).into_iter().collect();
    let variant =
        |column: &&Column| Ident::new(&tell_apart(&column.name, &mut taken), at(column.keyword.span()));
    columns.iter().map(variant).collect()
}
