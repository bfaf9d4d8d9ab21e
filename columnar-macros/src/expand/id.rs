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
//! In the extension of a flow one variant holds the columns of that: `Chat(ChatColumn)`. Others may
//! have extended a flow, too, so there a column is known by its name.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use super::extended::Extended;
use super::{Emission, Private, again, at, docs_or, literal};
use crate::name::camel;
use crate::syntax::{Column, Header};

impl Emission<'_> {
    pub(super) fn id(&self, header: &Header, id: &Ident, extended: Option<&Extended<'_>>) -> TokenStream {
        let columns = self.flow.columns.iter().enumerate();
        let columns = columns.filter(|(_, column)| column.derived.is_some() && !column.is_second);
        let (indices, columns): (Vec<usize>, Vec<&Column>) = columns.unzip();
        let names: Vec<String> = columns.iter().map(|column| literal(&column.name)).collect();
        let variants = variants(&columns, extended);
        let inherited = extended.map(|extended| Inherited::new(&self.private, extended));
        let id = Enum { private: &self.private, header, id, inherited, indices, columns, names, variants };
        let (definition, implementation) = (id.definition(), id.implementation());
        quote!(#definition #implementation)
    }
}

/// The enum; what is in lists goes by column.
struct Enum<'e> {
    private: &'e Private,
    header: &'e Header,
    id: &'e Ident,
    inherited: Option<Inherited<'e>>,
    indices: Vec<usize>,
    columns: Vec<&'e Column>,
    names: Vec<String>,
    variants: Vec<Ident>,
}

impl Enum<'_> {
    fn definition(&self) -> TokenStream {
        let (vis, id, variants) = (&self.header.vis, self.id, &self.variants);
        let inherited = self.inherited.as_ref().map(Inherited::variant);
        let params = self.inherited.as_ref().and_then(|inherited| inherited.extended.own_arguments());
        let docs_of =
            format!(" The computed columns of a [`{}`], as its events name them.", self.header.name.unraw());
        let named = self.columns.iter().zip(&self.names);
        let docs = named.map(|(column, name)| docs_or(column, &format!("The column `{name}`.")));
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
            }
        }
    }

    fn implementation(&self) -> TokenStream {
        let Self { private, header, id, inherited, names, .. } = self;
        let (vis, uses) = (&header.vis, self.uses());
        let extended = inherited.as_ref().map(|inherited| inherited.extended);
        let params = extended.and_then(|extended| extended.params(&quote!(#private::ColumnEnum)));
        let arguments = extended.and_then(Extended::own_arguments);
        // What names an inherited column is no constant function.
        let constant = extended.is_none().then(|| quote!(const));
        let inherited = inherited.as_ref().map(Inherited::arm_of_name);
        let of = self.fn_of(&uses);
        quote! {
            impl #params #id #arguments {
                /// The name of the column.
                #[allow(dead_code, unreachable_pub)]
                #vis #constant fn name(self) -> &'static str {
                    match self {
                        #inherited
                        #(Self::#uses => #names,)*
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
                fn __name(self) -> &'static str {
                    self.name()
                }
            }
        }
    }

    fn fn_of(&self, uses: &[Ident]) -> TokenStream {
        let Self { private, indices, names, .. } = self;
        let Some(inherited) = &self.inherited else {
            return quote! {
                fn __of(column: usize, _: &#private::Name) -> #private::Option<Self> {
                    match column {
                        #(#indices => #private::Some(Self::#uses),)*
                        _ => #private::None,
                    }
                }
            };
        };
        let first = inherited.is_named();
        quote! {
            fn __of(column: usize, name: &#private::Name) -> #private::Option<Self> {
                #first
                match name.as_str() {
                    #(#names => #private::Some(Self::#uses),)*
                    _ => #private::None,
                }
            }
        }
    }

    /// The variants for the bodies of functions. There a place among the user's lines makes incremental
    /// compilation fail when lines above it go; only the declaration may point there.
    fn uses(&self) -> Vec<Ident> {
        let variants = self.variants.iter();
        variants.map(|variant| Ident::new(&variant.to_string(), Span::call_site())).collect()
    }
}

/// The variant for the columns of the flow that is extended.
struct Inherited<'e> {
    private: &'e Private,
    extended: &'e Extended<'e>,
    name: Ident,
}

impl<'e> Inherited<'e> {
    fn new(private: &'e Private, extended: &'e Extended<'e>) -> Self {
        Self { private, extended, name: again(extended.name()) }
    }

    /// Without a place: derives put that of a field into bodies.
    fn variant(&self) -> TokenStream {
        let (name, ty) = (&self.name, self.extended.inner_part("Column"));
        let docs = format!(" A column of the `{}` that is extended.", name.unraw());
        quote!(#[doc = #docs] #name(#ty),)
    }

    fn arm_of_name(&self) -> TokenStream {
        let Self { private, name, .. } = self;
        quote!(Self::#name(column) => #private::ColumnEnum::__name(column),)
    }

    /// Returns from `__of` if the column is an inherited one.
    fn is_named(&self) -> TokenStream {
        let (Self { private, name, .. }, ty) = (self, self.extended.inner_part("Column"));
        quote! {
            if let #private::Some(column) = <#ty as #private::ColumnId>::__of(column, name) {
                return #private::Some(Self::#name(column));
            }
        }
    }
}

/// The columns as variants, told apart where two names become the same.
fn variants(columns: &[&Column], extended: Option<&Extended<'_>>) -> Vec<Ident> {
    let mut taken: HashSet<String> = extended.map(|extended| literal(extended.name())).into_iter().collect();
    let tell_apart = |column: &&Column| {
        let mut variant = camel(&literal(&column.name));
        while !taken.insert(variant.clone()) {
            variant.push('_');
        }
        Ident::new(&variant, at(column.keyword.span()))
    };
    columns.iter().map(tell_apart).collect()
}
