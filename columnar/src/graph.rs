//! What a flow written with `flow!` declares, as a constant of the program.

use alloc::borrow::ToOwned;
use core::fmt;

use crate::name::is_name;
use crate::plan::Plan;
use crate::schema::{Draft, DraftView, Schema, SchemaError};
use crate::window::Window;

/// The columns of a flow and what each of them reads, as a constant of the flow's type.
///
/// It prints as the declarations that made it.
///
/// ```
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column topics(user.latest) = prompt("List the topics.");
///         column summary(user, topics.window(2).as("subjects"), self.latest) = prompt("Summarise.");
///     }
/// }
///
/// let text = "source user\n\
///             column topics(user.latest)\n\
///             column summary(user, topics.window(2).as(\"subjects\"), self.latest)\n";
/// assert_eq!(Chat::GRAPH.to_string(), text);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Graph {
    nodes: &'static [Node],
    order: &'static [usize],
}

/// A column of a [`Graph`].
#[derive(Clone, Copy, Debug)]
pub struct Node {
    name: &'static str,
    views: Option<&'static [View]>,
}

/// A column as another one sees it: which column, how much of its history, under which tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    column: usize,
    window: Window,
    tag: &'static str,
}

impl View {
    pub(crate) const fn new(column: usize, window: Window, tag: &'static str) -> Self {
        Self { column, window, tag }
    }

    pub(crate) const fn column(&self) -> usize {
        self.column
    }

    pub(crate) const fn tag(&self) -> &'static str {
        self.tag
    }

    /// Shows the column under another tag than its name, written `.as("tag")` inside `flow!`.
    ///
    /// # Panics
    ///
    /// When the tag is no [`Name`](crate::Name); inside `flow!` that is a compile error.
    #[must_use]
    pub const fn named(self, tag: &'static str) -> Self {
        assert!(is_name(tag), "a tag is made of lower case letters, digits and `_`, beginning with a letter");
        Self { tag, ..self }
    }

    /// Shows the column under another tag than its name.
    #[must_use]
    pub const fn r#as(self, tag: &'static str) -> Self {
        self.named(tag)
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __view(self) -> Self {
        self
    }
}

impl Graph {
    #[doc(hidden)]
    pub const fn __new(nodes: &'static [Node], order: &'static [usize]) -> Self {
        Self { nodes, order }
    }

    /// The names of the columns in order of declaration.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.nodes.iter().map(|node| node.name)
    }

    pub(crate) fn plan(&self) -> Result<Plan, SchemaError> {
        let drafts = self.nodes.iter().enumerate().map(|(column, node)| node.draft(column)).collect();
        Ok(Plan::new(Schema::new(drafts)?, self.order))
    }
}

impl Node {
    #[doc(hidden)]
    pub const fn __source(name: &'static str) -> Self {
        Self { name, views: None }
    }

    #[doc(hidden)]
    pub const fn __column(name: &'static str, views: &'static [View]) -> Self {
        Self { name, views: Some(views) }
    }

    fn draft(&self, column: usize) -> Draft {
        let view = |view: &View| DraftView {
            column: view.column,
            window: Some(view.window),
            tag: (view.column != column).then(|| view.tag.to_owned()),
        };
        Draft { name: self.name.to_owned(), views: self.views.map(|views| views.iter().map(view).collect()) }
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (column, node) in self.nodes.iter().enumerate() {
            let Some(views) = node.views else {
                writeln!(f, "source {}", node.name)?;
                continue;
            };
            write!(f, "column {}(", node.name)?;
            for (at, view) in views.iter().enumerate() {
                let comma = if at > 0 { ", " } else { "" };
                let name = self.nodes.get(view.column).map_or("?", |node| node.name);
                match (view.column == column, view.tag == name) {
                    (true, _) => write!(f, "{comma}self{}", view.window)?,
                    (false, true) => write!(f, "{comma}{name}{}", view.window)?,
                    (false, false) => write!(f, "{comma}{name}{}.as({:?})", view.window, view.tag)?,
                }
            }
            writeln!(f, ")")?;
        }
        Ok(())
    }
}
