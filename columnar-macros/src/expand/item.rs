//! The item form:
//!
//! ```text
//! impl<M: Model> Chat<M> where M: 'static {
//!     fn __topics(model: &M) -> Option<Step<'static>> { column(prompt("…")) }
//!     pub const ORDER: …; pub const GRAPH: …;
//!     pub fn new(model: M) -> Self; pub async fn open(store: impl Store, model: M) -> Result<Self>;
//! }
//! pub struct Chat<M: Model> { __flow: Typed<'static, ChatColumns, ChatColumn>, __marker: PhantomData<fn() -> M> }
//! impl Deref for Chat<M> { type Target = Typed<…>; }
//! /* the struct of the columns, and the enum that names the derived ones in events */
//! ```

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{GenericParam, Generics, parse_quote};

use super::{Emission, again, docs_or, hidden, literal};
use crate::name::camel;
use crate::syntax::{Column, Header, Param};

impl Emission<'_> {
    pub(super) fn item(&self, header: &Header, errors: &TokenStream) -> TokenStream {
        let name = &header.name;
        let columns_name = format_ident!("{}Columns", name.unraw(), span = Span::call_site());
        let id_name = format_ident!("{}Column", name.unraw(), span = Span::call_site());
        let item =
            Item { header, columns: &columns_name, id: &id_name, lifetime: lifetime(&header.generics) };
        let steps = self.implementation(&item);
        let flow = self.flow(&item);
        let columns =
            self.columns(&header.vis, &columns_name, &format!("The columns of a [`{}`].", name.unraw()));
        let id = self.id(&item);
        quote!(#steps #flow #columns #id #errors)
    }

    fn implementation(&self, item: &Item<'_>) -> TokenStream {
        let private = &self.private;
        let Header { vis, name, params, .. } = item.header;
        let name = again(name);
        let steps = self.flow.columns.iter().filter_map(|column| self.step_fn(column, item));
        let order = self
            .plan
            .order
            .iter()
            .filter_map(|&at| self.flow.columns.get(at))
            .map(|column| literal(&column.name));
        let (columns, open_store) = (item.columns, Ident::new("store", Span::mixed_site()));
        let take: Vec<_> = params.iter().map(|Param { name, ty }| quote!(#name: #ty)).collect();
        let drops = params.iter().map(|param| &param.name);
        let all_steps = self.all_steps(params);
        let bounded = item.bounded();
        let (impl_generics, _, where_clause) = bounded.split_for_impl();
        let (_, ty_generics, _) = item.header.generics.split_for_impl();
        quote! {
            impl #impl_generics #name #ty_generics #where_clause {
                #(#steps)*

                /// The names of the columns in topological order.
                #vis const ORDER: &'static [&'static str] = &[#(#order),*];

                /// The columns and what each of them reads.
                #vis const GRAPH: #private::Graph = <#columns as #private::Columns>::GRAPH;

                /// A new flow, with its values in memory.
                #[allow(clippy::needless_pass_by_value, clippy::new_without_default, clippy::too_many_arguments)]
                #vis fn new(#(#take),*) -> Self {
                    Self { __flow: #private::Typed::__new(#all_steps), __marker: ::core::marker::PhantomData }
                }

                /// A flow on top of a store: it goes on with what the store holds.
                ///
                /// # Errors
                ///
                /// When the store cannot be read or holds what cannot be.
                #[allow(clippy::too_many_arguments)]
                #vis async fn open(#open_store: impl #private::Store, #(#take),*) -> #private::Result<Self> {
                    let steps = #all_steps;
                    #(::core::mem::drop(#drops);)*
                    let flow = #private::Typed::__open(#open_store, steps).await?;
                    #private::Result::Ok(Self { __flow: flow, __marker: ::core::marker::PhantomData })
                }
            }
        }
    }

    /// One function per column: editors infer small bodies fast.
    fn step_fn(&self, column: &Column, item: &Item<'_>) -> Option<TokenStream> {
        let private = &self.private;
        column.derived.as_ref()?;
        let function = hidden(&column.name);
        let take = item.header.params.iter().map(|Param { name, ty }| quote!(#name: &#ty));
        let (lifetime, step) = (&item.lifetime, self.step(column));
        Some(quote! {
            #[allow(non_snake_case, unused_variables, clippy::ptr_arg, clippy::trivially_copy_pass_by_ref)]
            fn #function(#(#take),*) -> #private::Option<#private::Step<#lifetime>> {
                #step
            }
        })
    }

    fn all_steps(&self, params: &[Param]) -> TokenStream {
        let private = &self.private;
        let give: Vec<_> = params.iter().map(|Param { name, .. }| quote!(&#name)).collect();
        let steps = self.flow.columns.iter().map(|column| {
            let function = hidden(&column.name);
            if column.derived.is_some() {
                quote!(Self::#function(#(#give),*))
            } else {
                quote!(#private::None)
            }
        });
        quote!(#private::vec![#(#steps),*])
    }

    fn flow(&self, item: &Item<'_>) -> TokenStream {
        let private = &self.private;
        let Header { attrs, vis, keyword, name, generics, params } = item.header;
        let Item { columns, id, lifetime, .. } = item;
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        let again = again(name);
        let target = quote!(#private::Typed<#lifetime, #columns, #id>);
        let marker = marker(generics);
        let default = params.is_empty().then(|| {
            let bounded = item.bounded();
            let (impl_generics, _, where_clause) = bounded.split_for_impl();
            quote! {
                impl #impl_generics #private::Default for #again #ty_generics #where_clause {
                    fn default() -> Self {
                        Self::new()
                    }
                }
            }
        });
        quote! {
            #(#attrs)*
            #vis #keyword #name #generics #where_clause {
                __flow: #target,
                __marker: #marker,
            }

            impl #impl_generics #private::Deref for #again #ty_generics #where_clause {
                type Target = #target;

                fn deref(&self) -> &Self::Target {
                    &self.__flow
                }
            }

            #default
        }
    }

    /// The enum that names the derived columns in events.
    fn id(&self, item: &Item<'_>) -> TokenStream {
        let private = &self.private;
        let (vis, id) = (&item.header.vis, item.id);
        let derived: Vec<(usize, &Column)> =
            self.flow.columns.iter().enumerate().filter(|(_, column)| column.derived.is_some()).collect();
        let names: Vec<String> = derived.iter().map(|(_, column)| literal(&column.name)).collect();
        let variants = variants(&names);
        let at = derived.iter().map(|(at, _)| at);
        let docs = derived
            .iter()
            .zip(&names)
            .map(|((_, column), name)| docs_or(column, &format!("The column `{name}`.")));
        let docs_of =
            format!(" The computed columns of a [`{}`], as its events name them.", item.header.name.unraw());
        quote! {
            #[doc = #docs_of]
            #[derive(
                ::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq,
                ::core::cmp::Eq, ::core::cmp::PartialOrd, ::core::cmp::Ord, ::core::hash::Hash,
            )]
            #vis enum #id {
                #(#docs #variants,)*
            }

            impl #id {
                /// The name of the column.
                #[allow(dead_code)]
                #vis const fn name(self) -> &'static str {
                    match self {
                        #(Self::#variants => #names,)*
                    }
                }
            }

            impl ::core::fmt::Display for #id {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.pad(self.name())
                }
            }

            impl #private::ColumnId for #id {
                fn __of(column: usize, _: &#private::Name) -> Self {
                    match column {
                        #(#at => Self::#variants,)*
                        _ => ::core::unreachable!(),
                    }
                }
            }
        }
    }
}

struct Item<'h> {
    header: &'h Header,
    /// The struct of the columns.
    columns: &'h Ident,
    /// The enum of the derived columns.
    id: &'h Ident,
    /// What the compute steps may borrow.
    lifetime: TokenStream,
}

impl Item<'_> {
    /// The generics, with what a compute step that holds a parameter asks of them.
    fn bounded(&self) -> Generics {
        let mut generics = self.header.generics.clone();
        let lifetime = &self.lifetime;
        let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
        if !types.is_empty() {
            let predicates = &mut generics.make_where_clause().predicates;
            for ty in types {
                predicates.push(parse_quote!(#ty: #lifetime));
            }
        }
        generics
    }
}

/// The compute steps live as long as the first lifetime of the flow, or for ever.
fn lifetime(generics: &Generics) -> TokenStream {
    match generics.lifetimes().next() {
        Some(param) => {
            let lifetime = &param.lifetime;
            quote!(#lifetime)
        }
        None => quote!('static),
    }
}

/// Uses every generic parameter without owning or needing anything.
fn marker(generics: &Generics) -> TokenStream {
    let uses = generics.params.iter().filter_map(|param| match param {
        GenericParam::Lifetime(param) => {
            let lifetime = &param.lifetime;
            Some(quote!(&#lifetime ()))
        }
        GenericParam::Type(param) => {
            let ty = &param.ident;
            Some(quote!(::core::marker::PhantomData<#ty>))
        }
        GenericParam::Const(_) => None,
    });
    quote!(::core::marker::PhantomData<fn() -> (#(#uses,)*)>)
}

/// The names as variants, told apart where two become the same.
fn variants(names: &[String]) -> Vec<Ident> {
    let mut taken = HashSet::new();
    let tell_apart = |name: &String| {
        let mut variant = camel(name);
        while !taken.insert(variant.clone()) {
            variant.push('_');
        }
        Ident::new(&variant, Span::call_site())
    };
    names.iter().map(tell_apart).collect()
}
