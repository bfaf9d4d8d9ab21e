//! The item form:
//!
//! ```text
//! impl<M: Model> Chat<M> where M: 'static {
//!     fn __STEP_topics(model: &M) -> Step<'static> { column(prompt("…")) }
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

mod column_enum;
mod constructors;
mod docs;
mod nodes;
mod scope;
mod shown_step;
mod table;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{GenericParam, Generics};

use crate::expand::columns::{fn_mentions, module_mentions, module_steps};
use crate::expand::dependencies::Dependency;
use crate::expand::emitter::{Emitter, type_of_step};
use crate::expand::tokens::{Private, hidden_ident, list, located};
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, FlowHeader, ModuleDecl};
use docs::Docs;
use scope::{ItemEmitter, Types, lifetime};

pub(super) fn expand(emitter: &Emitter<'_>, header: &FlowHeader, errors: &TokenStream) -> TokenStream {
    let span = located(header.keyword.span);
    let columns = format_ident!("{}Columns", header.name.unraw(), span = span);
    let id = format_ident!("{}Column", header.name.unraw(), span = span);
    let types = Types::new(header, &emitter.dependencies, &columns, &id);
    let item = ItemEmitter { emitter, header, types };
    let completions = emitter.completions();
    let aliases = emitter.dependencies.alias_definitions(header);
    let base = emitter.dependencies.base.as_ref();
    let inherited = base.map(|base| format!(" It derefs to the columns of a `{}`.", ident_text(base.name())));
    let docs = format!(" The columns of a [`{}`].{}", header.name.unraw(), inherited.unwrap_or_default());
    let definition = emitter.columns(&header.vis, &columns, &docs);
    let implementation = item.implementation();
    let id = emitter.column_enum(header, &id, &columns);
    let columns = emitter.impl_columns(&columns);
    // The drawing depends on everything that the user has typed.
    let flow =
        [item.definition(), item.impl_base(), item.impl_clone(), item.impl_debug(), item.impl_default()];
    quote!(#completions #aliases #definition #implementation #columns #id #(#flow)* #errors)
}

impl ItemEmitter<'_> {
    /// The compute steps and the constructors.
    ///
    /// All that users call is `pub`: the struct is as visible as the user declares, and rustc reports a private flow
    /// once.
    fn implementation(&self) -> TokenStream {
        let head = self.impl_head(&TokenStream::new(), &self.bounded());
        let columns = self.emitter.flow.columns.iter();
        let steps: TokenStream = columns.clone().filter_map(|column| self.fn_step(column)).collect();
        let reads = columns.filter_map(|column| self.emitter.fn_reads(column, &self.types.columns));
        let reads: TokenStream = reads.collect();
        let modules = self.emitter.modules();
        let modules = modules.map(|(module, dependency)| self.fns_of_module(module, dependency));
        let modules: TokenStream = modules.collect();
        let constants = self.constants();
        let constructors = self.constructors();
        let fork = self.fn_fork();
        let uses = self.fn_uses();
        quote! {
            #[allow(
                dead_code, non_snake_case, unexpected_cfgs, unreachable_pub, clippy::needless_pass_by_value,
                clippy::new_without_default, clippy::ptr_arg, clippy::too_many_arguments,
                clippy::trivially_copy_pass_by_ref,
            )]
            #head {
                #steps
                #reads
                #modules
                #uses
                #constants
                #constructors
                #fork
            }
        }
    }

    /// A function per column: editors infer small bodies fast.
    fn fn_step(&self, column: &ColumnDecl) -> Option<TokenStream> {
        let derived = column.derived.as_ref()?;
        let ty = &self.types.step;
        let step = if self.header.is_complete {
            let step = self.emitter.step(column, derived);
            let ty = type_of_step(column, &self.types.columns);
            quote!(#step #ty)
        } else {
            // Without the types of the parameters, rustc would report each use of one in the step.
            quote!(#Private::broken())
        };
        Some(self.fn_of_params(&column.name, ty, &step))
    }

    /// The compute steps of a module, and the mentions of the inputs.
    fn fns_of_module(&self, module: &ModuleDecl, dependency: &Dependency<'_>) -> TokenStream {
        let step = &self.types.step;
        let ty = quote!(#Private::Vec<#step>);
        let steps =
            if self.header.is_complete { module_steps(module, dependency) } else { quote!(#Private::vec![]) };
        let steps = self.fn_of_params(&module.name, &ty, &steps);
        let mentions = module_mentions(module, dependency);
        let mentions = fn_mentions(&module.name, &self.types.columns, &mentions);
        quote!(#steps #mentions)
    }

    /// A function with the parameters of the flow.
    fn fn_of_params(&self, name: &Ident, ty: &impl ToTokens, body: &TokenStream) -> TokenStream {
        // rustc would suggest a name that is close to the name of the column.
        let function = hidden_ident("STEP_", name);
        let take = self.borrowed_params();
        let names = self.param_names();
        if names.is_empty() {
            return quote!(fn #function() -> #ty { #body });
        }
        let step = Ident::new("__step", Span::mixed_site());
        // For a step that borrows a parameter, rustc reports the place where the step is returned. An editor would take
        // that place for the column.
        let returned = Ident::new("__step", step.span().located_at(name.span()));
        quote! {
            fn #function(#(#take),*) -> #ty {
                // So that a parameter that no step uses is no warning.
                let _ = (#(#names,)*);
                let #step = #body;
                #[cfg(not(rust_analyzer))]
                return #returned;
                #[cfg(rust_analyzer)]
                return #step;
            }
        }
    }

    fn constants(&self) -> TokenStream {
        let order = self.order();
        let graph = if self.emitter.dependencies.is_empty() {
            quote!(#Private::graph::<Self>())
        } else {
            // The declarations of dependencies are checked when the graph is evaluated, so every check evaluates the
            // graph. The name of the type would bring spans among the user's lines into a body; see `Enum::uses`.
            // rustdoc shows the path of a constant, and no block.
            quote!({
                let __graph = <#Private::ColumnsOf<Self> as #Private::Columns>::GRAPH;
                __graph
            })
        };
        quote! {
            #order

            /// The columns and their views.
            pub const GRAPH: #Private::Graph = #graph;
        }
    }

    /// The constant `ORDER`.
    fn order(&self) -> TokenStream {
        let docs = quote!(/// The names of the columns in topological order.
        );
        if !self.emitter.dependencies.is_empty() {
            let columns = &self.types.columns;
            let (count, bytes) = self.emitter.dependencies.graph_sizes(columns);
            return quote! {
                const __TEXT: [#Private::u8; #bytes] = Self::GRAPH.__text::<#count, #bytes>();
                const __ORDER: [&'static #Private::str; #count] = #Private::Graph::__names(&Self::__TEXT);

                #docs
                pub const ORDER: &'static [&'static #Private::str] = #Private::Graph::__names_slice(&Self::__ORDER);
            };
        }
        let columns = &self.emitter.flow.columns;
        let order = self.emitter.plan.order.iter().filter_map(|at| columns.get(*at));
        let order = list(order.map(|column| format!("{:?}", ident_text(&column.name))));
        quote! {
            #docs
            pub const ORDER: &'static [&'static #Private::str] = &[#order];
        }
    }

    /// The forks of a flow, and a flow in the user's type.
    fn fn_fork(&self) -> TokenStream {
        let target = &self.types.flow;
        let marker = self.marker();
        let future = self.future();
        quote! {
            /// A new flow with the steps of this one before `at_step`. Both continue independently.
            ///
            /// # Errors
            ///
            /// If a source has no value for the previous step.
            pub fn fork(&self, at_step: #Private::usize) -> #Private::Result<Self> {
                // A reference, so that rustc does not find a method of a trait of the user first.
                #Private::Deref::deref(self).fork(at_step).map(Self::__OF)
            }

            /// [`fork`](Self::fork), with its values in an empty store of its own.
            ///
            /// # Errors
            ///
            /// If a source has no value for the previous step, if the store is not empty, or if one of the stores fails.
            pub fn fork_into(
                &self,
                at_step: #Private::usize,
                in_store: impl #Private::Store,
            ) -> #future {
                #Private::fork_into(#Private::Deref::deref(self), at_step, in_store, Self::__OF)
            }

            // A constant: rustc suggests each function that returns a flow.
            const __OF: fn(#target) -> Self = |__flow| Self { __flow, #marker };
        }
    }

    /// The value of the field that uses the generic parameters.
    fn marker(&self) -> Option<TokenStream> {
        type_of_marker(&self.header.generics).map(|_| quote!(__marker: #Private::core::marker::PhantomData,))
    }

    /// The struct, which derefs to the columns and to the methods of a flow.
    fn definition(&self) -> TokenStream {
        let FlowHeader { vis, keyword, name, generics, .. } = self.header;
        let docs = Docs::new(self.emitter, self.header);
        let import = docs.import();
        let docs = docs.attributes();
        // Of an extension, only the compiler knows the type. The page shows the resulting type.
        let target_in_docs = self.header.base.as_ref().map(|_| {
            let Types { columns, id, .. } = &self.types;
            let lifetime = lifetime(self.header);
            quote! {
                #[cfg(doc)]
                type Target = #Private::Typed<#lifetime, #columns, #id>;
                #[cfg(not(doc))]
            }
        });
        let where_clause = &generics.where_clause;
        let target = &self.types.flow;
        let marker = type_of_marker(generics).map(|ty| quote!(__marker: #ty,));
        let deref = self.impl_head(&quote!(#Private::Deref for), generics);
        quote! {
            #import

            #docs
            #vis #keyword #name #generics #where_clause {
                __flow: #target,
                #marker
            }

            #deref {
                #target_in_docs
                type Target = #target;

                fn deref(&self) -> &Self::Target {
                    &self.__flow
                }
            }
        }
    }

    /// The types of this flow, for flows that extend or use it.
    fn impl_base(&self) -> TokenStream {
        let head = self.impl_head(&quote!(#Private::Base for), &self.header.generics);
        let Types { columns, id, step, extended, opening, .. } = &self.types;
        let module = self.header.base.is_none().then(|| self.impl_module());
        quote! {
            #head {
                type This = Self;
                type Columns = #columns;
                type Column = #id;
                type Extended<__C, __I> = #extended;
                type Step = #step;
                type Opening<__F: #Private::Deref<Target: #Private::Sized>> = #opening;
            }

            #module
        }
    }

    /// The flow as a module of others, with the struct of the inputs. The struct is in a block, where the name is no
    /// item of the user.
    fn impl_module(&self) -> TokenStream {
        let head = self.impl_head(&quote!(#Private::Module for), &self.header.generics);
        let name = format_ident!("{}Inputs", self.header.name.unraw(), span = Span::call_site());
        let columns = self.emitter.flow.columns.iter();
        let sources = columns.filter(|column| column.derived.is_none() && !column.is_duplicate);
        let sources = sources.map(|column| &column.name);
        quote! {
            const _: () = {
                #[allow(dead_code, missing_debug_implementations, non_snake_case, unreachable_pub)]
                pub struct #name { #(pub #sources: (),)* }

                #head {
                    type Flow = Self;
                    type Inputs = #name;
                }
            };
        }
    }
}

/// A type that uses every generic parameter without owning or needing anything; `None` if there is nothing to use.
fn type_of_marker(generics: &Generics) -> Option<TokenStream> {
    let uses = generics.params.iter().filter_map(|param| match param {
        GenericParam::Lifetime(param) => {
            let lifetime = &param.lifetime;
            Some(quote!(&#lifetime ()))
        }
        GenericParam::Type(param) => {
            let ty = &param.ident;
            Some(quote!(#Private::core::marker::PhantomData<#ty>))
        }
        // rustc accepts a const parameter that no field uses.
        GenericParam::Const(_) => None,
    });
    let uses: Vec<TokenStream> = uses.collect();
    // With a `PhantomData` of the parameters alone, the flow would be `Send` only if they are.
    (!uses.is_empty()).then(|| quote!(#Private::core::marker::PhantomData<fn() -> (#(#uses,)*)>))
}
