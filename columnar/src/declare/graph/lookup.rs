//! Finds the columns of a graph by name, and the columns that they read. The compiler evaluates this.

use super::constant::{Graph, ModuleColumns, Used};
use super::text::is_same;
use super::view::{LiteralView, View};

/// The index of no column. `flow!` mentions each name in code that rustc refuses if there is no such column.
const NOWHERE: usize = usize::MAX;

/// The most modules inside each other. The compiler looks for a column in each of them, again and again, so 40 would take
/// it a minute.
const MAX_DEPTH: usize = 16;

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

    pub(super) fn to_vec(self) -> Vec<View> {
        match self {
            Self::Literals(views) => views.iter().copied().map(View::__literal).collect(),
            Self::Constants(views) => views.to_vec(),
        }
    }
}

impl ModuleColumns {
    /// The index of a column, by its name inside the module.
    #[doc(hidden)]
    #[must_use]
    pub const fn __column(&self, name: &str) -> usize {
        match self.graph.__find(name) {
            NOWHERE => NOWHERE,
            column => self.first + column,
        }
    }

    /// Whether the name is that of an input.
    #[doc(hidden)]
    #[must_use]
    pub const fn __is_source(&self, name: &str) -> bool {
        self.graph.source(self.graph.__find(name)).is_some()
    }

    /// Whether the name is that of a module in the module.
    #[doc(hidden)]
    #[must_use]
    pub const fn __is_module(&self, name: &str) -> bool {
        self.graph.__find(name) == NOWHERE && self.graph.__has(name)
    }

    /// Whether the name is that of a column or a module in the module.
    #[doc(hidden)]
    #[must_use]
    pub const fn __has(&self, name: &str) -> bool {
        self.graph.__has(name)
    }

    /// Whether a further flow can be around the modules in this one.
    #[doc(hidden)]
    #[must_use]
    pub const fn __fits(&self) -> bool {
        self.graph.depth < MAX_DEPTH
    }
}

impl Used {
    /// Whether each source is bound, and to a column.
    #[doc(hidden)]
    #[must_use]
    pub const fn __is_complete(&self) -> bool {
        let mut column = 0;
        while column < self.columns.graph.__len() {
            if let Some(source) = self.columns.graph.source(column)
                && self.input(source) == NOWHERE
            {
                return false;
            }
            column += 1;
        }
        true
    }

    /// The index of the column that a source is bound to.
    pub(super) const fn input(&self, source: &str) -> usize {
        // A const function has no iterators, so it takes lists apart by patterns.
        let mut rest = self.inputs;
        while let [(name, column), tail @ ..] = rest {
            if is_same(name, source) {
                return *column;
            }
            rest = tail;
        }
        NOWHERE
    }

    /// The index of the column that view number `at` of the module's column `inner` shows. A source shows the column
    /// that it is bound to.
    pub(super) const fn read(&self, inner: usize, at: usize) -> Option<usize> {
        match self.columns.graph.source(inner) {
            Some(source) if at == 0 => Some(self.input(source)),
            Some(_) => None,
            None => match self.columns.graph.read(inner, at) {
                // An addition to `NOWHERE` would overflow.
                Some(NOWHERE) => Some(NOWHERE),
                Some(read) => Some(self.columns.first + read),
                None => None,
            },
        }
    }
}

impl Graph {
    /// The index of a column.
    #[doc(hidden)]
    #[must_use]
    pub const fn __find(&self, name: &str) -> usize {
        let first = match self.base {
            Some(base) => match base.__find(name) {
                // The columns of the base come first, so that they keep their indices in every extension.
                NOWHERE => base.__len(),
                column => return column,
            },
            None => 0,
        };
        let mut rest = self.nodes;
        while let [node, tail @ ..] = rest {
            if is_same(node.0, name) {
                return first + self.nodes.len() - rest.len();
            }
            rest = tail;
        }
        let mut rest = self.modules;
        while let [module, tail @ ..] = rest {
            if let Some(inner) = inside(module.name, name) {
                // No other module has this name, so the search ends here, found or not.
                let column = module.columns.graph.__find(inner);
                return if column == NOWHERE { NOWHERE } else { module.columns.first + column };
            }
            rest = tail;
        }
        NOWHERE
    }

    /// Whether this graph or its base has a column or a module of that name.
    #[doc(hidden)]
    #[must_use]
    pub const fn __has(&self, name: &str) -> bool {
        if self.__find(name) != NOWHERE {
            return true;
        }
        let mut rest = self.modules;
        while let [module, tail @ ..] = rest {
            if is_same(module.name, name) {
                return true;
            }
            if let Some(inner) = inside(module.name, name) {
                return module.columns.graph.__has(inner);
            }
            rest = tail;
        }
        match self.base {
            Some(base) => base.__has(name),
            None => false,
        }
    }

    /// The column at an index.
    pub(super) const fn at(&self, column: usize) -> At {
        let first = self.first();
        if column < first {
            return At::Base;
        }
        if let Some((name, ..)) = nth(self.nodes, column - first) {
            return At::Node(name, self.views(column - first));
        }
        let mut rest = self.modules;
        while let [module, tail @ ..] = rest {
            if column < module.columns.__end() {
                return At::Used(module, column - module.columns.first);
            }
            rest = tail;
        }
        At::Nowhere
    }

    /// The name of the source at an index; `None` for a computed column, and for all columns of modules.
    pub(super) const fn source(&self, column: usize) -> Option<&'static str> {
        match (self.at(column), self.base) {
            (At::Node(name, None), _) => Some(name),
            (At::Base, Some(base)) => base.source(column),
            _ => None,
        }
    }

    /// The column that view number `at` of a column waits for, or [`NOWHERE`]; `None` after the last view.
    pub(super) const fn read(&self, column: usize, at: usize) -> Option<usize> {
        match (self.at(column), self.base) {
            (At::Node(_, Some(views)), _) => match views.get(at) {
                // Within a step nothing waits for a lagged view. `None` would hide the views after it.
                Some(view) if view.lag > 0 => Some(NOWHERE),
                Some(view) => Some(view.column),
                None => None,
            },
            (At::Used(module, inner), _) => module.read(inner, at),
            (At::Base, Some(base)) => base.read(column, at),
            _ => None,
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

    /// The computed nodes, each with its index.
    pub(crate) fn derived(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let nodes = self.nodes.iter().enumerate().filter(|(node, _)| self.views(*node).is_some());
        nodes.map(|(node, (name, ..))| (self.first() + node, *name))
    }
}

/// The column at an index of a graph.
pub(super) enum At {
    /// A column of the base, at the same index.
    Base,
    /// A node: its name, and its views if it is computed.
    Node(&'static str, Option<NodeViews>),
    /// A column of a module, by its index there.
    Used(&'static Used, usize),
    Nowhere,
}

/// The name inside a module: `critic` of `debate.critic`.
const fn inside<'n>(module: &str, name: &'n str) -> Option<&'n str> {
    match name.split_at_checked(module.len()) {
        Some((first, rest)) if is_same(first, module) => match rest.split_at_checked(1) {
            Some((dot, inner)) if is_same(dot, ".") => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// The element at an index, as the compiler can evaluate it.
#[expect(clippy::indexing_slicing, reason = "the index is checked")]
pub(super) const fn nth<T>(slice: &'static [T], at: usize) -> Option<&'static T> {
    if at < slice.len() { Some(&slice[at]) } else { None }
}
