//! The documentation of a flow on its type: a page for rustdoc, a list for editors.
//!
//! ```text
//! # Columns        a drawing whose boxes lead to the rows, its legend
//! | … | … |        a row for each column: its kind, its views, its prompt and settings, its first paragraph
//! To begin with    links to the constructors, to `push`, `run` and `get`
//! ```
//!
//! A flow may be exported without its other items, so links lead to this page, to methods of the flow, and to the
//! runtime crate. The name of that crate in the scope of the flow is unknown, so an import that only rustdoc has names
//! the crate.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprLit, Lit};

use super::nodes::{FlowNodes, OF_BASE};
use super::shown_step::ShownStep;
use super::table::{self, TableRow};
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{Private, text_of};
use crate::ident::{ident_text, without_marker};
use crate::syntax::{ColumnDecl, FlowDecl, FlowHeader, ViewDecl};

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
        let base = self.emitter.dependencies.base.as_ref().map(|base| ident_text(base.name()));
        let nodes = FlowNodes::new(self.emitter.flow, base.as_deref());
        let page = self.page(&nodes);
        let list = format!("```text\n{}```", nodes.list());
        quote! {
            #summary
            #(#attributes)*
            // An empty line keeps the rest out of the user's last paragraph.
            #[doc = ""]
            #[cfg_attr(doc, doc = #page)]
            #[cfg_attr(not(doc), doc = #list)]
        }
    }

    fn page(&self, nodes: &FlowNodes) -> String {
        format!("# Columns\n\n{}{}\n{}", nodes.drawing(), table::table(&self.rows()), self.first_steps())
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
            step: (column.derived.as_ref())
                .map_or_else(ShownStep::default, |derived| ShownStep::new(derived.step.clone())),
            summary: first_paragraph(&column.docs),
        });
        let modules = modules.iter().map(|module| TableRow {
            name: ident_text(&module.name),
            kind: format!("module {}", table::code(&text_of(module.path.to_token_stream()))),
            reads: module.reads().map(linked).collect(),
            step: ShownStep::default(),
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
