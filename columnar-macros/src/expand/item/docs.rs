//! The documentation of a flow on its type: a page for rustdoc, a list for editors.
//!
//! ```text
//! # Columns        a drawing whose nodes lead to the rows, its legend
//! | … | … |        a row for each column: its kind, its views, its first paragraph
//! To begin with    links to the constructors, to `push`, `run` and `get`
//! ```
//!
//! A flow may be exported without its other items, so links lead to this page, to methods of the flow, and to the
//! runtime crate. The name of that crate in the scope of the flow is unknown, so an import that only rustdoc has names
//! the crate.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprLit, Lit};

use super::drawing::{self, DrawnColumn, DrawnLine, DrawnRead};
use super::table::{self, TableRow};
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{Private, text_of};
use crate::graph;
use crate::ident::{ident_text, without_marker};
use crate::syntax::{ColumnDecl, FlowDecl, FlowHeader, ViewDecl};

/// The target of links to columns of the base. Only rustc knows the type of such a column, but `extend` has the base.
const OF_BASE: &str = "Self::extend";

/// The documentation of one flow.
pub(super) struct Docs<'e> {
    emitter: &'e Emitter<'e>,
    header: &'e FlowHeader,
    /// The name of the runtime crate for links.
    crate_name: Ident,
}

impl<'e> Docs<'e> {
    pub(super) fn new(emitter: &'e Emitter<'e>, header: &'e FlowHeader) -> Self {
        // With an upper case that no column and no module has.
        let crate_name = format_ident!("__{}DOCS", header.name.unraw(), span = Span::call_site());
        Self { emitter, header, crate_name }
    }

    /// The import that the links need.
    pub(super) fn import(&self) -> TokenStream {
        let crate_name = &self.crate_name;
        quote!(#[cfg(doc)] #[doc(hidden)] use #Private as #crate_name;)
    }

    /// The documentation of the user, and the page or the list.
    pub(super) fn attributes(&self) -> TokenStream {
        let attributes = &self.header.attrs;
        let is_documented = attributes.iter().any(|attribute| attribute.path().is_ident("doc"));
        let summary = format!(" The flow `{}`.", ident_text(&self.header.name));
        let summary = (!is_documented).then(|| quote!(#[doc = #summary]));
        let (nodes, order) = self.nodes();
        let page = self.page(&nodes, &order);
        let list = drawing::list(&nodes, &order);
        let list = format!("```text\n{list}```");
        quote! {
            #summary
            #(#attributes)*
            // An empty line keeps the rest out of the user's last paragraph.
            #[doc = ""]
            #[cfg_attr(doc, doc = #page)]
            #[cfg_attr(not(doc), doc = #list)]
        }
    }

    fn page(&self, nodes: &[DrawnColumn], order: &[usize]) -> String {
        let base = self.emitter.dependencies.base.as_ref().map(|base| ident_text(base.name()));
        let drawing = drawing::svg(nodes, order).map_or_else(String::new, |svg| {
            format!("{svg}\n\n{}\n\n", drawing::legend(nodes, base.as_deref()))
        });
        format!("# Columns\n\n{drawing}{}\n{}", table::table(&self.rows()), self.first_steps())
    }

    /// The constructors and the methods that a user needs first.
    fn first_steps(&self) -> String {
        let FlowDecl { columns, .. } = self.emitter.flow;
        let krate = &self.crate_name;
        let begin = match &self.emitter.dependencies.base {
            Some(base) => format!(
                "[`extend`](Self::extend) continues a `{}` with these columns.",
                ident_text(base.name())
            ),
            None => "[`new`](Self::new) makes a flow whose values are in memory, [`open`](Self::open) one in a store."
                .to_owned(),
        };
        // With the `r#` of the user, because the text is the name of a field.
        let [source, computed] = [true, false].map(|is_source| {
            let column = columns.iter().rfind(|column| column.is_source() == is_source);
            column.map(|column| without_marker(column.name.to_string()))
        });
        let push = source
            .map(|name| format!("[`{name}.push`]({krate}::Source::push) adds the next value of a source, "));
        let get = computed.map(|name| format!(", and [`{name}.get`]({krate}::Derived::get) returns a value"));
        format!(
            "{begin} Columns are fields: {}[`run`]({krate}::Typed::run) computes the values that are missing{}. \
             All other methods are those of a [`LiveFlow`]({krate}::Typed).",
            push.unwrap_or_default(),
            get.unwrap_or_default()
        )
    }

    fn rows(&self) -> Vec<TableRow> {
        let FlowDecl { columns, modules, .. } = self.emitter.flow;
        let columns = columns.iter().map(|column| TableRow {
            name: ident_text(&column.name),
            kind: self.kind(column),
            reads: column.reads().map(linked).collect(),
            summary: first_paragraph(&column.docs),
        });
        let modules = modules.iter().map(|module| TableRow {
            name: ident_text(&module.name),
            kind: format!("module {}", table::code(&text_of(module.path.to_token_stream()))),
            reads: module.reads().map(linked).collect(),
            summary: first_paragraph(&module.docs),
        });
        columns.chain(modules).collect()
    }

    /// The kind of a column, with the documentation of the handle.
    fn kind(&self, column: &ColumnDecl) -> String {
        let krate = &self.crate_name;
        match &column.ty {
            Some(_) if column.is_source() => format!("[documents]({krate}::Source)"),
            None if column.is_source() => format!("[source]({krate}::Source)"),
            Some(ty) => format!("[derived]({krate}::Derived): {}", table::code(&text_of(ty.ty.clone()))),
            None => format!("[derived]({krate}::Derived)"),
        }
    }

    /// The nodes to draw, and their order: the columns of the base that are read, the columns, the modules.
    fn nodes(&self) -> (Vec<DrawnColumn>, Vec<usize>) {
        let FlowDecl { columns, modules, .. } = self.emitter.flow;
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut nodes: Vec<DrawnColumn> = Vec::new();
        for view in self.emitter.flow.reads().filter(|view| view.is_inherited) {
            let name = view.name();
            index.entry(name.clone()).or_insert_with(|| {
                nodes.push(DrawnColumn { name, link: OF_BASE.to_owned(), ..DrawnColumn::default() });
                nodes.len() - 1
            });
        }
        let first = nodes.len();
        index.extend(self.emitter.flow.names().map(ident_text).zip(first..));
        nodes.extend(columns.iter().map(|column| node_of_column(column, &index)));
        nodes.extend(modules.iter().map(|module| {
            // The module decides how much of the column is shown.
            let columns = module.reads().filter_map(|view| node_of(view, &index));
            let reads = columns.map(|column| DrawnRead { column, line: DrawnLine::All, purpose: None });
            DrawnColumn {
                name: ident_text(&module.name),
                reads: reads.collect(),
                views: module.reads().map(ViewDecl::name).collect(),
                link: table::link(&ident_text(&module.name)),
                ..DrawnColumn::default()
            }
        }));
        let order = order(&mut nodes);
        (nodes, order)
    }
}

/// The text of a view, with the target of a link.
fn linked(view: &ViewDecl) -> (String, Option<String>) {
    let link = match () {
        () if view.is_self => None,
        () if view.is_inherited => Some(OF_BASE.to_owned()),
        () => Some(table::link(&ident_text(&view.base))),
    };
    (text_of(view.written.clone()), link)
}

fn node_of_column(column: &ColumnDecl, index: &HashMap<String, usize>) -> DrawnColumn {
    let others = column.reads().filter(|view| !view.is_self);
    // A view with a lag is no edge: the reader does not wait.
    let (lagged, edges): (Vec<&ViewDecl>, Vec<&ViewDecl>) = others.partition(|view| view.is_lagged);
    let reads = edges.into_iter().filter_map(|view| {
        let line = match () {
            () if view.is_tiered() => DrawnLine::Tiers,
            () if view.is_thread() => DrawnLine::Thread,
            () if view.is_windowed() => DrawnLine::Window,
            () => DrawnLine::All,
        };
        let purpose = view.purpose.as_ref().map(ident_text);
        Some(DrawnRead { column: node_of(view, index)?, line, purpose })
    });
    DrawnColumn {
        name: ident_text(&column.name),
        reads: reads.collect(),
        views: column.reads().map(ViewDecl::text).collect(),
        reads_self: column.reads().any(|view| view.is_self),
        is_documents: column.has_documents(),
        is_lagged: !lagged.is_empty(),
        link: table::link(&ident_text(&column.name)),
    }
}

/// The node of the column that a view shows.
fn node_of(view: &ViewDecl, index: &HashMap<String, usize>) -> Option<usize> {
    let name = if view.is_inherited { view.name() } else { ident_text(&view.base) };
    index.get(&name).copied()
}

/// The topological order of the nodes. A read that closes a cycle is removed.
fn order(nodes: &mut [DrawnColumn]) -> Vec<usize> {
    let reads: Vec<Vec<usize>> =
        nodes.iter().map(|node| node.reads.iter().map(|read| read.column).collect()).collect();
    let order = graph::order(&reads).unwrap_or_else(|| (0..nodes.len()).collect());
    // A read of a later node closes a cycle. The cycle is reported, or leads through a module and need not be a cycle.
    let ranks: HashMap<usize, usize> = order.iter().copied().zip(0..).collect();
    for (column, node) in nodes.iter_mut().enumerate() {
        node.reads.retain(|read| ranks.get(&read.column) < ranks.get(&column));
    }
    order
}

/// The first paragraph, as Markdown.
pub(super) fn first_paragraph(docs: &[Attribute]) -> String {
    let lines = docs.iter().filter_map(|attribute| match &attribute.meta.require_name_value().ok()?.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    });
    let text = lines.collect::<Vec<String>>().join("\n");
    let lines = text.lines().map(str::trim).skip_while(|line| line.is_empty());
    let paragraph: Vec<&str> =
        lines.take_while(|line| !line.is_empty() && !line.starts_with("```")).collect();
    paragraph.join(" ").trim_start_matches(['#', ' ']).to_owned()
}
