//! A graph as a constant of the program: the columns, the views, and the modules in it.
//!
//! A graph gives an index to each column: first the columns of the base, then the nodes, which are the columns that the
//! flow itself declares, then module by module the columns of the modules. A source of a module has an index, too; it is
//! an input, bound to another column.

use super::text::nth;
use super::view::{LiteralView, View};

/// The columns of a flow and the views, as a constant of the flow's type.
///
/// Prints as the declarations that made it.
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
    /// The graph that this one extends.
    pub(super) base: Option<&'static Graph>,
    pub(super) nodes: &'static [GraphNode],
    /// The views of the nodes whose views are all literals, node by node.
    pub(super) literals: &'static [LiteralView],
    /// The views of each other node, which the compiler evaluates.
    pub(super) constants: &'static [&'static [View]],
    pub(super) modules: &'static [Used],
    /// The earlier names of nodes.
    pub(super) renames: &'static [RenamedFrom],
    /// The nodes that are sources of documents.
    pub(super) documents: &'static [usize],
    /// The nodes in topological order, as indices of `nodes`. With modules only the compiler can find the order.
    pub(super) order: &'static [usize],
    /// The number of indices. The compiler asks for it at each step of a search, and would count through all modules.
    len: usize,
    /// The number of modules inside each other.
    pub(super) depth: usize,
}

/// A node of a [`Graph`]: the name of a column, and the indices at which the views begin among the literal views and
/// among the lists of constant ones. They end where the views of the next node begin; a source has none.
///
/// A tuple for the same reason as [`LiteralView`].
pub(super) type GraphNode = (&'static str, usize, usize);

/// The earlier name of a node.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct RenamedFrom {
    pub(super) node: usize,
    pub(super) name: &'static str,
}

impl RenamedFrom {
    /// The column was stored under an earlier name: the values under that name belong to it.
    pub const fn was(node: usize, name: &'static str) -> Self {
        Self { node, name }
    }
}

/// A flow that another one uses as a module.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub(super) name: &'static str,
    pub(super) columns: ModuleColumns,
    /// The sources of the module, each with the index of the column that it is bound to.
    pub(super) inputs: &'static [(&'static str, usize)],
}

/// The columns of a module, from the index `first` on.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ModuleColumns {
    pub(super) first: usize,
    pub(super) graph: &'static Graph,
}

impl Graph {
    #[doc(hidden)]
    pub const fn __new(
        nodes: &'static [GraphNode],
        literals: &'static [LiteralView],
        constants: &'static [&'static [View]],
        order: &'static [usize],
    ) -> Self {
        Self {
            base: None,
            nodes,
            literals,
            constants,
            modules: &[],
            renames: &[],
            documents: &[],
            order,
            len: nodes.len(),
            depth: 0,
        }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __extending(self, base: &'static Self) -> Self {
        Self { base: Some(base), len: base.len + self.len, depth: base.depth, ..self }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __using(self, modules: &'static [Used]) -> Self {
        let mut len = self.len;
        let mut depth = self.depth;
        let mut rest = modules;
        while let [module, tail @ ..] = rest {
            len += module.columns.graph.len;
            if depth <= module.columns.graph.depth {
                depth = module.columns.graph.depth + 1;
            }
            rest = tail;
        }
        Self { modules, len, depth, ..self }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __documents(self, documents: &'static [usize]) -> Self {
        Self { documents, ..self }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __renames(self, renames: &'static [RenamedFrom]) -> Self {
        Self { renames, ..self }
    }

    /// The number of indices.
    #[doc(hidden)]
    pub const fn __len(&self) -> usize {
        self.len
    }

    /// The index of the first column that is not the base's.
    pub(super) const fn first(&self) -> usize {
        match self.base {
            Some(base) => base.__len(),
            None => 0,
        }
    }

    /// The views of a node; `None` for a source.
    pub(super) const fn views(&self, node: usize) -> Option<NodeViews> {
        let Some((_, literal, constant)) = nth(self.nodes, node) else { return None };
        let (literals_end, constants_end) = match nth(self.nodes, node + 1) {
            Some((_, literal, constant)) => (*literal, *constant),
            None => (self.literals.len(), self.constants.len()),
        };
        if let Some(views) = nth(self.constants, *constant)
            && constants_end > *constant
        {
            return Some(NodeViews::Constants(views));
        }
        if literals_end == *literal {
            return None;
        }
        Some(NodeViews::Literals(self.literals.split_at(literals_end).0.split_at(*literal).1))
    }

    /// The items of the computed nodes, one for each node: `None` for a source.
    pub(crate) fn by_node<T>(&self, computed: impl IntoIterator<Item = T>) -> Vec<Option<T>> {
        let mut computed = computed.into_iter();
        (0..self.nodes.len()).map(|node| self.views(node).and_then(|_| computed.next())).collect()
    }

    /// The computed nodes, with the index of each.
    pub(crate) fn derived(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let nodes = self.nodes.iter().enumerate().filter(|(node, _)| self.views(*node).is_some());
        nodes.map(|(node, (name, ..))| (self.first() + node, *name))
    }
}

/// The views of a node.
#[derive(Clone, Copy)]
pub(super) enum NodeViews {
    Literals(&'static [LiteralView]),
    Constants(&'static [View]),
}

impl NodeViews {
    pub(super) const fn get(self, at: usize) -> Option<View> {
        match self {
            Self::Literals(views) => match nth(views, at) {
                Some(view) => Some(View::__literal(*view)),
                None => None,
            },
            Self::Constants(views) => match nth(views, at) {
                Some(view) => Some(*view),
                None => None,
            },
        }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = View> {
        (0..).map_while(move |at| self.get(at))
    }
}

#[doc(hidden)]
impl ModuleColumns {
    pub const fn __new(first: usize, graph: &'static Graph) -> Self {
        Self { first, graph }
    }

    /// The index after the last column.
    pub const fn __end(&self) -> usize {
        self.first + self.graph.len
    }
}

#[doc(hidden)]
impl Used {
    pub const fn __new(
        name: &'static str,
        columns: ModuleColumns,
        inputs: &'static [(&'static str, usize)],
    ) -> Self {
        Self { name, columns, inputs }
    }
}
