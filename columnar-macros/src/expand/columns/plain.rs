//! The columns of a flow without dependencies:
//!
//! ```text
//! pub struct ChatColumns { pub user: Source, pub topics: Derived, pub notes: Derived }
//! impl ChatColumns {
//!     const views_of_notes: &'static [View] = &[View::__literal(1, 0, false, "topics").window(MANY)];
//! }
//! impl Columns for ChatColumns {
//!     const GRAPH: Graph = Graph::__new(
//!         &[("user", 0, 0), ("topics", 0, 0), ("notes", 1, 0)],
//!         &[(0, 1, false, "user")],
//!         &[Self::views_of_notes],
//!         &[0, 1, 2],
//!     );
//!     fn __plan() -> &'static TypePlan { static PLAN: TypePlan = TypePlan::new(); &PLAN }
//!     fn __bind(__FLOW: &Bind<'_>) -> Self {
//!         let [__topics, __notes] = __FLOW.__derived::<Self, _>();
//!         Self { user: source(0, "user").__bind(__FLOW), topics: __topics, notes: __notes }
//!     }
//! }
//! impl Chat {
//!     #[cfg(rust_analyzer)]
//!     fn __READS_topics(here: &ChatColumns) { let _ = here.user.latest; }
//! }
//! ```
//!
//! Views that the macro understands are literals in the graph. The compiler evaluates the graph only where the graph is
//! used, and not in every check. A view with a modifier that only the compiler understands is a separate constant; the
//! graph mentions that constant, so that a check finds the errors in the modifier.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::parts::{is_typed, typed};
use super::views::Read;
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{constant_ident, hidden_ident, list, unlocated};
use crate::ident::ident_text;

/// The arguments of `Graph::__new`, and the constants that they mention.
#[derive(Default)]
struct PlainGraph {
    /// Each column, with the number of literal views and of constant lists before it.
    nodes: Vec<String>,
    literals: Vec<String>,
    /// The lists of views, one for each column that has a constant view.
    lists: Vec<TokenStream>,
    constants: Vec<TokenStream>,
}

impl Emitter<'_> {
    pub(super) fn plain_fields(&self) -> TokenStream {
        self.flow.columns.iter().map(|column| self.field(column)).collect()
    }

    pub(super) fn impl_plain_columns(&self, name: &Ident) -> TokenStream {
        let private = self.private;
        let PlainGraph { nodes, literals, lists, constants } = self.plain_graph();
        let checks = self.checks(name);
        let params = self.dependencies.struct_params(private);
        let arguments = self.dependencies.own_struct_arguments();
        let constants = (!constants.is_empty()).then(|| {
            quote! {
                #[allow(non_upper_case_globals)]
                impl #params #name #arguments { #(#constants)* }
            }
        });
        let nodes = list(nodes);
        let literals = list(literals);
        let order = list(&self.plan.order);
        let debug = self.impl_debug(name, params.as_ref(), arguments.as_ref());
        let plan = self.fn_plan();
        let bind = self.fn_bind();
        let renames = self.renames();
        let documents = self.documents();
        let graph = self.checked_graph(quote! {
            #private::Graph::__new(&[#nodes], &[#literals], &[#(#lists),*], &[#order]) #documents #renames
        });
        quote! {
            #constants

            impl #params #private::Columns for #name #arguments {
                const GRAPH: #private::Graph = #graph;

                #plan

                #bind
            }

            #debug

            #checks
        }
    }

    fn plain_graph(&self) -> PlainGraph {
        let private = self.private;
        let indices = self.flow.columns.iter().enumerate().map(|(at, column)| (ident_text(&column.name), at));
        let indices: HashMap<String, usize> = indices.collect();
        let mut graph = PlainGraph::default();
        for column in &self.flow.columns {
            let name = ident_text(&column.name);
            graph.nodes.push(format!("({name:?},{},{})", graph.literals.len(), graph.lists.len()));
            let reads = Read::all(column, &indices);
            // A node has views of one kind, so a single constant view makes all of them a list. A source has no views
            // and adds nothing, by which the graph recognises a source.
            if reads.iter().all(Read::is_literal) {
                graph.literals.extend(reads.iter().map(Read::literals));
            } else {
                let constant = constant_ident("views", &column.name);
                let views = reads.iter().map(|read| read.constant(private));
                graph.constants.push(quote!(const #constant: &'static [#private::View] = &[#(#views),*];));
                graph.lists.push(quote!(Self::#constant));
            }
        }
        graph
    }

    /// The columns, bound to a flow. All computed columns come from one call: a call for each costs the compiler more.
    fn fn_bind(&self) -> TokenStream {
        let private = self.private;
        let mut sources = TokenStream::new();
        let mut fields = Vec::new();
        let mut derived = Vec::new();
        for (at, column) in self.flow.columns.iter().enumerate() {
            if column.derived.is_some() {
                // With the `r#` of the user, because the text is the name of a field.
                let field = column.name.to_string();
                let bound = hidden_ident("", &column.name);
                let typed = if is_typed(column) { ".__typed()" } else { "" };
                fields.push(format!("{field}:{bound}{typed}"));
                derived.push(bound);
            } else {
                let field = unlocated(&column.name);
                let call = &column.keyword;
                let name = ident_text(&column.name);
                let typed = typed(column);
                sources.extend(quote!(#field: #private::Declare.#call(#at, #name).__bind(__FLOW) #typed,));
            }
        }
        let fields = list(fields);
        let derived = list(derived);
        quote! {
            fn __bind(__FLOW: &#private::Bind<'_>) -> Self {
                let [#derived] = __FLOW.__derived::<Self, _>();
                Self { #sources #fields }
            }
        }
    }
}
