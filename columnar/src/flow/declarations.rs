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
        let known = of.indices();
        self.columns.iter().map(|column| known.get(&column.id()).copied()).collect()
    }

    /// The index of each column, by the identity of the column.
    fn indices(&self) -> BTreeMap<usize, usize> {
        self.columns.iter().enumerate().map(|(at, column)| (column.id(), at)).collect()
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.views().is_none())
    }

    /// The declarations of the columns from `first` on, with indices instead of references.
    pub(super) fn drafts(&self, first: usize) -> Vec<ColumnDraft> {
        let index = self.indices();
        let names = by_name(&self.columns);
        let drafts = self.columns.iter().enumerate().skip(first).map(|(at, column)| {
            let shown = |view: &View| (self.shown(view, at, &index, &names), view.spec.clone());
            ColumnDraft {
                name: column.name().to_owned(),
                renamed_from: column.0.renamed_from.clone(),
                views: column.views().map(|views| views.iter().map(shown).collect()),
                is_documents: column.0.is_documents,
                step_errors: column.step_errors().to_vec(),
                origin: column.0.origin.clone(),
            }
        });
        drafts.collect()
    }

    /// The column that a view of the column `own` shows.
    fn shown(
        &self,
        view: &View,
        own: usize,
        index: &BTreeMap<usize, usize>,
        names: &BTreeMap<&str, &Column>,
    ) -> ShownColumn {
        let column = match &view.target {
            ViewTarget::SelfHistory => return ShownColumn::Column(own),
            ViewTarget::Column(column) => self.current(column),
            ViewTarget::Named(name) => match names.get(name.as_str()) {
                Some(column) => column,
                None => return ShownColumn::Unknown(name.clone()),
            },
            ViewTarget::Invalid(text, error) => return ShownColumn::Invalid(text.clone(), error.clone()),
            ViewTarget::Group(_) => unreachable!("a column lists the views of a group one by one"),
        };
        // The default is never used: `with_all` has added every column that a view reads.
        let at = index.get(&column.id()).copied().unwrap_or(own);
        // `prev` of the column itself is its self history.
        let is_by_name = matches!(view.target, ViewTarget::Named(_)) && view.spec.lag == 0;
        if is_by_name && at == own { ShownColumn::SelfByName } else { ShownColumn::Column(at) }
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
        let (columns, cycles) =
            topological(self.columns.clone(), leaves, |column| self.current(column).clone());
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
