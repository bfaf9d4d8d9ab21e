//! What a flow written with `flow!` declares, as a constant of the program.

mod flat;
mod module;
mod order;
mod text;

use core::fmt;

use crate::name::{Name, is_tag, last_part};
use crate::outline::Outline;
use crate::window::Window;

use flat::{Flat, What};

pub use module::{Place, Used};

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
    /// What this graph extends; its columns come first.
    base: Option<&'static Graph>,
    /// The own columns.
    nodes: &'static [Node],
    /// The flows that this one uses.
    modules: &'static [Used],
    /// The own columns in topological order, counted from the first of them. Where there are modules, it
    /// has to be found.
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
        assert!(is_tag(tag), "a tag is made of lower case letters, digits and `_`, beginning with a letter");
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
        Self { base: None, nodes, modules: &[], order }
    }

    #[doc(hidden)]
    pub const fn __extending(base: &'static Self, nodes: &'static [Node], order: &'static [usize]) -> Self {
        Self { base: Some(base), nodes, modules: &[], order }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __using(self, modules: &'static [Used]) -> Self {
        Self { modules, ..self }
    }

    /// The name of a column or a module that extends this graph.
    ///
    /// # Panics
    ///
    /// With the message, when this graph has such a column or module already.
    #[doc(hidden)]
    #[track_caller]
    #[must_use]
    pub const fn __new_name(&self, name: &'static str, message: &'static str) -> &'static str {
        assert!(!self.has(name), "{}", message);
        name
    }

    /// The names of the columns in order of declaration, those of modules behind those of the flow itself.
    ///
    /// # Panics
    ///
    /// Never for a graph that `flow!` has made.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Name> {
        let mut places = flat::flat(self);
        places.retain(|place| !matches!(place.what, What::Input(_)));
        places.into_iter().map(|place| match Name::new(&place.name) {
            Ok(name) => name,
            Err(error) => unreachable!("`flow!` accepts only names: {error}"),
        })
    }

    /// What the declaration says of the columns, with a drawing for Mermaid.
    ///
    /// # Panics
    ///
    /// Never for a graph that `flow!` has made.
    pub fn outline(&self) -> Outline {
        match self.plan() {
            Ok(plan) => Outline::of(&plan),
            Err(error) => unreachable!("`flow!` accepts only what the schema accepts: {error}"),
        }
    }
}

/// The element at an index, as the compiler can evaluate it.
#[expect(clippy::indexing_slicing, reason = "the index is checked")]
const fn nth<T>(slice: &'static [T], at: usize) -> Option<&'static T> {
    if at < slice.len() { Some(&slice[at]) } else { None }
}

/// `==`, as the compiler can evaluate it.
const fn is_same(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    while let ([first, rest @ ..], [other_first, other_rest @ ..]) = (one, other) {
        if *first != *other_first {
            return false;
        }
        (one, other) = (rest, other_rest);
    }
    one.is_empty() && other.is_empty()
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
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = flat::flat(self);
        for (at, Flat { name, what }) in places.iter().enumerate() {
            match what {
                What::Source => writeln!(f, "source {name}")?,
                What::Column(views) => write_column(f, &places, at, views)?,
                What::Input(_) => {}
            }
        }
        Ok(())
    }
}

fn write_column(f: &mut fmt::Formatter<'_>, places: &[Flat], column: usize, views: &[View]) -> fmt::Result {
    let name_of = |at: usize| places.get(flat::bound(places, at)).map_or("?", |place| &*place.name);
    write!(f, "column {}(", name_of(column))?;
    for (at, View { column: shown, window, tag }) in views.iter().enumerate() {
        let (comma, name) = (if at > 0 { ", " } else { "" }, name_of(*shown));
        match (*shown == column, *tag == last_part(name)) {
            (true, _) => write!(f, "{comma}self{window}")?,
            (false, true) => write!(f, "{comma}{name}{window}")?,
            (false, false) => write!(f, "{comma}{name}{window}.as({tag:?})")?,
        }
    }
    writeln!(f, ")")
}
