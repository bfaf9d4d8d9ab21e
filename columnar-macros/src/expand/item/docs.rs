//! The drawing of a flow in the documentation of its type: SVG for rustdoc, a list for editors.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::drawing::{self, Line, Node, Read};
use crate::expand::emitter::Emitter;
use crate::graph;
use crate::ident::ident_text;
use crate::syntax::{Column, Flow, Header, Module, View};

impl Emitter<'_> {
    /// The documentation of the user, and the drawing.
    pub(super) fn docs(&self, header: &Header) -> TokenStream {
        let (nodes, order) = self.nodes();
        let list = format!("```text\n{}```", drawing::list(&nodes, &order));
        let drawing = match drawing::svg(&nodes, &order) {
            None => quote!(#[doc = #list]),
            Some(svg) => quote!(#[cfg_attr(doc, doc = #svg)] #[cfg_attr(not(doc), doc = #list)]),
        };
        let is_documented = header.attrs.iter().any(|attribute| attribute.path().is_ident("doc"));
        let summary = format!(" The flow `{}`.", ident_text(&header.name));
        let summary = (!is_documented).then(|| quote!(#[doc = #summary]));
        let attributes = &header.attrs;
        // The empty line keeps the drawing out of the user's last paragraph.
        quote!(#summary #(#attributes)* #[doc = ""] #drawing)
    }

    /// The nodes to draw, and their order: the columns of the base that are read, the columns, the modules.
    fn nodes(&self) -> (Vec<Node>, Vec<usize>) {
        let Flow { columns, modules, .. } = self.flow;
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut nodes: Vec<Node> = Vec::new();
        let inherited = columns.iter().flat_map(Column::reads);
        let inherited = inherited.chain(modules.iter().flat_map(Module::reads));
        for view in inherited.filter(|view| view.is_inherited) {
            let name = view.name();
            index.entry(name.clone()).or_insert_with(|| {
                nodes.push(Node { name, ..Node::default() });
                nodes.len() - 1
            });
        }
        let first = nodes.len();
        let names = columns.iter().map(|column| &column.name);
        let names = names.chain(modules.iter().map(|module| &module.name));
        index.extend(names.map(ident_text).zip(first..));
        let node_of = |view: &View| {
            let name = if view.is_inherited { view.name() } else { ident_text(&view.base) };
            index.get(&name).copied()
        };
        nodes.extend(columns.iter().map(|column| {
            let views: Vec<&View> = column.reads().collect();
            let line = |view: &View| match () {
                () if view.is_tiered() => Line::Tiers,
                () if view.is_windowed() => Line::Window,
                () => Line::All,
            };
            let read = |view: &&View| {
                let purpose = view.purpose().map(|purpose| ident_text(purpose.word()));
                Some(Read { column: node_of(view)?, line: line(view), purpose })
            };
            Node {
                name: ident_text(&column.name),
                // A view with a lag is no edge: its reader does not wait.
                reads: views
                    .iter()
                    .filter(|view| !view.is_self() && !view.is_lagged)
                    .filter_map(read)
                    .collect(),
                views: views.iter().map(|view| view.text()).collect(),
                reads_self: views.iter().any(|view| view.is_self()),
                is_documents: column.source_type.is_some(),
            }
        }));
        nodes.extend(modules.iter().map(|module| {
            Node {
                name: ident_text(&module.name),
                // The module decides how much of it is shown.
                reads: module
                    .reads()
                    .filter_map(|view| Some(Read { column: node_of(view)?, line: Line::All, purpose: None }))
                    .collect(),
                views: module.reads().map(View::name).collect(),
                ..Node::default()
            }
        }));
        let reads: Vec<Vec<usize>> =
            nodes.iter().map(|node| node.reads.iter().map(|read| read.column).collect()).collect();
        let order = graph::order(&reads).unwrap_or_else(|| (0..nodes.len()).collect());
        // A read of a later node closes a cycle. It is reported, or leads through a module and need not be one.
        let ranks: HashMap<usize, usize> = order.iter().copied().zip(0..).collect();
        for (column, node) in nodes.iter_mut().enumerate() {
            node.reads.retain(|read| ranks.get(&read.column) < ranks.get(&column));
        }
        (nodes, order)
    }
}
