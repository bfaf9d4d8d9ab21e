//! The cells that are excluded from the contexts of later steps.
//!
//! A context heeds the exclusions that were made before its step began. So it does not depend on the time at which it is
//! assembled, and the contexts of earlier steps stay as they were.

use std::collections::BTreeSet;

use crate::declare::{Name, Reads};

/// The exclusion of a cell from later contexts, or the end of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exclusion {
    pub(crate) column: Name,
    pub(crate) step: usize,
    /// The first step whose context heeds it.
    pub(crate) since: usize,
    /// Whether the cell is excluded, and not included again.
    pub(crate) is_excluded: bool,
}

/// All exclusions of a flow in the order in which they were made. One of a value that was pushed ahead counts later than
/// some that follow it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclusions(pub(crate) Vec<Exclusion>);

impl Exclusions {
    /// The exclusions that the context of a step heeds.
    fn heeded(&self, step: usize) -> impl Iterator<Item = &Exclusion> {
        self.0.iter().filter(move |exclusion| exclusion.since <= step)
    }

    /// The same exclusions, with the columns that this function renames.
    pub(crate) fn renamed(&self, name: impl Fn(&Name) -> Option<Name>) -> Self {
        let renamed = self.0.iter().map(|exclusion| {
            let column = name(&exclusion.column).unwrap_or_else(|| exclusion.column.clone());
            Exclusion { column, ..exclusion.clone() }
        });
        Self(renamed.collect())
    }

    /// The exclusions that a fork at a step takes over.
    pub(crate) fn before(&self, step: usize) -> Self {
        Self(self.heeded(step).cloned().collect())
    }

    /// The steps of a column that the context of a step does not show.
    pub(crate) fn at(&self, column: &Name, step: usize) -> BTreeSet<usize> {
        let mut excluded = BTreeSet::new();
        for exclusion in self.heeded(step).filter(|exclusion| exclusion.column == *column) {
            if exclusion.is_excluded {
                excluded.insert(exclusion.step);
            } else {
                excluded.remove(&exclusion.step);
            }
        }
        excluded
    }

    /// Whether any cell of the columns that a column shows was ever excluded.
    pub(super) fn concern(&self, reads: &Reads) -> bool {
        self.0.iter().any(|exclusion| is_shown(reads, &exclusion.column))
    }

    /// The last step from which on contexts of a column heed other exclusions than before, up to a step.
    pub(super) fn since(&self, reads: &Reads, step: usize) -> usize {
        let shown = self.heeded(step).filter(|exclusion| is_shown(reads, &exclusion.column));
        shown.map(|exclusion| exclusion.since).max().unwrap_or(0)
    }

    /// The cells of a column whose exclusion begins or ends for contexts after `from`, up to `step`.
    pub(super) fn changed(&self, column: &Name, from: usize, step: usize) -> BTreeSet<usize> {
        let before = self.at(column, from);
        let now = self.at(column, step);
        before.symmetric_difference(&now).copied().collect()
    }
}

fn is_shown(reads: &Reads, column: &Name) -> bool {
    // Documents are a set, and the update of a step is not shown by itself.
    let mut inputs = reads.all_inputs().filter(|input| !input.is_log());
    reads.column == *column || inputs.any(|input| input.name == *column)
}
