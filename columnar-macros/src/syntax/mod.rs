//! The syntax tree of a flow, and a parser that recovers from every error.
//!
//! ```text
//! flow, header ──▶ declarations ──▶ column, module ──▶ view_list ──▶ modifiers ──▶ tree, view
//! ```

mod attributes;
mod base;
mod column;
mod column_type;
mod cursor;
mod declarations;
mod flow;
mod header;
mod modifiers;
mod module;
mod recovery;
mod tree;
mod view;
mod view_list;

pub(crate) use flow::{Invocation, parse};
pub(crate) use tree::{
    Base, Column, ColumnType, Derived, Flow, Form, Header, Lint, Module, Param, RenamedFrom,
};
pub(crate) use view::{GroupTag, State, Tag, View};
