//! The plan of a flow: the schema, the topological order of the columns, and the readers of each column. A flow type
//! has one plan, which all instances share.

use std::collections::BTreeSet;

use crate::declare::{ColumnDraft, Name, Schema, SchemaErrors, Window};

/// A schema with the order and the readers.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    schema: Schema,
    /// The position of each column in the topological order.
    ranks: Vec<usize>,
    /// The readers of each column.
    readers: Vec<Vec<ViewReader>>,
}

/// A view of a column, from the side of that column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewReader {
    /// The column that reads.
    pub(crate) column: usize,
    /// The values that must be stored.
    pub(crate) window: Window,
    /// The number of steps between the newest value that is shown and the step of the reader: 1 for the self history.
    pub(crate) lag: usize,
}

impl Plan {
    /// `order` holds the index of every column of the schema, each after those that it reads.
    pub(crate) fn new(schema: Schema, order: &[usize]) -> Self {
        let mut plan = Self { ranks: vec![0; schema.columns().len()], readers: Vec::new(), schema };
        for (rank, &column) in order.iter().enumerate() {
            if let Some(slot) = plan.ranks.get_mut(column) {
                *slot = rank;
            }
        }
        plan.connect(0);
        plan
    }

    /// The plan with further columns at the end, each after those that it reads.
    pub(crate) fn extended(&self, drafts: Vec<ColumnDraft>) -> Result<Self, SchemaErrors> {
        let mut next = self.clone();
        let first = next.ranks.len();
        next.schema.extend(drafts)?;
        next.ranks.extend(first..next.schema.columns().len());
        next.connect(first);
        Ok(next)
    }

    fn connect(&mut self, first: usize) {
        self.readers.resize(self.schema.columns().len(), Vec::new());
        for (column, declared) in self.schema.columns().iter().enumerate().skip(first) {
            let Some(reads) = &declared.reads else { continue };
            let inputs = reads.all_inputs();
            let inputs =
                inputs.map(|input| (input.column, reads.awaited_window(&input.spec), input.spec.lag));
            let documents = reads.tiered.iter().map(|documents| (documents.column, Window::All, 0));
            let own = reads.self_view.iter().map(|view| (column, reads.awaited_window(view), 1));
            for (read, window, lag) in inputs.chain(documents).chain(own) {
                debug_assert!(
                    // Only a view without lag is an edge of the order; a lagged one may show a later column.
                    lag > 0 || self.ranks.get(read) < self.ranks.get(column),
                    "`{}` comes before what it reads",
                    declared.name
                );
                if let Some(readers) = self.readers.get_mut(read) {
                    readers.push(ViewReader { column, window, lag });
                }
            }
        }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(crate) fn rank(&self, column: usize) -> usize {
        self.ranks.get(column).copied().unwrap_or(usize::MAX)
    }

    /// The views that show a column.
    pub(crate) fn readers(&self, column: usize) -> &[ViewReader] {
        self.readers.get(column).map_or(&[], Vec::as_slice)
    }

    /// The names of columns.
    pub(crate) fn names(&self, columns: &[usize]) -> Vec<Name> {
        columns.iter().map(|&column| self.schema.name(column).clone()).collect()
    }

    /// The columns whose values depend on the values of a column, in topological order.
    pub(crate) fn dependents(&self, column: usize) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![column];
        while let Some(column) = open.pop() {
            for reader in self.readers(column) {
                if found.insert((self.rank(reader.column), reader.column)) {
                    open.push(reader.column);
                }
            }
        }
        // The search also finds the column itself, by the self history or a lagged view.
        found.into_iter().map(|(_, dependent)| dependent).filter(|&dependent| dependent != column).collect()
    }
}
