//! The item form:
//!
//! ```text
//! impl<M: Model> Chat<M> where M: 'static {
//!     fn __topics(model: &M) -> Step<'static> { column(prompt("…")) }
//!     pub const ORDER: …; pub const GRAPH: …;
//!     pub fn new(model: M) -> Self; pub async fn open(store: impl Store, model: M) -> Result<Self>;
//!     pub fn fork(&self, step: usize) -> Result<Self>;
//! }
//! pub struct Chat<M: Model> { __flow: Typed<'static, ChatColumns, ChatColumn>, __marker: PhantomData<fn() -> M> }
//! impl Deref for Chat<M> { type Target = Typed<…>; }
//! /* the struct of the columns, and the enum that names the derived ones in events */
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{GenericParam, Generics, parse_quote};

use super::{Emission, again, at, hidden, literal};
use crate::syntax::{Column, Header, Param};

impl Emission<'_> {
    pub(super) fn item(&self, header: &Header, errors: &TokenStream) -> TokenStream {
        let place = at(header.keyword.span);
        let named = |suffix| format_ident!("{}{suffix}", header.name.unraw(), span = place);
        let (columns, id) = (named("Columns"), named("Column"));
        let item = Item { emission: self, header, columns: &columns, id: &id };
        let flow = [item.implementation(), item.definition(), item.impl_default()];
        let docs = format!(" The columns of a [`{}`].", header.name.unraw());
        let columns = self.columns(&header.vis, &columns, &docs);
        let id = self.id(header, &id);
        quote!(#(#flow)* #columns #id #errors)
    }
}

struct Item<'e> {
    emission: &'e Emission<'e>,
    header: &'e Header,
    /// The struct of the columns.
    columns: &'e Ident,
    /// The enum of the derived columns.
    id: &'e Ident,
}

impl Item<'_> {
    /// What the flow can do: its compute steps, and ways to make one.
    fn implementation(&self) -> TokenStream {
        let head = self.impl_head(&TokenStream::new(), &self.bounded());
        let steps = self.emission.flow.columns.iter().filter_map(|column| self.fn_step(column));
        let (constants, new, open, fork) = (self.constants(), self.fn_new(), self.fn_open(), self.fn_fork());
        quote! {
            #[allow(dead_code, unreachable_pub)]
            #head {
                #(#steps)*
                #constants
                #new
                #open
                #fork
            }
        }
    }

    /// A function for each column: editors infer small bodies fast.
    fn fn_step(&self, column: &Column) -> Option<TokenStream> {
        let private = &self.emission.private;
        let derived = column.derived.as_ref()?;
        let (function, lifetime) = (hidden(&column.name), self.lifetime());
        let take = self.header.params.iter().map(|param| {
            let (name, ty) = (again(&param.name), param.ty());
            quote!(#name: &#ty)
        });
        // A step need not use every parameter.
        let names = self.param_names();
        let used = (!names.is_empty()).then(|| quote!(let _ = (#(#names,)*);));
        let step = if self.header.whole {
            self.emission.step(&column.keyword, derived)
        } else {
            quote!(#private::broken())
        };
        Some(quote! {
            #[allow(clippy::ptr_arg, clippy::trivially_copy_pass_by_ref)]
            fn #function(#(#take),*) -> #private::Step<#lifetime> {
                #used
                #step
            }
        })
    }

    fn constants(&self) -> TokenStream {
        let private = &self.emission.private;
        let (vis, columns) = (&self.header.vis, self.columns);
        let name_at = |&at: &usize| self.emission.flow.columns.get(at).map(|column| literal(&column.name));
        let order = self.emission.plan.order.iter().filter_map(name_at);
        quote! {
            /// The names of the columns in topological order.
            #vis const ORDER: &'static [&'static str] = &[#(#order),*];

            /// The columns and what each of them reads.
            #vis const GRAPH: #private::Graph = <#columns as #private::Columns>::GRAPH;
        }
    }

    fn fn_new(&self) -> TokenStream {
        let private = &self.emission.private;
        let (vis, params, steps) = (&self.header.vis, self.params(), self.steps());
        quote! {
            /// A new flow, with its values in memory.
            #[allow(clippy::needless_pass_by_value, clippy::new_without_default, clippy::too_many_arguments)]
            #vis fn new(#(#params),*) -> Self {
                Self { __flow: #private::Typed::__new(#steps), __marker: ::core::marker::PhantomData }
            }
        }
    }

    fn fn_open(&self) -> TokenStream {
        let private = &self.emission.private;
        let (vis, params, names, steps) = (&self.header.vis, self.params(), self.param_names(), self.steps());
        let store = Ident::new("store", Span::mixed_site());
        let local = Ident::new("steps", Span::mixed_site());
        quote! {
            /// A flow on top of a store: it goes on with what the store holds.
            ///
            /// # Errors
            ///
            /// When the store cannot be read or holds what cannot be.
            #[allow(clippy::too_many_arguments)]
            #vis async fn open(#store: impl #private::Store, #(#params),*) -> #private::Result<Self> {
                // The parameters end here, so that the future need not hold them.
                let #local = {
                    #(let #names = #names;)*
                    #steps
                };
                let flow = #private::Typed::__open(#store, #local).await?;
                #private::Result::Ok(Self { __flow: flow, __marker: ::core::marker::PhantomData })
            }
        }
    }

    /// The fork of a flow, as the flow's own type.
    fn fn_fork(&self) -> TokenStream {
        let private = &self.emission.private;
        let vis = &self.header.vis;
        quote! {
            /// Another flow with the past of this one: its steps before `step`. Both go on independently.
            ///
            /// # Errors
            ///
            /// When a source has no value for the step before.
            #vis fn fork(&self, step: usize) -> #private::Result<Self> {
                let flow = self.__flow.fork(step)?;
                #private::Result::Ok(Self { __flow: flow, __marker: ::core::marker::PhantomData })
            }
        }
    }

    /// The compute steps by column, of parameters that are in scope.
    fn steps(&self) -> TokenStream {
        let private = &self.emission.private;
        let names = self.param_names();
        let steps = self.emission.flow.columns.iter().map(|column| {
            let function = hidden(&column.name);
            match column.derived {
                Some(_) => quote!(#private::Some(Self::#function(#(&#names),*))),
                None => quote!(#private::None),
            }
        });
        quote!(#private::vec![#(#steps),*])
    }

    /// The struct, which derefs to the columns and what a flow does.
    fn definition(&self) -> TokenStream {
        let private = &self.emission.private;
        let Header { attrs, vis, keyword, name, generics, .. } = self.header;
        let (columns, id, lifetime) = (self.columns, self.id, self.lifetime());
        let where_clause = &generics.where_clause;
        let target = quote!(#private::Typed<#lifetime, #columns, #id>);
        let marker = marker(generics);
        let deref = self.impl_head(&quote!(#private::Deref for), generics);
        quote! {
            #(#attrs)*
            #vis #keyword #name #generics #where_clause {
                __flow: #target,
                __marker: #marker,
            }

            #deref {
                type Target = #target;

                fn deref(&self) -> &Self::Target {
                    &self.__flow
                }
            }
        }
    }

    /// A flow without parameters has a default.
    fn impl_default(&self) -> TokenStream {
        if !self.header.params.is_empty() {
            return TokenStream::new();
        }
        let private = &self.emission.private;
        let head = self.impl_head(&quote!(#private::Default for), &self.bounded());
        quote! {
            #head {
                fn default() -> Self {
                    Self::new()
                }
            }
        }
    }

    /// `impl<…> Trait for Chat<…> where …`.
    fn impl_head(&self, of: &TokenStream, generics: &Generics) -> TokenStream {
        let name = again(&self.header.name);
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        quote!(impl #impl_generics #of #name #ty_generics #where_clause)
    }

    /// The parameters as a function takes them.
    fn params(&self) -> Vec<TokenStream> {
        let param = |(name, param): (Ident, &Param)| {
            let ty = param.ty();
            quote!(#name: #ty)
        };
        self.param_names().into_iter().zip(&self.header.params).map(param).collect()
    }

    fn param_names(&self) -> Vec<Ident> {
        self.header.params.iter().map(|param| again(&param.name)).collect()
    }

    /// The generics, with what a compute step that holds a parameter asks of them.
    fn bounded(&self) -> Generics {
        let mut generics = self.header.generics.clone();
        let lifetime = self.lifetime();
        let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
        if !types.is_empty() {
            let predicates = &mut generics.make_where_clause().predicates;
            predicates.extend(types.iter().map(|ty| -> syn::WherePredicate { parse_quote!(#ty: #lifetime) }));
        }
        generics
    }

    /// The compute steps live as long as the first lifetime of the flow, or for ever.
    fn lifetime(&self) -> TokenStream {
        let first = self.header.generics.lifetimes().next();
        first.map_or_else(|| quote!('static), |param| param.lifetime.to_token_stream())
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
