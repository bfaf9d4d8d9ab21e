//! The drawing of a flow in the documentation of its type: SVG for rustdoc, a list for editors.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::{Emission, literal};
use crate::drawing::{self, Node};
use crate::graph;
use crate::syntax::{Column, Flow, Header, Module, View};

impl Emission<'_> {
    /// What the user says of the flow, and the drawing.
    pub(super) fn docs(&self, header: &Header) -> TokenStream {
        let (nodes, order) = self.nodes();
        let list = format!("```text\n{}```", drawing::list(&nodes, &order));
        let drawing = match drawing::svg(&nodes, &order) {
            None => quote!(#[doc = #list]),
            Some(svg) => quote!(#[cfg_attr(doc, doc = #svg)] #[cfg_attr(not(doc), doc = #list)]),
        };
        let is_documented = header.attrs.iter().any(|attribute| attribute.path().is_ident("doc"));
        let summary = format!(" The flow `{}`.", literal(&header.name));
        let summary = (!is_documented).then(|| quote!(#[doc = #summary]));
        let attributes = &header.attrs;
        quote!(#summary #(#attributes)* #[doc = ""] #drawing)
    }

    /// The columns and the modules to draw, and their order: first the columns of the flow that is extended, as
    /// far as they are read.
    fn nodes(&self) -> (Vec<Node>, Vec<usize>) {
        let Flow { columns, modules, .. } = self.flow;
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut nodes: Vec<Node> = Vec::new();
        let inherited = columns.iter().flat_map(Column::reads);
        let inherited = inherited.chain(modules.iter().flat_map(Module::reads));
        for view in inherited.filter(|view| view.is_inherited) {
            let name = view.name();
            index.entry(name.clone()).or_insert_with(|| {
                nodes.push(Node { name, reads: Vec::new(), written: Vec::new(), is_own: false });
                nodes.len() - 1
            });
        }
        let first = nodes.len();
        let names = columns.iter().map(|column| &column.name);
        let names = names.chain(modules.iter().map(|module| &module.name));
        index.extend(names.map(literal).zip(first..));
        let place = |view: &View| {
            let name = if view.is_inherited { view.name() } else { literal(&view.base) };
            index.get(&name).copied()
        };
        nodes.extend(columns.iter().map(|column| {
            let views: Vec<&View> = column.reads().collect();
            let read = |view: &&View| Some((place(view)?, view.is_windowed()));
            Node {
                name: literal(&column.name),
                // What is read of the step before keeps nobody waiting.
                reads: views
                    .iter()
                    .filter(|view| !view.is_self() && !view.is_lagged)
                    .filter_map(read)
                    .collect(),
                written: views.iter().map(|view| view.text()).collect(),
                is_own: views.iter().any(|view| view.is_self()),
            }
        }));
        nodes.extend(modules.iter().map(|module| Node {
            name: literal(&module.name),
            // How much of it is shown is up to the module.
            reads: module.reads().filter_map(|view| Some((place(view)?, false))).collect(),
            written: module.reads().map(View::name).collect(),
            is_own: false,
        }));
        let reads: Vec<Vec<usize>> =
            nodes.iter().map(|node| node.reads.iter().map(|&(read, _)| read).collect()).collect();
        let order = graph::order(&reads).unwrap_or_else(|| (0..nodes.len()).collect());
        // In a cycle some column reads a later one: that has been told, or leads through a module and is none.
        let ranks: HashMap<usize, usize> = order.iter().copied().zip(0..).collect();
        for (column, node) in nodes.iter_mut().enumerate() {
            node.reads.retain(|(read, _)| ranks.get(read) < ranks.get(&column));
        }
        (nodes, order)
    }
}
