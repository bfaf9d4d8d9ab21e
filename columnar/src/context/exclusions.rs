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

/// All exclusions of a flow in their order, which is that of the steps from which on they count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclusions(Vec<Exclusion>);

impl Exclusions {
    pub(crate) fn push(&mut self, exclusion: Exclusion) {
        self.0.push(exclusion);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The exclusions that a fork at a step takes over.
    pub(crate) fn before(&self, step: usize) -> Self {
        Self(self.0.iter().take_while(|exclusion| exclusion.since <= step).cloned().collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Exclusion> {
        self.0.iter()
    }

    /// The steps of a column that the context of a step does not show.
    pub(crate) fn at(&self, column: &Name, step: usize) -> BTreeSet<usize> {
        let mut excluded = BTreeSet::new();
        for exclusion in self.0.iter().take_while(|exclusion| exclusion.since <= step) {
            if exclusion.column == *column {
                if exclusion.is_excluded {
                    excluded.insert(exclusion.step);
                } else {
                    excluded.remove(&exclusion.step);
                }
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
        let heeded = self.0.iter().take_while(|exclusion| exclusion.since <= step);
        let heeded = heeded.filter(|exclusion| is_shown(reads, &exclusion.column));
        heeded.last().map_or(0, |exclusion| exclusion.since)
    }

    /// The cells of a column whose exclusion begins or ends for contexts after `from`, up to `step`.
    pub(super) fn changed(&self, column: &Name, from: usize, step: usize) -> BTreeSet<usize> {
        let (before, now) = (self.at(column, from), self.at(column, step));
        before.symmetric_difference(&now).copied().collect()
    }
}

fn is_shown(reads: &Reads, column: &Name) -> bool {
    reads.column == *column || reads.all_inputs().any(|input| input.name == *column)
}
