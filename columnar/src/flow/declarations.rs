//! The declarations of a flow that is declared at run time, as the schema needs them.

use std::collections::BTreeMap;

use super::column::{Column, View, ViewTarget};
use super::topological::{by_name, topological};
use crate::compute::Step;
use crate::declare::{ColumnDraft, Schema, SchemaErrors, ShownColumn};

/// The columns of a flow in topological order.
#[derive(Clone, Debug, Default)]
pub(super) struct Declarations {
    pub(super) columns: Vec<Column>,
    /// Replaced columns, each with its replacement. Views of the flow's columns may still refer to the replaced ones.
    replaced: Vec<(Column, Column)>,
}

impl Declarations {
    /// With this column instead of the one at an index.
    pub(super) fn replacing(&self, at: usize, column: Column) -> Result<Self, SchemaErrors> {
        let mut columns = self.columns.clone();
        // A column that returns is current again. Otherwise it would be replaced by itself, through the others.
        let mut replaced: Vec<_> =
            self.replaced.iter().filter(|(old, _)| old.id() != column.id()).cloned().collect();
        if let Some(slot) = columns.get_mut(at)
            && slot.id() != column.id()
        {
            replaced.push((std::mem::replace(slot, column.clone()), column));
        }
        // Ordered anew: the replacement may read new columns, or some that come later.
        Self { columns: Vec::new(), replaced }.with_all(columns)
    }

    /// Without the columns at these indices, which no other column reads.
    pub(super) fn without(&self, removed: &[usize]) -> Self {
        let kept = self.columns.iter().enumerate().filter(|(at, _)| !removed.contains(at));
        Self { columns: kept.map(|(_, column)| column.clone()).collect(), replaced: self.replaced.clone() }
    }

    pub(super) fn steps(&self) -> Vec<Option<Step<'static>>> {
        self.columns.iter().map(Column::step).collect()
    }

    pub(super) fn schema(&self) -> Result<Schema, SchemaErrors> {
        Schema::new(self.drafts(0))
    }

    /// The index of each column in other declarations; `None` for a column that they do not have.
    pub(super) fn origins(&self, of: &Self) -> Vec<Option<usize>> {
        let known: BTreeMap<usize, usize> =
            of.columns.iter().enumerate().map(|(at, column)| (column.id(), at)).collect();
        self.columns.iter().map(|column| known.get(&column.id()).copied()).collect()
    }

    /// The declarations of the columns from `first` on, with indices instead of references.
    pub(super) fn drafts(&self, first: usize) -> Vec<ColumnDraft> {
        let index: BTreeMap<usize, usize> =
            self.columns.iter().enumerate().map(|(at, column)| (column.id(), at)).collect();
        let names = by_name(&self.columns);
        let read = |view: &View, own: usize| match &view.target {
            ViewTarget::SelfHistory => ShownColumn::Column(own),
            // The default is never used: `with_all` has added every column that a view reads.
            ViewTarget::Column(column) => {
                ShownColumn::Column(index.get(&self.current(column).id()).copied().unwrap_or(own))
            }
            ViewTarget::Named(name) => match names.get(name.as_str()) {
                // `prev` of the column itself is its self history.
                Some(column) if index.get(&column.id()) == Some(&own) && view.spec.lag == 0 => {
                    ShownColumn::SelfByName
                }
                Some(column) => ShownColumn::Column(index.get(&column.id()).copied().unwrap_or(own)),
                None => ShownColumn::Unknown(name.clone()),
            },
            ViewTarget::Invalid(text, error) => ShownColumn::Invalid(text.clone(), error.clone()),
            ViewTarget::Group(_) => unreachable!("a column lists the views of a group one by one"),
        };
        let draft = |(at, column): (usize, &Column)| ColumnDraft {
            name: column.name().to_owned(),
            renamed_from: column.0.renamed_from.clone(),
            views: column
                .views()
                .map(|views| views.iter().map(|view| (read(view, at), view.spec.clone())).collect()),
            is_documents: column.0.is_documents,
            step_errors: column.step_errors().to_vec(),
        };
        self.columns.iter().enumerate().skip(first).map(draft).collect()
    }

    /// The replacement of a replaced column; any other column itself.
    fn current<'c>(&'c self, mut column: &'c Column) -> &'c Column {
        // In a loop, because a replacement may have been replaced as well.
        while let Some((_, next)) = self.replaced.iter().find(|(old, _)| old.id() == column.id()) {
            column = next;
        }
        column
    }

    /// With these columns and all new columns that they depend on, in topological order.
    ///
    /// # Errors
    ///
    /// If columns wait for each other: all cycles, and all other errors.
    pub(super) fn with_all(mut self, leaves: Vec<Column>) -> Result<Self, SchemaErrors> {
        let current = |column: &Column| self.current(column).clone();
        let (columns, cycles) = topological(self.columns.clone(), leaves, current);
        self.columns = columns;
        if cycles.is_empty() {
            return Ok(self);
        }
        match self.schema() {
            Ok(_) => Err(SchemaErrors::new(cycles)),
            Err(errors) => Err(errors.after(cycles)),
        }
    }
}
