//! The declarations of a flow that is declared at run time, as the schema needs them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::column::{Column, Target, View};
use crate::compute::Step;
use crate::declare::{Draft, Schema, SchemaError, SchemaErrors};

/// The columns of a flow in topological order.
#[derive(Clone, Debug, Default)]
pub(super) struct Declarations {
    columns: Vec<Column>,
    /// Replaced columns, each with its replacement. Views of the flow's columns may still refer to the replaced ones.
    replaced: Vec<(Column, Column)>,
}

impl Declarations {
    /// These columns, and all columns that they depend on.
    pub(super) fn new(leaves: Vec<Column>) -> Result<Self, SchemaErrors> {
        Self::default().with_all(leaves)
    }

    /// With another column at the end, and before it the new columns that it depends on.
    pub(super) fn with(&self, column: Column) -> Result<Self, SchemaErrors> {
        self.clone().with_all(vec![column])
    }

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

    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
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
    pub(super) fn drafts(&self, first: usize) -> Vec<Draft> {
        let index: BTreeMap<usize, usize> =
            self.columns.iter().enumerate().map(|(at, column)| (column.id(), at)).collect();
        let named = |name: &str| self.columns.iter().position(|column| column.name() == name);
        let draft_view = |view: &View, own: usize| {
            let read = match view.target() {
                Target::SelfHistory => Ok(own),
                // The default is never used: `with_all` has added every column that a view reads.
                Target::Column(column) => Ok(index.get(&self.current(column).id()).copied().unwrap_or(own)),
                Target::Named(name) => named(name).ok_or_else(|| name.clone()),
                Target::Group(_) => unreachable!("a column lists the views of a group one by one"),
            };
            (read, view.spec().clone())
        };
        let draft = |(at, column): (usize, &Column)| Draft {
            name: column.name().to_owned(),
            renamed_from: column.renamed_from().map(str::to_owned),
            views: column.views().map(|views| views.iter().map(|view| draft_view(view, at)).collect()),
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

    /// With these columns and all new columns that they depend on: each after the columns that it waits for, otherwise
    /// in the order of the declarations. It is iterative, because recursion over a chain of thousands of columns would
    /// overflow the stack.
    fn with_all(mut self, leaves: Vec<Column>) -> Result<Self, SchemaErrors> {
        enum Visit {
            Enter(Column),
            Leave(Column),
        }
        let mut seen: BTreeSet<usize> = self.columns.iter().map(Column::id).collect();
        let (mut path, mut open) = (Vec::<Column>::new(), BTreeSet::new());
        let mut visits: Vec<Visit> = leaves.into_iter().rev().map(Visit::Enter).collect();
        // Columns that only lagged views read. The flow needs them, in any order.
        let mut lagged = VecDeque::new();
        while let Some(visit) = visits.pop().or_else(|| lagged.pop_front().map(Visit::Enter)) {
            match visit {
                Visit::Enter(column) => {
                    let column = self.current(&column).clone();
                    if seen.insert(column.id()) {
                        open.insert(column.id());
                        visits.push(Visit::Leave(column.clone()));
                        // In reverse, because the last pushed visit is the first one.
                        for view in column.views().unwrap_or_default().iter().rev() {
                            match view.target() {
                                Target::Column(read) if view.spec().lag > 0 => lagged.push_back(read.clone()),
                                Target::Column(read) => visits.push(Visit::Enter(read.clone())),
                                Target::SelfHistory | Target::Named(_) | Target::Group(_) => {}
                            }
                        }
                        path.push(column);
                    // Only a replacement closes a cycle: other columns read those that were made before them.
                    } else if open.contains(&column.id()) {
                        let cycle = path.iter().skip_while(|first| first.id() != column.id());
                        let mut columns: Vec<_> = cycle.map(|column| column.name().to_owned()).collect();
                        columns.reverse();
                        return Err(SchemaErrors::one(SchemaError::Cycle { columns }));
                    }
                }
                Visit::Leave(column) => {
                    open.remove(&column.id());
                    path.pop();
                    self.columns.push(column);
                }
            }
        }
        Ok(self)
    }
}
