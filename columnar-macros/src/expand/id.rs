//! The enum that names the derived columns in events:
//!
//! ```text
//! pub enum ChatColumn { Topics, … }
//! impl ChatColumn { pub const fn name(self) -> &'static str { match self { Self::Topics => "topics", … } } }
//! impl Display for ChatColumn { /* the name */ }
//! impl ColumnId for ChatColumn { /* from the index of a column */ }
//! impl ColumnEnum for ChatColumn {}
//! ```
//!
//! One variant holds the columns of the flow that is extended: `Chat(ChatColumn)`, and one those of each module:
//! `Debate(DebateColumn)`. Others may have extended a flow, too, so in an extension a column is known by its name.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use super::other::{Other, Others, Role, tell_apart};
use super::{Emission, Private, at, docs_or, literal};
use crate::syntax::{Column, Header};

impl Emission<'_> {
    /// The enum `id`, which goes with the struct `columns`.
    pub(super) fn id(&self, header: &Header, id: &Ident, columns: &Ident) -> TokenStream {
        let all = self.flow.columns.iter().enumerate();
        let all = all.filter(|(_, column)| column.derived.is_some() && !column.is_second);
        let (indices, derived): (Vec<usize>, Vec<&Column>) = all.unzip();
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
    private: &'e Private,
    header: &'e Header,
    id: &'e Ident,
    /// The struct of the columns.
    struct_of: &'e Ident,
    others: &'e Others<'e>,
    indices: Vec<usize>,
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
        let docs_of =
            format!(" The computed columns of a [`{}`], as its events name them.", self.header.name.unraw());
        let named = self.columns.iter().zip(&self.names);
        let docs = named
            .map(|(column, name)| docs_or(&column.docs, &column.keyword, &format!("The column `{name}`.")));
        quote! {
            #[doc = #docs_of]
            #[derive(
                ::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq,
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
        let Self { private, header, id, struct_of, others, names, .. } = self;
        let (vis, uses) = (&header.vis, self.uses());
        let (params, arguments) = (others.params(&quote!(#private::ColumnEnum)), others.own_arguments());
        // What names the column of another flow is no constant function.
        let constant = others.are_none().then(|| quote!(const));
        let inherited = others.extended.as_ref().map(|extended| self.arm_of_name(extended));
        let modules = others.modules.iter().map(|module| self.arm_of_name(module));
        let columns = others.arguments_by_enum();
        let of = self.fn_of(&uses);
        quote! {
            impl #params #id #arguments {
                /// The name of the column.
                #[allow(dead_code, unreachable_pub)]
                #vis #constant fn name(self) -> &'static str {
                    match self {
                        #inherited
                        #(Self::#uses => #names,)*
                        #(#modules)*
                    }
                }
            }

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

    fn fn_of(&self, uses: &[Ident]) -> TokenStream {
        let Self { private, others, indices, names, .. } = self;
        let of_module = |module: &Other<'_>| {
            let (variant, name, ty) = (module.variant(), literal(module.name()), module.inner_part("Column"));
            quote!(<#ty as #private::ColumnEnum>::__of_module(#name, name).map(Self::#variant))
        };
        let mut modules = others.modules.iter().map(of_module);
        let first = modules.next().unwrap_or_else(|| quote!(#private::None));
        let otherwise = quote!(#first #(.or_else(|| #modules))*);
        let name = (!others.are_none()).then(|| quote!(name:));
        let Some(extended) = &others.extended else {
            let name = name.unwrap_or_else(|| quote!(_:));
            return quote! {
                fn __of(column: usize, #name &#private::Name) -> #private::Option<Self> {
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
