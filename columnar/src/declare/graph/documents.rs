//! The sources of documents among the columns of other flows, which `flow!` does not know. The compiler evaluates this.

use super::constant::{Graph, ModuleColumns};
use super::lookup::At;

impl Graph {
    /// Whether the column of this name is a source of documents.
    #[doc(hidden)]
    #[must_use]
    pub const fn __is_documents(&self, name: &str) -> bool {
        self.is_documents(self.__find(name))
    }

    /// Whether the column at an index holds documents.
    const fn is_documents(&self, column: usize) -> bool {
        match (self.at(column), self.base) {
            (At::Node(..), _) => {
                let mut rest = self.documents;
                while let [node, tail @ ..] = rest {
                    if self.first() + *node == column {
                        return true;
                    }
                    rest = tail;
                }
                false
            }
            (At::Base, Some(base)) => base.is_documents(column),
            // The sources of a module are inputs here, and all its other columns are computed.
            _ => false,
        }
    }
}

impl ModuleColumns {
    /// Whether an input holds documents; `None` if the module has no such input.
    const fn input_is_documents(&self, name: &str) -> Option<bool> {
        let column = self.graph.__find(name);
        match self.graph.source(column) {
            Some(_) => Some(self.graph.is_documents(column)),
            None => None,
        }
    }

    /// Whether an input holds documents.
    #[doc(hidden)]
    #[must_use]
    pub const fn __takes_documents(&self, name: &str) -> bool {
        matches!(self.input_is_documents(name), Some(true))
    }

    /// Whether an input holds text.
    #[doc(hidden)]
    #[must_use]
    pub const fn __takes_text(&self, name: &str) -> bool {
        matches!(self.input_is_documents(name), Some(false))
    }
}
