//! The topological order of columns that are declared at run time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::column::{Column, ViewTarget};
use crate::declare::SchemaError;

/// The columns `known`, which are in order, and after them `leaves` and all columns that these depend on: each after the
/// columns that it waits for, otherwise in the order of the declarations. `current` is the replacement of a replaced
/// column. The errors are the cycles.
pub(super) fn topological(
    known: Vec<Column>,
    leaves: Vec<Column>,
    current: impl Fn(&Column) -> Column,
) -> (Vec<Column>, Vec<SchemaError>) {
    let all = reachable(leaves.iter().rev().chain(known.iter().rev()).cloned().collect(), &current);
    let mut search = Search {
        seen: known.iter().map(Column::id).collect(),
        columns: known,
        visits: leaves.into_iter().rev().map(Visit::Enter).collect(),
        names: by_name(&all),
        path: Vec::new(),
        open: BTreeSet::new(),
        lagged: VecDeque::new(),
        cycles: Vec::new(),
    };
    while let Some(visit) = search.next() {
        match visit {
            Visit::Enter(column) => search.enter(current(&column)),
            Visit::Leave(column) => {
                search.open.remove(&column.id());
                search.path.pop();
                search.columns.push(column);
            }
        }
    }
    (search.columns, search.cycles)
}

/// The first column of each name.
pub(super) fn by_name(columns: &[Column]) -> BTreeMap<&str, &Column> {
    columns.iter().rev().map(|column| (column.name(), column)).collect()
}

/// These columns and all that they depend on, not by name. A column that another one names may be any of them.
fn reachable(mut open: Vec<Column>, current: impl Fn(&Column) -> Column) -> Vec<Column> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    while let Some(column) = open.pop() {
        let column = current(&column);
        if seen.insert(column.id()) {
            let views = column.views().unwrap_or_default().iter();
            open.extend(views.filter_map(|view| match &view.target {
                ViewTarget::Column(read) => Some(read.clone()),
                _ => None,
            }));
            all.push(column);
        }
    }
    all
}

/// A search in depth. It is iterative, because recursion over a chain of thousands of columns would overflow the stack.
struct Search<'n> {
    names: BTreeMap<&'n str, &'n Column>,
    /// The columns in order, as far as the search has come.
    columns: Vec<Column>,
    seen: BTreeSet<usize>,
    visits: Vec<Visit>,
    /// Columns that only lagged views read. The flow needs them, in any order.
    lagged: VecDeque<Column>,
    /// The columns that are entered and not left; each reads the one after it.
    path: Vec<Column>,
    /// The same columns, for lookups.
    open: BTreeSet<usize>,
    cycles: Vec<SchemaError>,
}

enum Visit {
    Enter(Column),
    Leave(Column),
}

impl Search<'_> {
    fn next(&mut self) -> Option<Visit> {
        self.visits.pop().or_else(|| self.lagged.pop_front().map(Visit::Enter))
    }

    fn enter(&mut self, column: Column) {
        if !self.seen.insert(column.id()) {
            if self.open.contains(&column.id()) {
                self.add_cycle(&column);
            }
            return;
        }
        self.open.insert(column.id());
        self.visits.push(Visit::Leave(column.clone()));
        // In reverse, because the last pushed visit is the first one.
        for view in column.views().unwrap_or_default().iter().rev() {
            match &view.target {
                ViewTarget::Column(read) if view.spec.lag > 0 => self.lagged.push_back(read.clone()),
                ViewTarget::Column(read) => self.visits.push(Visit::Enter(read.clone())),
                ViewTarget::Named(name) if view.spec.lag == 0 => {
                    // A column that names itself is another error.
                    let read = self.names.get(name.as_str()).filter(|read| read.id() != column.id());
                    self.visits.extend(read.map(|&read| Visit::Enter(read.clone())));
                }
                _ => {}
            }
        }
        self.path.push(column);
    }

    /// Records the cycle that a view of this entered column closes. The view is by name or shows a replacement: any other
    /// one shows a column that was made before its reader.
    fn add_cycle(&mut self, column: &Column) {
        let cycle = self.path.iter().skip_while(|first| first.id() != column.id());
        let mut columns: Vec<_> = cycle.map(|column| column.name().to_owned()).collect();
        columns.reverse();
        let mut cycle = SchemaError::Cycle { columns };
        if let Some(first) = self.path.last() {
            first.0.origin.place(std::slice::from_mut(&mut cycle));
        }
        // Two views of one column close it twice.
        if !self.cycles.contains(&cycle) {
            self.cycles.push(cycle);
        }
    }
}
