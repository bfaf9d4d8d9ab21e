//! The item form:
//!
//! ```text
//! impl<M: Model> Chat<M> where M: 'static {
//!     fn __topics(model: &M) -> Step<'static> { column(prompt("…")) }
//!     pub const ORDER: …; pub const GRAPH: …;
//!     /* the constructors */
//!     pub fn fork(&self, step: usize) -> Result<Self>;
//! }
//! pub struct Chat<M: Model> { __flow: Typed<'static, ChatColumns, ChatColumn>, __marker: PhantomData<fn() -> M> }
//! impl Deref for Chat<M> { type Target = Typed<…>; }
//! impl Base for Chat<M> { /* its types */ }
//! impl Module for Chat<M> {}
//! /* the struct of the columns, and the enum that names the derived ones in events */
//! ```

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{GenericParam, Generics, parse_quote};

use super::composed::fn_mentions;
use super::other::Other;
use super::types::{Types, lifetime};
use super::{Emission, again, at, hidden, list, literal};
use crate::syntax::{Column, Header, Module};

impl Emission<'_> {
    pub(super) fn item(&self, header: &Header, errors: &TokenStream) -> TokenStream {
        let place = at(header.keyword.span);
        let named = |suffix| format_ident!("{}{suffix}", header.name.unraw(), span = place);
        let (columns, id) = (named("Columns"), named("Column"));
        let types = Types::new(self.private, header, &self.others, &columns, &id);
        let item = Item { emission: self, header, types };
        let (words, others) = (self.words(), self.others.definitions(header));
        let docs = format!(" The columns of a [`{}`].", header.name.unraw());
        let definition = self.columns(&header.vis, &columns, &docs);
        let implementation = item.implementation();
        let (id, columns) = (self.id(header, &id, &columns), self.impl_columns(&columns));
        // The drawing depends on all that the user has typed.
        let flow = [item.definition(), item.impl_base(), item.impl_default()];
        quote!(#words #others #definition #implementation #columns #id #(#flow)* #errors)
    }
}

pub(super) struct Item<'e> {
    pub(super) emission: &'e Emission<'e>,
    pub(super) header: &'e Header,
    pub(super) types: Types,
}

impl Item<'_> {
    /// What the flow can do: its compute steps, and ways to make one.
    fn implementation(&self) -> TokenStream {
        let head = self.impl_head(&TokenStream::new(), &self.bounded());
        let columns = self.emission.flow.columns.iter();
        let steps = columns.clone().filter_map(|column| self.fn_step(column));
        let reads = columns.filter_map(|column| self.emission.fn_reads(column, &self.types.columns));
        let modules = self.emission.modules().map(|(module, other)| self.fns_of_module(module, other));
        let (constants, constructors, fork) = (self.constants(), self.constructors(), self.fn_fork());
        quote! {
            #[allow(
                dead_code, non_snake_case, unexpected_cfgs, unreachable_pub, clippy::needless_pass_by_value,
                clippy::new_without_default, clippy::ptr_arg, clippy::too_many_arguments,
                clippy::trivially_copy_pass_by_ref,
            )]
            #head {
                #(#steps)*
                #(#reads)*
                #(#modules)*
                #constants
                #constructors
                #fork
            }
        }
    }

    /// A function for each column: editors infer small bodies fast.
    fn fn_step(&self, column: &Column) -> Option<TokenStream> {
        let private = &self.emission.private;
        let derived = column.derived.as_ref()?;
        let ty = &self.types.step;
        let step = if self.header.is_complete {
            let step = self.emission.step(&column.keyword, derived);
            Emission::typed_step(column, &self.types.columns, step)
        } else {
            quote!(#private::broken())
        };
        Some(self.fn_given(&column.name, ty, &step))
    }

    /// The compute steps of a module, and the mentions of its inputs.
    fn fns_of_module(&self, module: &Module, other: &Other<'_>) -> TokenStream {
        let (private, step) = (&self.emission.private, &self.types.step);
        let ty = quote!(#private::Vec<#step>);
        let steps = if self.header.is_complete {
            self.emission.module_steps(module, other)
        } else {
            quote!(#private::vec![])
        };
        let steps = self.fn_given(&module.name, &ty, &steps);
        let mentions = Emission::module_mentions(module);
        let mentions = fn_mentions(&module.name, &self.types.columns, &mentions);
        quote!(#steps #mentions)
    }

    /// A function that is given the parameters.
    fn fn_given(&self, name: &Ident, ty: &impl ToTokens, body: &TokenStream) -> TokenStream {
        let function = hidden("", name);
        let take = self.lent();
        // Not every parameter need be used.
        let names = self.param_names();
        let used = (!names.is_empty()).then(|| quote!(let _ = (#(#names,)*);));
        quote! {
            fn #function(#(#take),*) -> #ty {
                #used
                #body
            }
        }
    }

    fn constants(&self) -> TokenStream {
        let private = &self.emission.private;
        let (vis, order) = (&self.header.vis, self.order());
        let graph = if self.emission.others.are_none() {
            quote!(#private::graph::<Self>())
        } else {
            // What others declare is held against this one when the graph is evaluated, so every check does that. The
            // type by its name would bring places among the user's lines into a body; see `Enum::uses`.
            quote!(<<Self as #private::Base>::Columns as #private::Columns>::GRAPH)
        };
        quote! {
            #order

            /// The columns and what each of them reads.
            #vis const GRAPH: #private::Graph = #graph;
        }
    }

    /// The constant `ORDER`.
    fn order(&self) -> TokenStream {
        let vis = &self.header.vis;
        let docs = quote!(/// The names of the columns in topological order.
        );
        if !self.emission.others.are_none() {
            let (private, columns) = (&self.emission.private, &self.types.columns);
            let (places, bytes) = self.emission.others.sizes(private, columns);
            let sorted =
                (!self.emission.others.modules.is_empty()).then(|| quote!(let () = <#columns>::__SORTED;));
            return quote! {
                const __TEXT: [u8; #bytes] = {
                    #sorted
                    Self::GRAPH.__text::<#places, #bytes>()
                };
                const __ORDER: [&'static str; #places] = #private::Graph::__names(&Self::__TEXT);

                #docs
                #vis const ORDER: &'static [&'static str] = #private::Graph::__taken(&Self::__ORDER);
            };
        }
        let name_at = |&at: &usize| self.emission.flow.columns.get(at).map(|column| literal(&column.name));
        let order = self.emission.plan.order.iter().filter_map(name_at);
        let order = list(order.map(|name| format!("{name:?}")));
        quote! {
            #docs
            #vis const ORDER: &'static [&'static str] = &[#order];
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

    /// The struct, which derefs to the columns and what a flow does.
    fn definition(&self) -> TokenStream {
        let private = &self.emission.private;
        let Header { vis, keyword, name, generics, .. } = self.header;
        let docs = self.emission.docs(self.header);
        let (where_clause, target) = (&generics.where_clause, &self.types.flow);
        let marker = marker(generics);
        let deref = self.impl_head(&quote!(#private::Deref for), generics);
        quote! {
            #docs
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

    /// What the flow is to one that extends or uses it.
    fn impl_base(&self) -> TokenStream {
        let private = &self.emission.private;
        let head = self.impl_head(&quote!(#private::Base for), &self.header.generics);
        let Types { columns, id, step, extended, .. } = &self.types;
        let module = self.header.base.is_none().then(|| {
            let head = self.impl_head(&quote!(#private::Module for), &self.header.generics);
            quote!(#head { type Flow = Self; })
        });
        quote! {
            #head {
                type Columns = #columns;
                type Column = #id;
                type Extended<__C, __I> = #extended;
                type Step = #step;
            }

            #module
        }
    }

    /// `impl<…> Trait for Chat<…> where …`.
    pub(super) fn impl_head(&self, of: &TokenStream, generics: &Generics) -> TokenStream {
        let name = again(&self.header.name);
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        quote!(impl #impl_generics #of #name #ty_generics #where_clause)
    }

    /// The generics, with what a compute step that holds a parameter asks of them.
    pub(super) fn bounded(&self) -> Generics {
        let mut generics = self.header.generics.clone();
        let lifetime = lifetime(self.header);
        let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
        if !types.is_empty() {
            let predicates = &mut generics.make_where_clause().predicates;
            predicates.extend(types.iter().map(|ty| -> syn::WherePredicate { parse_quote!(#ty: #lifetime) }));
        }
        generics
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
