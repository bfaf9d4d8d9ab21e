//! Finds the columns of a graph by name, and the columns that they read. The compiler evaluates this.

use super::constant::{Graph, ModuleColumns, NodeViews, Used};
use super::text::{is_same, nth};

/// The index of no column. `flow!` mentions each name in code that rustc refuses if there is no such column.
const NOWHERE: usize = usize::MAX;

/// The most modules inside each other. The compiler looks for a column in each of them, again and again, so 40 would take
/// it a minute.
const MAX_DEPTH: usize = 16;

#[doc(hidden)]
impl ModuleColumns {
    /// The index of a column, by the name inside the module.
    pub const fn __column(&self, name: &str) -> usize {
        match self.graph.__find(name) {
            NOWHERE => NOWHERE,
            column => self.first + column,
        }
    }

    /// Whether an input has the name.
    pub const fn __is_source(&self, name: &str) -> bool {
        self.graph.source(self.graph.__find(name)).is_some()
    }

    /// Whether a module in the module has the name.
    pub const fn __is_module(&self, name: &str) -> bool {
        self.graph.__find(name) == NOWHERE && self.graph.__has(name)
    }

    /// Whether a column or a module in the module has the name.
    pub const fn __has(&self, name: &str) -> bool {
        self.graph.__has(name)
    }

    /// Whether a further flow can be around the modules in this one.
    pub const fn __fits(&self) -> bool {
        self.graph.depth < MAX_DEPTH
    }

    /// Whether an input holds documents; `None` if the module has no such input.
    const fn input_is_documents(&self, name: &str) -> Option<bool> {
        let column = self.graph.__find(name);
        match self.graph.source(column) {
            Some(_) => Some(self.graph.is_documents(column)),
            None => None,
        }
    }

    /// Whether an input holds documents.
    pub const fn __takes_documents(&self, name: &str) -> bool {
        matches!(self.input_is_documents(name), Some(true))
    }

    /// Whether an input holds text.
    pub const fn __takes_text(&self, name: &str) -> bool {
        matches!(self.input_is_documents(name), Some(false))
    }
}

#[doc(hidden)]
impl Used {
    /// Whether each source is bound, and to a column.
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
    pub const fn __find(&self, name: &str) -> usize {
        let first = match self.base {
            Some(base) => match base.__find(name) {
                // The columns of the base come first, so that they keep the indices in every extension.
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

    /// Whether this graph or the base has a column or a module of that name.
    #[doc(hidden)]
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

    /// The column at an index. The columns of the base have the same indices there.
    pub(super) const fn at(&self, column: usize) -> GraphPlace {
        let first = self.first();
        if let Some(base) = self.base
            && column < first
        {
            return base.at(column);
        }
        if let Some((name, ..)) = nth(self.nodes, column - first) {
            return GraphPlace::Node(name, self.views(column - first));
        }
        let mut rest = self.modules;
        while let [module, tail @ ..] = rest {
            if column < module.columns.__end() {
                return GraphPlace::Used(module, column - module.columns.first);
            }
            rest = tail;
        }
        GraphPlace::Nowhere
    }

    /// The name of the source at an index; `None` for a computed column, and for all columns of modules.
    pub(super) const fn source(&self, column: usize) -> Option<&'static str> {
        match self.at(column) {
            GraphPlace::Node(name, None) => Some(name),
            _ => None,
        }
    }

    /// The column that view number `at` of a column waits for, or [`NOWHERE`]; `None` after the last view.
    pub(super) const fn read(&self, column: usize, at: usize) -> Option<usize> {
        match self.at(column) {
            GraphPlace::Node(_, Some(views)) => match views.get(at) {
                // Within a step nothing waits for a lagged view. `None` would hide the views after it.
                Some(view) if view.lag > 0 => Some(NOWHERE),
                Some(view) => Some(view.column),
                None => None,
            },
            GraphPlace::Used(module, inner) => module.read(inner, at),
            _ => None,
        }
    }

    /// Whether the column of this name is a source of documents.
    #[doc(hidden)]
    pub const fn __is_documents(&self, name: &str) -> bool {
        self.is_documents(self.__find(name))
    }

    /// Whether the column at an index holds documents.
    const fn is_documents(&self, column: usize) -> bool {
        if let Some(base) = self.base
            && column < self.first()
        {
            return base.is_documents(column);
        }
        let mut rest = self.documents;
        while let [node, tail @ ..] = rest {
            if self.first() + *node == column {
                return true;
            }
            rest = tail;
        }
        // The sources of a module are inputs here, and all other columns are computed.
        false
    }
}

/// The column at an index of a graph.
pub(super) enum GraphPlace {
    /// A node: the name, and the views if it is computed.
    Node(&'static str, Option<NodeViews>),
    /// A column of a module, by the index there.
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
