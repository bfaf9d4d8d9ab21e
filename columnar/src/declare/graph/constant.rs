//! A graph as a constant of the program: its columns, their views, and the modules in it.

use super::view::{Known, Read};

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
    pub(super) base: Option<&'static Graph>,
    /// The own columns.
    pub(super) nodes: &'static [Node],
    /// What the declaration says in so many words of what they read, column by column.
    pub(super) known: &'static [Known],
    /// What the compiler had to look at, for each column that reads any of that.
    pub(super) listed: &'static [&'static [Read]],
    /// The flows that this one uses.
    pub(super) modules: &'static [Used],
    /// What own columns were named before.
    pub(super) renames: &'static [RenamedFrom],
    /// The own columns in topological order, counted from the first of them. Where there are modules, it
    /// has to be found.
    pub(super) order: &'static [usize],
}

/// A column of a [`Graph`]: its name, and where in the list of known views and in that of the others those begin that
/// it has. They end where the next column's begin; a source has none.
///
/// This and [`Known`] are tuples because flows are full of them, and no call costs the compiler as little.
pub type Node = (&'static str, usize, usize);

/// What a column of a [`Graph`] was named before.
#[derive(Clone, Copy, Debug)]
pub struct RenamedFrom {
    pub(super) column: usize,
    pub(super) name: &'static str,
}

impl RenamedFrom {
    /// Says what the column was named before, for flows that keep their values in a store: what is stored under
    /// that name is this column's.
    pub const fn was(column: usize, name: &'static str) -> Self {
        Self { column, name }
    }
}

/// A flow that another one uses.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub(super) name: &'static str,
    pub(super) place: ModuleColumns,
    /// The sources, each with the place of the column that it is bound to.
    pub(super) inputs: &'static [(&'static str, usize)],
}

/// Where a module has its columns.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ModuleColumns {
    pub(super) first: usize,
    pub(super) graph: &'static Graph,
}

impl Graph {
    #[doc(hidden)]
    pub const fn __new(
        nodes: &'static [Node],
        known: &'static [Known],
        listed: &'static [&'static [Read]],
        order: &'static [usize],
    ) -> Self {
        Self { base: None, nodes, known, listed, modules: &[], renames: &[], order }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __extending(self, base: &'static Self) -> Self {
        Self { base: Some(base), ..self }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __using(self, modules: &'static [Used]) -> Self {
        Self { modules, ..self }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __renames(self, renames: &'static [RenamedFrom]) -> Self {
        Self { renames, ..self }
    }

    /// The number of places.
    #[doc(hidden)]
    #[must_use]
    pub const fn __len(&self) -> usize {
        match self.modules {
            [.., last] => last.place.__end(),
            [] => self.first() + self.nodes.len(),
        }
    }

    /// The first place that is not of what this extends.
    pub(super) const fn first(&self) -> usize {
        match self.base {
            Some(base) => base.__len(),
            None => 0,
        }
    }
}

impl ModuleColumns {
    #[doc(hidden)]
    #[must_use]
    pub const fn __new(first: usize, graph: &'static Graph) -> Self {
        Self { first, graph }
    }

    /// The first place behind it.
    #[doc(hidden)]
    #[must_use]
    pub const fn __end(&self) -> usize {
        self.first + self.graph.__len()
    }
}

impl Used {
    #[doc(hidden)]
    #[must_use]
    pub const fn __new(
        name: &'static str,
        place: ModuleColumns,
        inputs: &'static [(&'static str, usize)],
    ) -> Self {
        Self { name, place, inputs }
    }
}
