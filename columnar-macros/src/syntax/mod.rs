//! The syntax tree of a flow, and a parser that recovers from every error.
//!
//! ```text
//! header ──▶ declarations ──▶ column, module ──▶ view_list ──▶ modifiers ──▶ view ──▶ tree
//!                                │
//!                                └─▶ step ──▶ expression
//! ```

mod attributes;
mod captures;
mod closure;
mod column;
mod column_type;
mod cursor;
mod declarations;
mod expression;
mod generics;
mod header;
mod modifiers;
mod module;
mod params;
mod rust;
mod step;
mod tree;
mod uses;
mod view;
mod view_list;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use crate::diagnostics::{EMPTY_FLOW, Errors};
use cursor::trees_of;

pub(crate) use captures::{AsyncClosure, Capture};
pub(crate) use closure::{parse as closure, patterns};
pub(crate) use cursor::{as_ident, has_token, is_punct, shown, trees};
pub(crate) use expression::with_rest;
pub(crate) use params::sized;
pub(crate) use tree::{
    Around, BaseDecl, Closure, ClosureParam, ColumnDecl, ComputedDecl, EarlierName, FlowDecl, FlowForm,
    FlowHeader, Lint, ModuleDecl, Param, TypeDecl,
};
pub(crate) use uses::{hidden_at_marks, mark, uses};
pub(crate) use view::{GroupTag, ModifierKind, Tag, ViewDecl, ViewState};

pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> FlowDecl {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    if trees.iter().all(|tree| is_punct(tree, ';')) {
        errors.on(Span::call_site(), EMPTY_FLOW);
        return FlowDecl::empty(FlowForm::Unknown, Vec::new());
    }
    if let [TokenTree::Group(braces)] = trees.as_slice()
        && braces.delimiter() == Delimiter::Brace
    {
        errors.on(braces.span_open(), "a flow without a header has no inner braces\n\nhelp: drop them");
        return parse(braces.stream(), errors);
    }
    if !header::is_item(&trees) {
        return declarations::parse(FlowForm::Inline, &trees, errors);
    }
    let (header, body) = header::parse(&trees, errors);
    let form = header.map_or(FlowForm::Unknown, |header| FlowForm::Item(Box::new(header)));
    match body {
        Some(body) => declarations::parse(form, &trees_of(&body), errors).without_wrong_base(),
        // As unparsed tokens they keep a flow without a body from being one without a source, too.
        None => FlowDecl::empty(form, trees),
    }
}
